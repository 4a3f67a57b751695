//! What the public types say of themselves: their `Debug` texts show what is there, and have no effect on it.

use std::future::Future;
use std::hash::BuildHasher;
use std::pin::pin;
use std::task::{Context, Waker};

use weakly::collections::{weak_map, weak_value_map};
use weakly::keep::{KeepAlive, Limit};
use weakly::{
    Addr, AttributeId, AttributeKey, ByIdentity, DefaultHashBuilder, Memo, ReferenceQueue, Strong,
    WeakMap, WeakSet, WeakValueMap, concurrent,
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

#[test]
fn entries() {
    let (key, mut map) = (Strong::new(1), WeakMap::new());
    let text = format!("{:?}", map.entry(&key));
    assert_eq!(text, "Entry(VacantEntry(1))");
    map.insert(&key, "a");
    let text = format!("{:?}", map.entry(&key));
    assert_eq!(text, "Entry(OccupiedEntry { key: 1, value: \"a\" })");
    let error: weak_map::OccupiedError<_, _> = map.try_insert(&key, "b").unwrap_err();
    let text = "OccupiedError { entry: OccupiedEntry { key: 1, value: \"a\" }, value: \"b\" }";
    assert_eq!(format!("{error:?}"), text);

    let (value, mut map) = (Strong::new(2), WeakValueMap::new());
    map.insert("key", &value);
    let entry: weak_value_map::Entry<_, _> = map.entry("key");
    let text = "Entry(OccupiedEntry { key: \"key\", value: 2 })";
    assert_eq!(format!("{entry:?}"), text);
}

#[test]
fn what_threads_share() {
    let (key, map) = (Strong::<str>::from("key"), concurrent::WeakHashMap::new());
    map.insert(&key, 1);
    assert_eq!(format!("{:?}", map.iter()), "Snapshot { left: 1 }");
    let kept = concurrent::KeepAlive::new(Limit::entries(2));
    kept.keep(&key, 3);
    let text = format!("{kept:?}");
    assert!(
        text.starts_with("KeepAlive { len: 1, retained_weight: 3, limit: "),
        "{text}"
    );
    let mut kept = KeepAlive::new(Limit::entries(2));
    kept.keep(&key, 3);
    assert!(format!("{kept:?}").starts_with("KeepAlive { len: 1, "));
}

#[test]
fn memos_and_computations() {
    let (memo, key) = (Memo::<Strong<i32>, String>::new(), Strong::new(1));
    let text = memo.get_or_compute(&key, |cx| {
        cx.depends_on(&Strong::new(2));
        format!("{cx:?}")
    });
    assert_eq!(text, "Computation { dependencies: 1 }");
    let text = format!("{memo:?}");
    assert!(
        text.contains("Strong<i32") && text.contains("len: 0, "),
        "{text}"
    );
    assert!(text.contains("misses: 1"), "{text}");

    let mut flight =
        pin!(memo.get_or_compute_async(&key, |_, cx| async move { format!("{cx:?}") }));
    let polled = flight
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.map(|text| text == "Dependencies { .. }").is_ready());
}

#[test]
fn deaths_that_are_to_come() {
    let (queue, object) = (ReferenceQueue::new(), Strong::new(1));
    let ticket = queue.register(&object, "dead");
    let token = Strong::finalize(&object, || ());
    assert_eq!(format!("{queue:?}"), "ReferenceQueue { len: 0, .. }");
    assert_eq!(format!("{ticket:?}"), "Ticket { pending: true, .. }");
    assert_eq!(format!("{token:?}"), "Finalizer { pending: true }");
    drop(object);
    let text = "Next { queue: ReferenceQueue { len: 1, .. }, .. }";
    assert_eq!(format!("{:?}", queue.next()), text);
    assert_eq!(format!("{ticket:?}"), "Ticket { pending: false, .. }");
    assert_eq!(format!("{token:?}"), "Finalizer { pending: false }");
}
