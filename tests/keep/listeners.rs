//! Listeners of ceilings are told the keys of what goes, weakly.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

use weakly::concurrent::{SharedRef, WeakMap};
use weakly::keep::{Gone, Limit};
use weakly::memo::{Many, Value};
use weakly::reference::{Identity, WeakRef};
use weakly::{ByIdentity, Memo, Reclaim, Strong, Weak, WeakSet};

use crate::tools::{Pointer, Told, for_each_pointer};

/// What a listener was told, in order.
struct Heard<W>(Arc<Mutex<Vec<(W, usize, Gone)>>>);

impl<W: Clone + Send + 'static> Heard<W> {
    fn new() -> Self {
        Heard(Arc::default())
    }

    fn hears(&self) -> impl Fn(&W, &usize, Gone) + Send + Sync + 'static {
        let told = Arc::clone(&self.0);
        move |key, value, why| told.lock().unwrap().push((key.clone(), *value, why))
    }

    fn take(&self) -> Vec<(W, usize, Gone)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// The only one since it was asked last.
    #[track_caller]
    fn one(&self) -> (W, usize, Gone) {
        let told = self.take();
        assert_eq!(told.len(), 1, "how many were told");
        told.into_iter().next().unwrap()
    }
}

fn same<W: Identity>(one: W, other: W) -> bool {
    ByIdentity(one) == ByIdentity(other)
}

/// A map with a listener, whose limit is of so many entries.
fn heard<K: SharedRef<Weak: Send> + 'static>(
    entries: usize,
) -> (WeakMap<K, usize>, Heard<K::Weak>) {
    let (map, heard) = (WeakMap::new(), Heard::new());
    map.set_ceiling(Limit::entries(entries), |_| 1);
    map.set_listener(heard.hears());
    (map, heard)
}

/// 221: However an entry goes, its key is told: it can be upgraded if the object lives, and has its identity if not.
fn the_key_is_told<P: Pointer>() {
    let (map, heard) = heard::<P>(2);
    let [a, b, c] = [1, 2, 3].map(P::from);
    #[track_caller]
    fn is<P: Pointer>(told: (P::Weak, usize, Gone), key: &P, value: usize, why: Gone) {
        assert_eq!((told.1, told.2), (value, why));
        assert!(told.0.upgrade().is_some_and(|found| found.is(key)));
    }
    map.insert(&a, 10);
    map.insert(&b, 20);
    map.insert(&c, 30);
    is(heard.one(), &a, 10, Gone::Entries);
    map.insert(&b, 21); // replaced, in each way
    is(heard.one(), &b, 20, Gone::Removed);
    assert_eq!(map.swap(&b, 22), Some(21));
    is(heard.one(), &b, 21, Gone::Removed);
    assert_eq!(map.compute(&b, |now| now.map(|now| now + 1)), Some(23));
    is(heard.one(), &b, 22, Gone::Removed);
    assert_eq!(map.remove(&c), Some(30));
    is(heard.one(), &c, 30, Gone::Removed);
    map.retain(|_, value| *value != 23);
    is(heard.one(), &b, 23, Gone::Removed);
    assert_eq!(map.get_or_insert_with(&c, |_| 31), 31);
    map.clear();
    is(heard.one(), &c, 31, Gone::Removed);

    map.insert(&a, 11);
    let weak = P::downgrade(&a);
    drop(a);
    map.purge();
    let (dead, value, why) = heard.one();
    assert!(dead.is_expired() && dead.upgrade().is_none());
    assert!(same(dead, weak));
    assert_eq!((value, why), (11, Gone::Died));

    // Also if the limit evicts the entry first.
    map.insert(&b, 24);
    drop(b);
    map.shrink_to(0);
    let (_, value, why) = heard.one();
    assert_eq!((value, why), (24, Gone::Died));
}

for_each_pointer!(the_key_is_told, each_part_is_told,);

