//! What is armed again after a panic, and what is kept on request.

use core::panic::AssertUnwindSafe;
use core::task::Context;
use std::boxed::Box;
use std::panic::{catch_unwind, resume_unwind};

use super::*;
use crate::Reclaim;

/// A key. The destructor of the first panics.
#[derive(PartialEq, Eq, Hash)]
struct Key(u8);

impl Drop for Key {
    fn drop(&mut self) {
        if self.0 == 0 {
            resume_unwind(Box::new("a destructor panics"));
        }
    }
}

/// What ends by the panic of a destructor that it runs arms the waker too: if nothing is left, the next death calls, and, if
/// it takes `all` of the dead, one that it has not seen.
fn a_panic_against_a_death(all: bool, act: fn(&Map<Key>)) {
    check_some(3, move |maker| {
        let (map, woken) = (Map::default(), Woken::new());
        map.set_waker(woken.waker());
        let [a, b, c] = [(); 3].map(|()| maker.object());
        (0..)
            .zip([&a, &b, &c])
            .for_each(|(n, object)| _ = map.insert(Key(n), object));
        drop(a);
        assert!(woken.take());
        let ((), panicked) = both(
            move || drop(b),
            || catch_unwind(AssertUnwindSafe(|| act(&map))),
        );
        assert!(panicked.is_err());
        let is_called = woken.take();
        let nothing_is_left = map.pending_dead() == 0;
        assert!(nothing_is_left || is_called || !all, "it sleeps on");
        drop(c);
        assert!(!nothing_is_left || woken.take(), "it sleeps for ever");
        map.set_waker(None);
    });
}

#[test]
fn a_purge_that_panics_against_a_death() {
    a_panic_against_a_death(true, |map| map.purge());
}

#[test]
fn a_removal_that_panics_against_a_death() {
    a_panic_against_a_death(false, |map| _ = map.remove(&Key(3)));
}

/// A task that finds nothing to destroy is woken by a death, or by another thread that keeps an entry on request.
#[test]
fn a_task_that_polls_while_an_entry_is_kept() {
    check_some(1, |maker| {
        let (map, woken) = (Arc::new(Map::default()), Woken::new());
        map.set_reclaim(Reclaim::OnRequest);
        let a = maker.object();
        map.insert(Box::new(0), &a);
        let poll =
            |map: &Map<_>| map.poll_pending(&mut Context::from_waker(&woken.waker().unwrap()));
        let other = Arc::clone(&map);
        let ((), polled) = both(
            move || {
                drop(a);
                other.table.tidy();
            },
            || poll(&map),
        );
        let sleeps = polled.is_pending() && !woken.take();
        assert!(!sleeps || poll(&map).is_pending(), "it sleeps on");
        map.purge();
        map.set_waker(None);
    });
}
