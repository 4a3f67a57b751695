//! Attributes that threads share.

use std::sync::Barrier;
use std::thread;

use weakly::Attributes;

use crate::common::scaled;
use crate::for_each_pointer;
use crate::namespaces::{Depth, First, elsewhere};
use crate::tools::{Count, Pointer, objects};

const THREADS: usize = scaled(4, 2);
const STEPS: usize = scaled(2_000, 30);

for_each_pointer!(no_change_is_lost, clear_against_insertions,);

/// Runs a closure on all threads at once, with their numbers.
fn on_threads(run: impl Fn(usize) + Sync) {
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (run, barrier) = (&run, &barrier);
            scope.spawn(move || {
                barrier.wait();
                run(thread);
            });
        }
    });
}

fn next(old: Option<&usize>) -> Option<usize> {
    Some(old.map_or(1, |old| old + 1))
}

/// 157: Of those that threads make to one attribute, or to different ones of one object.
fn no_change_is_lost<P: Pointer>() {
    let (attributes, object) = (Attributes::<P>::new(), P::from(1));
    on_threads(|thread| {
        for step in 0..STEPS {
            attributes.compute(&object, Depth, next);
            if thread == 0 {
                let new = attributes.insert(&object, elsewhere::Depth, step);
                assert!(new, "no other thread sets this one");
                assert_eq!(attributes.remove(&object, elsewhere::Depth), Some(step));
            }
        }
    });
    assert_eq!(attributes.get(&object, Depth), Some(THREADS * STEPS));
    assert_eq!((attributes.len(), attributes.list(&object).len()), (1, 1));
}

/// 167: In the end each value has been dropped once.
fn clear_against_insertions<P: Pointer>() {
    let (attributes, destroyed) = (Attributes::<P>::new(), Count::default());
    let common = objects::<P>(8);
    on_threads(|thread| {
        for step in 0..STEPS {
            let own = P::from(step);
            attributes.insert(&own, elsewhere::Depth, step);
            attributes.insert(&common[step % 8], First, destroyed.doomed());
            attributes.insert(&own, First, destroyed.doomed());
            if step % 16 == thread {
                attributes.clear();
            }
            // The attributes of one object are listed completely, or not at all.
            let listed = attributes.list(&own).len();
            assert!(listed <= 2 && attributes.list(&common[step % 8]).len() <= 1);
        }
    });
    attributes.clear();
    assert_eq!((attributes.len(), attributes.pending_dead()), (0, 0));
    drop(attributes);
    assert_eq!(destroyed.get(), 2 * THREADS * STEPS);
}
