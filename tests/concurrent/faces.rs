//! The shared collections of these tests, and what only these have.

use std::borrow::Borrow;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use weakly::concurrent::SharedRef;
use weakly::{Strong, reference::WeakKey, unsize};

pub(crate) use crate::common::Count;
pub(crate) use crate::common::subject::Shared;
pub(crate) use crate::common::subject::shared::*;
use crate::common::subject::{self, Answer};
use crate::common::{custom::Custom, lease::Lease};

/// A kind of pointer that shared collections take.
pub(crate) trait Kind: 'static {
    type Strong<T: Send + Sync + 'static>: SharedRef<Target = T>
        + Clone
        + Deref<Target = T>
        + Borrow<T>
        + From<T>;
    /// One to an object whose user code is a test's.
    type Custom: subject::Life<Custom> + SharedRef<Target = Custom>;
    /// Whether deaths are notified (exact `len`) or found by sweeping.
    const NOTIFIES: bool;
}

pub(crate) enum Ours {}

impl Kind for Ours {
    type Strong<T: Send + Sync + 'static> = Strong<T>;
    type Custom = Strong<Custom>;
    const NOTIFIES: bool = true;
}

pub(crate) enum Std {}

impl Kind for Std {
    type Strong<T: Send + Sync + 'static> = Arc<T>;
    type Custom = Lease;
    const NOTIFIES: bool = false;
}

/// The usual object of a test.
pub(crate) type Life<P> = <P as Kind>::Strong<usize>;

/// An object whose payload has an allocation of its own, if there is much of it: its address is free at its death, whatever
/// weak handles remain.
pub(crate) type Large = Strong<[usize]>;

/// Made in the place that its payload will be in.
pub(crate) fn large<const N: usize>(number: usize) -> Large {
    unsize!(Strong::new([number; N]) => [usize])
}

/// The objects `0..n`.
pub(crate) fn lives<P: Kind>(n: usize) -> Vec<Life<P>> {
    (0..n).map(Into::into).collect()
}

/// Whether they are the same object.
pub(crate) fn is_same<P: Kind>(one: &Life<P>, other: &Life<P>) -> bool {
    Life::<P>::addr(one) == Life::<P>::addr(other)
}

impl Count {
    /// Counts the drops.
    pub(crate) fn ends(&self) -> Ends {
        counting(self)
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
pub(crate) type Owned = subject::Owned<Ends>;

/// A value whose end is reported.
pub(crate) fn owned(number: usize, ends: &Ends) -> Arc<Owned> {
    Arc::new(Owned::new(number, ends))
}

/// A value that runs something at its end.
pub(crate) fn ending(end: impl Fn() + Send + Sync + 'static) -> Arc<Owned> {
    let ends: Ends = Arc::new(move |_| end());
    owned(0, &ends)
}

/// A value of which a test counts the handles.
pub(crate) fn token() -> Arc<Owned> {
    owned(0, &quietly())
}

/// A collection from which entries can be removed.
pub(crate) trait Changing: Collection {
    /// Removes an entry if `wanted`, which runs inside the table.
    fn leave_if(&self, life: &Handle, wanted: &mut dyn FnMut() -> bool) -> bool;
    fn retain(&self, keep: &mut dyn FnMut(usize) -> bool);
}

macro_rules! changing {
    ($($subject:ty: |$all:ident, $life:ident, $wanted:ident| $leave_if:expr,
       retain $place:expr, |$($shown:pat_param),*| $number:expr;)*) => {$(
        impl<K: Known + SharedRef> Changing for $subject {
            fn leave_if(&self, life: &Handle, $wanted: &mut dyn FnMut() -> bool) -> bool {
                let ($all, $life) = (self, K::known(life));
                $leave_if.was_there()
            }
            fn retain(&self, keep: &mut dyn FnMut(usize) -> bool) {
                let $all = self;
                $place.retain(|$($shown),*| keep($number));
            }
        }
    )*};
}

changing! {
    Maps<K>: |all, life, wanted| all.remove_if(life, |_| wanted()),
        retain all, |life, owned| agreed(**life, owned.number);
    Sets<K>: |all, life, wanted| sifted(life, wanted, |keep| all.retain(keep)),
        retain all, |life| **life;
    ValueMaps<K>: |all, life, wanted| all.remove_if(&Arc::new(Owned::new(**life, &quietly())), |_| wanted()),
        retain all, |owned, life| agreed(**life, owned.number);
    HashMaps<K>: |all, life, wanted| all.remove_if(&**life, |_| wanted()),
        retain all, |life, owned| agreed(**life, owned.number);
    HashSets<K>: |all, life, wanted| sifted(life, wanted, |keep| all.retain(keep)),
        retain all, |life| **life;
    PairsByKey<K>: |all, life, wanted| all.all.remove_if(life, |_| wanted()),
        retain all.all, |life, _| **life;
    PairsByValue<K>: |all, life, wanted| all.all.remove_if(&all.partners.of(**life), |_| wanted()),
        retain all.all, |key, life| agreed(**key, **life);
}

/// A set has no `remove_if`, but calls the elements' code inside the table.
fn sifted<K: subject::Life>(
    life: &K,
    wanted: &mut dyn FnMut() -> bool,
    retain: impl FnOnce(&mut dyn FnMut(&K) -> bool),
) -> bool {
    let mut removed = false;
    retain(&mut |each| {
        let takes = each.is(life) && wanted();
        removed |= takes;
        !takes
    });
    removed
}

/// Both, which are equal.
fn agreed(one: usize, other: usize) -> usize {
    assert_eq!(one, other);
    one
}

crate::subjects! {
    $ in [crate::faces];

    for_each_collection [strong: Atomic, arc: StdArc]
        [weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps, interner: Interners,
         weak_hash_map: HashMaps, weak_hash_set: HashSets, pairs_by_key: PairsByKey,
         pairs_by_value: PairsByValue];
    for_each_changing [strong: Atomic, arc: StdArc]
        [weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps, weak_hash_map: HashMaps,
         weak_hash_set: HashSets, pairs_by_key: PairsByKey, pairs_by_value: PairsByValue];
    for_each_owning [strong: Atomic, arc: StdArc]
        [weak_map: Maps, weak_value_map: ValueMaps, weak_hash_map: HashMaps];
    for_each_owning_values [strong: Atomic, arc: StdArc] [weak_map: Maps, weak_hash_map: HashMaps];
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
