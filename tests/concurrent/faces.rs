//! One face for the shared collections, so that a behaviour is written once.
//!
//! An entry is identified by a number, and lives as long as its *life*: the one object that the test keeps
//! alive, whose payload is the number. What a collection owns of an entry, the value of a weak key or the key of
//! a weak value, is an [`Owned`].

use std::borrow::Borrow;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use weakly::concurrent::{Interner, SharedRef, WeakMap, WeakSet, WeakValueMap};
use weakly::{Reclaim, Strong, WeakKey};

pub(crate) use crate::common::Count;
use crate::common::owned;

/// A kind of pointer that shared collections take.
pub(crate) trait Kind: 'static {
    type Strong<T: Send + Sync + 'static>: SharedRef<Target = T>
        + Clone
        + Deref<Target = T>
        + Borrow<T>
        + From<T>;
    /// Whether deaths are notified (exact `len`) or found by sweeping.
    const NOTIFIES: bool;
}

pub(crate) enum Ours {}

impl Kind for Ours {
    type Strong<T: Send + Sync + 'static> = Strong<T>;
    const NOTIFIES: bool = true;
}

pub(crate) enum Std {}

impl Kind for Std {
    type Strong<T: Send + Sync + 'static> = Arc<T>;
    const NOTIFIES: bool = false;
}

/// The usual object of a test.
pub(crate) type Life<P> = <P as Kind>::Strong<usize>;
pub(crate) type WeakLife<P> = <Life<P> as WeakKey>::Weak;

/// The objects `0..n`.
pub(crate) fn lives<P: Kind>(n: usize) -> Vec<Life<P>> {
    (0..n).map(Into::into).collect()
}

/// Drops lives; returns what their entries could still be looked up by, number and weak handle.
pub(crate) fn ghosts<P: Kind>(lives: Vec<Life<P>>) -> Vec<(usize, WeakLife<P>)> {
    let ghost = |life: Life<P>| (*life, Life::<P>::downgrade(&life));
    lives.into_iter().map(ghost).collect()
}

/// Whether they are the same object.
pub(crate) fn is_same<P: Kind>(one: &Life<P>, other: &Life<P>) -> bool {
    Life::<P>::addr(one) == Life::<P>::addr(other)
}

/// Called with the number when something that a collection owns is dropped.
pub(crate) type Ends = Arc<dyn Fn(usize) + Send + Sync>;

/// Nothing happens.
pub(crate) fn quietly() -> Ends {
    Arc::new(|_| ())
}

impl Count {
    /// Counts the drops.
    pub(crate) fn ends(&self) -> Ends {
        let this = self.clone();
        Arc::new(move |_| _ = this.add())
    }
}

/// Signals the end of a test to other threads, also if it panics: a failing test does not hang.
#[derive(Default)]
pub(crate) struct Over(AtomicBool);

impl Over {
    pub(crate) fn is_near(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Signals the end when this is dropped.
    pub(crate) fn at_the_end(&self) -> impl Drop {
        struct End<'a>(&'a AtomicBool);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.store(true, Relaxed);
            }
        }
        End(&self.0)
    }
}

/// What a collection owns of an entry.
pub(crate) type Owned = owned::Owned<Ends>;

/// A collection of weak entries.
pub(crate) trait Collection: Default + Send + Sync + 'static {
    type Kind: Kind;
    /// Whether deaths are notified.
    const NOTIFIES: bool = Self::Kind::NOTIFIES;
    /// Whether it owns something of each entry.
    const OWNS: bool = false;

    fn with_capacity(capacity: usize) -> Self;
    /// Inserts an entry that lives as long as `life`; returns whether it was not there.
    fn enter(&self, life: &Life<Self::Kind>, ends: &Ends) -> bool;
    fn has(&self, life: &Life<Self::Kind>) -> bool;
    /// Whether there is an entry for a dead object.
    fn has_dead(&self, number: usize, weak: &WeakLife<Self::Kind>) -> bool;
    /// The lives of the entries, as a snapshot that keeps none alive.
    fn iter(&self) -> impl Iterator<Item = Life<Self::Kind>> + Send;
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
    fn len_live(&self) -> usize;
    fn pending_dead(&self) -> usize;
    fn reclaim(&self) -> Reclaim;
    fn set_reclaim(&self, reclaim: Reclaim);
    fn purge(&self);
    fn clear(&self);

    /// One that has an entry for each life.
    fn of<'a>(lives: impl IntoIterator<Item = &'a Life<Self::Kind>>, ends: &Ends) -> Self {
        let all = Self::default();
        for life in lives {
            all.enter(life, ends);
        }
        all
    }

    /// The numbers that an iterator shows, in order.
    fn numbers(&self) -> Vec<usize> {
        let mut numbers: Vec<_> = self.iter().map(|life| *life).collect();
        numbers.sort_unstable();
        numbers
    }

    /// `(len, len_live, pending_dead)`, of which the first and the last depend on notices.
    fn counts(&self) -> (usize, usize, usize) {
        (self.len(), self.len_live(), self.pending_dead())
    }

    /// `n` if it owns something of each entry, else 0.
    fn owned(n: usize) -> usize {
        if Self::OWNS { n } else { 0 }
    }

    /// `n` if deaths are notified, else 0.
    fn notified(n: usize) -> usize {
        if Self::NOTIFIES { n } else { 0 }
    }
}

