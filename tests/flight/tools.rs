//! An executor by hand, and futures that do what a test wants.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use crate::watchdog::watched;

/// Counts how often it is called.
#[derive(Default)]
pub(crate) struct Woken(AtomicUsize);

impl Woken {
    pub(crate) fn take(&self) -> usize {
        self.0.swap(0, SeqCst)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A task that the test polls itself.
pub(crate) struct Task<F> {
    future: Pin<Box<F>>,
    woken: Arc<Woken>,
}

impl<F: Future> Task<F> {
    pub(crate) fn new(future: F) -> Self {
        Task {
            future: Box::pin(future),
            woken: Arc::default(),
        }
    }

    /// Of what is pending.
    pub(crate) fn pending(future: F) -> Self {
        let mut task = Task::new(future);
        assert!(task.poll().is_pending());
        task
    }

    pub(crate) fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(Arc::clone(&self.woken));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// For a task that goes on elsewhere.
    pub(crate) fn poll_by(&mut self, context: &mut Context<'_>) -> Poll<F::Output> {
        self.future.as_mut().poll(context)
    }

    /// What its waker counts.
    pub(crate) fn wakes(&self) -> Arc<Woken> {
        Arc::clone(&self.woken)
    }

    /// How often it was woken since it was asked last.
    pub(crate) fn woken(&self) -> usize {
        self.woken.take()
    }
}

pub(crate) fn tasks<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<Task<F>> {
    futures.into_iter().map(Task::new).collect()
}

struct Unpark(Thread, AtomicUsize);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.store(1, SeqCst);
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread. It is polled when it was woken, and otherwise not: a lost wake-up is an error.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let unpark = Arc::new(Unpark(thread::current(), AtomicUsize::new(1)));
    let waker = Waker::from(Arc::clone(&unpark));
    let _watched = watched("a task that nobody wakes");
    loop {
        if unpark.1.swap(0, SeqCst) == 1 {
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return value;
            }
        } else {
            thread::park();
        }
    }
}

/// Pends so many times, and wakes itself.
pub(crate) async fn yields(mut times: usize) {
    poll_fn(|context| {
        if times == 0 {
            return Poll::Ready(());
        }
        times -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Something that a test lets happen. It wakes who waited last, as a socket does.
#[derive(Default)]
pub(crate) struct Event(Mutex<(usize, Option<Waker>)>);

impl Event {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Lets one wait end.
    pub(crate) fn happen(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap();
            state.0 += 1;
            state.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    pub(crate) async fn wait(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap();
            if state.0 > 0 {
                state.0 -= 1;
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Counts one when it is dropped.
pub(crate) struct Counts(pub(crate) Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// What a panic has said.
pub(crate) fn message(payload: Box<dyn std::any::Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload
            .downcast_ref::<&str>()
            .map_or("?".into(), |text| (*text).into()),
    }
}
