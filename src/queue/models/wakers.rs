//! The waker: each notice that stays pending has been announced.

use std::sync::Arc;

use super::*;
use crate::ptr::WakerCell;
use crate::ptr::models::{Waits, Woken};
use crate::queue::NoticeQueue;

/// Creates a cell with this waker, and attaches it to the queues of a collection.
fn wake<const N: usize>(woken: &Arc<Woken>, maps: [&mut Map; N]) -> Arc<WakerCell> {
    let cell = WakerCell::new();
    maps.into_iter().for_each(|map| map.queue.attach(&cell));
    cell.replace(woken.waker().map(Arc::new));
    cell
}

/// Purges as a table does. Returns the number of removed entries.
fn purge<const N: usize>(mut maps: [&mut Map; N]) -> usize {
    let mut count = 0;
    loop {
        count += maps.iter_mut().map(|map| map.drain()).sum::<usize>();
        maps.iter_mut().for_each(|map| map.queue.arm());
        if maps.iter().all(|map| map.queue.is_idle()) {
            return count;
        }
    }
}

/// Polls as a table does. Returns whether the task now sleeps until it is woken.
fn poll<const N: usize>(cell: &WakerCell, woken: &Arc<Woken>, mut maps: [&mut Map; N]) -> bool {
    cell.renew(&woken.waker().unwrap());
    maps.iter_mut().for_each(|map| map.settle());
    maps.iter().all(|map| map.queue.is_idle())
}

#[test]
fn an_owner_who_is_woken_sees_the_notice() {
    check_entry(EACH, |a, mut map| {
        let woken = Woken::new();
        wake(&woken, [&mut map]);
        both(
            move || drop(a),
            || {
                woken.wait();
                assert_eq!(map.drain(), 1);
            },
        );
    });
}

/// The same for two deaths, the second of which comes while the first is drained.
#[test]
fn what_a_purge_does_not_see_wakes() {
    check_two_entries(|a, b, mut map| {
        let woken = Woken::new();
        wake(&woken, [&mut map]);
        all_three(
            move || drop(a),
            move || drop(b),
            || {
                woken.take();
                purge([&mut map])
            },
        );
        assert!(map.queue.is_idle() || woken.take(), "it sleeps on");
    });
}

/// The two queues of a pair map have one waker.
#[test]
fn two_queues_have_one_waker() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let (mut keys, mut values) = (Map::of(&[&a]), Map::of(&[&b]));
        let woken = Woken::new();
        wake(&woken, [&mut keys, &mut values]);
        all_three(
            move || drop(a),
            move || drop(b),
            || {
                woken.take();
                purge([&mut keys, &mut values])
            },
        );
        let idle = keys.queue.is_idle() && values.queue.is_idle();
        assert!(idle || woken.take(), "it sleeps on");
    });
}

/// A dying object wakes the collections of all its entries, while another death wakes them too.
#[test]
fn a_death_with_two_wakers() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let maps = [Map::of(&[&a, &b]), Map::of(&[&a, &b])];
        let woken = [Woken::new(), Woken::new()];
        let [mut one, mut other] = maps;
        wake(&woken[0], [&mut one]);
        wake(&woken[1], [&mut other]);
        both(
            move || drop(a),
            || {
                drop(b);
                woken[0].take();
                purge([&mut one])
            },
        );
        assert!(one.queue.is_idle() || woken[0].take(), "it sleeps on");
        assert!(woken[1].take());
        assert_eq!(other.drain(), 2);
    });
}

/// W3: A thread owes a wake-up, and makes the wake-up after a finalizer, which waits. A second
/// death finds nothing pending, and makes its own wake-up.
#[test]
fn no_call_is_left_to_a_death_that_takes_long() {
    check_each(EACH, 2, |maker, beside| {
        let (a, (b, _kept)) = (maker.object(), object(maker, beside));
        let mut map = Map::of(&[&a, &b]);
        let woken = Woken::new();
        wake(&woken, [&mut map]);
        let waits = Waits::of(&a);
        both(
            move || drop(a),
            || {
                while purge([&mut map]) == 0 {
                    loom::thread::yield_now();
                }
                assert!(!woken.take(), "the finalizer waits");
                drop(b);
                assert!(woken.take(), "it sleeps on");
                waits.end();
            },
        );
        purge([&mut map]);
    });
}

