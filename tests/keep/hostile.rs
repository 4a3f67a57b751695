//! Floors and ceilings under attack: destructors, listeners and comparisons that use them, panic or lie.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

use weakly::concurrent::{KeepAlive, WeakMap, WeakValueMap};
use weakly::keep::{Gone, Limit};
use weakly::memo::Value;
use weakly::{Memo, Strong};

use crate::common::random::random;
use crate::common::{Count, in_time, panics, quiet_panic, scaled};
use crate::tools::{Doomed, Mood, Name, Object, Objects, Told, object};

/// O224: Destructors that panic: all others run, the first panic goes on, nothing is lost or counted twice.
#[test]
fn destructors_that_panic_in_a_floor() {
    let ended = Count::default();
    let fill = || {
        let map = Objects::new();
        let kept = map.set_keep_alive(Limit::none().generations(0), |_| 2);
        for number in 0..6 {
            let count = ended.clone();
            let end = move || {
                count.add();
                if number % 2 == 0 {
                    quiet_panic();
                }
            };
            map.insert(number, &object(end));
        }
        assert_eq!((kept.len(), kept.retained_weight()), (6, 12));
        (map, kept)
    };
    let ways: [&dyn Fn(Objects, KeepAlive<Object>); 7] = [
        &|_, kept| kept.advance(),
        &|_, kept| kept.clear(),
        &|_, kept| _ = kept.shrink_to(0),
        &|_, kept| kept.set_limit(Limit::entries(0)),
        &|map, _| map.clear(),
        &|map, _| map.retain(|_, _| false),
        &|map, kept| drop((kept, map)),
    ];
    for (at, way) in ways.into_iter().enumerate() {
        let (map, kept) = fill();
        let (before, still) = (ended.get(), kept.clone());
        if at == 6 {
            drop(still);
            assert!(panics(|| way(map, kept)));
        } else {
            assert!(panics(|| way(map, kept)), "{at}");
            assert_eq!((still.len(), still.retained_weight()), (0, 0), "{at}");
        }
        assert_eq!(ended.get() - before, 6, "{at}");
    }
}

/// O224: A listener that panics, and a destructor of the same object that does, too.
#[test]
fn a_listener_and_a_destructor_that_panic() {
    let (ended, told) = (Count::default(), Count::default());
    let doomed = || {
        let count = ended.clone();
        Doomed::new(move || {
            count.add();
            quiet_panic();
        })
    };
    let kept = KeepAlive::new(Limit::entries(10));
    let counted = told.clone();
    kept.set_listener(move |_: &Object, _| {
        counted.add();
        quiet_panic();
    });
    (0..5).for_each(|_| _ = kept.keep(&Strong::new(doomed()), 1));
    assert!(panics(|| _ = kept.shrink_to(0)));
    assert_eq!((ended.get(), told.get(), kept.len()), (5, 5, 0));
    // Under a ceiling, likewise.
    let map = WeakMap::<Strong<usize>, Doomed>::new();
    map.set_ceiling(Limit::entries(10), |_| 1);
    let counted = told.clone();
    map.set_listener(move |_, _, _| {
        counted.add();
        quiet_panic();
    });
    let mut keys: Vec<_> = (0..6).map(Strong::new).collect();
    keys.iter().for_each(|key| _ = map.insert(key, doomed()));
    keys.truncate(4);
    assert!(panics(|| _ = map.purge()));
    assert_eq!((ended.get(), told.get(), map.len()), (7, 7, 4));
    assert!(panics(|| _ = map.shrink_to(2)));
    assert_eq!((ended.get(), told.get(), map.len()), (9, 9, 2));
    assert_eq!(map.retained_weight(), 2);
    assert!(panics(|| map.clear()));
    assert_eq!((ended.get(), told.get(), map.len()), (11, 11, 0));
    assert_eq!(map.retained_weight(), 0);
    // Nobody is told at the end; the destructors run.
    map.insert(&keys[0], doomed());
    assert!(panics(|| drop(map)));
    assert_eq!((ended.get(), told.get()), (12, 11));
}

/// O224: An insertion destroys dead entries whose keys and values have no destructor, and the listener panics: the listener
/// hears of each dead entry, and the ceiling counts none of them.
#[test]
fn a_listener_that_panics_where_no_value_has_a_destructor() {
    let (told, map) = (Count::default(), WeakMap::<Strong<usize>, usize>::new());
    map.set_ceiling(Limit::entries(100), |_| 1);
    let counted = told.clone();
    map.set_listener(move |_, _, _| {
        counted.add();
        quiet_panic();
    });
    let keys: Vec<_> = (0..6).map(Strong::new).collect();
    keys.iter().for_each(|key| _ = map.insert(key, 1));
    drop(keys);
    let live = Strong::new(6);
    assert!(panics(|| _ = map.insert(&live, 1)));
    assert_eq!(
        (told.get(), map.pending_dead(), map.retained_weight()),
        (6, 0, 0)
    );
}

