//! Single attributes.

use weakly::{Attribute, Identify, Reclaim, Strong};

use crate::common::heap::{allocations, bytes};
use crate::common::panics;
use crate::for_each_pointer;
use crate::tools::{Count, Pointer, message, objects};

for_each_pointer!(
    it_is_set_and_read,
    any_pointer_to_the_object,
    attributes_are_independent,
    its_end_leaves_others_alone,
    it_is_dropped_with_the_object,
    the_values_of_the_dead_are_kept_on_request,
    a_replaced_or_removed_value_is_dropped,
    clear_discards_all,
    an_update_returns_the_new_value,
    it_is_computed_once,
    a_clone_of_the_value_has_none,
    its_objects_are_a_snapshot,
);

/// 166: With every method that sets or reads it.
fn it_is_set_and_read<P: Pointer>() {
    let attribute = Attribute::<P, String>::default();
    let [one, other] = [1, 2].map(P::from);
    assert!(attribute.is_empty() && attribute.get(&one).is_none());
    assert!(attribute.set(&one, "first".into()));
    assert!(!attribute.set(&one, "second".into()));
    assert_eq!(attribute.get(&one).as_deref(), Some("second"));
    assert_eq!(attribute.with(&one, String::len), Some(6));
    assert_eq!(attribute.with(&other, String::len), None);
    assert!(attribute.has(&one) && !attribute.has(&other));
    assert_eq!((attribute.len(), attribute.is_empty()), (1, false));
    assert_eq!(format!("{attribute:?}"), r#"{1: "second"}"#);
    assert_eq!(attribute.take(&other), None);
    assert_eq!(attribute.take(&one).as_deref(), Some("second"));
    assert!(!attribute.has(&one) && attribute.is_empty());
    assert_eq!(format!("{attribute:?}"), "{}");
}

/// Reads and removes by any pointer to it.
fn by<P: Pointer, Q: ?Sized + Identify<P>>(object: &P, name: &Q) {
    let attribute = Attribute::<P, usize>::new();
    for _ in 0..2 {
        assert_eq!((attribute.get(name), attribute.has(name)), (None, false));
        assert!(!attribute.remove(name));
        assert!(attribute.set(object, 7));
        assert_eq!((attribute.get(name), attribute.has(name)), (Some(7), true));
        assert_eq!(attribute.with(name, |value| value + 1), Some(8));
        assert_eq!(
            (attribute.take(name), attribute.take(name)),
            (Some(7), None)
        );
        assert!(attribute.set(object, 8));
        assert!(attribute.remove(name) && !attribute.remove(name));
    }
}

/// 166: By its pointer, by a clone of that, weakly, or by reference.
fn any_pointer_to_the_object<P: Pointer>()
where
    usize: Identify<P>,
{
    let object = P::from(1);
    by(&object, &object);
    by(&object, &object.clone());
    by(&object, &P::downgrade(&object));
    by::<P, usize>(&object, &object);
    by(&object, &weakly::Addr::of(&*object));
    let attribute = Attribute::<P, usize>::new();
    attribute.set(&object, 1);
    assert!(!attribute.has(&*P::from(1)), "an equal one is another");
    let weak = P::downgrade(&object);
    drop(object);
    assert!(!attribute.has(&weak) && attribute.take(&weak).is_none());
}

/// 166: Though they are of the same type, on the same objects.
fn attributes_are_independent<P: Pointer>() {
    let [mine, yours] = [(); 2].map(|()| Attribute::<P, usize>::new());
    let all = objects::<P>(10);
    for object in &all {
        mine.set(object, **object);
        assert_eq!(yours.get(object), None);
    }
    for object in &all[5..] {
        yours.set(object, 100 + **object);
    }
    assert_eq!((mine.len(), yours.len()), (10, 5));
    for object in &all {
        assert_eq!(mine.get(object), Some(**object));
        let wanted = (**object >= 5).then_some(100 + **object);
        assert_eq!(yours.get(object), wanted);
    }
    mine.clear();
    assert_eq!((mine.len(), yours.len()), (0, 5));
}

/// 167: All its values are dropped; other attributes of the same objects stay.
fn its_end_leaves_others_alone<P: Pointer>() {
    let (gone, kept) = (Count::default(), Count::default());
    let all = objects::<P>(100);
    let [mine, yours] = [&gone, &kept].map(|count| {
        let attribute = Attribute::new();
        for object in &all {
            attribute.set(object, count.witness());
        }
        attribute
    });
    drop(mine);
    assert_eq!((gone.get(), kept.get()), (100, 0));
    assert!(all.iter().all(|object| yours.has(object)));
    drop(all);
    yours.purge();
    assert_eq!((gone.get(), kept.get()), (100, 100));
}

/// 166: It is not found any more at once, and dropped by the next change.
fn it_is_dropped_with_the_object<P: Pointer>() {
    let (attribute, destroyed) = (Attribute::<P, _>::new(), Count::default());
    let [one, other] = [1, 2].map(P::from);
    attribute.set(&one, destroyed.witness());
    drop(one);
    assert_eq!(
        destroyed.get(),
        0,
        "a death runs no code of the attribute's"
    );
    assert_eq!(attribute.pending_dead(), usize::from(P::NOTIFIES));
    assert_eq!(attribute.len(), usize::from(!P::NOTIFIES));
    assert_eq!(attribute.objects().count(), 0);
    if P::NOTIFIES {
        attribute.set(&other, destroyed.witness());
        assert_eq!(destroyed.get(), 1);
    }
    attribute.purge();
    assert_eq!((destroyed.get(), attribute.pending_dead()), (1, 0));
    assert_eq!(attribute.len(), usize::from(P::NOTIFIES));
}

/// 185: Until they are requested, whatever else is done.
fn the_values_of_the_dead_are_kept_on_request<P: Pointer>() {
    let (attribute, destroyed) = (Attribute::<P, _>::new(), Count::default());
    assert_eq!(attribute.reclaim(), Reclaim::OnUse);
    attribute.set_reclaim(Reclaim::OnRequest);
    assert_eq!(attribute.reclaim(), Reclaim::OnRequest);
    for asks in [Attribute::purge, Attribute::clear] {
        let before = destroyed.get();
        for object in objects::<P>(100) {
            attribute.set(&object, destroyed.witness());
        }
        assert_eq!((destroyed.get(), attribute.objects().count()), (before, 0));
        assert!(!P::NOTIFIES || (attribute.len(), attribute.pending_dead()) == (0, 100));
        asks(&attribute);
        assert_eq!(
            (destroyed.get(), attribute.pending_dead()),
            (before + 100, 0)
        );
    }
    let object = P::from(1);
    attribute.set(&object, destroyed.witness());
    attribute.remove(&object);
    assert_eq!(destroyed.get(), 201, "it was not a dead one's");
}

/// 166: At once, if no thread reads it.
fn a_replaced_or_removed_value_is_dropped<P: Pointer>() {
    let (attribute, destroyed) = (Attribute::<P, _>::new(), Count::default());
    let object = P::from(1);
    attribute.set(&object, destroyed.witness());
    attribute.set(&object, destroyed.witness());
    assert_eq!(destroyed.get(), 1);
    assert!(attribute.remove(&object));
    assert_eq!(destroyed.get(), 2);
    attribute.set(&object, destroyed.witness());
    drop(attribute.take(&object));
    assert_eq!(destroyed.get(), 3);
    attribute.set(&object, destroyed.witness());
    attribute.with(&object, |_| {
        assert!(attribute.remove(&object) && !attribute.has(&object));
        assert_eq!(destroyed.get(), 3, "it is being read");
    });
    assert_eq!(destroyed.get(), 4);
    attribute.update(&object, |_| Some(destroyed.witness()));
    attribute.update(&object, |_| None);
    assert_eq!((destroyed.get(), attribute.len()), (5, 0));
    drop(object);
    attribute.purge();
    assert_eq!((destroyed.get(), attribute.pending_dead()), (5, 0));
}

/// 167: And the attribute stays usable.
fn clear_discards_all<P: Pointer>() {
    let (attribute, destroyed) = (Attribute::<P, _>::new(), Count::default());
    attribute.clear();
    let mut all = objects::<P>(100);
    for round in 1..3 {
        for object in &all {
            assert!(attribute.set(object, destroyed.witness()));
        }
        // Those of the dead too.
        all.truncate(50);
        attribute.clear();
        assert_eq!((attribute.len(), attribute.pending_dead()), (0, 0));
        assert_eq!(destroyed.get(), 100 * round);
        all.extend(objects::<P>(50));
    }
}

/// 166: `None` removes it; `None` for none changes nothing.
fn an_update_returns_the_new_value<P: Pointer>() {
    let (attribute, object) = (Attribute::<P, usize>::new(), P::from(1));
    assert_eq!(
        attribute.update(&object, |old| old.map(|old| old + 1)),
        None
    );
    assert!(!attribute.has(&object));
    for turn in 1..4 {
        let next = |old: Option<&usize>| Some(old.map_or(1, |old| old + 1));
        assert_eq!(attribute.update(&object, next), Some(turn));
    }
    assert!(panics(
        || _ = attribute.update(&object, |_| crate::common::quiet_panic())
    ));
    assert_eq!(attribute.get(&object), Some(3));
    assert_eq!(
        attribute.update(&object, |old| old.filter(|_| false).copied()),
        None
    );
    assert!(attribute.is_empty());
}

/// 174: While it is computed, needing it is an error; a panic leaves nothing.
fn it_is_computed_once<P: Pointer>() {
    let (attribute, object) = (Attribute::<P, usize>::new(), P::from(1));
    assert!(panics(
        || _ = attribute.get_or_init(&object, || crate::common::quiet_panic())
    ));
    let cycle = message(|| {
        attribute.get_or_init(&object, || {
            attribute.get_or_init(&object, || unreachable!())
        });
    });
    assert!(cycle.is_some_and(|cycle| cycle.contains("cycle")));
    assert!(!attribute.has(&object));
    assert_eq!(attribute.get_or_init(&object, || 7), 7);
    assert_eq!(attribute.get_or_init(&object, || unreachable!()), 7);
    // A value set meanwhile stays.
    let other = P::from(2);
    let made = attribute.get_or_init(&other, || {
        attribute.set(&other, 1);
        2
    });
    assert_eq!((made, attribute.get(&other)), (2, Some(1)));
}

/// 171: It is another object.
fn a_clone_of_the_value_has_none<P: Pointer>() {
    let (attribute, object) = (Attribute::<P, usize>::new(), P::from(1));
    attribute.set(&object, 7);
    let same = object.clone();
    let clone = P::from(usize::clone(&object));
    assert_eq!(
        (attribute.get(&same), attribute.get(&clone)),
        (Some(7), None)
    );
    attribute.set(&clone, 8);
    drop((object, same));
    assert_eq!(attribute.get(&clone), Some(8));
}

/// 166: The snapshot keeps none of them alive.
fn its_objects_are_a_snapshot<P: Pointer>() {
    let attribute = Attribute::<P, ()>::new();
    assert_eq!(attribute.objects().count(), 0);
    let mut all = objects::<P>(10);
    all.iter().for_each(|object| _ = attribute.set(object, ()));
    let before = attribute.objects();
    let mut now: Vec<_> = attribute.objects().map(|object| *object).collect();
    now.sort_unstable();
    assert!(now.into_iter().eq(0..10));
    all.truncate(4);
    attribute.set(&P::from(100), ());
    let mut left: Vec<_> = before.map(|object| *object).collect();
    left.sort_unstable();
    assert!(left.into_iter().eq(0..4));
}

/// 171: Unsharing the value moves it to a new object, which has no attributes.
#[test]
fn make_mut_leaves_attributes_behind() {
    let attribute = Attribute::<Strong<usize>, usize>::new();
    let mut object = Strong::new(1);
    attribute.set(&object, 7);
    *Strong::make_mut(&mut object) += 1;
    assert_eq!((*object, attribute.get(&object)), (2, None));
    attribute.purge();
    assert!(attribute.is_empty());
}

/// 166: An object that never had the attribute has no record of it, whatever is read, and whatever happens to
/// others.
#[test]
fn an_object_without_it_pays_nothing() {
    let attribute = Attribute::<Strong<usize>, usize>::new();
    let (object, other) = (Strong::new(1), Strong::new(2));
    // (The first entry, and what the table allocates for each thread.)
    attribute.set(&other, 1);
    attribute.get_or_init(&Strong::new(3), || 3);
    attribute.purge();
    let before = (allocations(), bytes());
    assert_ne!(before.0, 0, "they are counted");
    for _ in 0..10 {
        assert_eq!(
            (attribute.get(&object), attribute.has(&*object)),
            (None, false)
        );
        assert_eq!(
            (attribute.take(&object), attribute.remove(&object)),
            (None, false)
        );
        assert_eq!(attribute.update(&object, |_| None), None);
    }
    attribute.purge();
    assert_eq!((allocations(), bytes()), before);
    assert_eq!(Strong::weak_count(&object), 0);
    assert!(panics(
        || _ = attribute.get_or_init(&object, || crate::common::quiet_panic())
    ));
    assert_eq!(Strong::weak_count(&object), 0);
    drop(object);
    assert_eq!(attribute.pending_dead(), 0, "its death sends no notice");
    // An object with the attribute sends a notice.
    let carries = Strong::new(4);
    attribute.set(&carries, 4);
    assert_ne!(Strong::weak_count(&carries), 0);
    assert!(attribute.remove(&carries));
    assert_eq!(Strong::weak_count(&carries), 0);
}

/// 166: Nor does an attribute that was never set.
#[test]
fn an_unset_attribute_allocates_nothing() {
    let object = Strong::new(1);
    let before = allocations();
    assert_ne!(before, 0, "they are counted");
    let attribute = Attribute::<Strong<usize>, String>::new();
    assert!(!attribute.has(&object) && attribute.get(&object).is_none());
    assert!(!attribute.remove(&object) && attribute.take(&object).is_none());
    assert!(attribute.is_empty() && attribute.objects().next().is_none());
    attribute.purge();
    attribute.clear();
    drop(attribute);
    assert_eq!(allocations(), before);
}
