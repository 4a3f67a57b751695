//! Where references to Python objects die. A collection keeps what dead entries own. The waker of
//! the collection enters the collection into one list for all collections, and asks Python for one
//! call. That call, or the next change of any collection, takes what is kept, and drops it: under
//! Python's lock, and under no other lock. (If another thread asks for a pending call, CPython 3.11
//! notices the call late: when the main thread next has to give the lock away, say.)

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::replace;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Wake, Waker};

use pyo3::{ffi, prelude::*};
use weakly::{Memo, Reclaim, Strong, WeakMap, memo::MemoKey};

use crate::native::Native;

/// A value that only threads with Python's lock use. So a thread that forks finds no other thread
/// inside, and the child may use the value.
#[derive(Default)]
pub struct Gil<T>(Mutex<T>);

impl<T> Gil<T> {
    pub const fn new(value: T) -> Self {
        Gil(Mutex::new(value))
    }

    /// The closure runs no Python code, and allocates no Python object.
    pub fn with<R>(&self, _: Python<'_>, run: impl FnOnce(&mut T) -> R) -> R {
        run(&mut self.0.lock().unwrap())
    }

    /// For the search of `collect`, which uses several maps at once.
    pub fn lock(&self, _: Python<'_>) -> MutexGuard<'_, T> {
        self.0.lock().unwrap()
    }

    /// For `tp_traverse`, which has Python's lock and no proof of it.
    ///
    /// # Safety
    /// The thread has Python's lock.
    pub unsafe fn peek<R>(&self, run: impl FnOnce(&T) -> R) -> R {
        run(&self.0.lock().unwrap())
    }
}

/// A counted reference to a Python object.
pub struct Reference(pub Py<PyAny>);

/// A map of one owner: whoever has Python's lock.
pub type Table<V> = Arc<Gil<WeakMap<Strong<Native>, V>>>;

/// A collection with references to Python objects.
trait Foreign: Send + Sync {
    /// Drops what dead entries own. Any Python code may run.
    fn take(&self, py: Python<'_>);
}

impl<V: Send> Foreign for Gil<WeakMap<Strong<Native>, V>> {
    fn take(&self, py: Python<'_>) {
        let dead: Vec<V> = self.with(py, |map| map.drain_dead().collect());
        drop(dead);
    }
}

impl<K: MemoKey, V> Foreign for Memo<K, V>
where
    Self: Send + Sync,
{
    fn take(&self, _: Python<'_>) {
        drop(self.take_dead(usize::MAX));
    }
}

pub fn table<V: Send + 'static>() -> Table<V> {
    Arc::new_cyclic(|table: &Weak<Gil<_>>| Gil::new(empty_map(table.clone())))
}

fn empty_map<V: Send + 'static>(
    table: Weak<Gil<WeakMap<Strong<Native>, V>>>,
) -> WeakMap<Strong<Native>, V> {
    let mut map = WeakMap::new();
    map.set_reclaim(Reclaim::OnRequest);
    map.set_waker(Some(Death::waker(table)));
    map
}

/// Empties a table. (`drain` under the lock would destroy there what dead entries own: a thread
/// without Python's lock may have dropped a handle just now.)
pub fn empty<V: Send + 'static>(py: Python<'_>, table: &Table<V>) {
    let empty = empty_map(Arc::downgrade(table));
    let all = table.with(py, |map| replace(map, empty));
    drop(all);
}

/// A memo is shared: threads wait for its values without Python's lock.
pub fn memo<K: MemoKey + 'static, V: 'static>() -> Arc<Memo<K, V>>
where
    Memo<K, V>: Send + Sync,
{
    Arc::new_cyclic(|weak: &Weak<Memo<K, V>>| {
        let memo = Memo::new();
        memo.set_reclaim(Reclaim::OnRequest);
        memo.set_waker(Some(Death::waker(weak.clone())));
        memo
    })
}

