//! Floors: what a collection keeps alive for a while.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use weakly::concurrent::{KeepAlive, WeakValueMap};
use weakly::cycles::{self, Purged};
use weakly::keep::{Gone, Limit};
use weakly::{ByIdentity, Strong};

use crate::common::{downgrade, is_alive, panics, place_of_panic, quiet_panic, scaled};
use crate::tools::{Floored, Name, Object, Pointer, Told, for_each_floored, lives, object};

for_each_floored!(
    what_goes_is_found_again_and_kept_again,
    what_nobody_uses_stays_within_the_limit,
    what_was_there_before_is_kept,
    one_that_is_taken_out_comes_back,
    one_budget_for_two_collections,
    the_weight_is_asked_for_once_for_each_that_comes,
    a_weight_that_panics,
    a_weight_that_asks,
    a_floor_never_reports_deaths,
    a_collection_has_one_limit,
);
/// O210: What a floor lets go stays with who uses it. The next lookup finds the same object, and it is kept again.
fn what_goes_is_found_again_and_kept_again<P: Pointer, C: Floored<P>>() {
    let all = C::default();
    let kept = all.set_keep_alive(Limit::entries(2), |_| 1);
    for find in [|all: &C| all.get(0).unwrap(), |all: &C| all.make(0)] {
        let used = all.make(0);
        assert!(kept.contains(&used));
        for other in 1..4 {
            drop(all.make(other));
        }
        assert!(!kept.contains(&used) && kept.len() == 2);
        let found = find(&all);
        assert!(found.is(&used) && kept.contains(&used));
        let weak = downgrade(&used);
        drop((used, found));
        assert!(is_alive(&weak));
        // And not for ever.
        for other in 1..6 {
            drop(all.make(other));
        }
        assert!(!is_alive(&weak) && all.get(0).is_none());
        assert_eq!(kept.len(), 2);
    }
}

/// O211: What a floor keeps lives, though nobody uses it: so many, so much, or for so long.
fn what_nobody_uses_stays_within_the_limit<P: Pointer, C: Floored<P>>() {
    let there = |all: &C| {
        let weak = |number| all.get(number).map(|object| downgrade(&object));
        let there = (0..20).filter(|number| weak(*number).is_some_and(|weak| is_alive(&weak)));
        there.collect::<Vec<_>>()
    };
    let fill = |limit: Limit| {
        let all = C::default();
        let kept = all.set_keep_alive(limit, |object| **object);
        (0..10).for_each(|number| drop(all.make(number)));
        (all, kept)
    };
    let (all, kept) = fill(Limit::entries(3));
    assert_eq!((there(&all), kept.len()), (vec![7, 8, 9], 3));
    let (all, kept) = fill(Limit::none().weight(17));
    assert_eq!((there(&all), kept.retained_weight()), (vec![8, 9], 17));
    // What is heavier than the limit is not kept, and nothing goes for it. What weighs nothing is.
    let (all, kept) = fill(Limit::none().weight(5));
    assert_eq!((there(&all), kept.retained_weight()), (vec![5], 5));
    let (all, kept) = fill(Limit::none().weight(0));
    assert_eq!((there(&all), kept.len()), (vec![0], 1));
    let (all, kept) = fill(Limit::entries(0));
    assert_eq!((there(&all), kept.len()), (vec![], 0));
    // It is still what it is above.
    let used = all.make(1);
    assert!(all.get(1).unwrap().is(&used));
    let (all, kept) = fill(Limit::none().generations(2));
    kept.advance();
    kept.advance();
    drop(all.get(4));
    assert_eq!(kept.len(), 10);
    kept.advance();
    assert_eq!((kept.len(), there(&all)), (1, vec![4]));
    (0..2).for_each(|_| kept.advance());
    assert_eq!(kept.len(), 1);
    kept.advance();
    assert_eq!(kept.len(), 0);
    all.purge();
    assert_eq!(all.len(), 0);
}

