//! What the drop of an anchor does, and in which order.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use weakly::{Reclaim, WeakMap, ptr};

use crate::common::{Count, Counter, Log, OnDrop, Own, panics, quiet_panic, scaled};
use crate::for_each_flavour;

for_each_flavour!(
    each_map_gets_a_notice,
    finalizers_run_newest_first_and_after_the_notices,
    a_finalizer_is_cancelled_or_run_early,
    a_finalizer_that_panics_stops_no_other,
    an_unwinding_value_dies_too,
    fields_before_the_anchor_find_the_attributes,
    the_destructor_of_the_value_finds_the_attributes,
    a_value_that_owns_its_anchor_stays,
    a_chain_of_anchors_dies_without_recursion,
    values_are_kept_on_request,
    anchors_that_outlive_their_maps,
    a_destructor_that_panics_costs_no_other_value,
);

/// A value that may own an anchor, and may run an action at its end.
type Value<F> = (Option<ptr::Anchor<F>>, Option<OnDrop>);

fn ending<F: Own>(end: impl FnMut() + 'static) -> Value<F> {
    (None, Some(OnDrop::new(end)))
}

/// 58: One notice for each entry, and `len` knows at once.
fn each_map_gets_a_notice<F: Own>() {
    let anchor = ptr::Anchor::<F>::new();
    let mut maps: Vec<_> = (0..10_usize)
        .map(|n| WeakMap::from([(&anchor, n)]))
        .collect();
    let weak = anchor.downgrade();
    assert!(maps.iter().all(|map| map.pending_dead() == 0));
    drop(anchor);
    assert!(weak.is_expired());
    assert!(
        maps.iter()
            .all(|map| (map.len(), map.pending_dead()) == (0, 1))
    );
    for (n, map) in maps.iter_mut().enumerate() {
        assert_eq!(map.get(&weak), None);
        assert!(map.drain_dead().eq([n]));
        assert_eq!(map.pending_dead(), 0);
    }
}

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

/// 136, 137
fn a_finalizer_is_cancelled_or_run_early<F: Own>() {
    let (count, anchor) = (Count::default(), ptr::Anchor::<F>::new());
    let finalizer = |count: &Count| {
        let count = count.clone();
        F::finalize_anchor(&anchor, move || _ = count.add())
    };
    let (cancelled, early, late) = (finalizer(&count), finalizer(&count), finalizer(&count));
    assert!(cancelled.detach().is_some() && early.run_now() && late.is_pending());
    assert_eq!(count.get(), 1);
    drop(anchor);
    assert_eq!(count.get(), 2);
    assert!(!late.is_pending() && late.detach().is_none());
}

/// 134
fn a_finalizer_that_panics_stops_no_other<F: Own>() {
    let (count, anchor) = (Count::default(), ptr::Anchor::<F>::new());
    let map = WeakMap::from([(&anchor, 1_usize)]);
    for n in 0..3 {
        let count = count.clone();
        F::finalize_anchor(&anchor, move || {
            count.add();
            if n == 1 {
                quiet_panic();
            }
        });
    }
    let weak = anchor.downgrade();
    assert!(panics(|| drop(anchor)));
    assert_eq!(count.get(), 3);
    assert!(weak.is_expired() && map.is_empty());
}

fn an_unwinding_value_dies_too<F: Own>() {
    let map = RefCell::new(WeakMap::new());
    assert!(panics(|| {
        let node = (ptr::Anchor::<F>::new(), 7_usize);
        map.borrow_mut().insert(&node.0, node.1);
        quiet_panic();
    }));
    assert!(map.borrow().is_empty());
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

/// 53: Each value owns the next anchor.
fn a_chain_of_anchors_dies_without_recursion<F: Own>() {
    let mut map = WeakMap::<_, Value<F>>::new();
    let head = ptr::Anchor::<F>::new();
    map.insert(&head, Value::default());
    let mut last = head.downgrade();
    for _ in 0..scaled(100_000, 50) {
        let next = ptr::Anchor::<F>::new();
        map.insert(&next, Value::default());
        let weak = next.downgrade();
        map.get_mut(&last).unwrap().0 = Some(next);
        last = weak;
    }
    assert!(!last.is_expired());
    drop(head);
    map.purge();
    assert!(last.is_expired());
    assert_eq!((map.len(), map.pending_dead(), map.len_live()), (0, 0, 0));
}

/// 185
fn values_are_kept_on_request<F: Own>() {
    let deaths = Counter::default();
    let mut map = WeakMap::<_, Value<F>>::new();
    map.set_reclaim(Reclaim::OnRequest);
    for _ in 0..30 {
        map.insert(&ptr::Anchor::<F>::new(), (None, Some(deaths.witness())));
    }
    let anchor = ptr::Anchor::<F>::new();
    map.insert(&anchor, (None, Some(deaths.witness())));
    assert_eq!((deaths.get(), map.len(), map.pending_dead()), (0, 1, 30));
    assert_eq!(map.drain_dead().count(), 30);
    assert_eq!(deaths.get(), 30);
    drop(anchor);
    map.purge();
    assert_eq!(deaths.get(), 31);
}

/// 67, 68
fn anchors_that_outlive_their_maps<F: Own>() {
    let (one, other) = (ptr::Anchor::<F>::new(), ptr::Anchor::<F>::new());
    let mut map = WeakMap::from([(&one, 1_usize), (&other, 2)]);
    let later = WeakMap::from([(&one, 3_usize)]);
    drop(one);
    assert_eq!(map.get_mut(&other), Some(&mut 2));
    drop(map); // with a notice in its queue
    drop(other);
    assert!(later.is_empty());
}

/// 182
fn a_destructor_that_panics_costs_no_other_value<F: Own>() {
    let deaths = Counter::default();
    let mut map = WeakMap::<_, Value<F>>::new();
    let anchors: Vec<_> = (0..10).map(|_| ptr::Anchor::<F>::new()).collect();
    for (n, anchor) in anchors.iter().enumerate() {
        let witness = Cell::new(Some(deaths.witness()));
        map.insert(
            anchor,
            ending(move || {
                drop(witness.take());
                if n == 4 {
                    quiet_panic();
                }
            }),
        );
    }
    drop(anchors);
    assert!(map.is_empty());
    assert!(panics(|| _ = map.purge()));
    map.purge();
    assert_eq!((deaths.get(), map.pending_dead()), (10, 0));
}
