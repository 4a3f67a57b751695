//! Anchors: the first watching thread makes the object behind an anchor, while other threads watch
//! and look.

use loom::sync::Arc;

use super::{Map, all_three, both, check};
use crate::reference::WeakKey;
use crate::{Anchor, AnchorRef};

/// Makes an anchor that threads share; the last thread drops the anchor.
fn shared() -> (Arc<Anchor>, Arc<Anchor>) {
    let anchor = Arc::new(Anchor::new());
    (anchor.clone(), anchor)
}

fn downgrade_and_drop(anchor: Arc<Anchor>) -> AnchorRef {
    let weak = anchor.downgrade();
    assert!(!weak.is_expired());
    drop(anchor);
    weak
}

#[test]
fn two_threads_make_the_object_of_an_anchor() {
    check(0, |_| {
        let (a, b) = shared();
        let (one, other) = both(move || downgrade_and_drop(a), move || downgrade_and_drop(b));
        assert!(one == other && one.is_expired() && other.is_expired());
    });
}

/// A lookup finds no address, or the anchor's final address.
#[test]
fn a_lookup_against_the_first_watches_of_an_anchor() {
    check(0, |_| {
        let (a, b) = shared();
        let c = a.clone();
        let (known, one, other) = all_three(
            move || WeakKey::known_addr(&*a).addr(),
            move || downgrade_and_drop(b),
            move || {
                let addr = WeakKey::addr(&*c).addr();
                assert_eq!(WeakKey::known_addr(&*c).addr(), addr);
                (addr, downgrade_and_drop(c))
            },
        );
        assert!(known == 0 || known == other.0);
        assert!(one == other.1 && one.is_expired());
    });
}

/// An anchor that one thread enters into its map, and another thread finalizes, dies once.
#[test]
fn a_first_entry_against_a_first_finalizer_of_an_anchor() {
    check(0, |_| {
        let (a, b) = shared();
        let (mut map, token) = both(
            move || {
                let mut map = Map::new();
                map.put(a.object());
                drop(a);
                map
            },
            move || b.finalize(|| {}),
        );
        assert!(!token.is_pending());
        assert_eq!(map.drain(), 1);
    });
}

/// The owner of an entry ends the entry while the anchor dies.
#[test]
fn the_end_of_an_entry_against_the_drop_of_its_anchor() {
    check(0, |_| {
        let anchor = Anchor::new();
        let mut map = Map::new();
        map.put(anchor.object());
        let weak = anchor.downgrade();
        both(move || drop(anchor), move || drop(map));
        assert!(weak.is_expired());
    });
}
