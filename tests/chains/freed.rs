//! The recipe of the guide for what is to be freed at the death: a waker that purges.

use std::sync::{Arc, Barrier, Weak};
use std::task::Wake;
use std::thread;

use weakly::{Memo, Strong};

use crate::common::scaled;
use crate::tools::{Count, Doomed};

type Buffers = Memo<Strong<usize>, Arc<Doomed>>;

struct FreesAtTheDeath(Weak<Buffers>);

impl Wake for FreesAtTheDeath {
    fn wake(self: Arc<Self>) {
        if let Some(buffers) = self.0.upgrade() {
            buffers.purge();
        }
    }
}

fn buffers() -> Arc<Buffers> {
    let buffers = Arc::new(Buffers::new());
    let waker = Arc::new(FreesAtTheDeath(Arc::downgrade(&buffers)));
    buffers.set_waker(Some(waker.into()));
    buffers
}

/// 556: The result goes in the call that drops the last handle, with what was computed from it. Nobody uses the memo again.
#[test]
fn a_result_is_freed_at_the_death() {
    let (buffers, freed) = (buffers(), Count::default());
    for round in 0..10 {
        let [object, user] = [1, 2].map(Strong::new);
        let of_object = || buffers.get_or_compute(&object, |_| Arc::new(freed.doomed()));
        drop(buffers.get_or_compute(&user, |_| {
            drop(of_object());
            Arc::new(freed.doomed())
        }));
        drop(object);
        assert_eq!((freed.get(), buffers.len()), (2 * round + 2, 0));
    }
}

/// 556: Of deaths on several threads at once, none is overlooked.
#[test]
fn no_death_is_overlooked() {
    for threads in [2, 4, 8] {
        let (buffers, freed) = (buffers(), Count::default());
        let deaths = scaled(16_000, 100) / threads;
        let barrier = Barrier::new(threads);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let objects: Vec<_> = (0..deaths).map(Strong::new).collect();
                    for object in &objects {
                        drop(buffers.get_or_compute(object, |_| Arc::new(freed.doomed())));
                    }
                    barrier.wait();
                    drop(objects);
                });
            }
        });
        assert_eq!((freed.get(), buffers.pending_dead()), (threads * deaths, 0));
    }
}
