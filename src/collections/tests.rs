//! A key that cannot be upgraded is accepted by everything that does not return keys.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;

use crate::hash::HashValue;
use crate::reference::{Watch, WeakKey};
use crate::{WeakMap, WeakSet};

/// A key that can be watched, and nothing else.
struct Anchor(Arc<u8>);

struct AnchorWatch(Weak<u8>);

// SAFETY: the address of an `Arc`'s payload, which the weak pointer of the watch pins.
#[allow(unsafe_code)]
unsafe impl WeakKey for Anchor {
    type Watch = AnchorWatch;

    fn addr(this: &Self) -> *const () {
        Arc::as_ptr(&this.0).cast()
    }
}

impl Watch for AnchorWatch {
    type Key = Anchor;
    type Queue = ();
    type Hash = ();

    const SWEPT: bool = true;

    fn watch(key: &Anchor, _: HashValue, (): &mut ()) -> Self {
        AnchorWatch(Arc::downgrade(&key.0))
    }

    fn rewatch(&mut self, key: &Anchor, hash: HashValue, queue: &mut ()) {
        *self = Self::watch(key, hash, queue);
    }

    fn hash(&self) -> HashValue {
        HashValue::of_addr(self.addr())
    }

    fn addr(&self) -> *const () {
        self.0.as_ptr().cast()
    }

    fn store_hash(_: HashValue) {}

    fn stored_hash(&self, (): ()) -> HashValue {
        self.hash()
    }

    fn is_at(&self, addr: *const ()) -> bool {
        self.addr() == addr
    }

    fn is_expired(&self) -> bool {
        self.0.strong_count() == 0
    }
}

#[test]
fn a_map_accepts_a_key_that_cannot_be_upgraded() {
    let (a, b) = (Anchor(Arc::new(1)), Anchor(Arc::new(1)));
    let mut map = WeakMap::new();
    assert_eq!(map.insert(&a, "a".to_owned()), None);
    *map.entry(&b).or_default() += "b";
    assert_eq!((&*map[&a], map.len_live()), ("a", 2));
    assert_eq!(map.remove(&a).as_deref(), Some("a"));
    assert_eq!(map.get(&a), None);
    drop(b);
    assert_eq!(map.len_live(), 0);
    assert_eq!(map.drain_dead().collect::<Vec<String>>(), ["b"]);
    assert!(map.is_empty());
}

#[test]
fn a_set_accepts_a_key_that_cannot_be_upgraded() {
    let (a, b) = (Anchor(Arc::new(1)), Anchor(Arc::new(1)));
    let mut set = WeakSet::default();
    assert!(set.insert(&a) && !set.insert(&a) && set.insert(&b));
    assert!(set.remove(&a) && !set.contains(&a) && set.contains(&b));
    drop(b);
    set.purge();
    assert!(set.is_empty());
}
