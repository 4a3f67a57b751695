//! Deaths that cause deaths, on a small stack.

use std::sync::{Arc, Mutex};

use crate::common::{on_a_stack_of, scaled, sized};
use crate::faces::*;

for_each_owning!(kit: a_chain_goes_without_a_deep_stack);

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

/// 53, 168: However it goes: by a purge, with its collection, by `clear`; or in parts, by operations.
fn a_chain_goes_without_a_deep_stack(kit: Kit<dyn Changing>) {
    let ends: [fn(Kit<dyn Changing>, Box<dyn Changing>, Handle); 4] = [
        |_, all, head| {
            drop(head);
            all.purge();
            assert_eq!(all.counts(), (0, 0, 0));
        },
        |_, all, head| drop((all, head)),
        |_, all, _head| all.clear(),
        |kit, all, head| {
            assert!(all.leave(&head));
            drop(head);
            let absent = kit.life(0);
            while all.len() + all.pending_dead() != 0 {
                all.leave(&absent);
            }
        },
    ];
    for (end, links) in ends.into_iter().zip([LONG, SHORTER, SHORTER, SHORTER]) {
        on_a_stack_of(256 << 10, move || {
            let count = Count::default();
            let (all, head, links) = chain(kit, links, &count);
            assert_eq!(count.get(), 0);
            end(kit, all, head);
            assert_eq!(count.get(), links);
        });
    }
}
