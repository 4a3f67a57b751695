//! The wakers of collections: called once when something becomes pending, and again after a drain has left nothing
//! pending.
//!
//! * `waker/single.rs`: collections of one owner.
//! * `waker/shared.rs`: those that threads share.
//! * `waker/tasks.rs`: tasks that poll both.
//! * `waker/hostile.rs`: wakers that panic, purge, set a waker, or drop the collection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::task::{Wake, Waker};

use common::owned::Owned;
use common::subject::shared::Ends;
use weakly::{Strong, concurrent};

mod common;
#[path = "waker/hostile.rs"]
mod hostile;
#[path = "waker/shared.rs"]
mod shared;
#[path = "waker/single.rs"]
mod single;
#[path = "waker/tasks.rs"]
mod tasks;

/// Counts its calls.
#[derive(Default)]
struct Calls(AtomicUsize);

impl Calls {
    fn new() -> Arc<Self> {
        Arc::default()
    }

    fn waker(self: &Arc<Self>) -> Option<Waker> {
        Some(self.clone().into())
    }

    /// How many there have been since the last time. Acquire: a purge after this finds what woke.
    fn take(&self) -> usize {
        self.0.swap(0, Acquire)
    }
}

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Release);
    }
}

/// A closure as a waker.
struct Call<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Call<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

fn call(f: impl Fn() + Send + Sync + 'static) -> Option<Waker> {
    Some(Arc::new(Call(f)).into())
}

/// What the maps by identity in `common/subject` own of an entry: with this value the tests here have the same tables.
type Value = Arc<Owned<Ends>>;
type SharedMap = concurrent::WeakMap<Strong<usize>, Value>;

/// A value whose end runs this.
fn value(end: impl Fn() + Send + Sync + 'static) -> Value {
    let ends: Ends = Arc::new(move |_| end());
    Arc::new(Owned::new(0, &ends))
}

/// One that owns this, or nothing.
fn owns(handle: impl Send + Sync + 'static) -> Value {
    value(move || _ = &handle)
}

fn idle() -> Value {
    value(|| ())
}
