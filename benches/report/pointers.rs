//! The operations on pointers that are measured, each written once.

use std::hint::black_box;

use crate::chance::{Numbers, Turns, shuffle};
use crate::duel::{Sample, time_each};
use crate::peers::{Object, Pointer};
use crate::teams::alone;

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

/// Upgrades a weak handle and drops the strong one, for live objects in random order.
pub(crate) fn upgrade_drop<A, B>(objects: usize, operations: usize) -> [Sample; 2]
where
    A: Pointer<Target = u64>,
    B: Pointer<Target = u64>,
{
    let (ours, theirs) = alternately::<A, B>(&Numbers::default().take(objects));
    [upgrades(ours, operations), upgrades(theirs, operations)]
}

/// The same for one side, with these objects: some of them in each sample.
fn upgrades<P>(mut strong: Vec<P>, operations: usize) -> Sample
where
    P: Pointer<Target = u64>,
{
    shuffle(&mut strong);
    let weak: Vec<_> = strong.iter().map(P::downgrade).collect();
    let mut turns = Turns::new(weak.len(), operations);
    let (some, passes) = (turns.some(), operations.div_ceil(turns.some()));
    Box::new(move || {
        black_box(&strong);
        let weak = &weak[turns.next()..][..some];
        let pass = || {
            for weak in weak {
                drop(black_box(P::upgrade(black_box(weak))));
            }
        };
        alone(|| (0..passes).for_each(|_| pass())) / (passes * some) as f64
    })
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