/// O211: What was there before is kept, too.
fn what_was_there_before_is_kept<P: Pointer, C: Floored<P>>() {
    let all = C::default();
    let before: Vec<P> = (0..5).map(|number| all.make(number)).collect();
    let kept = all.set_keep_alive(Limit::entries(3), |_| 1);
    assert_eq!(kept.len(), 3);
    drop(before);
    assert_eq!(
        (0..5).filter(|number| all.get(*number).is_some()).count(),
        3
    );
}

/// O210: One that was taken out of the floor is kept again by who finds it.
fn one_that_is_taken_out_comes_back<P: Pointer, C: Floored<P>>() {
    let all = C::default();
    let kept = all.set_keep_alive(Limit::entries(2), |_| 1);
    let object = all.make(7);
    drop(all.get(7));
    let released = kept.release(&object).unwrap();
    assert!(released.is(&object) && kept.is_empty() && kept.release(&object).is_none());
    assert!(all.get(7).unwrap().is(&object) && kept.contains(&object));
    // What nobody else has dies with what is returned.
    drop((object, released));
    let object = all.get(7).unwrap();
    let last = kept.release(&object).unwrap();
    let weak = downgrade(&last);
    drop((object, last));
    assert!(!is_alive(&weak) && all.get(7).is_none());
}

/// O213: Two collections share a floor: what one brings may let go what the other has brought.
fn one_budget_for_two_collections<P: Pointer, C: Floored<P>>() {
    let budget = KeepAlive::weighing(Limit::none().weight(10), |object: &P| **object);
    let (one, other) = (C::default(), C::default());
    one.keep_in(&budget);
    other.keep_in(&budget);
    drop((one.make(6), other.make(4)));
    assert_eq!(budget.retained_weight(), 10);
    drop(other.make(5));
    assert_eq!(budget.retained_weight(), 9);
    assert!(one.get(6).is_none() && other.get(4).is_some() && other.get(5).is_some());
    // What leaves one of them leaves the budget, also when it ends with what it has: nobody would find that.
    drop(other);
    assert_eq!(budget.retained_weight(), 0);
    drop(one.make(1));
    one.clear();
    assert_eq!(budget.retained_weight(), 0);
    drop(one.make(2));
    budget.clear();
    assert!(budget.is_empty());
    drop(one.make(3));
    assert_eq!(budget.retained_weight(), 3);
}

/// O214: A weight is asked for once for each that comes, or comes back, and not by hits.
fn the_weight_is_asked_for_once_for_each_that_comes<P: Pointer, C: Floored<P>>() {
    let (all, asked) = (C::default(), Arc::new(AtomicUsize::new(0)));
    let counted = asked.clone();
    let kept = all.set_keep_alive(Limit::entries(2), move |_| {
        counted.fetch_add(1, SeqCst);
        1
    });
    let _used = all.make(0);
    for _ in 0..100 {
        drop((all.get(0), all.make(0)));
    }
    assert_eq!(asked.swap(0, SeqCst), 1);
    (1..9).for_each(|other| drop(all.make(other)));
    assert_eq!(asked.swap(0, SeqCst), 8);
    kept.clear();
    for _ in 0..100 {
        drop(all.get(0));
    }
    assert_eq!(asked.swap(0, SeqCst), 1);
    // Nor again and again of one that is too heavy, until the limit is another.
    kept.set_limit(Limit::none().weight(0));
    for _ in 0..100 {
        drop(all.get(0));
    }
    assert!(asked.swap(0, SeqCst) == 1 && kept.is_empty());
    kept.set_limit(Limit::none());
    drop(all.get(0));
    assert!(asked.swap(0, SeqCst) == 1 && kept.len() == 1);
}

/// O214, 412: A weight that panics: nothing is inserted. An object that is there stays for who has it, and the next lookup asks for
/// its weight again.
fn a_weight_that_panics<P: Pointer, C: Floored<P>>() {
    let (all, fails) = (C::default(), Arc::new(AtomicBool::new(true)));
    let failing = fails.clone();
    let kept = all.set_keep_alive(Limit::entries(2), move |_| {
        if failing.load(SeqCst) {
            quiet_panic();
        }
        1
    });
    assert!(panics(|| drop(all.make(1))));
    assert!(kept.is_empty() && all.get(1).is_none());
    fails.store(false, SeqCst);
    let used = all.make(1);
    drop((all.make(2), all.make(3)));
    fails.store(true, SeqCst);
    while kept.contains(&used) {
        assert!(kept.release(&used).is_some());
    }
    for _ in 0..3 {
        assert!(panics(|| drop(all.get(1))) && !kept.contains(&used));
    }
    fails.store(false, SeqCst);
    assert!(all.get(1).unwrap().is(&used) && kept.contains(&used) && kept.len() == 2);
    drop(used);
    all.clear();
    assert_eq!((kept.len(), all.len()), (0, 0));
}

