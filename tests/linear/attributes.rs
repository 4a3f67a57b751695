//! Attributes, of which an object has two here. A change of one replaces the set of both, and must not lose what happens
//! to the other meanwhile: so each is a key of its own, whose history has an order. What is about all keys does not miss
//! an attribute because the other has changed, either.

use std::borrow::Borrow;
use std::cell::Cell;
use std::sync::Arc;

use weakly::{AttributeId, AttributeKey, Attributes};

use super::spec::{Entry, Then, Was, only};
use super::turn::{About, Face, Turn, whole};
use super::world::{Hand, Handle, Owned, World};

#[derive(Clone, Copy)]
struct First;

#[derive(Clone, Copy)]
struct Second;

impl AttributeKey for First {
    type Value = Owned;
}

/// Of another type: a value in the wrong place is none.
impl AttributeKey for Second {
    type Value = Box<Owned>;
}

/// The key of an object's second attribute; that of the first is the object's number.
fn second(object: u32) -> u32 {
    object | 1 << 16
}

fn number(value: &impl Borrow<Owned>) -> u32 {
    let owned: &Owned = value.borrow();
    owned.number
}

/// How many operations there are on one attribute, and how many of them can do with a weak handle.
const OF_ONE: usize = 13;
const BY_WEAK: usize = 5;

/// One on this attribute, which is a key of the script.
fn act_on<K: Handle, A: AttributeKey + Copy>(
    all: &Attributes<K>,
    turn: &Turn<K>,
    hand: &Hand<K>,
    (attribute, key): (A, u32),
    operation: usize,
) where
    A::Value: From<Owned> + Borrow<Owned> + Clone,
{
    let Some(object) = hand.strong.as_ref().filter(|_| operation >= BY_WEAK) else {
        return match operation % BY_WEAK {
            0 => _ = turn.finds(key, &mut || all.get(hand, attribute).as_ref().map(number)),
            1 => turn.asks(key, "contains", Then::Nothing, &mut || {
                all.contains_key(hand, attribute)
            }),
            2 => turn.asks(key, "with", Then::Nothing, &mut || {
                all.with(hand, attribute, |value| {
                    turn.pause();
                    number(value)
                })
            }),
            3 => turn.asks(key, "list", Then::Nothing, &mut || {
                let ids = all.list(hand);
                let mine = ids.iter().filter(|id| **id == AttributeId::of::<A>());
                let times = mine.count();
                assert!(times < 2, "twice in {ids:?}");
                times != 0
            }),
            _ => {
                let (had, span) = turn.timed(|| all.forget(hand));
                let was = if had { Was::Any } else { Was::Nothing };
                for key in [hand.number, second(hand.number)] {
                    turn.note(About::One(key), span, "forget", (was, Then::Clear));
                }
            }
        };
    };
    let put = |value: &Owned| {
        Then::Put(Entry {
            value: value.number,
            lives: only(object.number),
        })
    };
    match operation {
        5 => turn.asks(key, "remove", Then::Clear, &mut || {
            all.remove(object, attribute).as_ref().map(number)
        }),
        6 | 7 => turn.may_remove(key, operation == 6, &mut |show| {
            all.remove_if(object, attribute, |value| show(number(value)))
        }),
        8 | 9 => {
            turn.does(key, "insert", &mut || {
                let new = turn.owned(key);
                let then = put(&new);
                let was = !all.insert(object, attribute, new.into());
                (was.into(), then)
            });
        }
        _ => turn.does(key, "compute", &mut || {
            let new = turn.owned(key);
            let shown = Cell::new(None);
            let now = all.compute(object, attribute, |old| {
                shown.set(old.map(number));
                turn.pause();
                match operation {
                    10 => Some(new.clone().into()),
                    11 => None,
                    _ => Some(old.cloned().unwrap_or_else(|| new.clone().into())),
                }
            });
            let then = now.map_or(Then::Empty, |now| put(now.borrow()));
            (shown.get().into(), then)
        }),
    }
}

impl<K: Handle> Face<K> for Attributes<K> {
    fn operations(&self) -> usize {
        2 * OF_ONE
    }

    fn key(&self, hand: &Hand<K>) -> u32 {
        hand.number
    }

    fn twin(&self, key: u32) -> Option<u32> {
        Some(second(key))
    }

    fn act(&self, turn: &Turn<K>, hand: &Hand<K>, operation: usize) {
        let keys = [hand.number, second(hand.number)];
        match operation % 2 {
            0 => act_on(self, turn, hand, (First, keys[0]), operation / 2),
            _ => act_on(self, turn, hand, (Second, keys[1]), operation / 2),
        }
    }

    fn look(&self, turn: &Turn<K>, hand: &Hand<K>) -> bool {
        let keys = [hand.number, second(hand.number)];
        let first = turn.finds(keys[0], &mut || self.get(hand, First).as_ref().map(number));
        let second = turn.finds(keys[1], &mut || self.get(hand, Second).as_ref().map(number));
        first || second
    }

    fn fill(&self, world: &Arc<World>, object: &K) {
        self.insert(object, First, world.owned(object.content));
    }

    fn each(&self, see: &mut dyn FnMut(u32, u32, Option<u32>)) -> bool {
        for object in self.keys() {
            let key = object.number;
            if let Some(value) = self.get(&object, First) {
                see(key, number(&value), Some(key));
            }
            if let Some(value) = self.get(&object, Second) {
                see(second(key), number(&value), Some(key));
            }
        }
        true
    }

    /// An entry has one thing or two.
    fn owned(&self, _: usize) -> usize {
        self.keys().map(|object| self.list(&object).len()).sum()
    }

    whole!(Attributes<K>);
}
