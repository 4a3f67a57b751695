//! loom models of a purge of cycles against threads that make and drop handles: a key with a handle
//! elsewhere keeps its entry.

use super::graph::{Ephemeron, Graph, Trace};
use crate::ptr::models::{Maker, Payload, both, check};
use crate::{Strong, WeakMap, impl_trace};

/// An object that may lead to another object.
struct Node {
    next: Option<Strong<Node>>,
    payload: Payload,
}

impl_trace!(Node: next);

type Map = WeakMap<Strong<Node>, [Strong<Node>; 2]>;

/// Returns the value of the key's entry: the value owns the key and another object, which leads to
/// the key.
fn value(maker: &Maker) -> [Strong<Node>; 2] {
    let node = |next| {
        Strong::new(Node {
            next,
            payload: maker.payload(),
        })
    };
    let key = node(None);
    [key.clone(), node(Some(key))]
}

/// Returns a map with an entry that keeps its own key alive, and the entry's other object.
fn held_by_itself(maker: &Maker) -> (Map, Strong<Node>) {
    let value = value(maker);
    let (key, other) = (value[0].clone(), value[1].clone());
    let mut map = Map::new();
    map.insert(&key, value);
    (map, other)
}

fn next(node: &Strong<Node>) -> &Strong<Node> {
    node.next.as_ref().unwrap()
}

/// P1 of `ptr/mark.rs`: A thread moves its handle from the other object to the key. From before the
/// census on, the thread has a handle to one of the two at each moment. Each count may be right when
/// the census reads it; but the mark of the key is gone.
fn passes_on(step: impl Fn(&Strong<Node>) -> Strong<Node> + Send + Sync + Copy + 'static) {
    check(2, move |maker| {
        let value = value(maker);
        let somebody = Strong::downgrade(&value[1]);
        let mut graph = Graph::new(false);
        graph.keys.push(core::ptr::from_ref(&*value[0]).addr());
        let entry = Ephemeron {
            member: 0,
            entry: 0,
            dead: false,
            keys: 0..1,
            edges: 0..0,
        };
        graph.link(entry, false, |tracer| value.trace(tracer));
        graph.complete();
        let other = somebody.upgrade().unwrap();
        let passes = move || {
            let key = step(&other);
            drop(other);
            key
        };
        let (key, verdict) = both(passes, || graph.verdict(1));
        assert!(!verdict.doomed[0].contains(0), "somebody has the key");
        key.payload.read();
    });
}

#[test]
fn a_thread_that_passes_on_by_a_clone() {
    passes_on(|other| next(other).clone());
}

#[test]
fn a_thread_that_passes_on_by_an_upgrade() {
    passes_on(|other| Strong::downgrade(next(other)).upgrade().unwrap());
}

/// The last outside handle is dropped: the entry is removed by this purge, or by the next.
#[test]
fn a_thread_that_goes() {
    check(2, |maker| {
        let (mut map, other) = held_by_itself(maker);
        let goes = move || {
            other.payload.read();
            drop(other);
        };
        let ((), purged) = both(goes, || map.purge_cycles());
        let rest = map.purge_cycles();
        assert_eq!((purged.removed + rest.removed, map.len()), (1, 0));
    });
}

/// Two purges run at once, of maps whose values share objects: neither purge removes an entry held
/// by the other purge, and together they remove all.
#[test]
fn two_purges_at_once() {
    check(2, |maker| {
        let (mut map, other) = held_by_itself(maker);
        let mut second = Map::new();
        second.insert(next(&other), [next(&other).clone(), other.clone()]);
        drop(other);
        let (mut second, _) = both(
            move || {
                assert_eq!(second.purge_cycles().removed, 0);
                second
            },
            || assert_eq!(map.purge_cycles().removed, 0),
        );
        let both = crate::cycles::Cycles::new()
            .with(&mut map)
            .with(&mut second)
            .purge();
        assert_eq!(both.removed, 2);
    });
}