/// Either the new waker is called, or its setter sees the notice.
#[test]
fn a_waker_is_replaced_at_a_death() {
    check_entry(EACH, |a, mut map| {
        let (old, new) = (Woken::new(), Woken::new());
        let cell = wake(&old, [&mut map]);
        let (_, seen) = both(
            move || drop(a),
            || {
                drop(cell.replace(new.waker().map(Arc::new)));
                !map.queue.is_idle()
            },
        );
        assert!(seen || new.take(), "it sleeps on");
    });
}

/// A map is dropped while its object dies. The waker is dropped with the map, and nobody is woken
/// afterwards.
#[test]
fn a_map_with_a_waker_is_dropped_at_a_death() {
    check_entry(EACH, |a, mut map| {
        let woken = Woken::new();
        drop(wake(&woken, [&mut map]));
        both(move || drop(a), || drop(map));
        assert_eq!(Arc::strong_count(&woken), 1);
    });
}

/// An entry is removed while its object dies: the late notice is not pending, and the next death
/// wakes the task.
#[test]
fn a_late_notice_leaves_the_waker_armed() {
    check_each(EACH, 2, |maker, beside| {
        let ((a, _kept), b) = (object(maker, beside), maker.object());
        let mut map = Map::of(&[&a, &b]);
        let woken = Woken::new();
        wake(&woken, [&mut map]);
        both(move || drop(a), || map.remove(0));
        map.settle();
        woken.take();
        drop(b);
        assert!(woken.take(), "nothing was pending");
        assert_eq!(map.drain(), 1);
    });
}

/// A waker is set for the first time while a notice is on its way.
#[test]
fn a_first_waker_is_set_at_a_death() {
    check_entry(EACH, |a, mut map| {
        let woken = Woken::new();
        let (_, seen) = both(
            move || drop(a),
            || {
                wake(&woken, [&mut map]);
                !map.queue.is_idle()
            },
        );
        assert!(seen || woken.take(), "it sleeps on");
    });
}

/// A task is woken by an earlier death, and reclaims the dead entries. Then the task polls, while
/// two objects die.
#[test]
fn a_task_of_two_queues_polls_at_two_deaths() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let (mut keys, mut values) = (Map::of(&[&a]), Map::of(&[&b]));
        let woken = Woken::new();
        let cell = wake(&woken, [&mut keys, &mut values]);
        let (_, _, sleeps) = all_three(
            move || drop(a),
            move || drop(b),
            || {
                keys.drain();
                values.drain();
                woken.take();
                poll(&cell, &woken, [&mut keys, &mut values])
            },
        );
        let idle = keys.queue.is_idle() && values.queue.is_idle();
        assert!(idle || !sleeps || woken.take(), "it sleeps on");
    });
}

/// Another task has polled before.
#[test]
fn a_task_polls_after_another_at_a_death() {
    check_entry(EACH, |a, mut map| {
        let (first, last) = (Woken::new(), Woken::new());
        let cell = wake(&first, [&mut map]);
        let (_, sleeps) = both(move || drop(a), || poll(&cell, &last, [&mut map]));
        assert!(
            map.queue.is_idle() || !sleeps || last.take(),
            "it sleeps on"
        );
    });
}

/// An entry is removed while its object dies: its late notice may come afterwards, but is not
/// pending.
#[test]
fn a_task_sleeps_on_a_late_notice() {
    check_entry(EACH, |a, mut map| {
        let woken = Woken::new();
        let cell = wake(&woken, [&mut map]);
        both(move || drop(a), || map.remove(0));
        assert!(poll(&cell, &woken, [&mut map]));
    });
}
