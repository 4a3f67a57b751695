//! Inputs by handles of a user's own, whose methods run code.

use std::cell::RefCell;
use std::future::{Future, ready};
use std::pin::pin;
use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;

use weakly::reference::{Identify, Identity, StrongRef, Swept, WeakKey, WeakRef};
use weakly::{Memo, Strong};

type Numbers = Memo<Strong<usize>, usize>;
type Action = Box<dyn FnMut()>;

thread_local! {
    /// What the thread runs when a handle is asked for its address, or a weak handle is dropped.
    static ON_ADDR: RefCell<Option<Action>> = const { RefCell::new(None) };
    static ON_DROP: RefCell<Option<Action>> = const { RefCell::new(None) };
}

fn run(action: &'static thread::LocalKey<RefCell<Option<Action>>>) {
    if let Some(mut running) = action.take() {
        running();
        action.set(Some(running));
    }
}

#[derive(Clone)]
struct Handle(Arc<usize>);

#[derive(Clone)]
struct WeakHandle(Weak<usize>);

impl Handle {
    fn new(number: usize) -> Self {
        Handle(Arc::new(number))
    }
}

impl Drop for WeakHandle {
    fn drop(&mut self) {
        run(&ON_DROP);
    }
}

#[allow(unsafe_code)]
// SAFETY: as `Arc` itself.
unsafe impl WeakKey for Handle {
    type Watch = Swept<Self>;
    type Weak = WeakHandle;
    fn downgrade(this: &Self) -> WeakHandle {
        WeakHandle(Arc::downgrade(&this.0))
    }
    fn addr(this: &Self) -> *const () {
        run(&ON_ADDR);
        Arc::as_ptr(&this.0).cast()
    }
}

#[allow(unsafe_code)]
// SAFETY: likewise.
unsafe impl StrongRef for Handle {
    type Target = usize;
}

impl std::ops::Deref for Handle {
    type Target = usize;
    fn deref(&self) -> &usize {
        &self.0
    }
}

#[allow(unsafe_code)]
// SAFETY: likewise.
unsafe impl WeakRef for WeakHandle {
    type Strong = Handle;
    fn upgrade(&self) -> Option<Handle> {
        self.0.upgrade().map(Handle)
    }
    fn addr(&self) -> *const () {
        run(&ON_ADDR);
        self.0.as_ptr().cast()
    }
}

impl Identity for WeakHandle {
    fn identity(this: &Self) -> *const () {
        Identity::identity(&this.0)
    }
}

impl Identify<Handle> for WeakHandle {
    fn addr(this: &Self) -> *const () {
        this.0.as_ptr().cast()
    }
}

/// 561: The code of such a handle asks a memo, while the handle is added to the inputs: the code is no part of the
/// computation, and waits for no lock that the thread holds.
#[test]
fn a_handle_that_asks_a_memo() {
    static MEMO: Numbers = Numbers::new();
    let (sums, asked, other) = (Numbers::new(), Strong::new(1), Strong::new(2));
    MEMO.insert(&asked, 7);
    let handles: Vec<_> = (0..40).map(Handle::new).collect();
    let sum = || {
        sums.get_or_compute(&other, |cx| {
            let asked = asked.clone();
            let asks = move || assert!(MEMO.get(&asked).is_some());
            ON_ADDR.set(Some(Box::new(asks.clone())));
            ON_DROP.set(Some(Box::new(asks)));
            for _ in 0..2 {
                handles.iter().for_each(|handle| cx.depends_on(handle));
            }
            ON_ADDR.set(None);
            ON_DROP.set(None);
            assert_eq!(format!("{cx:?}"), "Computation { dependencies: 40 }");
            1
        })
    };
    assert_eq!(sum(), 1);
    MEMO.clear();
    assert_eq!(sums.get(&other), Some(1));
}

/// 562: A part of a computation gets a result, and stalls while it adds the inputs of this result. Another part gets the
/// same result meanwhile: the end of the computation does not miss an input.
#[test]
fn two_parts_that_ask_for_one_result() {
    let (memo, sums) = (Numbers::new(), Numbers::new());
    let (key, other) = (Strong::new(1), Strong::new(2));
    let (one, second) = (Handle::new(3), Handle::new(4));
    memo.get_or_compute(&key, |cx| {
        cx.depends_on(&one);
        cx.depends_on(&second);
        7
    });
    let mut context = Context::from_waker(Waker::noop());
    thread::scope(|scope| {
        let ((stalls, stalled), (goes_on, go_on)) = (channel(), channel::<()>());
        let (memo, key) = (&memo, &key);
        let asked = sums.get_or_compute_async(&other, |_, dependencies| {
            dependencies.depends_on(&one);
            let part = dependencies.enter(async move { memo.get(key) });
            scope.spawn(move || {
                // The list has the first handle already, and drops another weak handle.
                let stall = move || {
                    _ = stalls.send(());
                    _ = go_on.recv();
                };
                ON_DROP.set(Some(Box::new(stall)));
                let polled = pin!(part).poll(&mut Context::from_waker(Waker::noop()));
                ON_DROP.set(None);
                assert_eq!(polled, Poll::Ready(Some(7)));
            });
            stalled.recv().unwrap();
            ready(memo.get(key).unwrap())
        });
        assert_eq!(pin!(asked).poll(&mut context), Poll::Ready(7));
        assert_eq!(sums.get(&other), Some(7));
        drop(goes_on);
    });
    drop(second);
    assert_eq!((sums.get(&other), memo.get(&key)), (None, None));
}
