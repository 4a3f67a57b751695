//! A map and a set keyed by content: several objects have equal content, and one of them has the entry.

use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use weakly::Strong;
use weakly::concurrent::{WeakHashMap, WeakHashSet};

use crate::common::custom::{Custom, On, with_callback};
use crate::common::{panics, scaled};
use crate::dynamic::*;
use crate::faces::{Count, HashMaps, Kind, Life, Owned, Std, ending, is_same, lives, owned, token};
use crate::for_each_pointer;

for_each_pointer!(
    values_are_shown_cloned_swapped_and_removed,
    a_value_lives_as_long_as_the_key_it_was_given_with,
    an_existing_value_keeps_its_key,
    a_dead_key_counts_as_absent,
    an_element_stays_unless_it_is_replaced,
    a_content_is_hashed_once,
    a_lookup_may_own_the_last_handle,
    compute_is_atomic_for_equal_contents,
    small_one_thread_inserts_a_new_content,
    small_threads_use_the_same_contents,
    collections_are_built_from_iterators,
    what_debug_shows,
);

type Map<P> = WeakHashMap<Life<P>, usize>;

/// Two objects with equal content.
fn twins<P: Kind>() -> [Life<P>; 2] {
    [1, 1].map(Into::into)
}

/// Everything that sets a value.
fn ways<P: Kind>() -> [fn(&Map<P>, &Life<P>, usize); 3] {
    [
        |map, key, value| _ = map.insert(key, value),
        |map, key, value| _ = map.swap(key, value),
        |map, key, value| _ = map.compute_dyn(key, &mut |_| Some(value)),
    ]
}

/// H117, A2, A4, A5, A8
fn values_are_shown_cloned_swapped_and_removed<P: Kind>() {
    let ([a, other_a], b) = (twins::<P>(), Life::<P>::from(2));
    let map = WeakHashMap::new();
    assert!(map.insert(&a, 1_usize));
    assert_eq!((map.get(&1), map.get(&2)), (Some(1), None));
    assert_eq!(map.get(&*other_a), Some(1), "by equal content");
    assert_eq!(map.with(&1, |value| value + 2), Some(3));
    assert_eq!(map.with(&2, |_| unreachable!()), None::<()>);
    assert!(!map.insert(&a, 10));
    assert_eq!(map.swap(&a, 100), Some(10));
    assert_eq!(map.swap(&b, 2), None);
    assert!(!map.remove_if(&1, |value| *value == 10));
    assert!(map.contains_key(&1) && map.remove_if(&1, |value| *value == 100));
    assert!(!map.contains_key(&1) && map.remove(&1).is_none());
    let (key, value) = map.remove_entry(&2).expect("it is there");
    assert!(is_same::<P>(&key, &b) && value == 2);
    assert!(map.is_empty());
}

/// H117: Whatever sets it; the key that was there before does not count any more.
fn a_value_lives_as_long_as_the_key_it_was_given_with<P: Kind>() {
    for set in ways::<P>() {
        let ([first, second], map) = (twins::<P>(), Map::<P>::new());
        set(&map, &first, 1);
        set(&map, &second, 2);
        assert_eq!((map.len(), map.len_live(), map.get(&1)), (1, 1, Some(2)));
        let (key, _) = map.get_key_value(&1).expect("it is there");
        assert!(is_same::<P>(&key, &second));
        drop((first, key));
        assert_eq!(map.get(&1), Some(2));
        map.purge();
        assert_eq!((map.len(), map.get(&1)), (1, Some(2)));
        let third = Life::<P>::from(1);
        drop(second);
        assert_eq!((map.get(&*third), map.len_live()), (None, 0));
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    }
}

/// H117
fn an_existing_value_keeps_its_key<P: Kind>() {
    let ([first, second], map) = (twins::<P>(), Map::<P>::new());
    assert_eq!(map.get_or_insert_dyn(&first, &mut || 1), 1);
    assert_eq!(
        map.get_or_insert_dyn(&second, &mut || panic!("it is there")),
        1
    );
    drop(first);
    assert_eq!(map.get(&1), None);
    assert_eq!(map.get_or_insert_dyn(&second, &mut || 2), 2);
    map.purge();
    assert_eq!((map.len(), map.get(&1)), (1, Some(2)));
}

