//! What the public types say of themselves: their `Debug` texts show what is there, and have no effect on it.

use std::hash::BuildHasher;

use weakly::{
    Addr, AttributeId, AttributeKey, ByIdentity, DefaultHashBuilder, Strong, WeakMap, WeakSet,
};

#[test]
fn handles_and_what_names_them() {
    let object = Strong::new(1);
    let weak = Strong::downgrade(&object);
    let addr = Strong::as_ptr(&object);
    assert_eq!(format!("{object:?} {weak:?}"), "1 (Weak)");
    assert_eq!(format!("{object:p}"), format!("{addr:p}"));
    let name = Addr::of(&*object);
    assert_eq!(format!("{name:?}"), format!("{addr:p}"));
    assert_eq!(format!("{:?}", ByIdentity(object)), "1");
    assert_eq!(format!("{weak:?}"), "(Weak, expired)");

    struct Label;
    impl AttributeKey for Label {
        type Value = i32;
    }
    let id = AttributeId::of::<Label>();
    assert_eq!(format!("{id:?}"), id.name());
    let hasher = DefaultHashBuilder::default().build_hasher();
    assert_eq!(format!("{hasher:?}"), "DefaultHasher { .. }");
}

#[test]
fn sets_and_iterators() {
    let [one, two] = [1, 2].map(Strong::new);
    let set: WeakSet<_> = [&one].into_iter().collect();
    let both: WeakSet<_> = [&one, &two].into_iter().collect();
    assert_eq!(format!("{set:?}"), "{1}");
    let difference = both.difference(&set);
    let text = format!("{difference:?}");
    assert!(text.starts_with("Difference { at_most: Some("), "{text}");
    let mut map: WeakMap<_, _> = [(&one, "a"), (&two, "b")].into_iter().collect();
    drop(one);
    assert_eq!(format!("{set:?}"), "{}");
    let extract = map.extract_if(|_, _| true);
    assert_eq!(format!("{extract:?}"), "ExtractIf { .. }");
    assert_eq!(format!("{:?}", map.drain_dead()), "DrainDead { .. }");
    assert_eq!(map.len_live(), 1);
}
