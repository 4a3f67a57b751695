//! All the collections, for jobs that run on each.

use std::borrow::Borrow;

#[cfg(feature = "std")]
use super::faces::memo::{Asked, Both, Declared, Parts};
use super::op::Op;
use super::script;
use super::subject::Subject;
#[cfg(feature = "std")]
use super::world::SharedValue;
use super::world::{Content, Item, Key, Value};
use crate::common::Kind;
#[cfg(feature = "std")]
use weakly::concurrent::{self, SharedRef};
use weakly::{
    Interner, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet,
    WeakValueMap, reference::Identify,
};

/// What to do with a collection.
pub trait Job {
    fn run<P: Kind, V: Kind, S: Subject<P, V>>(self);
}

impl<Ops: IntoIterator<Item = Op>> Job for Ops {
    fn run<P: Kind, V: Kind, S: Subject<P, V>>(self) {
        script::run::<P, V, S>(self);
    }
}

/// A list of collections, and the kinds of pointer that all of them take.
macro_rules! collections {
    ($(#[$doc:meta])* $which:ident[$count:literal], $(#[$for:meta])* $pointers:ident::$on:ident, [$($bounds:tt)*];
     $($(#[$about:meta])* $name:ident: $subject:ty;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $which {
            $($(#[$about])* $name,)*
        }

        impl $which {
            pub const ALL: [Self; $count] = [$($which::$name),*];
        }

        $(#[$for])*
        pub trait $pointers: Kind {
            fn $on(which: $which, job: impl Job);
        }

        impl<P: Kind> $pointers for P
        where
            Item: Identify<Key<P>>,
            Key<P>: $($bounds)* + Borrow<Item> + for<'a> From<&'a Content>,
        {
            fn $on(which: $which, job: impl Job) {
                match which {
                    $($which::$name => job.run::<P, P, $subject>(),)*
                }
            }
        }
    };
}

collections! {
    Which[8],
    /// A kind of pointer that all the collections take.
    Pointers::on, [PartialEq];
    Map: WeakMap<Key<P>, Value>;
    Set: WeakSet<Key<P>>;
    HashMap: WeakHashMap<Key<P>, Value>;
    HashSet: WeakHashSet<Key<P>>;
    Interner: Interner<Key<P>>;
    ValueMap: WeakValueMap<Value, Key<P>>;
    PairMap: WeakPairMap<Key<P>, Key<P>>;
    HashPairMap: WeakHashPairMap<Key<P>, Key<P>>;
}

#[cfg(feature = "std")]
collections! {
    /// A collection that threads share.
    Shared[10],
    /// A kind of pointer that threads can share, and so these collections take.
    SharedPointers::on_shared, [SharedRef];
    Map: concurrent::WeakMap<Key<P>, SharedValue>;
    Set: concurrent::WeakSet<Key<P>>;
    HashMap: concurrent::WeakHashMap<Key<P>, SharedValue>;
    HashSet: concurrent::WeakHashSet<Key<P>>;
    Interner: concurrent::Interner<Key<P>>;
    ValueMap: concurrent::WeakValueMap<SharedValue, Key<P>>;
    PairMap: concurrent::WeakPairMap<Key<P>, Key<P>>;
    /// Results that depend on an object besides their key.
    Memo: Asked<Declared, P, P>;
    /// Results of two objects.
    MemoOfTwo: Asked<Both, P, P>;
    MemoOfParts: Asked<Parts, P, P>;
}
