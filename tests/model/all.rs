//! All the collections, for jobs that run on each.

use std::borrow::Borrow;

#[cfg(feature = "std")]
use super::faces::memo::Asked;
use super::hasher::Few;
use super::op::Op;
use super::script;
use super::subject::Face;
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

/// What to do with a collection, which is empty.
pub trait Job {
    fn run<P: Kind, V: Kind>(self, subject: Box<dyn Face<P, V>>);
}

impl<Ops: IntoIterator<Item = Op>> Job for Ops {
    fn run<P: Kind, V: Kind>(self, subject: Box<dyn Face<P, V>>) {
        script::run_on(subject, &mut self.into_iter());
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
                    $($which::$name => job.run::<P, P>(Box::new(<$subject>::default())),)*
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
    HashMap: WeakHashMap<Key<P>, Value, Few>;
    HashSet: WeakHashSet<Key<P>, Few>;
    Interner: Interner<Key<P>, Few>;
    ValueMap: WeakValueMap<Value, Key<P>, Few>;
    PairMap: WeakPairMap<Key<P>, Key<P>>;
    HashPairMap: WeakHashPairMap<Key<P>, Key<P>, Few>;
}

#[cfg(feature = "std")]
collections! {
    /// A collection that threads share.
    Shared[8],
    /// A kind of pointer that threads can share, and so these collections take.
    SharedPointers::on_shared, [SharedRef];
    Map: concurrent::WeakMap<Key<P>, SharedValue>;
    Set: concurrent::WeakSet<Key<P>>;
    HashMap: concurrent::WeakHashMap<Key<P>, SharedValue, Few>;
    HashSet: concurrent::WeakHashSet<Key<P>, Few>;
    Interner: concurrent::Interner<Key<P>, Few>;
    ValueMap: concurrent::WeakValueMap<SharedValue, Key<P>, Few>;
    PairMap: concurrent::WeakPairMap<Key<P>, Key<P>>;
    /// Results that depend on an object besides their key.
    Memo: Asked<P, P>;
}
