//! Late notices: an entry of a pair map whose sides have both died brings two, and is gone at the first. The second costs as
//! much, and is counted as the first.

use std::task::{Context, Waker};

use weakly::{Strong, WeakValueMap};

use crate::collections::*;
use crate::common::random::random;
use crate::common::subject::{ByValue, Paired};
use crate::common::watchdog::{assert_at_most, processor_time};
use crate::common::{scaled, sized};
use crate::heap;

/// How many notices an operation takes.
const NOTICES: usize = 16;
const MANY: usize = sized(1_000, 300, 20);

crate::subjects! {
    $ in [crate::collections];

    for_each_pair [atomic: Atomic, local: Local]
        [by_identity: PairsByValue, by_content: HashPairsByValue];
}

for_each_pair!(
    an_operation_takes_a_bounded_number,
    an_instalment_takes_no_more_than_it_is_asked_to,
    a_task_that_polls_takes_a_bounded_number,
    one_that_still_has_entries_is_found_not_empty_soon,
);

/// A collection of pairs, each side of which is an object of its own.
trait TwoSided: Single {
    /// Ends the other sides of these entries.
    fn end_others(&mut self, numbers: impl IntoIterator<Item = usize>);
}

impl<C, O> TwoSided for Paired<ByValue, C, O>
where
    Self: Single,
{
    fn end_others(&mut self, numbers: impl IntoIterator<Item = usize>) {
        let mut others = self.partners.0.lock().unwrap();
        for number in numbers {
            drop(others.remove(&number));
        }
    }
}

/// Orders in which the sides of entries die: the one after the other.
fn orders() -> [(Vec<usize>, Vec<usize>); 3] {
    let forth: Vec<_> = (1..=MANY).collect();
    let back: Vec<_> = forth.iter().rev().copied().collect();
    let mut mixed = forth.clone();
    for (at, with) in (1..MANY).zip(random(1)) {
        mixed.swap(at, with % (at + 1));
    }
    [
        (forth.clone(), forth.clone()),
        (forth, back.clone()),
        (mixed, back),
    ]
}

/// So many pairs that have died on both sides, in each order, and one that lives.
fn both_dead<C: TwoSided>() -> impl Iterator<Item = (C, C::Life)> {
    orders().into_iter().map(|(lives, others)| {
        let mut objects: Vec<Option<_>> = new_lives::<C::Life>(MANY + 1)
            .into_iter()
            .map(Some)
            .collect();
        let mut all = C::of(objects.iter().flatten(), &quietly());
        lives.into_iter().for_each(|number| objects[number] = None);
        all.end_others(others);
        assert_eq!(all.counts(), (1, 1, MANY));
        (all, objects.swap_remove(0).unwrap())
    })
}

/// How many blocks of memory are freed meanwhile: one for each notice.
fn freed<R>(act: impl FnOnce() -> R) -> (R, usize) {
    let before = heap::freed();
    let result = act();
    (result, heap::freed() - before)
}

/// D61: An operation takes 16 notices, and no more while nothing else is left.
fn an_operation_takes_a_bounded_number<C: TwoSided>() {
    let ends = quietly();
    let absent = C::Life::from(0);
    for has_waker in [false, true] {
        for (mut all, life) in both_dead::<C>() {
            if has_waker {
                all.set_waker(Some(Waker::noop().clone()));
            }
            let (mut left, mut turns) = (2 * MANY, 0);
            while left != 0 {
                turns += 1;
                let ((), freed) = freed(|| {
                    if turns % 2 == 0 || C::BY_CONTENT {
                        all.enter(&life, &ends);
                    } else {
                        assert!(!all.leave(&absent));
                    }
                });
                assert_eq!(freed, NOTICES.min(left), "of {left}");
                left -= freed;
            }
            assert_eq!(all.counts(), (1, 1, 0));
        }
    }
}

/// D61, 202: It counts late ones as well. So it says 0 only if nothing is left.
fn an_instalment_takes_no_more_than_it_is_asked_to<C: TwoSided>() {
    // One is left alone after instalments of the second size.
    for (most, has_waker) in [(30, false), (2 * MANY - 1, false), (2 * MANY - 1, true)] {
        for (mut all, _life) in both_dead::<C>() {
            all.set_waker(has_waker.then(|| Waker::noop().clone()));
            let mut left = 2 * MANY;
            while left != 0 {
                let (purged, freed) = freed(|| all.purge_some(most));
                assert_eq!((purged, freed), (most.min(left), most.min(left)));
                left -= purged;
            }
            assert_eq!((all.purge_some(most), all.counts()), (0, (1, 1, 0)));
        }
    }
}

/// D61, 238: Nor does a poll take more. What it leaves is pending for a purge, which leaves nothing.
fn a_task_that_polls_takes_a_bounded_number<C: TwoSided>() {
    for (mut all, _life) in both_dead::<C>() {
        // Now all that is left is late.
        while all.pending_dead() != 0 {
            assert_eq!(all.purge_some(1), 1);
        }
        let mut context = Context::from_waker(Waker::noop());
        let (poll, freed) = freed(|| all.poll_pending(&mut context));
        assert!(poll.is_ready() && freed <= NOTICES);
        all.purge();
        assert!(all.poll_pending(&mut context).is_pending());
    }
}

/// D61: The same of a map of values whose dead entries are replaced, the oldest of them first, which are taken last.
#[test]
fn entries_that_are_replaced() {
    let values: Vec<_> = (0..MANY).map(Strong::new).collect();
    let mut map: WeakValueMap<_, _> = (0..).zip(&values).collect();
    drop(values);
    let values: Vec<_> = (0..MANY).map(Strong::new).collect();
    for (key, value) in values.iter().enumerate() {
        let (old, freed) = freed(|| map.insert(key, value));
        assert!(old.is_none() && freed <= NOTICES, "{freed} at {key}");
    }
    assert_eq!((map.purge_some(1), map.len()), (0, MANY));
}

/// E82: Asked after each death, in the order of the table, of either side, of both or of one after the other: as long as
/// something lives, it need not count what has died. That would take a hundred million steps, where to insert as many
/// takes ten thousand.
fn one_that_still_has_entries_is_found_not_empty_soon<C: TwoSided>() {
    let many = scaled(5_000, 50);
    let began = processor_time();
    let lives = new_lives::<C::Life>(many);
    let mut all = C::of(&lives, &quietly());
    let inserted = processor_time();
    let in_order: Vec<_> = all.iter().collect();
    drop(lives);
    let mut entries = many;
    for life in in_order {
        assert!(!all.is_empty());
        let number = *life;
        match number % 3 {
            0 => drop(life),
            1 => all.end_others([number]),
            _ => {
                drop(life);
                all.end_others([number]);
            }
        }
        entries -= 1;
        assert_eq!(all.is_empty(), entries == 0);
    }
    assert_at_most(20, inserted - began, processor_time() - inserted);
    assert_eq!((all.len(), all.len_live()), (0, 0));
}
