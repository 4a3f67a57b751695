//! loom models of a purge of cycles against threads that make and drop handles: a key that somebody
//! has keeps its entry.

use super::graph::{Ephemeron, Graph, Trace};
use crate::ptr::models::{Maker, Payload, both, check};
use crate::{Strong, WeakMap, impl_trace};

/// An object that may lead to another.
struct Node {
    next: Option<Strong<Node>>,
    payload: Payload,
}

impl_trace!(Node: next);

type Map = WeakMap<Strong<Node>, [Strong<Node>; 2]>;

/// What owns a key and another object, which leads to the key: the value of the key's entry.
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

/// The entry of a key that it keeps alive itself. Returns the other object, too.
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

/// P1: A thread passes from the other object to the key, and has one of them at each moment, since
/// before the census. Each count may be right when it is read; the mark of the key is gone.
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
        assert_eq!(verdict.doomed[0].len(), 0, "somebody has the key");
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

/// The last handle of somebody goes: the entry goes now, or with the next purge.
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

/// Of two purges at once, of maps whose values share objects, neither removes what the other holds,
/// and together they do.
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
