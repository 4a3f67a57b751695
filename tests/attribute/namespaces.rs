//! Namespaces of attributes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use weakly::{AttributeId, Attributes, Reclaim, reference::Identify};

use crate::common::{panics, quiet_panic};
use crate::for_each_pointer;
use crate::tools::{Count, Doomed, Pointer, objects};

/// Declares keys, each with the type of its values.
#[macro_export]
macro_rules! keys {
    ($($name:ident: $value:ty),* $(,)?) => {$(
        #[derive(Clone, Copy)]
        pub(crate) struct $name;
        impl weakly::AttributeKey for $name {
            type Value = $value;
        }
    )*};
}

keys!(Depth: usize, Label: String, First: Doomed, Second: Doomed, Third: Doomed);

/// A key of the same name, declared elsewhere.
pub(crate) mod elsewhere {
    keys!(Depth: usize);
}

for_each_pointer!(
    they_are_set_and_read,
    any_pointer_to_the_object,
    namespaces_are_independent,
    keys_of_one_name_are_two,
    the_list_is_in_order_of_first_setting,
    attributes_go_with_the_object_in_order,
    attributes_of_the_dead_are_kept_on_request,
    a_replaced_or_removed_value_is_dropped,
    a_panic_changes_nothing,
    a_clone_of_the_value_has_none,
);

/// 166: Each with its type.
fn they_are_set_and_read<P: Pointer>() {
    let (attributes, object) = (Attributes::<P>::default(), P::from(1));
    assert!(attributes.is_empty() && attributes.get(&object, Depth).is_none());
    assert!(attributes.insert(&object, Depth, 1) && !attributes.insert(&object, Depth, 2));
    assert!(attributes.insert(&object, Label, "label".into()));
    assert_eq!(attributes.get(&object, Depth), Some(2));
    assert_eq!(attributes.with(&object, Label, String::len), Some(5));
    assert!(attributes.contains_key(&object, Label) && !attributes.contains_key(&object, First));
    assert_eq!((attributes.len(), attributes.is_empty()), (1, false));
    assert_eq!(format!("{attributes:?}"), "Attributes { objects: 1 }");
    assert!(attributes.keys().map(|object| *object).eq([1]));
    assert_eq!(attributes.remove(&object, Depth), Some(2));
    assert_eq!(attributes.remove(&object, Depth), None);
    assert!(!attributes.remove_if(&object, Depth, |_| unreachable!()));
    assert!(!attributes.remove_if(&object, Label, |label| label.is_empty()));
    assert_eq!(attributes.get(&object, Label).as_deref(), Some("label"));
    assert!(attributes.remove_if(&object, Label, |label| label == "label"));
    assert_eq!((attributes.len(), attributes.list(&object)), (0, vec![]));
}

/// 166: By its pointer, weakly, or by reference.
fn any_pointer_to_the_object<P: Pointer>()
where
    usize: Identify<P>,
{
    fn by<P: Pointer, Q: ?Sized + Identify<P>>(object: &P, name: &Q) {
        let attributes = Attributes::<P>::new();
        assert!(attributes.list(name).is_empty() && !attributes.forget(name));
        attributes.insert(object, Depth, 7);
        assert_eq!(
            (
                attributes.get(name, Depth),
                attributes.contains_key(name, Depth)
            ),
            (Some(7), true)
        );
        assert_eq!(attributes.with(name, Depth, |depth| depth + 1), Some(8));
        assert_eq!(attributes.list(name), [AttributeId::of::<Depth>()]);
        assert!(attributes.forget(name) && !attributes.forget(name));
        assert_eq!(attributes.get(name, Depth), None);
    }
    let object = P::from(1);
    by(&object, &object.clone());
    by(&object, &P::downgrade(&object));
    by::<P, usize>(&object, &object);
}

/// 166, 167: With the same keys, on the same objects. The end of one is not that of the other.
fn namespaces_are_independent<P: Pointer>() {
    let [mine, yours] = [(); 2].map(|()| Attributes::<P>::new());
    let all = objects::<P>(10);
    for object in &all {
        mine.insert(object, Depth, **object);
        yours.insert(object, Label, object.to_string());
        assert!(yours.get(object, Depth).is_none() && mine.get(object, Label).is_none());
        yours.insert(object, Depth, 100 + **object);
    }
    for object in &all {
        assert_eq!(mine.get(object, Depth), Some(**object));
        assert_eq!(yours.get(object, Depth), Some(100 + **object));
        assert_eq!((mine.list(object).len(), yours.list(object).len()), (1, 2));
    }
    drop(mine);
    assert!(yours.len() == 10 && yours.get(&all[0], Depth) == Some(100));
    yours.clear();
    assert_eq!(yours.len(), 0);
}

/// 166: Two libraries may declare `Depth` for one namespace, and mean different attributes.
fn keys_of_one_name_are_two<P: Pointer>() {
    let (attributes, object) = (Attributes::<P>::new(), P::from(1));
    attributes.insert(&object, Depth, 1);
    assert!(!attributes.contains_key(&object, elsewhere::Depth));
    attributes.insert(&object, elsewhere::Depth, 2);
    assert_eq!(attributes.get(&object, Depth), Some(1));
    let ids = [
        AttributeId::of::<Depth>(),
        AttributeId::of::<elsewhere::Depth>(),
    ];
    assert_eq!(attributes.list(&object), ids);
    assert!(ids[0] != ids[1] && ids[0] == AttributeId::of::<Depth>());
    let set: HashSet<_> = ids.into_iter().chain(ids).collect();
    assert_eq!(set.len(), 2);
    assert!(ids[1].name().ends_with("elsewhere::Depth"), "{:?}", ids[1]);
    assert_eq!(attributes.remove(&object, Depth), Some(1));
    assert!(attributes.contains_key(&object, elsewhere::Depth));
}