/// O224: A lookup that brings an object back pays for what goes, and its panic: all the same it is kept.
#[test]
fn a_panic_in_a_lookup() {
    let map = Objects::new();
    let kept = map.set_keep_alive(Limit::entries(1), |_| 1);
    let used = object(|| ());
    map.insert(0, &used);
    map.insert(1, &object(|| quiet_panic()));
    assert!(panics(|| drop(map.get(&0))));
    assert!(kept.contains(&used) && kept.len() == 1);
    assert!(map.get(&0).is_some() && map.get(&1).is_none());
}

/// O225: A listener may use the floor and the collection above it.
#[test]
fn a_listener_that_uses_the_floor() {
    let map = Arc::new(Objects::new());
    let kept = map.set_keep_alive(Limit::entries(2).generations(1), |_| 1);
    let told = Arc::new(AtomicUsize::new(0));
    let (all, floor, count) = (
        Arc::downgrade(&map),
        Arc::new(OnceLock::new()),
        told.clone(),
    );
    let own = floor.clone();
    kept.set_listener(move |object: &Object, why| {
        let Some(kept) = OnceLock::<KeepAlive<Object>>::get(&own) else {
            return;
        };
        let Some(map) = all.upgrade() else { return };
        let number = count.fetch_add(1, SeqCst);
        if number > 200 {
            return;
        }
        match number % 7 {
            0 => _ = kept.keep(object, 1),
            1 => _ = map.insert(number, object),
            2 => kept.advance(),
            3 => kept.set_limit(Limit::entries(1 + number % 3).generations(1)),
            4 => _ = map.remove(&number.wrapping_sub(3)),
            5 => kept.clear(),
            _ => assert!(map.get(&1000).is_none() && (why != Gone::Died)),
        }
        assert!(!kept.contains(object) || kept.release(object).is_some());
    });
    assert!(floor.set(kept.clone()).is_ok());
    let ended = Count::default();
    in_time({
        let (map, ended) = (map.clone(), ended.clone());
        move || {
            for number in 0..100 {
                let count = ended.clone();
                map.insert(2000 + number, &object(move || _ = count.add()));
            }
        }
    });
    assert!(told.load(SeqCst) > 50);
    // One that replaces itself is told no more.
    kept.set_limit(Limit::none());
    let (again, was_told) = (kept.clone(), told.load(SeqCst));
    kept.set_listener(move |_, _| again.set_listener(|_, _| ()));
    kept.clear();
    map.purge();
    assert_eq!((kept.len(), map.len(), ended.get()), (0, 0, 100));
    assert_eq!(told.load(SeqCst), was_told);
}

/// O225: A listener may use the collection under a ceiling.
#[test]
fn a_listener_that_uses_the_collection() {
    let memo = Arc::new(Memo::<(Strong<usize>, Value<usize>), usize>::new());
    let key = Strong::new(0);
    memo.set_ceiling(Limit::entries(3), |value| *value);
    let (all, own, told) = (Arc::downgrade(&memo), key.clone(), Count::default());
    let count = told.clone();
    memo.set_listener(move |_, value, _| {
        let Some(memo) = all.upgrade() else { return };
        let number = count.add();
        if number > 300 {
            return;
        }
        match number % 8 {
            0 => _ = memo.insert((&own, value), number),
            1 => _ = memo.get_or_compute((&own, &number), |_| number),
            2 => memo.advance(),
            3 => memo.set_limit(Limit::entries(1 + number % 4).generations(2)),
            4 => _ = memo.remove((&own, &number)),
            5 => _ = memo.get((&own, value)),
            6 => _ = memo.purge(),
            _ => _ = memo.shrink_to(number),
        }
    });
    in_time({
        let (memo, key) = (memo.clone(), key.clone());
        move || (0..200).for_each(|at| _ = memo.get_or_compute((&key, &at), |_| at))
    });
    assert!(told.get() > 150);
    let all = memo.statistics();
    assert_eq!(told.get() as u64, all.invalidated + all.evicted);
    assert!(memo.len() <= 4);
    // One that replaces itself.
    let again = Arc::downgrade(&memo);
    memo.set_listener(move |_, _, _| again.upgrade().unwrap().set_listener(|_, _, _| ()));
    memo.clear();
    assert_eq!((memo.len(), memo.retained_weight()), (0, 0));
}

