//! The maps that own their values.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use weakly::concurrent::{WeakHashMap, WeakMap};

use super::spec::{Entry, Then, only};
use super::turn::{Face, Turn, whole};
use super::world::{Hand, Handle, Owned, World};

/// How many operations on a key make no value.
const PLAIN: usize = 14;

/// `$by` is what a key is told apart by.
macro_rules! owning {
    ($($map:ty, $by:ident;)*) => {$(
        impl<K: Handle> Face<K> for $map {
            fn operations(&self) -> usize {
                18
            }

            fn key(&self, hand: &Hand<K>) -> u32 {
                hand.$by
            }

            fn act(&self, turn: &Turn<K>, hand: &Hand<K>, operation: usize) {
                let key = hand.$by;
                let removed = |entry: Option<(K, Owned)>| {
                    entry.map(|(life, value)| (turn.receive(life), value.number))
                };
                match operation {
                    0 => {
                        self.look(turn, hand);
                        return;
                    }
                    1 => return turn.asks(key, "contains", Then::Nothing, &mut || self.contains_key(hand)),
                    2 => return turn.asks(key, "entry", Then::Nothing, &mut || removed(self.get_key_value(hand))),
                    3 => return turn.asks(key, "with", Then::Nothing, &mut || {
                        self.with(hand, |value| {
                            turn.pause();
                            value.number
                        })
                    }),
                    4 => return turn.asks(key, "remove", Then::Clear, &mut || {
                        self.remove(hand).map(|value| value.number)
                    }),
                    5 => return turn.asks(key, "remove_entry", Then::Clear, &mut || removed(self.remove_entry(hand))),
                    6 | 7 => return turn.may_remove(key, operation == 6, &mut |show| {
                        self.remove_if(hand, |value| show(value.number))
                    }),
                    _ => {}
                }
                let Some(object) = &hand.strong else {
                    return self.act(turn, hand, operation % 8);
                };
                let lives = only(object.number);
                if operation >= PLAIN {
                    let meanwhile = || self.act(turn, hand, turn.choose(PLAIN));
                    return turn.flies(key, lives, &meanwhile, &mut |flight| {
                        let make = |_: &_| flight.makes(&mut || turn.owned(key));
                        let made = self.try_get_or_insert_with(object, make).ok()?;
                        Some((made.number, 0))
                    });
                }
                let put = |value: &Owned| {
                    let value = value.number;
                    Then::Put(Entry { value, lives })
                };
                match operation {
                    13 => {
                        let hands = turn.hands.borrow();
                        let from = &hands[turn.choose(hands.len())];
                        turn.transfers([from.$by, key], lives, &mut || {
                            self.transfer(from, object).map(|old| old.number)
                        });
                    }
                    8 => turn.does(key, "insert", &mut || {
                        let new = turn.owned(key);
                        let then = put(&new);
                        ((!self.insert(object, new)).into(), then)
                    }),
                    9 => turn.does(key, "swap", &mut || {
                        let new = turn.owned(key);
                        let then = put(&new);
                        (self.swap(object, new).map(|old| old.number).into(), then)
                    }),
                    _ => turn.does(key, "compute", &mut || {
                        let new = turn.owned(key);
                        let shown = Cell::new(None);
                        let now = self.compute(object, |old| {
                            shown.set(old.map(|old| old.number));
                            turn.pause();
                            match operation {
                                10 => Some(new.clone()),
                                11 => None,
                                _ => Some(old.unwrap_or(&new).clone()),
                            }
                        });
                        (shown.get().into(), now.as_ref().map_or(Then::Empty, put))
                    }),
                }
            }

            fn look(&self, turn: &Turn<K>, hand: &Hand<K>) -> bool {
                turn.finds(hand.$by, &mut || self.get(hand).map(|value| value.number))
            }

            fn fill(&self, world: &Arc<World>, object: &K) {
                self.insert(object, world.owned(object.content));
            }

            fn each(&self, see: &mut dyn FnMut(u32, u32, Option<u32>)) -> bool {
                for (life, value) in self {
                    see(life.$by, value.number, Some(life.number));
                }
                true
            }

            fn retain_some(&self, keep: &mut dyn FnMut(u32, u32) -> bool) {
                self.retain(|life, value| keep(life.$by, value.number));
            }

            /// A transfer may have left a value with two keys.
            fn owned(&self, _: usize) -> usize {
                let numbers = self.iter().map(|(_, value)| value.number);
                numbers.collect::<BTreeSet<_>>().len()
            }

            whole!($map);
        }
    )*};
}

owning! {
    WeakMap<K, Owned>, number;
    WeakHashMap<K, Owned>, content;
}
