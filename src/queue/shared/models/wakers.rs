//! The waker of a shared collection: what a purge has left pending was announced.

use std::sync::Arc as StdArc;

use super::*;
use crate::ptr::models::{Woken, check_some};
use crate::sync;
use crate::thread::ThreadNumber;

/// As a table drains: a few notices, or all.
fn drain<const N: usize>(map: &Map<N>) {
    if let Some(stripe) = map.queue.due() {
        let _draining = stripe.draining();
        map.reclaim(stripe.take(false));
    }
}

fn purge<const N: usize>(map: &Map<N>) {
    let mut turn = 0;
    loop {
        while let Some(stripe) = map.queue.due() {
            let _draining = stripe.draining();
            if map.reclaim(stripe.take(true)) == 0 {
                sync::relax(&mut turn);
            }
        }
        map.queue.arm();
        if map.queue.is_idle() {
            return;
        }
    }
}

/// Two objects, which are registered with two stripes.
fn map_of_two(a: &Strong<Payload>, b: &Strong<Payload>) -> Arc<Map<2>> {
    let queue = SharedQueue::new();
    let entries = [(a, 0), (b, 1)].map(|(key, number)| {
        ThreadNumber::set(number);
        Entry::linked(key, &queue)
    });
    Arc::new(Map { entries, queue })
}

fn is_announced<const N: usize>(map: &Map<N>, woken: &Woken) {
    assert!(map.queue.is_idle() || woken.take(), "it sleeps on");
    map.queue.set_waker(None);
    purge(map);
    assert!(map.is_spent());
}

#[test]
fn a_thread_that_is_woken_sees_the_notice() {
    check(1, |maker| {
        let a = maker.object();
        let (map, woken) = (Map::of([&a]), Woken::new());
        map.queue.set_waker(woken.waker());
        let other = thread::spawn(move || drop(a));
        woken.wait();
        assert_eq!(map.drain(true), 1);
        other.join().unwrap();
        assert!(map.is_spent());
    });
}

/// A stripe is armed at a death: either the death wakes, or the stripe is not armed. And the next death wakes, once
/// it is.
#[test]
fn a_stripe_is_armed_at_a_death() {
    check(3, |maker| {
        let [a, b, c] = [maker.object(), maker.object(), maker.object()];
        let (map, woken) = (Map::of([&a, &b, &c]), Woken::new());
        map.queue.set_waker(woken.waker());
        drop(a);
        assert!(woken.take());
        assert_eq!(map.drain(true), 1);
        let stack = map.queue.own_or_new().stack;
        let other = thread::spawn(move || drop(b));
        let armed = stack.arm();
        other.join().unwrap();
        assert_eq!(armed, woken.take());
        assert_eq!(map.drain(true), 1);
        assert!(stack.arm());
        drop(c);
        assert!(woken.take(), "nothing was pending");
        assert_eq!(map.drain(true), 1);
        assert!(map.is_spent());
    });
}

/// Deaths of objects of two stripes.
#[test]
fn what_a_purge_does_not_see_wakes() {
    check_some(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let (map, woken) = (map_of_two(&a, &b), Woken::new());
        map.queue.set_waker(woken.waker());
        let others = [
            thread::spawn(move || drop(a)),
            thread::spawn(move || drop(b)),
        ];
        woken.take();
        purge(&map);
        others.into_iter().for_each(|other| other.join().unwrap());
        is_announced(&map, &woken);
    });
}

/// Another thread has drained the last notice, and has not armed the stripe yet.
#[test]
fn a_drain_beside_a_purge() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let (map, woken) = (Map::of([&a, &b]), Woken::new());
        map.queue.set_waker(woken.waker());
        drop(a);
        assert!(woken.take());
        let other = thread::spawn({
            let map = map.clone();
            move || drain(&map)
        });
        purge(&map);
        drop(b);
        other.join().unwrap();
        is_announced(&map, &woken);
    });
}

/// Two threads set one, for the first time; each then is told, or sees the notice.
#[test]
fn a_waker_is_set_at_a_death() {
    check(1, |maker| {
        let a = maker.object();
        let (map, woken) = (Map::of([&a]), Woken::new());
        let set = |map: &Map<1>, woken: &StdArc<Woken>| {
            map.queue.set_waker(woken.waker());
            !map.queue.is_idle()
        };
        let other = thread::spawn({
            let (map, woken) = (map.clone(), woken.clone());
            move || set(&map, &woken)
        });
        let dying = thread::spawn(move || drop(a));
        let seen = [set(&map, &woken), other.join().unwrap()];
        dying.join().unwrap();
        assert!(seen[0] && seen[1] || woken.take(), "it sleeps on");
        map.queue.set_waker(None);
        purge(&map);
        assert!(map.is_spent());
    });
}