/// O226: Handles that were forgotten keep their objects, and nothing else.
#[test]
fn forgotten_handles() {
    let map = WeakValueMap::<usize, Strong<usize>>::new();
    let kept = map.set_keep_alive(Limit::entries(2), |object| **object);
    for number in 1..=6 {
        let object = map.get_or_insert_with(number, |number| Strong::new(*number));
        if number <= 2 {
            crate::common::forget(object);
        }
    }
    assert_eq!((kept.len(), kept.retained_weight()), (2, 11));
    kept.clear();
    map.purge();
    assert_eq!((map.len(), kept.retained_weight()), (2, 0));
}

/// A key that lies.
fn liar(number: usize, mood: &Arc<Mood>) -> Name {
    let mood = Some(mood.clone());
    Name {
        mood,
        ..Name::of(number)
    }
}

/// O226: Keys that lie and panic above a floor: what it keeps is within the limit, and what is removed is not kept.
#[test]
fn keys_that_lie_above_a_floor() {
    in_time(|| {
        let (mood, ended, made) = (
            Arc::new(Mood::default()),
            Count::default(),
            Count::default(),
        );
        let map = WeakValueMap::<Name, Object>::new();
        let kept = map.set_keep_alive(Limit::entries(5).generations(3), |_| 1);
        for (step, choice) in random(7).take(scaled(5000, 100)).enumerate() {
            mood.panics.store(choice % 2 == 0, SeqCst);
            let key = || liar(choice / 64 % 10, &mood);
            let new = || {
                let count = ended.clone();
                made.add();
                object(move || _ = count.add())
            };
            _ = panics(|| match choice / 2 % 8 {
                0 | 1 => drop(map.insert(key(), &new())),
                2 => drop(map.get_or_insert_with(key(), |_| new())),
                3 => drop(map.remove(&key())),
                4 => drop(map.compute(key(), |now| now.or_else(|| Some(new())))),
                5 => kept.advance(),
                _ => drop(map.get(&key())),
            });
            assert!(kept.len() <= 5, "step {step}");
            assert_eq!(made.get() - ended.get(), kept.len(), "step {step}");
            assert_eq!(kept.retained_weight(), kept.len(), "step {step}");
        }
        mood.panics.store(false, SeqCst);
        map.clear();
        assert_eq!((kept.len(), map.len()), (0, 0));
        assert_eq!(made.get(), ended.get());
    });
}

/// O226: Plain values that lie and panic under a ceiling: what is there is within the limit, and each is told once.
#[test]
fn keys_that_lie_under_a_ceiling() {
    in_time(|| {
        let mood = Arc::new(Mood::default());
        let memo = Memo::<(Strong<usize>, Value<Name>), Doomed>::new();
        memo.set_ceiling(Limit::entries(6).weight(50), |value| value.number);
        let told = Told::default();
        let hears = told.clone();
        memo.set_listener(move |_, value, why| hears.tell(&value.number, why));
        let mut objects: Vec<_> = (0..3).map(Strong::new).collect();
        let mut gone = 0;
        for (step, choice) in random(11).take(scaled(5000, 100)).enumerate() {
            mood.panics.store(choice % 2 == 0, SeqCst);
            let at = choice / 1024 % 3;
            let value = || Doomed::default().numbered(choice / 4096 % 20);
            let key = || liar(choice / 64 % 10, &mood);
            if choice / 2 % 8 == 5 && choice % 5 == 0 {
                objects[at] = Strong::new(at);
            }
            let object = &objects[at];
            _ = panics(|| match choice / 2 % 8 {
                0 | 1 => _ = memo.insert((object, Value(key())), value()),
                2 | 3 => _ = memo.get_or_compute((object, Value(key())), |_| value()),
                4 => _ = memo.remove((object, Value(key()))),
                5 => _ = memo.invalidate(object),
                _ => _ = memo.get((object, Value(key()))),
            });
            memo.purge();
            gone += told.take().len();
            assert!(
                memo.len() <= 6 && memo.retained_weight() <= 50,
                "step {step}"
            );
        }
        mood.panics.store(false, SeqCst);
        assert!(gone > scaled(500, 5));
        memo.clear();
        assert_eq!((memo.len(), memo.retained_weight()), (0, 0));
    });
}