/// A collection from which entries can be removed.
pub(crate) trait Changing: Collection {
    /// Removes an entry; returns whether it was there.
    fn leave(&self, life: &Life<Self::Kind>) -> bool;
    /// The same if `wanted`, which runs inside the table.
    fn leave_if(&self, life: &Life<Self::Kind>, wanted: impl FnMut() -> bool) -> bool;
    fn retain(&self, keep: impl FnMut(usize) -> bool);
}

pub(crate) struct Maps<P: Kind>(pub(crate) WeakMap<Life<P>, Arc<Owned>>);
pub(crate) struct Sets<P: Kind>(pub(crate) WeakSet<Life<P>>);
pub(crate) struct ValueMaps<P: Kind>(pub(crate) WeakValueMap<Arc<Owned>, Life<P>>);
pub(crate) struct Interners<P: Kind>(pub(crate) Interner<Life<P>>);

impl<P: Kind> ValueMaps<P> {
    /// The key that finds the entry of a number.
    fn name(number: usize) -> Arc<Owned> {
        Arc::new(Owned::new(number, &quietly()))
    }
}

/// The methods with the same names.
macro_rules! housekeeping {
    ($inner:ident $(, $kept:expr)?) => {
        type Kind = P;

        fn with_capacity(capacity: usize) -> Self {
            Self($inner::with_capacity(capacity) $(, $kept)?)
        }
        fn len(&self) -> usize {
            self.0.len()
        }
        fn is_empty(&self) -> bool {
            self.0.is_empty()
        }
        fn len_live(&self) -> usize {
            self.0.len_live()
        }
        fn pending_dead(&self) -> usize {
            self.0.pending_dead()
        }
        fn reclaim(&self) -> Reclaim {
            self.0.reclaim()
        }
        fn set_reclaim(&self, reclaim: Reclaim) {
            self.0.set_reclaim(reclaim);
        }
        fn purge(&self) {
            self.0.purge();
        }
        fn clear(&self) {
            self.0.clear();
        }
    };
}

/// The result of a removal.
trait Removed {
    fn is_one(&self) -> bool;
}

impl Removed for bool {
    fn is_one(&self) -> bool {
        *self
    }
}

impl<T> Removed for Option<T> {
    fn is_one(&self) -> bool {
        self.is_some()
    }
}

/// How entries are removed from a map: `$name` is the expression for the key of a life, `$number` that for the
/// number of an entry.
macro_rules! map_changes {
    (|$this:ident, $life:ident| $name:expr, |$key:ident, $value:pat_param| $number:expr) => {
        fn leave(&self, $life: &Life<P>) -> bool {
            let $this = self;
            self.0.remove($name).is_one()
        }
        fn leave_if(&self, $life: &Life<P>, mut wanted: impl FnMut() -> bool) -> bool {
            let $this = self;
            self.0.remove_if($name, |_| wanted()).is_one()
        }
        fn retain(&self, mut keep: impl FnMut(usize) -> bool) {
            self.0.retain(|$key, $value| keep($number));
        }
    };
}

/// The same for a set.
macro_rules! set_changes {
    (|$life:ident| $name:expr) => {
        fn leave(&self, $life: &Life<P>) -> bool {
            self.0.remove($name)
        }
        fn leave_if(&self, life: &Life<P>, mut wanted: impl FnMut() -> bool) -> bool {
            // A set has no such method, but calls the elements' code inside the table.
            let mut removed = false;
            self.0.retain(|each| {
                let takes = is_same::<P>(each, life) && wanted();
                removed |= takes;
                !takes
            });
            removed
        }
        fn retain(&self, mut keep: impl FnMut(usize) -> bool) {
            self.0.retain(|life| keep(**life));
        }
    };
}

/// Both, which are equal.
fn agreed(one: usize, other: usize) -> usize {
    assert_eq!(one, other);
    one
}

macro_rules! defaults {
    ($($name:ident)*) => {$(
        impl<P: Kind> Default for $name<P> {
            fn default() -> Self {
                Self::with_capacity(0)
            }
        }
    )*};
}

defaults!(Maps Sets ValueMaps Interners);

#[path = "more_faces.rs"]
mod more_faces;
#[allow(unused_imports)] // the program `stress` uses none of them
pub(crate) use more_faces::*;

impl<P: Kind> Collection for Maps<P> {
    const OWNS: bool = true;

    housekeeping!(WeakMap);

