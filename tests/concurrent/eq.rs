//! An `Eq` of contents that uses the collection which asks it.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::task::Wake;

use weakly::Strong;
use weakly::concurrent::{WeakHashMap, WeakHashSet, WeakMap};

use crate::common::panics;

type Hook = Box<dyn FnMut()>;

std::thread_local! {
    /// What `Eq` does, unless it is doing it.
    static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

/// Runs something whose `Eq` does this.
fn with_hook<R>(hook: impl FnMut() + 'static, run: impl FnOnce() -> R) -> R {
    let before = HOOK.replace(Some(Box::new(hook)));
    let done = run();
    drop(HOOK.replace(before));
    done
}

/// A name; all have the same hash.
struct Name(usize);

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        if let Some(mut hook) = HOOK.take() {
            hook();
            HOOK.replace(Some(hook));
        }
        self.0 == other.0
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(0);
    }
}

#[derive(Default)]
struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// L157: `compute` would ask for ever.
#[test]
fn small_an_eq_that_sets_the_entry_each_time_panics() {
    const TOO_MANY: usize = 1_000;
    let map = Arc::new(WeakHashMap::<Strong<Name>, usize>::new());
    let [key, other] = [1, 1].map(|name| Strong::new(Name(name)));
    map.insert(&key, 0);
    let calls = Arc::new(AtomicUsize::new(0));
    let sets = {
        let (map, calls, other) = (map.clone(), calls.clone(), other.clone());
        move || {
            if calls.fetch_add(1, Relaxed) < TOO_MANY {
                map.insert(&other, 7);
            }
        }
    };
    let panicked = with_hook(sets, || panics(|| _ = map.compute(&key, |_| Some(1))));
    assert!(panicked);
    assert!(calls.load(Relaxed) < TOO_MANY);
    assert_eq!(map.get(&Name(1)), Some(7));
}

/// An insertion that has drained the last notice has armed the waker before it asks `Eq`.
#[test]
fn small_a_death_in_eq_wakes() {
    let set = Arc::new(WeakHashSet::<Strong<Name>>::new());
    let calls = Arc::new(Calls::default());
    set.set_waker(Some(calls.clone().into()));
    let mut names: Vec<_> = (0..3).map(|name| Strong::new(Name(name))).collect();
    names.iter().for_each(|name| _ = set.insert(name));
    let mut last = vec![names.pop()];
    drop(names.pop());
    assert_eq!(calls.0.load(SeqCst), 1);
    let kills = {
        let set = set.clone();
        move || {
            if set.pending_dead() == 0 {
                last.clear();
            }
        }
    };
    with_hook(kills, || set.insert(&Strong::new(Name(9))));
    assert_eq!(calls.0.load(SeqCst), 2);
}

/// What `Eq` does in an insertion is not nested in the drain of that insertion.
#[test]
fn small_an_eq_may_purge_however_deep() {
    const DEEP: usize = 20;
    fn descend(depth: usize) {
        if depth == DEEP {
            let (map, key) = (WeakMap::new(), Strong::new(1_usize));
            map.insert(&key, String::from("value"));
            drop(key);
            map.purge();
            assert_eq!(map.pending_dead(), 0);
            return;
        }
        let set = WeakHashSet::<Strong<Name>>::new();
        let [dead, there, new] = [1, 2, 3].map(|name| Strong::new(Name(name)));
        assert!(set.insert(&dead) && set.insert(&there));
        drop(dead);
        let mut deeper = Some(move || descend(depth + 1));
        let deeper = move || {
            if let Some(deeper) = deeper.take() {
                deeper();
            }
        };
        with_hook(deeper, || assert!(set.replace(&new).is_none()));
    }
    descend(0);
}