/// O225: What is let go goes, whatever panics after that.
#[test]
fn what_is_let_go_goes_though_the_operation_panics() {
    // A closure.
    let map = WeakValueMap::<usize, Strong<usize>>::new();
    let kept = map.set_keep_alive(Limit::none(), |object| {
        if **object == 99 {
            quiet_panic();
        }
        1
    });
    let lives: Vec<_> = (0..20)
        .map(|n| Strong::downgrade(&map.get_or_insert_with(n, |n| Strong::new(*n))))
        .collect();
    let alive = || lives.iter().filter(|life| !life.is_expired()).count();
    let mut seen = 0;
    assert!(panics(|| map.retain(|_, _| {
        seen += 1;
        if seen == 15 {
            quiet_panic();
        }
        false
    })));
    assert_eq!((map.len(), kept.len(), alive()), (6, 6, 6));
    // A weight, before an object is replaced.
    let left = map.keys().next().unwrap();
    assert!(panics(|| drop(map.insert(left, &Strong::new(99)))));
    assert_eq!((map.len(), kept.len(), alive()), (6, 6, 6));
    // A destructor of what was replaced.
    let well = || Doomed::default().numbered(5);
    let fails = Doomed::new(|| quiet_panic()).numbered(4);
    let map = WeakMap::<Strong<usize>, Doomed>::new();
    map.set_ceiling(Limit::none().weight(10), |value| value.number);
    let keys: Vec<_> = (0..3).map(Strong::new).collect();
    map.insert(&keys[0], well());
    map.insert(&keys[1], fails);
    assert_eq!(map.retained_weight(), 9);
    map.set_limit(Limit::none().weight(9));
    assert!(panics(|| _ = map.insert(&keys[1], well())));
    assert_eq!((map.len(), map.retained_weight()), (1, 5));
    // A weight of one of those that are there when the limit is set.
    let map = WeakMap::<Strong<usize>, usize>::new();
    let keys: Vec<_> = (0..20).map(Strong::new).collect();
    keys.iter().for_each(|key| _ = map.insert(key, **key));
    assert!(panics(|| map.set_ceiling(Limit::entries(3), |number| {
        if *number == 7 {
            quiet_panic();
        }
        1
    })));
    assert_eq!((map.len(), map.retained_weight()), (3, 3));
}

/// O224: The closure of a change, or a destructor that the change runs, sets the limit: the limit counts the entry that the change
/// inserts.
#[test]
fn limits_that_a_change_sets_from_inside() {
    let keys: Vec<_> = (0..2).map(Strong::new).collect();
    let map = WeakMap::<Strong<usize>, usize>::new();
    map.insert(&keys[0], 0);
    map.compute(&keys[1], |_| {
        map.set_ceiling(Limit::entries(1), |_| 1);
        Some(1)
    });
    assert_eq!((map.len(), map.retained_weight()), (1, 1));

    let value = Strong::new(1);
    let floored = WeakValueMap::<usize, Strong<usize>>::new();
    let kept = KeepAlive::new(Limit::entries(5));
    let _ = floored.compute(7, |_| {
        floored.keep_in(&kept);
        Some(value.clone())
    });
    assert!(kept.contains(&value));

    let map = Arc::new(WeakMap::<Strong<usize>, Doomed>::new());
    let own = Arc::clone(&map);
    let limits = Doomed::new(move || own.set_ceiling(Limit::entries(1), |_| 1));
    map.insert(&Strong::new(9), limits);
    for key in &keys {
        map.insert(key, Doomed::default());
    }
    assert_eq!((map.len(), map.retained_weight()), (1, 1));
}

/// O224: A clone panics that the operation would return: the ceiling knows the entry that was inserted all the same.
#[test]
fn clones_that_panic_under_a_ceiling() {
    let limit = Limit::entries(10);
    let keys: Vec<_> = (0..scaled(100, 20)).map(Strong::new).collect();
    let map = WeakMap::<Strong<usize>, Doomed>::new();
    let memo = Memo::<(Strong<usize>, Value<Name>), Doomed>::new();
    map.set_ceiling(limit, |_| 1);
    memo.set_ceiling(limit, |_| 1);
    let name = Name::of(1);
    for key in &keys {
        map.insert(key, Doomed::unclonable());
        assert!(panics(|| _ = map.swap(key, Doomed::unclonable())));
        _ = memo.insert((key, &name), Doomed::unclonable());
        assert!(panics(
            || _ = memo.insert((key, &name), Doomed::unclonable())
        ));
    }
    assert_eq!((map.len(), map.retained_weight()), (10, 10));
    assert_eq!((memo.len(), memo.retained_weight()), (10, 10));
    let counts = memo.statistics();
    let ended = counts.evicted + counts.invalidated;
    assert_eq!(2 * keys.len() as u64, counts.live + ended);
}
