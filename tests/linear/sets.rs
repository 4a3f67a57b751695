//! The sets, and the interner.

use std::cell::Cell;
use std::sync::Arc;

use weakly::concurrent::{Interner, WeakHashSet, WeakSet};

use super::spec::{Entry, Then, Was, only};
use super::turn::{Face, Turn, whole};
use super::world::{Hand, Handle, World};

/// What inserts an element.
fn put(element: u32) -> Then {
    let lives = only(element);
    Then::Put(Entry {
        value: element,
        lives,
    })
}

/// `$by` is what elements are told apart by. `$act` is what is not alike.
macro_rules! sets {
    ($($set:ty, $by:ident, $operations:expr, $retain:expr;
       |$all:ident, $turn:ident, $hand:ident, $key:ident, $operation:ident| $act:expr;
       fill: |$to:ident, $object:ident| $fill:expr;)*) => {$(
        impl<K: Handle> Face<K> for $set {
            fn operations(&self) -> usize {
                $operations
            }

            fn key(&self, hand: &Hand<K>) -> u32 {
                hand.$by
            }

            fn act(&self, $turn: &Turn<K>, $hand: &Hand<K>, $operation: usize) {
                let ($all, $key) = (self, $hand.$by);
                $act
            }

            fn look(&self, turn: &Turn<K>, hand: &Hand<K>) -> bool {
                turn.finds(hand.$by, &mut || self.get(hand).map(|element| turn.receive(element)))
            }

            fn fill(&self, _: &Arc<World>, $object: &K) {
                let $to = self;
                $fill;
            }

            fn each(&self, see: &mut dyn FnMut(u32, u32, Option<u32>)) -> bool {
                for element in self {
                    see(element.$by, element.number, None);
                }
                true
            }

            fn retain_some(&self, keep: &mut dyn FnMut(u32, u32) -> bool) {
                let retain: fn(&Self, &mut dyn FnMut(&K) -> bool) = $retain;
                retain(self, &mut |element| keep(element.$by, element.number));
            }

            fn owned(&self, _: usize) -> usize {
                0
            }

            whole!($set);
        }
    )*};
}

sets! {
    WeakSet<K>, number, 8, |all, keep| all.retain(keep);
    |all, turn, hand, key, operation| {
        let got = |element: Option<K>| element.map(|element| turn.receive(element));
        match (operation, &hand.strong) {
            (4.., Some(object)) => {
                turn.asks(key, "insert", put(object.number), &mut || !all.insert(object));
            }
            (1 | 5, _) => turn.asks(key, "contains", Then::Nothing, &mut || all.contains(hand)),
            (2 | 6, _) => turn.asks(key, "remove", Then::Clear, &mut || all.remove(hand)),
            (3 | 7, _) => turn.asks(key, "take", Then::Clear, &mut || got(all.take(hand))),
            _ => _ = all.look(turn, hand),
        }
    };
    fill: |all, object| all.insert(object);

    WeakHashSet<K>, content, 8, |all, keep| all.retain(keep);
    |all, turn, hand, key, operation| {
        let got = |element: Option<K>| element.map(|element| turn.receive(element));
        match (operation, &hand.strong) {
            (4..7, Some(object)) => turn.does(key, "insert", &mut || match all.insert(object) {
                true => (Was::Nothing, put(object.number)),
                false => (Was::Something, Then::Nothing),
            }),
            (7, Some(object)) => {
                turn.asks(key, "replace", put(object.number), &mut || got(all.replace(object)));
            }
            (1 | 5, _) => turn.asks(key, "contains", Then::Nothing, &mut || all.contains(hand)),
            (2 | 6, _) => turn.asks(key, "remove", Then::Clear, &mut || all.remove(hand)),
            (3 | 7, _) => turn.asks(key, "take", Then::Clear, &mut || got(all.take(hand))),
            _ => _ = all.look(turn, hand),
        }
    };
    fill: |all, object| all.insert(object);

    Interner<K>, content, 4, |_, _| ();
    |all, turn, hand, key, operation| match (operation, &hand.strong) {
        (1, Some(object)) => turn.does(key, "intern", &mut || {
            let there = turn.receive(all.intern(object.clone()));
            if there == object.number {
                return (Was::NothingOr(there), put(there));
            }
            (Some(there).into(), Then::Nothing)
        }),
        (2 | 3, _) => turn.does(key, "intern_with", &mut || {
            let made = Cell::new(None);
            let there = all.intern_with(hand, |_| {
                turn.pause();
                let new = turn.object(hand.content);
                made.set(Some(new.number));
                new
            });
            let there = turn.receive(there);
            if made.get() == Some(there) {
                return (Was::Nothing, put(there));
            }
            (Some(there).into(), Then::Nothing)
        }),
        _ => _ = all.look(turn, hand),
    };
    fill: |all, object| drop(all.intern(object.clone()));
}
