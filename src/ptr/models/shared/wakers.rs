//! The waker: no wake-up is lost, and no death uses the core after it has left the core.

use super::*;

/// Sets a waker as a table does.
fn set_waker(map: &Shared, woken: Option<&Arc<Woken>>) {
    let waker = woken.and_then(Woken::waker);
    let old = (map.core.waker_or_new()).replace(waker.map(Arc::new));
    if map.core.waiting() == 0 {
        map.core.arm();
    }
    drop(old);
}

/// Purges as a table does. Returns how many entries were unlinked.
fn purge(map: &Shared) -> usize {
    let mut count = 0;
    loop {
        count += map.drain();
        if map.core.arm_and_look() {
            return count;
        }
    }
}

#[test]
fn who_is_woken_sees_the_entry() {
    check_entry(BOTH, |a, map| {
        let woken = Woken::new();
        set_waker(&map, Some(&woken));
        both(
            move || drop(a),
            || {
                woken.wait();
                assert_eq!(map.drain(), 1);
            },
        );
        set_waker(&map, None);
    });
}

/// One of two deaths calls the waker.
#[test]
fn two_deaths_wake_once() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let map = Shared::of(&[&a, &b]);
        let woken = Woken::new();
        set_waker(&map, Some(&woken));
        both(move || drop(a), || drop(b));
        assert_eq!((woken.take_all(), map.drain()), (1, 2));
        set_waker(&map, None);
    });
}

/// W3: A thread owes a call, and makes the call after a finalizer, which waits. Another death that
/// finds no pending entry calls the waker itself.
#[test]
fn no_call_is_left_to_a_death_that_takes_long() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let map = Shared::of(&[&a, &b]);
        let woken = Woken::new();
        set_waker(&map, Some(&woken));
        let waits = Waits::of(&a);
        both(
            move || drop(a),
            || {
                while purge(&map) == 0 {
                    thread::yield_now();
                }
                assert!(!woken.take(), "the finalizer waits");
                drop(b);
                assert!(woken.take(), "it sleeps on");
                waits.end();
            },
        );
        purge(&map);
        set_waker(&map, None);
    });
}

/// An entry that a purge does not see wakes the task.
#[test]
fn a_purge_against_a_death() {
    check_entry(BOTH, |a, map| {
        let woken = Woken::new();
        set_waker(&map, Some(&woken));
        both(
            move || drop(a),
            || {
                woken.take();
                purge(&map)
            },
        );
        assert!(map.core.waiting() == 0 || woken.take(), "it sleeps on");
        purge(&map);
        set_waker(&map, None);
    });
}

/// The second of two deaths wakes, although the first death has woken before.
#[test]
fn a_purge_against_the_second_death() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let map = Shared::of(&[&a, &b]);
        let woken = Woken::new();
        set_waker(&map, Some(&woken));
        drop(a);
        both(
            move || drop(b),
            || {
                assert!(woken.take());
                purge(&map)
            },
        );
        assert!(map.core.waiting() == 0 || woken.take(), "it sleeps on");
        set_waker(&map, None);
    });
}

#[test]
fn a_purge_against_two_deaths() {
    check_some(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let map = Shared::of(&[&a, &b]);
        let woken = Woken::new();
        set_waker(&map, Some(&woken));
        all_three(
            move || drop(a),
            move || drop(b),
            || {
                woken.take();
                purge(&map)
            },
        );
        assert!(map.core.waiting() == 0 || woken.take(), "it sleeps on");
        set_waker(&map, None);
    });
}

/// C6: A thread that arms sees the entry of a death, or the death calls.
#[test]
fn a_thread_arms_against_a_death() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let map = Shared::of(&[&a, &b]);
        let woken = Woken::new();
        set_waker(&map, Some(&woken));
        drop(a);
        assert!(woken.take());
        assert_eq!(map.drain(), 1);
        let ((), idle) = both(move || drop(b), || map.core.arm_and_look());
        assert!(!idle || woken.take(), "it sleeps on");
        map.drain();
        set_waker(&map, None);
    });
}

/// C3: The same for the first waker, of which the death may not have heard.
#[test]
fn a_first_waker_is_armed_against_a_death() {
    check_entry(BOTH, |a, map| {
        let woken = Woken::new();
        let ((), idle) = both(
            move || drop(a),
            || {
                drop(map.core.waker_or_new().replace(woken.waker().map(Arc::new)));
                map.core.arm_and_look()
            },
        );
        assert!(!idle || woken.take(), "it sleeps on");
        map.drain();
        set_waker(&map, None);
    });
}

/// A waker is set and the collection is purged, against a death.
#[test]
fn a_first_waker_is_set_at_a_death() {
    check_entry(LIGHT, |a, map| {
        let woken = Woken::new();
        both(
            move || drop(a),
            || {
                set_waker(&map, Some(&woken));
                purge(&map)
            },
        );
        assert!(map.core.waiting() == 0 || woken.take(), "it sleeps on");
        set_waker(&map, None);
    });
}

/// The death calls the old waker, or the new one.
#[test]
fn a_waker_is_replaced_at_a_death() {
    check_entry(LIGHT, |a, map| {
        let wakers = [(); 2].map(|()| Woken::new());
        set_waker(&map, Some(&wakers[0]));
        both(move || drop(a), || set_waker(&map, Some(&wakers[1])));
        assert_eq!(wakers.iter().filter(|woken| woken.take()).count(), 1);
        assert_eq!(map.drain(), 1);
        set_waker(&map, None);
    });
}

#[test]
fn a_collection_with_a_waker_is_dropped_at_a_death() {
    check_entry(BOTH, |a, map| {
        set_waker(&map, Some(&Woken::new()));
        both(
            move || drop(a),
            || {
                set_waker(&map, None);
                drop(map);
            },
        );
    });
}

/// An object has entries in two collections, and each collection has a waker.
#[test]
fn a_death_with_two_wakers() {
    check_object(LIGHT, |a| {
        let maps = [(); 2].map(|()| Shared::of(&[&a]));
        let woken = Woken::new();
        maps.iter().for_each(|map| set_waker(map, Some(&woken)));
        both(
            move || drop(a),
            || {
                woken.wait();
                maps.iter().map(purge).sum::<usize>()
            },
        );
        let waits = maps.iter().any(|map| map.core.waiting() != 0);
        assert!(!waits || woken.take(), "it sleeps on");
        maps.iter().for_each(|map| set_waker(map, None));
    });
}