    fn enter(&self, life: &Life<P>, ends: &Ends) -> bool {
        self.0.insert(life, Arc::new(Owned::new(**life, ends)))
    }
    fn has(&self, life: &Life<P>) -> bool {
        self.0.with(life, |owned| owned.number == **life) == Some(true)
    }
    fn has_dead(&self, _: usize, weak: &WeakLife<P>) -> bool {
        self.0.contains_key(weak)
    }
    fn iter(&self) -> impl Iterator<Item = Life<P>> + Send {
        self.0.keys()
    }
}

impl<P: Kind> Changing for Maps<P> {
    map_changes!(|_all, life| life, |life, owned| agreed(
        **life,
        owned.number
    ));
}

impl<P: Kind> Collection for Sets<P> {
    housekeeping!(WeakSet);

    fn enter(&self, life: &Life<P>, _: &Ends) -> bool {
        self.0.insert(life)
    }
    fn has(&self, life: &Life<P>) -> bool {
        self.0.contains(life)
    }
    fn has_dead(&self, _: usize, weak: &WeakLife<P>) -> bool {
        self.0.contains(weak)
    }
    fn iter(&self) -> impl Iterator<Item = Life<P>> + Send {
        self.0.iter()
    }
}

impl<P: Kind> Changing for Sets<P> {
    set_changes!(|life| life);
}

impl<P: Kind> Collection for ValueMaps<P> {
    const OWNS: bool = true;

    housekeeping!(WeakValueMap);

    fn enter(&self, life: &Life<P>, ends: &Ends) -> bool {
        let name = Arc::new(Owned::new(**life, ends));
        self.0.insert(name, life).is_none()
    }
    fn has(&self, life: &Life<P>) -> bool {
        let found = self.0.get(&Self::name(**life));
        found.is_some_and(|found| is_same::<P>(&found, life))
    }
    fn has_dead(&self, number: usize, _: &WeakLife<P>) -> bool {
        self.0.contains_key(&Self::name(number)) || self.0.get(&Self::name(number)).is_some()
    }
    fn iter(&self) -> impl Iterator<Item = Life<P>> + Send {
        self.0.iter().map(|(name, life)| {
            assert_eq!(name.number, *life);
            life
        })
    }
}

impl<P: Kind> Changing for ValueMaps<P> {
    map_changes!(|_all, life| &Self::name(**life), |name, life| agreed(
        **life,
        name.number
    ));
}

impl<P: Kind> Collection for Interners<P> {
    housekeeping!(Interner);

    fn enter(&self, life: &Life<P>, _: &Ends) -> bool {
        let new = self.0.get(&**life).is_none();
        self.0.intern(life.clone());
        new
    }
    fn has(&self, life: &Life<P>) -> bool {
        let found = self.0.get(&**life);
        found.is_some_and(|found| is_same::<P>(&found, life))
    }
    fn has_dead(&self, number: usize, _: &WeakLife<P>) -> bool {
        self.0.get(&number).is_some()
    }
    fn iter(&self) -> impl Iterator<Item = Life<P>> + Send {
        self.0.iter()
    }
}

/// A `#[test]` for each collection of a list and each kind of pointer:
/// `for_each!([weak_map: Maps] a b);` gives `a::weak_map::strong` and `a::weak_map::arc`, and the same for
/// `b`.
#[macro_export]
macro_rules! for_each {
    (@one $test:ident [$($name:ident: $collection:ident),*]) => {$(
        mod $name {
            use $crate::faces::{$collection, Ours, Std};
            #[test]
            fn strong() {
                super::super::$test::<$collection<Ours>>();
            }
            #[test]
            fn arc() {
                super::super::$test::<$collection<Std>>();
            }
        }
    )*};
    ($collections:tt $($test:ident)*) => {$(
        mod $test {
            $crate::for_each!(@one $test $collections);
        }
    )*};
}

/// For functions over [`Collection`].
#[macro_export]
macro_rules! for_each_collection {
    ($($test:ident),* $(,)?) => {
        $crate::for_each!([weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps,
            interner: Interners, weak_hash_map: HashMaps, weak_hash_set: HashSets,
            pairs_by_key: PairsByKey, pairs_by_value: PairsByValue] $($test)*);
    };
}

/// For functions over [`Changing`].
#[macro_export]
macro_rules! for_each_changing {
    ($($test:ident),* $(,)?) => {
        $crate::for_each!([weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps,
            weak_hash_map: HashMaps, weak_hash_set: HashSets, pairs_by_key: PairsByKey,
            pairs_by_value: PairsByValue] $($test)*);
    };
}

/// For functions over [`Changing`], about owned values.
#[macro_export]
macro_rules! for_each_owning {
    ($($test:ident),* $(,)?) => {
        $crate::for_each!([weak_map: Maps, weak_value_map: ValueMaps, weak_hash_map: HashMaps]
            $($test)*);
    };
}

/// For functions over [`Kind`].
#[macro_export]
macro_rules! for_each_pointer {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[test]
            fn strong() {
                super::$test::<$crate::faces::Ours>();
            }
            #[test]
            fn arc() {
                super::$test::<$crate::faces::Std>();
            }
        }
    )*};
}
