//! The maps with weak values.

use std::cell::Cell;
use std::sync::Arc;

use weakly::concurrent::{WeakPairMap, WeakValueMap};

use super::spec::{Entry, Objects, Then, only};
use super::turn::{Face, Turn, whole};
use super::world::{Hand, Handle, Owned, World};

/// How many operations on a key make no value.
const PLAIN: usize = 14;

/// `$by` is what a key is told apart by; `$query` finds it, and `$insert` is inserted. `$keyed` is what a key is, and the
/// object of it.
macro_rules! weak_values {
    ($($map:ty, $owns:expr, $by:ident;
       |$turn:ident, $hand:ident| $query:expr, $insert:expr, $lives:expr;
       |$key:ident: $Key:ty| $keyed:expr;
       fill: |$world:ident, $filler:ident| $as_key:expr;)*) => {$(
        impl<K: Handle> Face<K> for $map {
            fn operations(&self) -> usize {
                17
            }

            fn key(&self, hand: &Hand<K>) -> u32 {
                hand.$by
            }

            fn act(&self, $turn: &Turn<K>, $hand: &Hand<K>, operation: usize) {
                let (turn, hand, key) = ($turn, $hand, $hand.$by);
                let got = |value: Option<K>| value.map(|value| turn.receive(value));
                let both = |entry: Option<($Key, K)>| {
                    entry.map(|($key, value)| {
                        let (_, life) = $keyed;
                        let value = turn.receive(value);
                        (life.unwrap_or(value), value)
                    })
                };
                match operation {
                    0 => {
                        self.look(turn, hand);
                        return;
                    }
                    1 => return turn.asks(key, "contains", Then::Nothing, &mut || self.contains_key($query)),
                    2 => return turn.asks(key, "entry", Then::Nothing, &mut || both(self.get_key_value($query))),
                    3 => return turn.asks(key, "remove", Then::Clear, &mut || got(self.remove($query))),
                    4 => return turn.asks(key, "remove_entry", Then::Clear, &mut || both(self.remove_entry($query))),
                    5 | 6 => return turn.may_remove(key, operation == 5, &mut |show| {
                        got(self.remove_if($query, |value| show(value.number))).is_some()
                    }),
                    _ => {}
                }
                let (Some(_), Some(value)) = (&hand.strong, turn.any_object()) else {
                    return self.act(turn, hand, operation % 7);
                };
                let known: Objects = $lives;
                if operation >= PLAIN {
                    let meanwhile = || self.act(turn, hand, turn.choose(PLAIN));
                    return turn.flies(key, known, &meanwhile, &mut |flight| {
                        let make = |_: &_| flight.makes(&mut || turn.object(hand.content));
                        let made = self.try_get_or_insert_with($insert, make).ok()?;
                        let value = turn.receive(made);
                        Some((value, only(value)))
                    });
                }
                let put = |value: u32| {
                    let lives = known | only(value);
                    Then::Put(Entry { value, lives })
                };
                match operation {
                    7 | 8 => turn.asks(key, "insert", put(value.number), &mut || {
                        got(self.insert($insert, &value))
                    }),
                    9 => turn.keys_of(value.number, &mut |see| {
                        for $key in self.keys_of(&value) {
                            let (key, _) = $keyed;
                            see(key);
                        }
                    }),
                    10 => turn.removes_value(value.number, &mut || self.remove_value(&value)),
                    _ => turn.does(key, "compute", &mut || {
                        let shown = Cell::new(None);
                        let now = self.compute($insert, |old| {
                            shown.set(old.as_ref().map(|old| old.number));
                            turn.pause();
                            match operation {
                                11 => Some(value.clone()),
                                12 => None,
                                _ => old,
                            }
                        });
                        (shown.get().into(), got(now).map_or(Then::Empty, put))
                    }),
                }
            }

            fn look(&self, turn: &Turn<K>, $hand: &Hand<K>) -> bool {
                turn.finds($hand.$by, &mut || self.get($query).map(|value| turn.receive(value)))
            }

            fn fill(&self, $world: &Arc<World>, $filler: &K) {
                self.insert($as_key, $filler);
            }

            fn each(&self, see: &mut dyn FnMut(u32, u32, Option<u32>)) -> bool {
                for ($key, value) in self {
                    let (key, life) = $keyed;
                    see(key, value.number, life);
                }
                true
            }

            fn retain_some(&self, keep: &mut dyn FnMut(u32, u32) -> bool) {
                self.retain(|$key, value| {
                    let (key, _) = $keyed;
                    keep(key, value.number)
                });
            }

            fn owned(&self, entries: usize) -> usize {
                if $owns { entries } else { 0 }
            }

            whole!($map);
        }
    )*};
}

weak_values! {
    WeakValueMap<Owned, K>, true, content;
    |turn, hand| &hand.content, turn.owned(hand.content), 0;
    |key: Owned| (key.key, None::<u32>);
    fill: |world, filler| world.owned(filler.content);

    WeakPairMap<K, K>, false, number;
    |turn, hand| hand, hand.strong.as_ref().expect("it is there"), only(hand.number);
    |key: K| (key.number, Some(key.number));
    fill: |_world, filler| filler;
}