/// H117, C44: An equal key is inserted where a dead one is not reclaimed yet: as if the dead one had not been
/// there; its late notice does not affect the new entry.
fn a_dead_key_counts_as_absent<P: Kind>() {
    type Again<P> = fn(&HashMaps<Life<P>>, &Life<P>, Arc<Owned>);
    let again: [Again<P>; 4] = [
        |map, key, new| assert!(map.insert(key, new)),
        |map, key, new| assert!(map.swap(key, new).is_none()),
        |map, key, new| {
            map.compute_dyn(key, &mut |old| {
                assert!(old.is_none());
                Some(new.clone())
            });
        },
        |map, key, new| _ = map.get_or_insert_dyn(key, &mut || new.clone()),
    ];
    for again in again {
        let (old, new) = (Count::default(), Count::default());
        let ([first, second], map) = (twins::<P>(), WeakHashMap::new());
        map.insert(&first, owned(1, &old.ends()));
        drop(first);
        assert_eq!((map.len_live(), old.get()), (0, 0));
        assert!(map.remove(&1).is_none() && !map.remove_if(&1, |_| panic!("it is dead")));
        again(&map, &second, owned(2, &new.ends()));
        let counts = || (map.len(), map.len_live(), map.pending_dead());
        assert_eq!((counts(), old.get()), ((1, 1, 0), 1), "it has made room");
        map.purge();
        assert_eq!((counts(), old.get(), new.get()), ((1, 1, 0), 1, 0));
        let found = map.get_key_value(&1);
        assert!(found.is_some_and(|(key, value)| is_same::<P>(&key, &second) && value.number == 2));
    }
}

/// H117, G100
fn an_element_stays_unless_it_is_replaced<P: Kind>() {
    let ([first, second], set) = (twins::<P>(), WeakHashSet::new());
    assert!(set.insert(&first) && !set.insert(&second) && !set.insert(&first));
    assert!(set.get(&1).is_some_and(|got| is_same::<P>(&got, &first)));
    let old = set.replace(&second);
    assert!(old.is_some_and(|old| is_same::<P>(&old, &first)));
    drop(first);
    assert!(set.contains(&1) && set.len() == 1);
    let taken = set.take(&1);
    assert!(taken.is_some_and(|taken| is_same::<P>(&taken, &second)));
    assert!(!set.remove(&1) && set.replace(&second).is_none() && set.remove(&1));
    assert!(set.insert(&second));
    drop(second);
    assert!(set.get(&1).is_none() && set.take(&1).is_none() && set.iter().next().is_none());
    let third = Life::<P>::from(1);
    assert!(set.insert(&third), "the dead one counts as absent");
    set.purge();
    assert_eq!((set.len(), set.contains(&1)), (1, true));
}

/// H117: In each operation, with the given hasher.
fn a_content_is_hashed_once<P: Kind>() {
    #[derive(Clone, Default)]
    struct Counting(RandomState, Count);
    impl BuildHasher for Counting {
        type Hasher = <RandomState as BuildHasher>::Hasher;
        fn build_hasher(&self) -> Self::Hasher {
            self.1.add();
            self.0.build_hasher()
        }
    }
    let (hashed, hasher) = (Count::default(), Counting::default());
    let map = WeakHashMap::<P::Custom, Custom, _>::with_hasher(hasher.clone());
    let set = WeakHashSet::<P::Custom, _>::with_capacity_and_hasher(9, hasher.clone());
    let [one, two]: [P::Custom; 2] = [1, 2].map(|n| {
        let hashed = hashed.clone();
        let object = Custom::from(n).hashed(n);
        object.on(On::Hash, move |_| _ = hashed.add()).into()
    });
    let steps: [&dyn Fn(); 16] = [
        &|| assert!(map.insert(&one, 1.into())),
        &|| assert_eq!(map.swap(&one, 2.into()), Some(1.into())),
        &|| assert_eq!(map.get(&*one), Some(2.into())),
        &|| assert!(map.get_key_value(&*one).is_some()),
        &|| assert!(!map.contains_key(&*two)),
        &|| assert_eq!(map.get_or_insert_dyn(&one, &mut || 3.into()), 2.into()),
        &|| assert_eq!(map.get_or_insert_dyn(&two, &mut || 3.into()), 3.into()),
        &|| {
            assert_eq!(
                map.compute_dyn(&two, &mut |_| Some(4.into())),
                Some(4.into())
            )
        },
        &|| assert!(!map.remove_if(&*one, |_| false)),
        &|| assert_eq!(map.remove(&*one), Some(2.into())),
        &|| assert!(set.insert(&one)),
        &|| assert!(!set.insert(&one)),
        &|| assert!(set.replace(&one).is_some()),
        &|| assert!(set.contains(&*one)),
        &|| assert!(set.remove(&*one)),
        &|| assert!(set.take(&*two).is_none()),
    ];
    for (n, step) in steps.into_iter().enumerate() {
        step();
        assert_eq!((hashed.get(), map.hasher().1.get()), (n + 1, n + 1));
    }
    assert_eq!(set.hasher().1.get(), hasher.1.get());
}