/// 169: A later value takes the place of the first; an attribute that is removed and set again comes last.
fn the_list_is_in_order_of_first_setting<P: Pointer>() {
    let (attributes, object) = (Attributes::<P>::new(), P::from(1));
    let [depth, label] = [AttributeId::of::<Depth>(), AttributeId::of::<Label>()];
    attributes.insert(&object, Depth, 1);
    attributes.insert(&object, Label, String::new());
    attributes.insert(&object, Depth, 2);
    attributes.compute(&object, Depth, |_| Some(3));
    assert_eq!(attributes.list(&object), [depth, label]);
    attributes.remove(&object, Depth);
    assert_eq!(attributes.list(&object), [label]);
    attributes.insert(&object, Depth, 4);
    assert_eq!(attributes.list(&object), [label, depth]);
}

/// Records its number when it is dropped.
fn recording(log: &Arc<Mutex<Vec<usize>>>, number: usize) -> Doomed {
    let log = Arc::clone(log);
    Doomed::new(move || log.lock().unwrap().push(number))
}

/// 169: In the order in which they were first set; whatever drops them together.
fn attributes_go_with_the_object_in_order<P: Pointer>() {
    type Ends<P> = fn(Attributes<P>, P);
    let ends: [Ends<P>; 4] = [
        |attributes, object| {
            drop(object);
            attributes.purge();
        },
        |attributes, object| drop((attributes, object)),
        |attributes, object| assert!(attributes.forget(&object)),
        |attributes, _object| attributes.clear(),
    ];
    for end in ends {
        let log = Arc::default();
        let (attributes, object) = (Attributes::<P>::new(), P::from(1));
        attributes.insert(&object, Second, recording(&log, 0));
        attributes.insert(&object, First, recording(&log, 2));
        attributes.insert(&object, Third, recording(&log, 3));
        attributes.insert(&object, Second, recording(&log, 1));
        assert_eq!(
            *log.lock().unwrap(),
            [0],
            "a replaced value is dropped at once"
        );
        end(attributes, object);
        assert_eq!(*log.lock().unwrap(), [0, 1, 2, 3]);
    }
}

/// 185: Until they are requested; an attribute that is replaced or removed from a live object is dropped at
/// once.
fn attributes_of_the_dead_are_kept_on_request<P: Pointer>() {
    let (space, destroyed) = (Attributes::<P>::new(), Count::default());
    space.set_reclaim(Reclaim::OnRequest);
    assert_eq!(space.reclaim(), Reclaim::OnRequest);
    for object in objects::<P>(100) {
        space.insert(&object, First, destroyed.doomed());
        space.insert(&object, Second, destroyed.doomed());
    }
    let object = P::from(1);
    space.insert(&object, First, destroyed.doomed());
    assert_eq!(destroyed.get(), 0);
    space.insert(&object, First, destroyed.doomed());
    space.remove_if(&object, First, |_| true);
    assert_eq!(destroyed.get(), 2);
    space.purge();
    assert_eq!((destroyed.get(), space.pending_dead()), (202, 0));
}

/// 166: At once, and no other attribute with it.
fn a_replaced_or_removed_value_is_dropped<P: Pointer>() {
    let (attributes, object) = (Attributes::<P>::new(), P::from(1));
    let (first, second) = (Count::default(), Count::default());
    attributes.insert(&object, Second, second.doomed());
    attributes.insert(&object, First, first.doomed());
    attributes.insert(&object, First, first.doomed());
    assert_eq!(first.get(), 1);
    drop(attributes.remove(&object, First));
    assert_eq!(first.get(), 2);
    attributes.compute(&object, First, |old| {
        assert!(old.is_none());
        Some(first.doomed())
    });
    attributes.compute(&object, First, |old| old.filter(|_| false).cloned());
    assert_eq!(first.get(), 3);
    attributes.insert(&object, First, first.doomed());
    assert!(attributes.remove_if(&object, First, |_| true));
    assert_eq!((first.get(), second.get(), attributes.len()), (4, 0, 1));
    attributes.with(&object, Second, |_| {
        assert!(attributes.remove_if(&object, Second, |_| true) && attributes.is_empty());
        assert_eq!(second.get(), 0, "it is being read");
    });
    assert_eq!(second.get(), 1);
}

/// 175: Of a closure.
fn a_panic_changes_nothing<P: Pointer>() {
    let (attributes, object) = (Attributes::<P>::new(), P::from(1));
    assert!(panics(
        || _ = attributes.compute(&object, Depth, |_| quiet_panic())
    ));
    assert!(attributes.is_empty());
    attributes.insert(&object, Depth, 1);
    assert!(panics(
        || _ = attributes.compute(&object, Depth, |_| quiet_panic())
    ));
    assert!(panics(
        || _ = attributes.remove_if(&object, Depth, |_| quiet_panic())
    ));
    assert!(panics(
        || _ = attributes.with(&object, Depth, |_| quiet_panic())
    ));
    assert_eq!(
        (attributes.get(&object, Depth), attributes.len()),
        (Some(1), 1)
    );
}

/// 171: It is another object.
fn a_clone_of_the_value_has_none<P: Pointer>() {
    let (attributes, object) = (Attributes::<P>::new(), P::from(1));
    attributes.insert(&object, Depth, 7);
    let clone = P::from(usize::clone(&object));
    assert_eq!(attributes.get(&object.clone(), Depth), Some(7));
    assert!(attributes.list(&clone).is_empty());
}
