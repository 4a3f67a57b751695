//! The memo, whose results end with their key and with what they depend on.

use std::sync::Arc;

use weakly::Memo;

use super::spec::{Entry, Then, Was, only};
use super::turn::{About, Face, Turn, whole};
use super::world::{Hand, Handle, Owned, World};

/// How many operations on a key make no value.
const PLAIN: usize = 5;

impl<K: Handle> Face<K> for Memo<K, Owned> {
    fn operations(&self) -> usize {
        10
    }

    fn key(&self, hand: &Hand<K>) -> u32 {
        hand.number
    }

    fn act(&self, turn: &Turn<K>, hand: &Hand<K>, operation: usize) {
        let key = hand.number;
        let Some(object) = &hand.strong else { return };
        let lives = only(object.number);
        match operation {
            0 => _ = self.look(turn, hand),
            1 => turn.asks(key, "remove", Then::Clear, &mut || {
                self.remove(object).map(|old| old.number)
            }),
            2 | 3 => {
                turn.does(key, "insert", &mut || {
                    let new = turn.owned(key);
                    let value = new.number;
                    let old = self.insert(object, new).map(|old| old.number);
                    (old.into(), Then::Put(Entry { value, lives }))
                });
            }
            4 => {
                let Some(object) = turn.any_object() else {
                    return;
                };
                let (removed, span) = turn.timed(|| self.invalidate(&object));
                let was = match removed {
                    0 => Was::Without(object.number),
                    _ => Was::Any,
                };
                let then = Then::Invalidate(object.number, !K::NOTIFIES);
                turn.note(About::All, span, "invalidate", (was, then));
            }
            _ => {
                let meanwhile = || self.act(turn, hand, turn.choose(PLAIN));
                turn.flies(key, lives, &meanwhile, &mut |flight| {
                    let made = self.try_get_or_compute(object, |computation| {
                        flight.makes(&mut || {
                            let input = match operation {
                                7 => Some(turn.object(hand.content)),
                                8.. => turn.any_object(),
                                _ => None,
                            };
                            if let Some(input) = input {
                                let ((), span) = turn.timed(|| computation.depends_on(&input));
                                let named = Then::Depend(flight.number, input.number);
                                turn.note(About::One(key), span, "depends_on", (Was::Any, named));
                                turn.drops(input);
                            }
                            turn.pause();
                            turn.owned(key)
                        })
                    });
                    Some((made.ok()?.number, 0))
                });
            }
        }
    }

    fn look(&self, turn: &Turn<K>, hand: &Hand<K>) -> bool {
        hand.strong.as_ref().is_some_and(|object| {
            turn.finds(hand.number, &mut || {
                self.get(object).map(|value| value.number)
            })
        })
    }

    fn fill(&self, world: &Arc<World>, object: &K) {
        self.insert(object, world.owned(object.content));
    }

    fn owned(&self, entries: usize) -> usize {
        entries
    }

    fn check_at_rest(&self) {
        assert_eq!(self.statistics().live, self.len() as u64);
    }

    whole!(Memo<K, Owned>);
}
