//! What is armed again after a panic, and what is kept on request.

use core::hash::{Hash, Hasher};
use core::panic::AssertUnwindSafe;
use core::task::Context;
use std::boxed::Box;
use std::panic::{catch_unwind, resume_unwind};
use std::vec::Vec;

use super::super::kept::KeptRemains;
use super::*;
use crate::Reclaim;
use crate::ptr::WakerCell;

/// A key whose destructor may panic.
#[derive(PartialEq, Eq)]
struct Key {
    panics: bool,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.panics.into());
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if self.panics {
            resume_unwind(Box::new("a destructor panics"));
        }
    }
}

/// A purge that ends by a panic arms the waker too: what it has not seen calls.
#[test]
fn a_purge_that_panics_against_a_death() {
    check_some(2, |maker| {
        let (map, woken) = (Map::default(), Woken::new());
        map.set_waker(woken.waker());
        let (a, b) = (maker.object(), maker.object());
        map.insert(Key { panics: true }, &a);
        map.insert(Key { panics: false }, &b);
        drop(a);
        assert!(woken.take());
        let ((), purged) = both(
            move || drop(b),
            || catch_unwind(AssertUnwindSafe(|| map.purge())),
        );
        assert!(purged.is_err());
        assert!(map.pending_dead() == 0 || woken.take(), "it sleeps on");
        map.set_waker(None);
    });
}

/// A task that finds nothing to destroy is woken by a death, or by another thread that keeps an
/// entry on request.
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
                other.table.reap_some();
            },
            || poll(&map),
        );
        let sleeps = polled.is_pending() && !woken.take();
        assert!(!sleeps || poll(&map).is_pending(), "it sleeps on");
        map.purge();
        map.set_waker(None);
    });
}

/// A pair that a thread keeps while calls take pairs out: a call takes the pair out, or the waker
/// is called, at the latest by the end of the last call.
fn a_pair_against_calls(calls: usize) {
    check_some(0, move |_| {
        let (kept, woken) = (Arc::new(KeptRemains::new()), Woken::new());
        kept.set_on_request(true);
        let cell = WakerCell::new();
        drop(cell.replace(woken.waker().map(Arc::new)));
        kept.set_waker(Arc::clone(&cell));
        let other = Arc::clone(&kept);
        let ((), taken) = both(
            move || other.put(0, 0),
            || {
                let taking: Vec<_> = (0..calls).map(|_| kept.begin_taking()).collect();
                let taken = kept.take(1).pop();
                drop(taking);
                taken
            },
        );
        assert_ne!(taken.is_some(), kept.len() == 1, "the pair is in one place");
        let calls = woken.take_all();
        assert!(taken.is_some() || calls == 1, "it sleeps on");
        assert!(calls <= 1, "one pair calls once");
        drop(cell.replace(None));
    });
}

#[test]
fn a_pair_is_kept_against_a_call_that_takes() {
    a_pair_against_calls(1);
}

#[test]
fn a_pair_is_kept_against_calls_that_nest() {
    a_pair_against_calls(2);
}

/// A reader looks at an entry until after the purge that answers the death's call: the remains,
/// which the reader keeps as it leaves, call again.
#[test]
fn a_reader_that_leaves_against_the_answer_to_a_death() {
    check_some(1, |maker| {
        let (map, woken) = (Arc::new(Map::default()), Woken::new());
        map.set_reclaim(Reclaim::OnRequest);
        let a = maker.object();
        map.insert(Box::new(0), &a);
        map.set_waker(woken.waker());
        let other = Arc::clone(&map);
        both(
            move || drop(other.get(&0)),
            || {
                drop(a);
                if woken.take() {
                    map.purge();
                }
            },
        );
        let kept = map.table.kept().map_or(0, KeptRemains::len);
        assert!(kept == 0 || woken.take(), "it sleeps on");
        map.purge();
        map.set_waker(None);
    });
}
