//! What is measured of pointers: each operation once, for any of them.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire};
use std::thread;

use crate::duel::{Sample, shuffle, time, time_each};
use crate::peers::Pointer;

/// An object that nobody watches is born and dies.
pub(crate) fn new_drop<P: Pointer<Target = u64>>(operations: usize) -> Sample {
    Box::new(move || time_each(operations, || drop(black_box(P::new(black_box(7))))))
}

/// One more handle and one less; `watched` by a weak handle or not.
pub(crate) fn clone_drop<P: Pointer<Target = u64>>(operations: usize, watched: bool) -> Sample {
    let strong = P::new(7);
    let weak = watched.then(|| P::downgrade(&strong));
    Box::new(move || {
        black_box(&weak);
        time_each(operations, || drop(black_box(black_box(&strong).clone())))
    })
}

/// The same by two threads that begin together, on one object: the time of the slower.
pub(crate) fn contended<P>(operations: usize) -> Sample
where
    P: Pointer<Target = u64> + Send + Sync,
{
    let strong = P::new(7);
    Box::new(move || {
        let ready = AtomicUsize::new(0);
        let run = || {
            ready.fetch_add(1, AcqRel);
            while ready.load(Acquire) < 2 {
                spin_loop();
            }
            time_each(operations, || drop(black_box(black_box(&strong).clone())))
        };
        thread::scope(|scope| {
            let other = scope.spawn(run);
            run().max(other.join().expect("it only counts"))
        })
    })
}

/// A strong handle for a moment, from a weak one, of live objects in random order.
pub(crate) fn upgrade_drop<A, B>(objects: usize, operations: usize) -> [Sample; 2]
where
    A: Pointer<Target = u64>,
    B: Pointer<Target = u64>,
{
    fn sample<P: Pointer<Target = u64>>(mut strong: Vec<P>, operations: usize) -> Sample {
        shuffle(&mut strong);
        let weak: Vec<_> = strong.iter().map(P::downgrade).collect();
        let passes = operations.div_ceil(weak.len());
        Box::new(move || {
            black_box(&strong);
            let pass = || {
                for weak in &weak {
                    drop(black_box(P::upgrade(black_box(weak))));
                }
            };
            time(|| (0..passes).for_each(|_| pass())) / (passes * weak.len()) as f64
        })
    }
    let (ours, theirs) = alternately(objects);
    [
        sample::<A>(ours, operations),
        sample::<B>(theirs, operations),
    ]
}

/// Objects of both sides, made in turn, so that neither has the better place in memory.
pub(crate) fn alternately<A, B>(objects: usize) -> (Vec<A>, Vec<B>)
where
    A: Pointer<Target = u64>,
    B: Pointer<Target = u64>,
{
    (0..objects as u64)
        .map(|number| (A::new(number), B::new(number)))
        .unzip()
}
