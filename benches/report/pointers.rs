//! The operations on pointers that are measured, each written once.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire};
use std::thread;
use std::time::Instant;

use crate::chance::{Numbers, shuffle};
use crate::duel::{Sample, time, time_each};
use crate::peers::{Object, Pointer};

/// How often two threads try to start together.
const TRIES: usize = 50;

/// An object without weak handles or entries is made and dropped.
pub(crate) fn new_drop<P>(operations: usize, payload: P::Payload) -> Sample
where
    P: Object<Payload: Copy>,
{
    Box::new(move || time_each(operations, || drop(black_box(P::new(black_box(payload))))))
}

/// Clones a handle and drops the clone; `watched` by a weak handle or not.
pub(crate) fn clone_drop<P>(operations: usize, payload: P::Target, watched: bool) -> Sample
where
    P: Pointer,
{
    let strong = P::new(payload);
    let weak = watched.then(|| P::downgrade(&strong));
    Box::new(move || {
        black_box(&weak);
        time_each(operations, || drop(black_box(black_box(&strong).clone())))
    })
}

/// The same by two threads that start together, on one object: the time of the slower.
pub(crate) fn contended<P>(operations: usize) -> Sample
where
    P: Pointer<Target = u64> + Send + Sync,
{
    let strong = P::new(7);
    let race = move || {
        let ready = AtomicUsize::new(0);
        let run = || {
            ready.fetch_add(1, AcqRel);
            while ready.load(Acquire) < 2 {
                spin_loop();
            }
            let start = Instant::now();
            let each = time_each(operations, || drop(black_box(black_box(&strong).clone())));
            (start, each)
        };
        let ((one, mine), (two, other)) = thread::scope(|scope| {
            let other = scope.spawn(run);
            (run(), other.join().expect("it only counts"))
        });
        let apart = one.max(two) - one.min(two);
        (mine.max(other), apart.as_nanos() as f64)
    };
    // If another process has taken a processor, the two threads have hardly overlapped: try again.
    let together = move |&(each, apart): &(f64, f64)| apart * 10.0 < each * operations as f64;
    Box::new(move || {
        let mut races = (0..TRIES).map(|_| race());
        races.find(together).unwrap_or_else(&race).0
    })
}

/// Upgrades a weak handle and drops the strong one, for live objects in random order.
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
    let (ours, theirs) = alternately(&Numbers::default().take(objects));
    [
        sample::<A>(ours, operations),
        sample::<B>(theirs, operations),
    ]
}

/// Objects of both sides, allocated alternately, so that neither has the better memory layout. Which of a pair
/// is the first alternates: else all objects of one side might straddle two cache lines, and none of the
/// other's.
pub(crate) fn alternately<A, B>(numbers: &[u64]) -> (Vec<A>, Vec<B>)
where
    A: Object<Payload = u64>,
    B: Object<Payload = u64>,
{
    numbers
        .iter()
        .map(|&number| in_turn(number, || A::new(number), || B::new(number)))
        .unzip()
}

/// Makes both, in an order that the number decides.
pub(crate) fn in_turn<A, B>(
    number: u64,
    ours: impl FnOnce() -> A,
    theirs: impl FnOnce() -> B,
) -> (A, B) {
    if number & 1 == 0 {
        let ours = ours();
        (ours, theirs())
    } else {
        let theirs = theirs();
        (ours(), theirs)
    }
}
