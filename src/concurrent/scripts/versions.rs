//! Results of objects that change in place, and invalidations.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Waker};
use std::sync::Arc;

use shuttle::future::block_on;
use shuttle::thread;

use super::*;
use crate::Memo;

/// The versions of two objects: of the key, and of the object on which each result depends.
type Versions = [usize; 2];

/// A memo whose results are the versions that a computation has read.
struct World {
    memo: Memo<Strong<Named>, Versions>,
    objects: [Strong<Named>; 2],
    versions: [AtomicUsize; 2],
    /// The versions with which the objects were invalidated last.
    invalidated: [AtomicUsize; 2],
}

impl World {
    fn read(&self) -> Versions {
        self.versions.each_ref().map(|version| {
            thread::yield_now();
            version.load(Relaxed)
        })
    }

    /// Changes an object, and then invalidates the results of the object.
    fn change(&self, at: usize) {
        let version = 1 + self.versions[at].fetch_add(1, Relaxed);
        thread::yield_now();
        self.memo.invalidate(&self.objects[at]);
        self.invalidated[at].fetch_max(version, Relaxed);
    }

    /// Asks for the result in one of several ways.
    fn ask(self: &Arc<Self>) -> Option<Versions> {
        let [key, other] = &self.objects;
        let compute = |cx: &crate::memo::Computation<'_>| {
            cx.depends_on(other);
            self.read()
        };
        let flight = || {
            let all = Arc::clone(self);
            self.memo
                .get_or_compute_async(key, move |_, dependencies| async move {
                    dependencies.depends_on(&all.objects[1]);
                    let mut pends = below(3);
                    core::future::poll_fn(|context| match pends {
                        0 => Poll::Ready(()),
                        _ => {
                            pends -= 1;
                            context.waker().wake_by_ref();
                            Poll::Pending
                        }
                    })
                    .await;
                    all.read()
                })
        };
        match below(6) {
            0 => self.memo.get(key),
            1 => Some(self.memo.get_or_compute(key, compute)),
            2 => Some(self.memo.get_or_compute_racing(key, compute)),
            3 => match pin!(flight()).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(got) => Some(got),
                Poll::Pending => None,
            },
            _ => Some(block_on(flight())),
        }
    }
}

/// Threads and tasks compute results, while objects change in place. A request that begins after an
/// invalidation gets no result of an older version.
#[test]
fn invalidations() {
    check(|| {
        let live = Live::default();
        let world = Arc::new(World {
            memo: Memo::new(),
            objects: [0, 1].map(|name| live.object(name)),
            versions: Default::default(),
            invalidated: Default::default(),
        });
        let all = Arc::clone(&world);
        on_threads(3, move |_| {
            for _ in 0..4 {
                if below(3) == 0 {
                    all.change(below(2) as usize);
                    continue;
                }
                let least = all
                    .invalidated
                    .each_ref()
                    .map(|version| version.load(Relaxed));
                if let Some(got) = all.ask() {
                    let is_new = got.iter().zip(&least).all(|(got, least)| got >= least);
                    assert!(is_new, "{got:?} after an invalidation of {least:?}");
                }
            }
        });
        let (got, now) = (world.memo.get(&world.objects[0]), world.read());
        assert!(
            got.is_none_or(|got| got == now),
            "{got:?} is kept of {now:?}"
        );
        drop(world);
        assert_eq!(live.count(), 0);
    });
}