/// 221: Of a memo's key each part is told: an entry ends with one of its objects, and the others live.
fn each_part_is_told<P: Pointer>() {
    type Key<P> = (P, Value<String>, Many<P>);
    let memo = Memo::<Key<P>, usize>::new();
    let heard = Heard::<(P::Weak, Arc<String>, Vec<P::Weak>)>::new();
    memo.set_ceiling(Limit::entries(9), |_| 1);
    memo.set_listener(heard.hears());
    let [a, b, c] = [1, 2, 3].map(P::from);
    let compute = |text: &str, list: &[&P], input: &P, value| {
        memo.get_or_compute((&a, text, list), |cx| {
            cx.depends_on(input);
            value
        })
    };
    let list = &[&b, &c, &b][..];
    memo.insert((&a, "x", list), 7);
    assert!(memo.remove((&a, "x", list)).is_some());
    let ((first, plain, list), 7, Gone::Removed) = heard.one() else {
        unreachable!();
    };
    assert!(first.upgrade().unwrap().is(&a) && *plain == "x");
    let list: Vec<_> = list.iter().map(|weak| weak.upgrade().unwrap()).collect();
    assert!(list.len() == 3 && list[0].is(&b) && list[1].is(&c) && list[2].is(&b));
    drop(list);

    compute("y", &[&b, &c], &a, 8);
    let weak = P::downgrade(&c);
    drop(c);
    memo.purge();
    let ((first, plain, list), 8, Gone::Died) = heard.one() else {
        unreachable!();
    };
    assert!(first.upgrade().unwrap().is(&a) && *plain == "y");
    assert!(list[0].upgrade().unwrap().is(&b) && same(list[1].clone(), weak));
    assert!(list[1].is_expired());

    // What a result depends on besides is no part of its key.
    let other = P::from(4);
    compute("z", &[&b], &other, 9);
    drop(other);
    memo.purge();
    let ((first, ..), 9, Gone::Died) = heard.one() else {
        unreachable!();
    };
    assert!(first.upgrade().unwrap().is(&a));
}

/// 221: Registrations and weak handles of the same object, in whatever order they came.
#[test]
fn a_dead_key_is_told_whatever_refers_to_the_object() {
    type P = Strong<usize>;
    for order in 0..16 {
        let (map, heard) = heard::<P>(9);
        let (memo, shared, mut own) = (
            Memo::<(P, P), usize>::new(),
            WeakMap::<P, usize>::new(),
            WeakSet::<P>::new(),
        );
        let told = Heard::<(Weak<usize>, Weak<usize>)>::new();
        memo.set_ceiling(Limit::none(), |_| 1);
        memo.set_listener(told.hears());
        let key = P::from(order);
        if order & 1 != 0 {
            shared.insert(&key, 1);
        }
        if order & 2 != 0 {
            own.insert(&key);
        }
        map.insert(&key, order);
        memo.insert((&key, &key), order);
        if order & 4 != 0 {
            drop(P::downgrade(&key));
        }
        let kept = (order & 8 != 0).then(|| P::downgrade(&key));
        drop(key);
        drop((shared, own));
        map.purge();
        memo.purge();
        let (dead, value, why) = heard.one();
        assert_eq!((value, why, dead.is_expired()), (order, Gone::Died, true));
        let ((first, second), value, why) = told.one();
        assert_eq!((value, why), (order, Gone::Died));
        assert!(same(first, second.clone()) && same(second, dead.clone()));
        assert!(kept.is_none_or(|kept| same(kept, dead)));
        drop((map, memo));
    }
}

/// 221: An entry that was replaced may be destroyed after the one that has taken its place, and after the object.
#[test]
fn a_replaced_key_is_told_whatever_happened_since() {
    type P = Strong<usize>;
    let (map, heard) = heard::<P>(9);
    let (key, other) = (P::from(1), P::from(2));
    map.insert(&key, 10);
    map.insert(&other, 0);
    let weak = P::downgrade(&key);
    let mut key = Some(key);
    map.with(&other, |_| {
        // Nothing is destroyed meanwhile: this thread may look at it.
        let key = key.take().unwrap();
        map.insert(&key, 20);
        map.insert(&key, 30);
        map.remove(&key);
        assert!(heard.take().is_empty());
    });
    map.purge();
    let mut told = heard.take();
    told.sort_by_key(|(_, value, _)| *value);
    let values: Vec<_> = told.iter().map(|(_, value, _)| *value).collect();
    assert_eq!(values, [10, 20, 30]);
    for (dead, _, why) in told {
        assert!(why == Gone::Removed && dead.is_expired() && same(dead, weak.clone()));
    }
}

