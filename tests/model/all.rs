//! All the collections, for jobs that run on each.

use std::borrow::Borrow;

use super::op::Op;
use super::script;
use super::subject::Subject;
use super::world::{Content, Item, Key, Value};
use crate::common::Kind;
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
