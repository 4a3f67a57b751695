//! An `Eq` of contents that uses the collection which asks it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::task::Wake;

use weakly::Strong;
use weakly::concurrent::WeakHashSet;

use crate::common::custom::{Custom, with_callback};
use crate::faces::{Maps, token};

type Set = WeakHashSet<Strong<Custom>>;

/// Objects with these names, which all have the same hash.
fn named<const N: usize>(names: [usize; N]) -> [Strong<Custom>; N] {
    names.map(|name| Strong::new(name.into()))
}

#[derive(Default)]
struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// 237: An insertion that has drained the last notice has armed the waker before it asks `Eq`.
#[test]
fn small_a_death_in_eq_wakes() {
    let set = Arc::new(Set::new());
    let calls = Arc::new(Calls::default());
    set.set_waker(Some(calls.clone().into()));
    let mut names = Vec::from(named([0, 1, 2]));
    names.iter().for_each(|name| _ = set.insert(name));
    let mut last = vec![names.pop()];
    drop(names.pop());
    assert_eq!(calls.0.load(SeqCst), 1);
    let kills = {
        let set = set.clone();
        move |_, _: *const ()| {
            if set.pending_dead() == 0 {
                last.clear();
            }
        }
    };
    with_callback(kills, || set.insert(&named([9])[0]));
    assert_eq!(calls.0.load(SeqCst), 2);
}

/// 257: What `Eq` does in an insertion is not nested in the drain of that insertion.
#[test]
fn small_an_eq_may_purge_however_deep() {
    const DEEP: usize = 20;
    fn descend(depth: usize) {
        if depth == DEEP {
            let (map, key) = (Maps::new(), Strong::new(1));
            map.insert(&key, token());
            drop(key);
            map.purge();
            assert_eq!(map.pending_dead(), 0);
            return;
        }
        let set = Set::new();
        let [dead, there, new] = named([1, 2, 3]);
        assert!(set.insert(&dead) && set.insert(&there));
        drop(dead);
        let mut deeper = Some(move || descend(depth + 1));
        let deeper = move |_, _: *const ()| {
            if let Some(deeper) = deeper.take() {
                deeper();
            }
        };
        with_callback(deeper, || assert!(set.replace(&new).is_none()));
    }
    descend(0);
}
