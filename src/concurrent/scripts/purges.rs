//! Drains and purges against deaths and notices.

use core::future::poll_fn;
use core::mem;
use std::sync::Arc;

use shuttle::future::block_on;

use super::*;
use crate::concurrent::WeakMap;
use crate::{Reclaim, WeakPairMap};

type Values = crate::WeakMap<Strong<Named>, Token>;

/// Destroys one dead entry, or all dead entries.
fn purge_some(values: &mut Values) {
    match below(3) {
        0 => _ = values.purge_some(1),
        1 => drop(values.drain_dead().next()),
        _ => _ = values.purge(),
    }
}

/// Destroys all dead entries, and so answers the waker.
fn purge_all(values: &mut Values) {
    match below(3) {
        0 => while values.purge_some(1) != 0 {},
        1 => values.drain_dead().for_each(drop),
        _ => _ = values.purge(),
    }
}

/// A task purges a map of one owner when the task is woken, while objects die on other threads. The
/// task waits for ever if it is not woken.
#[test]
fn purges_of_one_owner() {
    check(|| {
        let live = Live::default();
        let (mut values, mut pairs) = (Values::new(), WeakPairMap::new());
        let objects: Vec<_> = (0..4).map(|name| live.object(name)).collect();
        for (at, object) in objects.iter().enumerate() {
            values.insert(object, live.token());
            pairs.insert(object, &objects[(at + 1) % 4]);
        }
        if below(2) == 0 {
            values.set_reclaim(Reclaim::OnRequest);
        }
        let mut halves: Vec<Vec<_>> = objects.chunks(2).map(<[_]>::to_vec).collect();
        drop(objects);
        let others = [1, 2].map(|at| {
            let mut objects = halves.pop().expect("two halves");
            thread::spawn(move || {
                ThreadNumber::set(NUMBERS[at]);
                while !objects.is_empty() {
                    drop(objects.swap_remove(below(objects.len() as u32) as usize));
                }
            })
        });
        let is_polled = below(2) == 0;
        let mut is_set = false;
        block_on(poll_fn(|context| {
            // The task sets its waker by each poll, or once.
            if is_polled {
                if values.poll_pending(context).is_ready() {
                    purge_some(&mut values);
                    context.waker().wake_by_ref();
                }
            } else {
                if !mem::replace(&mut is_set, true) {
                    values.set_waker(Some(context.waker().clone()));
                }
                purge_all(&mut values);
            }
            match live.count() {
                0 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        }));
        while pairs.len() + pairs.pending_dead() != 0 {
            block_on(poll_fn(|context| pairs.poll_pending(context)));
            match below(2) {
                0 => _ = pairs.purge_some(1),
                _ => _ = pairs.purge(),
            }
        }
        for other in others {
            other.join().expect("no script panics");
        }
    });
}

/// A task polls and purges a map that threads share, while the threads change the map and objects
/// die. Entries pending at the end have woken the task, and a purge destroys the entries.
#[test]
fn purges_of_a_shared_map() {
    check(|| {
        let (map, live) = (Arc::new(WeakMap::new()), Live::default());
        if below(2) == 0 {
            map.set_reclaim(Reclaim::OnRequest);
        }
        let woken = Arc::new(Woken::default());
        let poll = || woken.poll(|context| map.poll_pending(context));
        let mut polled = poll();
        let others = [1, 2].map(|at| {
            let (map, live) = (Arc::clone(&map), live.clone());
            thread::spawn(move || {
                ThreadNumber::set(NUMBERS[at]);
                let mut objects: Vec<_> = (0..2).map(|name| live.object(name)).collect();
                for _ in 0..4 {
                    let object = &objects[below(objects.len() as u32) as usize];
                    match below(6) {
                        0..3 => _ = map.insert(object, live.token()),
                        3 => _ = map.get(object),
                        4 => _ = map.remove(object),
                        _ => _ = map.purge_some(1),
                    }
                }
                while !objects.is_empty() {
                    drop(objects.swap_remove(below(objects.len() as u32) as usize));
                }
            })
        });
        for _ in 0..3 {
            if polled.is_ready() {
                match below(2) {
                    0 => _ = map.purge_some(1),
                    _ => _ = map.purge(),
                }
            }
            thread::yield_now();
            polled = poll();
        }
        for other in others {
            other.join().expect("no script panics");
        }
        let sleeps = polled.is_pending() && !woken.take();
        assert!(!sleeps || poll().is_pending(), "the task sleeps on");
        map.purge();
        assert_eq!((map.len(), map.pending_dead(), live.count()), (0, 0, 0));
        map.set_waker(None);
    });
}