/// O214: A weight may ask the collection, and the floor: it is called under no lock.
fn a_weight_that_asks<P: Pointer, C: Floored<P>>() {
    let all = Arc::new(C::default());
    let budget = Arc::new(std::sync::OnceLock::<KeepAlive<P>>::new());
    let (asked, kept_in) = (Arc::downgrade(&all), Arc::downgrade(&budget));
    let weigh = move |object: &P| {
        let (all, budget) = (asked.upgrade().unwrap(), kept_in.upgrade().unwrap());
        // Each brings the one before it.
        if **object != 0 {
            drop(all.make(**object - 1));
        }
        assert!(budget.get().is_none_or(|budget| budget.len() <= 3));
        1
    };
    assert!(
        budget
            .set(all.set_keep_alive(Limit::entries(3), weigh))
            .is_ok()
    );
    drop(all.make(5));
    let kept = budget.get().unwrap();
    assert_eq!(kept.len(), 3);
    assert_eq!(
        (0..6).filter(|number| all.get(*number).is_some()).count(),
        3
    );
}

/// O221: A floor tells what goes, once, and why; it never reports that something has died.
fn a_floor_never_reports_deaths<P: Pointer, C: Floored<P>>() {
    let (all, told) = (C::default(), Told::default());
    let kept = all.set_keep_alive(Limit::entries(2).weight(10).generations(0), |object| {
        **object
    });
    let hears = told.clone();
    kept.set_listener(move |object: &P, why| hears.tell(&**object, why));
    for number in [1, 2, 3] {
        drop(all.make(number));
    }
    assert_eq!(told.take(), [(1, Gone::Entries)]);
    drop(all.make(8));
    assert_eq!(told.take(), [(2, Gone::Entries), (3, Gone::Weight)]);
    drop(all.make(11)); // never came
    assert_eq!(told.take(), []);
    kept.advance();
    assert_eq!(told.take(), [(8, Gone::Generation)]);
    drop((all.make(1), all.make(2)));
    all.clear();
    let mut gone = told.take();
    gone.sort_by_key(|(number, _)| *number);
    assert_eq!(gone, [(1, Gone::Removed), (2, Gone::Removed)]);
    // Who evicts it drops the last handle: it dies of that, and that is not told.
    drop(all.make(3));
    assert_eq!(kept.shrink_to(0), 1);
    all.purge();
    assert_eq!(told.take(), [(3, Gone::Weight)]);
    // What a collection has at its end is removed.
    drop((all.make(4), all));
    assert_eq!((told.take(), kept.len()), (vec![(4, Gone::Removed)], 0));
}

/// O215: A collection has one limit; the panic of another is at the caller's line.
fn a_collection_has_one_limit<P: Pointer, C: Floored<P>>() {
    let map = WeakValueMap::<usize, P>::new();
    let kept = map.set_keep_alive(Limit::entries(1), |_| 1);
    let (file, line) = (file!().to_owned(), line!());
    assert_eq!(
        place_of_panic(|| drop(map.set_keep_alive(Limit::none(), |_| 1))),
        (file.clone(), line + 2)
    );
    assert_eq!(place_of_panic(|| map.keep_in(&kept)), (file, line + 5));
    // The first one stays, here and in any collection.
    let all = C::default();
    all.keep_in(&kept);
    assert!(panics(|| drop(all.set_keep_alive(Limit::none(), |_| 1))));
    drop((all.make(1), all.make(2), map.make(3)));
    assert_eq!(kept.len(), 1);
}