/// 221: Threads that replace, remove and kill the same keys: each value is told once, under the key that it had.
fn threads_are_told<K>(make: impl Fn(usize) -> K + Sync)
where
    K: SharedRef<Weak: Send + Debug> + Clone + 'static,
{
    const ROUNDS: usize = if cfg!(miri) { 5 } else { 300 };
    let (map, heard) = heard::<K>(3);
    for round in 0..ROUNDS {
        let keys: Vec<_> = (0..4).map(|key| make(round * 4 + key)).collect();
        let identities: Vec<_> = keys.iter().map(K::downgrade).collect();
        let entries = thread::scope(|scope| {
            for turn in 0..3 {
                let (map, keys) = (&map, keys.clone());
                scope.spawn(move || {
                    for (at, key) in keys.into_iter().enumerate() {
                        map.insert(&key, at);
                        if turn == 1 {
                            _ = map.swap(&key, at);
                        } else if turn == 2 {
                            map.remove(&key);
                        }
                    }
                });
            }
            drop(keys);
            4 * 4
        });
        map.purge();
        assert!(map.is_empty());
        let told = heard.take();
        assert_eq!(told.len(), entries);
        for (key, at, _) in told {
            assert!(key.is_expired() && same(key, identities[at].clone()));
        }
    }
}

#[test]
fn threads_with_strong_keys_are_told() {
    threads_are_told(Strong::new);
}

/// 411: A thread is inside, so that no dead entry ends: live entries go, and the limit holds.
#[test]
fn dead_entries_that_make_no_room() {
    let (map, told) = (WeakMap::<Strong<usize>, usize>::new(), Told::default());
    map.set_ceiling(Limit::entries(200), |value| *value);
    let hears = told.clone();
    map.set_listener(move |_, value, why| hears.tell(value, why));
    let mut keys: Vec<_> = (0..200).map(Strong::new).collect();
    let (first, other) = (keys[0].clone(), Strong::new(200));
    keys.iter().for_each(|key| _ = map.insert(key, 1));
    map.with(&first, |_| {
        keys.truncate(50);
        map.insert(&other, 2);
        // The entries end later.
        assert_eq!((told.take().len(), map.retained_weight()), (0, 201));
    });
    map.purge();
    let gone = told.take();
    let died = gone.iter().filter(|(_, why)| *why == Gone::Died);
    assert_eq!((map.len(), died.count(), gone.len()), (50, 150, 151));
}

/// 602: A listener is told nothing of an entry that was removed before there was a ceiling, under either policy, though the
/// entry is destroyed later.
#[test]
fn what_was_removed_before_the_ceiling_is_not_told() {
    for policy in [Reclaim::OnUse, Reclaim::OnRequest] {
        let (map, heard) = (WeakMap::<Strong<usize>, usize>::new(), Heard::new());
        map.set_reclaim(policy);
        let [a, b] = [1, 2].map(Strong::new);
        map.insert(&a, 10);
        map.insert(&b, 20);
        map.with(&a, |_| {
            assert!(map.remove_if(&b, |_| true));
            map.set_ceiling(Limit::none(), |_| 1);
            map.set_listener(heard.hears());
        });
        assert!(heard.take().is_empty());
        assert_eq!((map.len(), map.retained_weight()), (1, 1));
    }
}

/// 603: A listener is told of an entry that dies before the ceiling has weighed the entry, also if a purge comes in between.
#[test]
fn a_death_before_the_weighing_is_told() {
    type Late = (
        WeakMap<Strong<usize>, usize>,
        Mutex<[Option<Strong<usize>>; 2]>,
    );
    for policy in [Reclaim::OnUse, Reclaim::OnRequest] {
        let keys = [0, 1].map(Strong::new);
        let map = WeakMap::new();
        map.set_reclaim(policy);
        keys.iter().for_each(|key| _ = map.insert(key, **key));
        let late: Arc<Late> = Arc::new((map, Mutex::new(keys.map(Some))));
        let (heard, others) = (Heard::new(), Arc::downgrade(&late));
        let (hears, first) = (Mutex::new(Some(heard.hears())), AtomicBool::new(true));
        late.0.set_ceiling(Limit::none(), move |weighed| {
            if first.swap(false, SeqCst) {
                let late = others.upgrade().unwrap();
                late.0.set_listener(hears.lock().unwrap().take().unwrap());
                let other = late.1.lock().unwrap()[1 - weighed].take();
                drop(other);
                late.0.purge();
            }
            1
        });
        late.0.purge();
        let (_, _, why) = heard.one();
        assert_eq!((late.0.len(), why), (1, Gone::Died));
    }
}
