//! Where references to Python objects die. A collection keeps what dead entries own, and its waker
//! enters the collection into a list. The next pending call of Python, or the next change of any
//! collection, takes what is kept, and drops it: under Python's lock, and under no other lock.
//! (If another thread asks for a pending call, CPython 3.11 notices the call late: when the main
//! thread next has to give the lock away, say.)

use std::ffi::{c_int, c_void};
use std::mem::take;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Wake, Waker};

use pyo3::{ffi, prelude::*};
use weakly::concurrent::{SharedKey, WeakMap};
use weakly::{Memo, Reclaim, memo::MemoKey};

/// Any thread may clone this value. Only with Python's lock may a thread clone a `Py`.
pub type Value<T = PyAny> = Arc<Py<T>>;

/// A collection with references to Python objects.
pub trait Foreign: Default + Send + Sync + 'static {
    fn take(&self);
    fn arm(&self, waker: Waker);

    fn armed() -> Arc<Self> {
        let all = Arc::new(Self::default());
        let death = Death(Arc::downgrade(&all));
        all.arm(Arc::new(death).into());
        all
    }
}

macro_rules! foreign {
    ($name:ident, $key:ident) => {
        impl<K: $key + 'static, V: 'static> Foreign for $name<K, V>
        where
            Self: Send + Sync,
        {
            fn take(&self) {
                drop(self.take_dead(usize::MAX));
            }

            fn arm(&self, waker: Waker) {
                self.set_reclaim(Reclaim::OnRequest);
                self.set_waker(Some(waker));
            }
        }
    };
}

foreign!(WeakMap, SharedKey);
foreign!(Memo, MemoKey);

type Due = Vec<Box<dyn FnOnce() + Send>>;
/// What takes from the collections with dead entries; nothing at the end of Python. No Python code
/// runs under this lock.
static DUE: Mutex<Option<Due>> = Mutex::new(Some(Vec::new()));
static IS_DUE: AtomicBool = AtomicBool::new(false);

struct Death<T>(Weak<T>);

impl<T: Foreign> Wake for Death<T> {
    /// Runs on the thread of the death, which may not have Python's lock.
    fn wake(self: Arc<Self>) {
        if let Some(due) = &mut *DUE.lock().unwrap() {
            due.push(Box::new(move || _ = self.0.upgrade().map(|all| all.take())));
            if !IS_DUE.swap(true, Ordering::AcqRel) {
                // If the queue of these calls is full, the next change of a collection settles.
                // SAFETY: Python runs, as `shutdown` needs the lock of the list. Any thread may ask
                // for a call.
                unsafe { ffi::Py_AddPendingCall(Some(pending_call), null_mut()) };
            }
        }
    }
}

extern "C" fn pending_call(_: *mut c_void) -> c_int {
    Python::attach(settle);
    0
}

/// Drops what dead entries own. Any Python code may run here.
pub fn settle(_: Python<'_>) {
    if IS_DUE.load(Ordering::Acquire) && IS_DUE.swap(false, Ordering::AcqRel) {
        let due = DUE.lock().unwrap().as_mut().map(take);
        due.into_iter().flatten().for_each(|take| take());
    }
}

/// The wakers do not call Python any more. What dead entries own is leaked from now on.
pub fn shutdown(py: Python<'_>) {
    settle(py);
    drop(DUE.lock().unwrap().take());
}