/// O212: What leaves the map is kept no more, whoever takes it out.
#[test]
fn what_leaves_a_map_is_kept_no_more() {
    type P = Strong<usize>;
    let (map, told) = (WeakValueMap::<usize, P>::new(), Told::default());
    let kept = map.set_keep_alive(Limit::none(), |_| 1);
    let hears = told.clone();
    kept.set_listener(move |object: &P, why| hears.tell(&**object, why));
    let removed = |number| vec![(number, Gone::Removed)];
    let weak = |number| {
        map.insert(number, &P::from(number));
        downgrade(&map.get(&number).unwrap())
    };
    type Change<'a, P> = &'a dyn Fn(Option<P>) -> Option<P>;
    let compute = |key, change: Change<'_, P>| map.compute(key, change);
    let remove_if = |key, is: bool| map.remove_if(key, |_| is);
    // A removal returns it, though nobody else had it.
    let one = weak(1);
    let object = map.remove(&1).unwrap();
    assert_eq!((*object, told.take(), kept.len()), (1, removed(1), 0));
    drop(object);
    assert!(!is_alive(&one));
    let two = weak(2);
    assert_eq!(map.remove_entry(&2).map(|(_, object)| *object), Some(2));
    assert!(!is_alive(&two) && told.take() == removed(2));
    let three = weak(3);
    assert!(remove_if(&3, false).is_none() && kept.len() == 1);
    assert_eq!(remove_if(&3, true).map(|object| *object), Some(3));
    assert!(!is_alive(&three) && told.take() == removed(3));
    // So does a replacement.
    let four = weak(4);
    assert_eq!(map.insert(4, &P::from(40)).map(|object| *object), Some(4));
    assert!(!is_alive(&four) && told.take() == removed(4));
    assert!(compute(4, &|_| Some(P::from(41))).is_some());
    assert_eq!((told.take(), kept.len()), (removed(40), 1));
    assert!(compute(4, &|_| None).is_none());
    assert_eq!((told.take(), kept.len()), (removed(41), 0));
    // One that takes its own place stays.
    let five = weak(5);
    let object = map.get(&5).unwrap();
    map.insert(5, &object);
    assert!(compute(5, &|now| now).unwrap().is(&object));
    drop(object);
    assert!(is_alive(&five) && kept.len() == 1 && told.take().is_empty());
    map.retain(|number, _| *number != 5);
    assert!(!is_alive(&five) && told.take() == removed(5));
    // Under two keys it goes with the first, and comes back by the other.
    let six = weak(6);
    let object = six_under_two_keys(&map);
    assert_eq!(map.remove_value(&object), 2);
    drop(object);
    assert!(!is_alive(&six) && told.take() == removed(6) && kept.is_empty());
    let seven = weak(7);
    let object = map.get(&7).unwrap();
    map.insert(70, &object);
    assert!(map.remove(&70).is_some() && kept.is_empty());
    assert!(map.get(&7).unwrap().is(&object) && kept.len() == 1);
    drop(object);
    assert!(is_alive(&seven));
    map.clear();
    assert!(!is_alive(&seven) && kept.is_empty());
}

fn six_under_two_keys<P: Pointer>(map: &WeakValueMap<usize, P>) -> P {
    let object = map.get(&6).unwrap();
    map.insert(60, &object);
    object
}

/// O212: So it is while other threads take out what they do, and destroy what the floor lets go.
#[test]
fn a_removal_returns_what_nobody_else_had() {
    type P = Strong<usize>;
    const THREADS: usize = 3;
    let each = scaled(5_000, 50);
    let map = WeakValueMap::<usize, P>::new();
    let kept = map.set_keep_alive(Limit::none(), |_| 1);
    (0..THREADS * each).for_each(|number| drop(map.make(number)));
    let start = Barrier::new(THREADS);
    let (map, start) = (&map, &start);
    thread::scope(|scope| {
        for own in 0..THREADS {
            scope.spawn(move || {
                start.wait();
                for number in (0..each).map(|at| at * THREADS + own) {
                    let taken = if number % 2 == 0 {
                        map.remove(&number)
                    } else {
                        map.insert(number, &P::from(0))
                    };
                    assert_eq!(taken.map(|object| *object), Some(number));
                }
            });
        }
    });
    map.clear();
    assert!(kept.is_empty());
}

