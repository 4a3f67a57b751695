//! Attributes that threads share.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use weakly::{Attribute, Attributes, Strong};

use crate::common::scaled;
use crate::for_each_pointer;
use crate::keys;
use crate::tools::{Count, Pointer, Witness, objects};

keys!(Common: usize, Mine: usize, Kept: Witness);

const THREADS: usize = scaled(4, 2);
const STEPS: usize = scaled(2_000, 30);

for_each_pointer!(
    no_update_is_lost,
    no_update_of_a_namespace_is_lost,
    one_thread_computes_it,
    clear_against_setters,
    clear_of_a_namespace_against_setters,
);

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

/// 157: Of those that threads make to one value.
fn no_update_is_lost<P: Pointer>() {
    let (attribute, object) = (Attribute::<P, usize>::new(), P::from(1));
    on_threads(|_| {
        let mut last = 0;
        for _ in 0..STEPS {
            let now = attribute.update(&object, next).unwrap();
            assert!(now > last, "each is given out once");
            last = now;
        }
    });
    assert_eq!(attribute.get(&object), Some(THREADS * STEPS));
    assert_eq!(attribute.len(), 1);
}

/// 157: Nor of those that they make to different attributes of one object.
fn no_update_of_a_namespace_is_lost<P: Pointer>() {
    let (attributes, object) = (Attributes::<P>::new(), P::from(1));
    on_threads(|thread| {
        for step in 0..STEPS {
            attributes.update(&object, Common, next);
            if thread == 0 {
                let new = attributes.set(&object, Mine, step);
                assert!(new, "no other thread sets this one");
                assert_eq!(attributes.take(&object, Mine), Some(step));
            }
        }
    });
    assert_eq!(attributes.get(&object, Common), Some(THREADS * STEPS));
    assert_eq!((attributes.len(), attributes.list(&object).len()), (1, 1));
}

/// 158: And all get its value.
fn one_thread_computes_it<P: Pointer>() {
    for _ in 0..scaled(200, 2) {
        let (attribute, made) = (Attribute::<P, usize>::new(), Count::default());
        let all = objects::<P>(4);
        on_threads(|_| {
            for object in &all {
                let got = attribute.get_or_init(object, || {
                    made.add();
                    thread::yield_now();
                    **object
                });
                assert_eq!(got, **object);
            }
        });
        assert_eq!((made.get(), attribute.len()), (4, 4));
    }
}

/// 167: A value that was set before `clear` is gone; in the end each value has been dropped once.
fn clear_against_setters<P: Pointer>() {
    let (attribute, destroyed) = (Attribute::<P, Witness>::new(), Count::default());
    let common = objects::<P>(8);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                attribute.clear();
            }
        });
        on_threads(|_| {
            for step in 0..STEPS {
                let own = P::from(step);
                attribute.set(&common[step % 8], destroyed.witness());
                attribute.set(&own, destroyed.witness());
            }
        });
        stop.store(true, Relaxed);
    });
    let before = destroyed.get();
    assert!(before <= 2 * THREADS * STEPS);
    attribute.clear();
    assert_eq!((attribute.len(), attribute.pending_dead()), (0, 0));
    drop(attribute);
    assert_eq!(destroyed.get(), 2 * THREADS * STEPS);
}

/// 167: Likewise.
fn clear_of_a_namespace_against_setters<P: Pointer>() {
    let (attributes, destroyed) = (Attributes::<P>::new(), Count::default());
    let common = objects::<P>(8);
    on_threads(|thread| {
        for step in 0..STEPS {
            let own = P::from(step);
            attributes.set(&own, Mine, step);
            attributes.set(&common[step % 8], Kept, destroyed.witness());
            attributes.set(&own, Kept, destroyed.witness());
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

/// A static attribute, used by all threads, on objects that come and go.
#[test]
fn a_static_one() {
    static ORDER: Attribute<Strong<usize>, usize> = Attribute::new();
    let common = objects::<Strong<usize>>(4);
    on_threads(|thread| {
        for step in 0..STEPS {
            let own = Strong::new(step);
            assert!(ORDER.set(&own, thread));
            ORDER.update(&common[step % 4], next);
            assert_eq!(ORDER.get(&*own), Some(thread));
        }
    });
    ORDER.purge();
    assert_eq!((ORDER.len(), ORDER.pending_dead()), (4, 0));
    let sum: usize = common.iter().filter_map(|object| ORDER.get(object)).sum();
    assert_eq!(sum, THREADS * STEPS);
}