/// C39: The key lives while its value is read, and dies when the lookup is over.
fn a_lookup_may_own_the_last_handle<P: Kind>() {
    let map = HashMaps::<Life<P>>::new();
    let looks: [&dyn Fn(&dyn Fn()); 2] = [
        &|during| assert!(map.with(&1, |_| during()).is_some()),
        &|during| {
            let asked = map.remove_if(&1, |_| {
                during();
                false
            });
            assert!(!asked);
        },
    ];
    for look in looks {
        let (count, key) = (Count::default(), Life::<P>::from(1));
        map.insert(&key, owned(1, &count.ends()));
        let last = Mutex::new(Some(key));
        look(&|| {
            drop(last.lock().unwrap().take());
            map.purge();
            assert_eq!((map.len_live(), count.get()), (1, 0), "it is kept alive");
        });
        assert_eq!((map.len_live(), map.get(&1).is_some()), (0, false));
        map.purge();
        assert_eq!((map.len(), map.pending_dead(), count.get()), (0, 0, 1));
    }
}

/// L157: No addition is lost, whichever object it is made through.
fn compute_is_atomic_for_equal_contents<P: Kind>() {
    let (threads, times) = (4, scaled(1_000, 8));
    let map = Map::<P>::new();
    let kept: Vec<_> = thread::scope(|scope| {
        let add = || {
            let own = lives::<P>(2);
            for turn in 0..times {
                map.compute_dyn(&own[turn % 2], &mut |old| {
                    Some(old.copied().unwrap_or(0) + 1)
                });
            }
            own
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(add)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!((map.len(), map.len_live()), (2, 2));
    let sum: usize = [0, 1].iter().filter_map(|key| map.get(key)).sum();
    assert_eq!(sum, threads * times);
    drop(kept);
    assert_eq!(map.len_live(), 0);
}

/// H117, L157: Of the threads that insert the same content, each through an object that it keeps alive, one gets
/// `true`, and its element is in the set.
fn small_one_thread_inserts_a_new_content<P: Kind>() {
    let (threads, words) = (scaled(4, 3), scaled(500, 6));
    let (set, barrier) = (WeakHashSet::new(), Barrier::new(threads));
    let inserted: Vec<Vec<(Life<P>, bool)>> = thread::scope(|scope| {
        let add = || {
            barrier.wait();
            let add = |key: Life<P>| {
                let is_new = set.insert(&key);
                (key, is_new)
            };
            lives::<P>(words).into_iter().map(add).collect()
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(add)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!((set.len(), set.len_live()), (words, words));
    for word in 0..words {
        let of_word = inserted.iter().map(|theirs| &theirs[word]);
        let new: Vec<_> = of_word.filter(|(_, is_new)| *is_new).collect();
        assert_eq!(new.len(), 1);
        let there = set.get(&word).expect("it is there");
        assert!(is_same::<P>(&there, &new[0].0));
    }
    drop(inserted);
    set.purge();
    assert!(set.is_empty());
}

/// H117, L157, L161: Objects with few contents come and go on all threads. What is found by a content belongs to
/// it, and was inserted through an object with that content; where one of these stays alive, something is found;
/// everything is dropped once.
fn small_threads_use_the_same_contents<P: Kind>() {
    let (threads, turns, contents) = (scaled(4, 3), scaled(3_000, 10), 3);
    let map = HashMaps::<Life<P>>::new();
    let (made, count) = (AtomicUsize::new(0), Count::default());
    thread::scope(|scope| {
        for thread in 0..threads {
            let (map, made, count) = (&map, &made, &count);
            scope.spawn(move || {
                let new = |content| {
                    made.fetch_add(1, Relaxed);
                    owned(content, &count.ends())
                };
                for turn in 0..turns {
                    let content = (turn + thread) % contents;
                    let key = Life::<P>::from(content);
                    match turn % 5 {
                        0 => _ = map.insert(&key, new(content)),
                        1 => {
                            let got = map.get_or_insert_dyn(&key, &mut || new(content));
                            assert_eq!(got.number, content);
                        }
                        2 => {
                            let got = map.compute_dyn(&key, &mut |old| {
                                assert!(old.is_none_or(|old| old.number == content));
                                Some(new(content))
                            });
                            assert!(got.is_some_and(|got| got.number == content));
                        }
                        3 => {
                            let old = map.remove_entry(&content);
                            assert!(old.is_none_or(|(key, old)| {
                                *key == content && old.number == content
                            }));
                        }
                        _ => assert!(map.iter().all(|(key, value)| *key == value.number)),
                    }
                    let found = map.get_key_value(&content);
                    assert!(
                        found.is_none_or(|(key, value)| {
                            *key == content && value.number == content
                        })
                    );
                    // No other thread uses this content, so it is present for as long as its key.
                    let own = Life::<P>::from(contents + thread);
                    map.insert(&own, new(*own));
                    assert_eq!(map.with(&*own, |value| value.number), Some(*own));
                }
            });
        }
    });
    assert_eq!(map.len_live(), 0);
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
    assert_eq!(count.get(), made.load(Relaxed));
}

/// A17
fn collections_are_built_from_iterators<P: Kind>() {
    let lives = lives::<P>(6);
    let mut map: WeakHashMap<_, usize> = lives[..3].iter().map(|life| (life, **life * 2)).collect();
    map.extend(lives[3..].iter().map(|life| (life, **life * 2)));
    assert_eq!((map.len(), map.keys().map(|key| *key).sum()), (6, 15));
    assert!((&map).into_iter().all(|(key, value)| value == *key * 2));
    let mut set: WeakHashSet<_> = lives[..3].iter().collect();
    set.extend(&lives[2..]);
    assert_eq!((&set).into_iter().map(|life| *life).sum::<usize>(), 15);
}

/// A18: The live entries.
fn what_debug_shows<P: Kind>()
where
    Life<P>: std::fmt::Debug,
{
    let mut lives = lives::<P>(2);
    let map: WeakHashMap<_, _> = lives.iter().map(|life| (life, 7_usize)).collect();
    let set: WeakHashSet<_> = lives.iter().collect();
    lives.pop();
    assert_eq!(format!("{map:?} {set:?}"), "{0: 7} {0}");
}

/// H117: Borrowed contents find equal owned ones.
#[test]
fn lookups_take_any_equal_key() {
    let word: Strong<str> = "word".into();
    let map = WeakHashMap::new();
    map.insert(&word, ());
    assert_eq!(map.get("word"), Some(()));
    let set: WeakHashSet<Strong<String>> = WeakHashSet::new();
    let name = Strong::new(String::from("name"));
    assert!(set.insert(&name) && set.contains("name") && !set.contains("word"));
    assert!(
        set.take("name")
            .is_some_and(|taken| Strong::ptr_eq(&taken, &name))
    );
}

/// C47: Inside a key's own destructor its content finds nothing, and may be inserted with another object.
#[test]
fn a_dying_key_is_not_found_by_its_content() {
    let map = Arc::new(WeakHashMap::<Strong<Custom>, Custom>::new());
    let dying = |next: Option<Strong<Custom>>| {
        let map = map.clone();
        let object = Custom::from(1).on(On::Drop, move |this| {
            assert_eq!(map.get(this), None);
            if let Some(next) = &next {
                assert!(map.insert(next, 2.into()));
                assert_eq!(map.get(this), Some(2.into()), "the entry of the next key");
            }
        });
        Strong::new(object)
    };
    let next = dying(None);
    let key = dying(Some(next.clone()));
    map.insert(&key, 1.into());
    drop(key);
    map.purge();
    assert_eq!((map.len(), map.get(&*next)), (1, Some(2.into())));
    drop(next);
    assert!(map.is_empty());
}

/// M174: A value that is unlinked to make room is dropped before anything is in flight: its destructor may
/// ask for the same content.
#[test]
fn a_destructor_may_ask_for_the_content_that_makes_room() {
    let (map, asked) = (Arc::new(HashMaps::new()), Count::default());
    let asks = {
        let (map, asked) = (map.clone(), asked.clone());
        ending(move || {
            let key = Arc::new(1);
            if !panics(|| _ = map.get_or_insert_dyn(&key, &mut || token())) {
                asked.add();
            }
        })
    };
    let [first, second] = twins::<Std>();
    map.insert(&first, asks);
    drop(first);
    assert_eq!(map.get_or_insert_dyn(&second, &mut || token()).number, 0);
    assert_eq!((asked.get(), map.len_live()), (1, 1));
}

/// H117, L157: The same content is inserted through another object between the lookup and the insertion.
#[test]
fn one_of_two_inserts_a_new_content() {
    let mut came_in_between = 0;
    for at in 0..6_usize {
        let set = Rc::new(WeakHashSet::new());
        let words = [0, 1, 1].map(|n| Strong::new(Custom::from(n)));
        assert!(set.insert(&words[0]));
        let (mut left, was_done) = (Some(at), Rc::new(Cell::new(false)));
        let nested = {
            let (set, word, was_done) = (set.clone(), words[1].clone(), was_done.clone());
            move |_: On, _: *const ()| {
                if left == Some(0) {
                    assert!(set.insert(&word));
                    was_done.set(true);
                }
                left = left.and_then(|left| left.checked_sub(1));
            }
        };
        let is_new = with_callback(nested, || set.insert(&words[2]));
        assert!(is_new != was_done.get(), "at comparison {at}");
        came_in_between += usize::from(was_done.get());
        let there = set.get(&*words[2]).expect("one of them");
        assert!(Strong::ptr_eq(&there, &words[1 + usize::from(is_new)]));
        assert_eq!((set.len(), set.len_live()), (2, 2));
    }
    assert!(came_in_between >= 2);
}