/// A key whose next clone, by a lookup that has found the entry, runs an action.
#[derive(Default)]
struct Cloned(Arc<Mutex<Option<Action>>>);

type Action = Box<dyn FnOnce() + Send>;

impl Clone for Cloned {
    fn clone(&self) -> Self {
        if let Some(action) = self.0.lock().unwrap().take() {
            action();
        }
        Cloned(Arc::clone(&self.0))
    }
}

impl PartialEq for Cloned {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cloned {}

impl Hash for Cloned {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// O600: A lookup has found an entry that is replaced by an entry with the same object, and then there is a floor. When the
/// replaced entry is destroyed, the object stays in the floor. A removal takes it out.
#[test]
fn a_replaced_entry_takes_no_object_out_of_a_floor() {
    for on_a_thread in [false, true] {
        let map = Arc::new(WeakValueMap::<Cloned, Strong<usize>>::new());
        let (key, value) = (Cloned::default(), Strong::new(7));
        let same = Cloned(Arc::clone(&key.0));
        map.insert(Cloned(Arc::clone(&key.0)), &value);
        let floor = Arc::new(Mutex::new(None));
        let action = {
            let (map, value, floor) = (Arc::clone(&map), value.clone(), Arc::clone(&floor));
            move || {
                let insert = {
                    let map = Arc::clone(&map);
                    move || drop(map.insert(same, &value))
                };
                match on_a_thread {
                    true => thread::spawn(insert).join().unwrap(),
                    false => insert(),
                }
                *floor.lock().unwrap() = Some(map.set_keep_alive(Limit::none(), |_| 1));
            }
        };
        *key.0.lock().unwrap() = Some(Box::new(action));
        drop(map.get_key_value(&key));
        map.purge();
        let floor = floor.lock().unwrap().take().unwrap();
        assert_eq!(floor.len(), 1);
        let weak = downgrade(&value);
        drop(value);
        assert!(is_alive(&weak));
        drop(map.remove(&key));
        assert!(!is_alive(&weak) && floor.is_empty());
    }
}

/// O217: The handles of a floor are held from outside for `purge_cycles`: what is kept stays, with what keeps itself alive
/// through it.
/// 594: The closure of a removal sets the floor: the removed object dies with the removal.
#[test]
fn a_floor_that_comes_during_a_removal_keeps_nothing() {
    type Remove = fn(&WeakValueMap<u32, Strong<u64>>, &mut dyn FnMut());
    let removals: [Remove; 2] = [
        |map, set| {
            let removed = map.remove_if(&1, |_| {
                set();
                true
            });
            assert!(removed.is_some());
        },
        |map, set| {
            let change = |_| {
                set();
                None
            };
            assert!(map.compute(1, change).is_none());
        },
    ];
    for remove in removals {
        let (map, value) = (WeakValueMap::new(), Strong::new(7));
        map.insert(1, &value);
        let (weak, mut floor) = (Strong::downgrade(&value), None);
        remove(&map, &mut || {
            floor = Some(map.set_keep_alive(Limit::none(), |_| 1))
        });
        drop(value);
        assert_eq!((floor.unwrap().len(), weak.upgrade().is_some()), (0, false));
    }
}

#[test]
fn what_a_floor_keeps_is_in_use_for_cycles() {
    let map = WeakValueMap::<Name, Object>::new();
    let kept = map.set_keep_alive(Limit::entries(1), |_| 1);
    let object = object(|| ());
    let weak = Strong::downgrade(&object);
    let owns = Some(ByIdentity(object.clone()));
    let name = Name {
        owns,
        ..Name::of(1)
    };
    map.insert(name, &object);
    drop(object);
    assert_eq!(map.purge_cycles(), Purged::default());
    assert!(lives(&weak));
    kept.clear();
    let purged = cycles::Cycles::new().with(&map).purge();
    assert_eq!((purged.removed, purged.kept), (1, 0));
    assert!(!lives(&weak) && map.is_empty());
}