/// The collections with dead entries: a list without a lock, so that no child of a fork finds a
/// lock taken.
static DUE: AtomicPtr<Death> = AtomicPtr::new(null_mut());
/// Whether a thread with Python's lock drops what dead entries own.
static SETTLING: AtomicBool = AtomicBool::new(false);
/// Whether Python may be asked for a call, and the number of threads that are asking.
static OPEN: AtomicBool = AtomicBool::new(true);
static ASKING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether the thread is about to settle, so that a death needs no call of Python.
    static SETTLES: Cell<bool> = const { Cell::new(false) };
}

/// The waker of a collection.
struct Death {
    collection: Weak<dyn Foreign>,
    is_due: AtomicBool,
    next: AtomicPtr<Death>,
}

impl Death {
    fn waker(collection: Weak<dyn Foreign>) -> Waker {
        let death = Death {
            collection,
            is_due: AtomicBool::new(false),
            next: AtomicPtr::new(null_mut()),
        };
        Arc::new(death).into()
    }
}

impl Wake for Death {
    /// Runs on the thread of the death, which may not have Python's lock.
    fn wake(self: Arc<Self>) {
        if self.is_due.swap(true, SeqCst) {
            return;
        }
        let death = Arc::into_raw(self).cast_mut();
        let add = |next| {
            // SAFETY: the list owns a share of the waker only after the exchange below.
            unsafe { (*death).next.store(next, SeqCst) };
            Some(death)
        };
        let was_empty = DUE
            .fetch_update(SeqCst, SeqCst, add)
            .is_ok_and(|next| next.is_null());
        if was_empty && !SETTLES.get() {
            ASKING.fetch_add(1, SeqCst);
            if OPEN.load(SeqCst) {
                // If the queue of these calls is full, the next change of a collection settles.
                // SAFETY: Python runs, as `shutdown` waits for this thread. Any thread may ask.
                unsafe { ffi::Py_AddPendingCall(Some(pending_call), null_mut()) };
            }
            ASKING.fetch_sub(1, SeqCst);
        }
    }
}

extern "C" fn pending_call(_: *mut c_void) -> c_int {
    attached(settle);
    0
}

/// Drops what dead entries own. Any Python code may run here. While one thread drops, deaths that
/// destructors bring about are left to that thread: so a chain of objects takes no stack.
pub fn settle(py: Python<'_>) {
    while !DUE.load(SeqCst).is_null() && !SETTLING.swap(true, SeqCst) {
        let mut due = DUE.swap(null_mut(), SeqCst);
        while !due.is_null() {
            // SAFETY: the list owned a share of the waker.
            let death = unsafe { Arc::from_raw(due) };
            due = death.next.load(SeqCst);
            // From here on, a death enters the collection again.
            death.is_due.store(false, SeqCst);
            if let Some(collection) = death.collection.upgrade() {
                collection.take(py);
            }
        }
        SETTLING.store(false, SeqCst);
    }
}

/// Runs code in which objects die, and then drops what their entries own.
pub fn settling<R>(py: Python<'_>, run: impl FnOnce() -> R) -> R {
    let outer = SETTLES.replace(true);
    let result = run();
    SETTLES.set(outer);
    settle(py);
    result
}

/// Runs code that has Python's lock and that PyO3 does not know of, such as a `tp_dealloc`. (With
/// `assume_attached` alone, PyO3 would take each drop of a reference for one without the lock.)
pub fn attached<R>(run: impl FnOnce(Python<'_>) -> R) -> R {
    let mut run = Some(run);
    let mut call = |py: Python<'_>| run.take().map(|run| run(py));
    let result = Python::try_attach(&mut call).flatten();
    // While Python ends, PyO3 attaches no thread: then it leaks the references.
    // SAFETY: the caller has the lock.
    let last = || call(unsafe { Python::assume_attached() });
    result.or_else(last).expect("one of the two calls")
}

/// The wakers do not call Python any more.
pub fn shutdown(py: Python<'_>) {
    OPEN.store(false, SeqCst);
    while ASKING.load(SeqCst) != 0 {
        std::thread::yield_now();
    }
    settle(py);
}

/// The child of a fork has one thread.
#[pyfunction]
pub fn after_fork() {
    ASKING.store(0, SeqCst);
    SETTLING.store(false, SeqCst);
}
