//! One object with very many entries: its death blocks no thread for long, and its collections end in linear
//! time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

use crate::common::custom::{self, Custom};
use crate::common::subject::Owned;
#[cfg(feature = "std")]
use crate::common::subject::shared;
use crate::common::subject::single::{Ends, ValueMaps, quietly};
use crate::common::{scaled, sized};
use weakly::Strong;

/// If the time were quadratic, a test would take hours.
const MANY: usize = sized(1_000_000, 200_000, 150);

fn owned(number: usize) -> Owned<Ends, Custom> {
    custom::owned(number, &quietly())
}

/// 184: The object is the value of very many keys. While its notices are pushed, another thread queries its
/// finalizer: it gets an answer in between, repeatedly, and not only at the end.
#[test]
fn a_death_with_very_many_entries_releases_its_lock() {
    // (The death releases the lock after each 64. Under Miri hardly any thread ever gets it; and without std there is no
    // scheduler to which the death could give its processor.)
    let yields = cfg!(all(feature = "std", not(miri)));
    // On a busy machine the querying thread may have no processor during a whole death.
    let deaths = if yields { 20 } else { 1 };
    let is_answered = (0..deaths).any(|_| answers_during_a_death() >= 100);
    assert!(!yields || is_answered, "too few answers in {deaths} deaths");
}

/// Lets an object die that is the value of very many keys; returns how many queries have been answered meanwhile.
fn answers_during_a_death() -> usize {
    let object = Strong::new(Custom::new(0));
    let mut map: ValueMaps<_> = (0..MANY).map(|n| (owned(n), &object)).collect();
    assert_eq!(Strong::weak_count(&object), MANY);
    let over = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&over);
    let token = Strong::finalize(&object, move || flag.store(true, Release));
    let mut answers = 0;
    thread::scope(|scope| {
        scope.spawn(move || drop(object));
        loop {
            let pending = token.is_pending();
            if over.load(Acquire) {
                break;
            }
            // The death has begun, and its finalizers have not: it is pushing the notices.
            answers += usize::from(!pending);
        }
    });
    assert_eq!((map.len(), map.pending_dead()), (0, MANY));
    // Late notices: all of them are queued when the map ends.
    map.clear();
    assert_eq!(map.pending_dead(), 0);
    answers
}

/// 184: A map that ends while the object lives removes its entries from the object's list, one by one.
#[test]
fn the_end_of_a_map_with_very_many_entries_of_one_object_is_linear() {
    let object = Strong::new(Custom::new(0));
    let map: ValueMaps<_> = (0..MANY).map(|n| (owned(n), &object)).collect();
    let weak = Strong::downgrade(&object);
    assert_eq!(Strong::weak_count(&object), MANY + 1);
    drop(map);
    assert_eq!(weak.weak_count(), 1);
}

/// 201: Entries of one object are found in parts, also where its first ones have gone, whose registrations are apart from the
/// list of the others.
#[test]
fn all_entries_of_an_object_are_found_when_some_have_gone() {
    for count in scaled(1, 257)..scaled(300, 258) {
        for gone in scaled(0, 1)..scaled(3, 2).min(count) {
            let object = Strong::new(Custom::new(0));
            let mut map: ValueMaps<_> = (0..count).map(|n| (owned(n), &object)).collect();
            (0..gone).for_each(|n| drop(map.remove(&Custom::new(n))));
            assert_eq!(map.keys_of(&object).count(), count - gone);
            #[cfg(feature = "std")]
            {
                let kept = |n| Arc::new(custom::owned(n, &shared::quietly()));
                let also = shared::ValueMaps::new();
                (0..count).for_each(|n| drop(also.insert(kept(n), &object)));
                (0..gone).for_each(|n| drop(also.remove(&kept(n))));
                assert_eq!(also.remove_value(&object), count - gone);
            }
            assert_eq!(map.remove_value(&object), count - gone);
        }
    }
}
