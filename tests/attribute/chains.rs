//! Very many objects, and values that own the next object: nothing recurses, and each value is dropped once.

use std::marker::PhantomData;

use weakly::{AttributeKey, Attributes};

use crate::common::{on_a_stack_of, scaled, sized};
use crate::for_each_pointer;
use crate::tools::{Count, Doomed, Pointer, objects};

for_each_pointer!(a_namespace_ends);

const MANY: usize = sized(100_000, 10_000, 50);

/// Without notices, a chain takes one sweep for each of its links.
fn many<P: Pointer>(linked: bool) -> usize {
    if linked && !P::NOTIFIES {
        scaled(1_000, 50)
    } else {
        MANY
    }
}

/// Names the next object, and a value whose end is counted.
struct Next<P>(PhantomData<P>);

impl<P: Pointer> AttributeKey for Next<P> {
    type Value = (Option<P>, Doomed);
}

/// Ends attributes of many objects, each of which owns the next if they are `linked`.
fn ends<P: Pointer>(linked: bool, end: fn(&Attributes<P>, Vec<P>)) {
    let destroyed = Count::default();
    let many = many::<P>(linked);
    let (links, all) = (Attributes::new(), objects::<P>(many));
    for (at, object) in all.iter().enumerate() {
        let next = all.get(at + 1).filter(|_| linked).cloned();
        links.insert(object, Next(PhantomData), (next, destroyed.doomed()));
    }
    assert_eq!((links.len(), destroyed.get()), (many, 0));
    // On a stack too small for recursion.
    let run = move || {
        end(&links, all);
        drop(links);
    };
    on_a_stack_of(64 * 1024 * scaled(1, 8), run);
    assert_eq!(destroyed.get(), many);
}

/// 168
fn a_namespace_ends<P: Pointer>() {
    type End<P> = fn(&Attributes<P>, Vec<P>);
    let ways: [End<P>; 4] = [
        // All at the end of the namespace.
        |_, all| drop(all),
        // First the deaths, then their consequences.
        |links, all| {
            drop(all);
            links.purge();
            assert_eq!(links.len(), 0);
        },
        // All at once, while the objects live.
        |links, all| {
            links.clear();
            assert_eq!(links.len(), 0);
            drop(all);
        },
        // All at once, while only the values of other objects keep them alive.
        |links, all| {
            drop(all);
            links.clear();
            assert_eq!(links.len(), 0);
        },
    ];
    for linked in [false, true] {
        for way in ways {
            ends::<P>(linked, way);
        }
    }
}
