//! What the drop of an anchor does, and in which order.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use weakly::{WeakMap, ptr};

use crate::common::{Log, OnDrop, Own};
use crate::for_each_flavour;

for_each_flavour!(
    finalizers_run_newest_first_and_after_the_notices,
    fields_before_the_anchor_find_the_attributes,
    the_destructor_of_the_value_finds_the_attributes,
    a_value_that_owns_its_anchor_stays,
);

/// A value that may own an anchor, and may run an action at its end.
type Value<F> = (Option<ptr::Anchor<F>>, Option<OnDrop>);

/// 133: As for a `Strong`.
fn finalizers_run_newest_first_and_after_the_notices<F: Own>() {
    let (log, anchor) = (Log::default(), ptr::Anchor::<F>::new());
    let weak = anchor.downgrade();
    for event in ["first", "second", "third"] {
        let log = log.clone();
        drop(F::finalize_anchor(&anchor, move || log.note(event)));
    }
    let map = WeakMap::from([(&anchor, 1_usize)]);
    assert!(log.take().is_empty());
    drop(anchor);
    assert_eq!(log.take(), ["third", "second", "first"]);
    assert!(weak.is_expired() && map.is_empty());
}

/// A trap: the attributes live until the anchor is dropped, so it belongs at the end.
fn fields_before_the_anchor_find_the_attributes<F: Own>() {
    struct Last {
        _field: OnDrop,
    }
    struct AnchorLast<F: Own> {
        _field: Last,
        anchor: ptr::Anchor<F>,
    }
    struct AnchorFirst<F: Own> {
        anchor: ptr::Anchor<F>,
        _field: Last,
    }
    let names = Rc::new(RefCell::new(WeakMap::<ptr::Anchor<F>, usize>::new()));
    let live = Rc::new(Cell::new(9));
    let field = || {
        let (names, live) = (names.clone(), live.clone());
        Last {
            _field: OnDrop::new(move || live.set(names.borrow().len())),
        }
    };
    let (_field, anchor) = (field(), ptr::Anchor::new());
    let value = AnchorLast { _field, anchor };
    names.borrow_mut().insert(&value.anchor, 1);
    drop(value);
    assert_eq!(live.get(), 1);

    let (_field, anchor) = (field(), ptr::Anchor::new());
    let value = AnchorFirst { anchor, _field };
    names.borrow_mut().insert(&value.anchor, 1);
    drop(value);
    assert_eq!(live.get(), 0);
}

fn the_destructor_of_the_value_finds_the_attributes<F: Own>() {
    type Numbers<F> = Rc<RefCell<WeakMap<ptr::Anchor<F>, usize>>>;
    struct Node<F: Own> {
        numbers: Numbers<F>,
        found: Rc<Cell<usize>>,
        anchor: ptr::Anchor<F>,
    }
    impl<F: Own> Drop for Node<F> {
        fn drop(&mut self) {
            self.found.set(self.numbers.borrow()[&self.anchor]);
            // An entry that a destructor makes dies with the anchor, like any other.
            self.numbers.borrow_mut().insert(&self.anchor, 2);
        }
    }
    let (numbers, found) = (Numbers::<F>::default(), Rc::<Cell<_>>::default());
    let node = Node {
        numbers: numbers.clone(),
        found: found.clone(),
        anchor: ptr::Anchor::new(),
    };
    numbers.borrow_mut().insert(&node.anchor, 1);
    drop(node);
    assert_eq!(found.get(), 1);
    assert!(numbers.borrow().is_empty());
}

/// 144: The entry keeps itself, until it is removed or the map is dropped.
fn a_value_that_owns_its_anchor_stays<F: Own>() {
    let anchor = ptr::Anchor::<F>::new();
    let weak = anchor.downgrade();
    let mut map = WeakMap::new();
    let anchored: &mut Value<F> = map.entry(&anchor).or_default();
    anchored.0 = Some(anchor);
    map.purge();
    assert_eq!(map.len(), 1);
    let owner = map.remove(&weak).unwrap();
    assert!(map.is_empty() && !weak.is_expired());
    // The other way out.
    let mut other = WeakMap::new();
    let anchor = owner.0.unwrap();
    let again: &mut Value<F> = other.entry(&anchor).or_default();
    again.0 = Some(anchor);
    drop(other);
    assert!(weak.is_expired());
}
