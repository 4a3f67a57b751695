//! Deaths that cause deaths, on a small stack.

use std::sync::{Arc, Mutex};

use crate::common::{on_a_stack_of, scaled, sized};
use crate::faces::*;

for_each_owning!(
    kit: a_chain_is_purged,
    a_chain_is_dropped_by_its_first_removal_and_later_operations,
    a_chain_is_dropped_with_its_collection,
    a_chain_is_cleared,
);

const LONG: usize = sized(100_000, 20_000, 40);
/// Still more frames than a stack of that size can contain.
const SHORTER: usize = scaled(10_000, 20);

/// A chain of entries, each of which owns the life of the next; and the life of the first.
fn chain(
    kit: Kit<dyn Changing>,
    links: usize,
    count: &Count,
) -> (Box<dyn Changing>, Handle, usize) {
    // (A purge visits all entries for each that dies.)
    let links = if kit.notifies { links } else { links.min(500) };
    let all = kit.with_capacity(links);
    let mut head = None;
    for number in 0..links {
        let life = kit.life(number);
        let (next, count) = (Mutex::new(head.replace(life.clone())), count.clone());
        let ends: Ends = Arc::new(move |_| {
            count.add();
            drop(next.lock().unwrap().take());
        });
        all.enter(&life, &ends);
    }
    (all, head.unwrap(), links)
}

fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    on_a_stack_of(256 << 10, f);
}

/// C53: The whole chain.
fn a_chain_is_purged(kit: Kit<dyn Changing>) {
    on_a_small_stack(move || {
        let count = Count::default();
        let (all, head, links) = chain(kit, LONG, &count);
        drop(head);
        assert_eq!(count.get(), 0);
        all.purge();
        assert_eq!((count.get(), all.counts()), (links, (0, 0, 0)));
    });
}

/// C53: Each operation drains a part of it.
fn a_chain_is_dropped_by_its_first_removal_and_later_operations(kit: Kit<dyn Changing>) {
    on_a_small_stack(move || {
        let count = Count::default();
        let (all, head, links) = chain(kit, SHORTER, &count);
        assert!(all.leave(&head));
        drop(head);
        let absent = kit.life(links);
        for _ in 0..links {
            all.leave(&absent);
        }
        if kit.notifies {
            assert_eq!((count.get(), all.counts()), (links, (0, 0, 0)));
        } else {
            // At least one for each round.
            assert!(count.get() > 2, "{}", count.get());
            for _ in 0..links * links / 4 {
                all.leave(&absent);
            }
            assert_eq!((count.get(), all.counts()), (links, (0, 0, 0)));
        }
    });
}

/// C53, M168
fn a_chain_is_dropped_with_its_collection(kit: Kit<dyn Changing>) {
    on_a_small_stack(move || {
        let count = Count::default();
        let (all, head, links) = chain(kit, SHORTER, &count);
        drop((all, head));
        assert_eq!(count.get(), links);
    });
}

/// C53
fn a_chain_is_cleared(kit: Kit<dyn Changing>) {
    on_a_small_stack(move || {
        let count = Count::default();
        let (all, head, links) = chain(kit, SHORTER, &count);
        all.clear();
        assert_eq!((count.get(), all.counts()), (links, (0, 0, 0)));
        drop(head);
        assert_eq!(all.counts(), (0, 0, 0));
    });
}
