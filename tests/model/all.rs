//! All the collections, for jobs that run on each.

use std::borrow::Borrow;

use super::faces::memo::{Asked, Both, Declared};
use super::op::Op;
use super::script;
use super::subject::Subject;
use super::world::{Content, Item, Key, SharedValue, Value};
use crate::common::Kind;
use weakly::concurrent::{self, SharedRef};
use weakly::{
    Identify, Interner, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet,
    WeakValueMap,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Map,
    Set,
    HashMap,
    HashSet,
    Interner,
    ValueMap,
    PairMap,
    HashPairMap,
}

impl Which {
    pub const ALL: [Self; 8] = [
        Which::Map,
        Which::Set,
        Which::HashMap,
        Which::HashSet,
        Which::Interner,
        Which::ValueMap,
        Which::PairMap,
        Which::HashPairMap,
    ];
}

/// A collection that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    Map,
    Set,
    HashMap,
    HashSet,
    Interner,
    ValueMap,
    PairMap,
    /// Results that depend on an object besides their key.
    Memo,
    /// Results of two objects.
    MemoOfTwo,
}

impl Shared {
    pub const ALL: [Self; 9] = [
        Shared::Map,
        Shared::Set,
        Shared::HashMap,
        Shared::HashSet,
        Shared::Interner,
        Shared::ValueMap,
        Shared::PairMap,
        Shared::Memo,
        Shared::MemoOfTwo,
    ];
}

/// What to do with a collection.
pub trait Job {
    fn run<P: Kind, V: Kind, S: Subject<P, V>>(self);
}

impl<Ops: IntoIterator<Item = Op>> Job for Ops {
    fn run<P: Kind, V: Kind, S: Subject<P, V>>(self) {
        script::run::<P, V, S>(self);
    }
}

/// A kind of pointer that all the collections take.
pub trait Pointers: Kind {
    fn on(which: Which, job: impl Job);
}

impl<P: Kind> Pointers for P
where
    Item: Identify<Key<P>>,
    Key<P>: PartialEq + Borrow<Item> + for<'a> From<&'a Content>,
{
    fn on(which: Which, job: impl Job) {
        match which {
            Which::Map => job.run::<P, P, WeakMap<Key<P>, Value>>(),
            Which::Set => job.run::<P, P, WeakSet<Key<P>>>(),
            Which::HashMap => job.run::<P, P, WeakHashMap<Key<P>, Value>>(),
            Which::HashSet => job.run::<P, P, WeakHashSet<Key<P>>>(),
            Which::Interner => job.run::<P, P, Interner<Key<P>>>(),
            Which::ValueMap => job.run::<P, P, WeakValueMap<Value, Key<P>>>(),
            Which::PairMap => job.run::<P, P, WeakPairMap<Key<P>, Key<P>>>(),
            Which::HashPairMap => job.run::<P, P, WeakHashPairMap<Key<P>, Key<P>>>(),
        }
    }
}

/// A kind of pointer that threads can share, and so these collections take.
pub trait SharedPointers: Kind {
    fn on_shared(which: Shared, job: impl Job);
}

impl<P: Kind> SharedPointers for P
where
    Item: Identify<Key<P>>,
    Key<P>: SharedRef + Borrow<Item> + for<'a> From<&'a Content>,
{
    fn on_shared(which: Shared, job: impl Job) {
        use concurrent::{
            Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
        };
        match which {
            Shared::Map => job.run::<P, P, WeakMap<Key<P>, SharedValue>>(),
            Shared::Set => job.run::<P, P, WeakSet<Key<P>>>(),
            Shared::HashMap => job.run::<P, P, WeakHashMap<Key<P>, SharedValue>>(),
            Shared::HashSet => job.run::<P, P, WeakHashSet<Key<P>>>(),
            Shared::Interner => job.run::<P, P, Interner<Key<P>>>(),
            Shared::ValueMap => job.run::<P, P, WeakValueMap<SharedValue, Key<P>>>(),
            Shared::PairMap => job.run::<P, P, WeakPairMap<Key<P>, Key<P>>>(),
            Shared::Memo => job.run::<P, P, Asked<Declared, P, P>>(),
            Shared::MemoOfTwo => job.run::<P, P, Asked<Both, P, P>>(),
        }
    }
}
