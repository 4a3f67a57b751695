//! A collection, described once for all tests: what both families have, those of one owner and those that threads
//! share ([`Upkeep`], [`Subject`]), and what changes them ([`Single`], [`Shared`]). A test is written over one of these
//! traits, and run for a list of collections and kinds of pointers, which [`subjects!`] makes.
//!
//! An entry lives as long as its *life*: the one object that the test keeps alive. That is the key of a `WeakMap`, the
//! value of a `WeakValueMap`, either side of a `WeakPairMap`. What a collection owns of an entry is an [`Owned`].

use std::borrow::Borrow;
use std::collections::{BTreeMap, TryReserveError};
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::Waker;

use weakly::concurrent::SharedRef;
use weakly::{
    Reclaim, local,
    reference::{StrongRef, WeakKey},
};

pub use super::owned::{Content, Ends, Owned};

/// A handle to an object that entries live as long as.
pub trait Life<T = usize>:
    StrongRef<Target = T> + Clone + Deref<Target = T> + Borrow<T> + From<T> + PartialEq + 'static
{
    /// Whether deaths are notified.
    const NOTIFIES: bool;
    /// How many strong handles and how many weak ones (with entries) an object has.
    fn counts(&self) -> (usize, usize);

    fn is(&self, other: &Self) -> bool {
        Self::addr(self) == Self::addr(other)
    }
}

macro_rules! lives {
    ($($strong:ty, $notifies:expr;)*) => {$(
        impl<T: Content> Life<T> for $strong {
            const NOTIFIES: bool = $notifies;
            fn counts(&self) -> (usize, usize) {
                (Self::strong_count(self), Self::weak_count(self))
            }
        }
    )*};
}

lives! {
    weakly::Strong<T>, true;
    local::Strong<T>, true;
    Arc<T>, false;
    Rc<T>, false;
}

/// The objects `0..n`.
pub fn new_lives<L: Life>(n: usize) -> Vec<L> {
    (0..n).map(Into::into).collect()
}

impl<E: Ends, T: Content> Owned<E, T> {
    /// Whether it is what was inserted with this life.
    pub fn is(&self, life: &impl Deref<Target = T>) -> bool {
        self.number.number() == life.number()
    }
}

/// What all collections have, whatever their entries are.
pub trait Upkeep {
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
    fn len_live(&self) -> usize;
    fn pending_dead(&self) -> usize;
    fn reclaim(&self) -> Reclaim;
    fn set_reclaim(&mut self, reclaim: Reclaim);
    fn set_waker(&mut self, waker: Option<Waker>);
    fn purge(&mut self);
    fn clear(&mut self);
    fn shrink_to_fit(&mut self);

    fn counts(&self) -> (usize, usize, usize) {
        (self.len(), self.len_live(), self.pending_dead())
    }
}

/// What those of one owner have besides, about their memory.
pub trait Memory: Upkeep {
    fn capacity(&self) -> usize;
    fn reserve(&mut self, additional: usize);
    fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError>;
    fn shrink_to(&mut self, min_capacity: usize);
}

/// Methods that call those of the same name, of the collection itself or of one in a field.
#[macro_export]
macro_rules! forwards {
    ($inner:ty, $this:ident, $at:expr; $(& $name:ident() -> $result:ty;)*
     $(mut $change:ident($($new:ident: $type:ty)?) $(-> $changed:ty)?;)*) => {
        $(fn $name(&$this) -> $result {
            <$inner>::$name(&$at)
        })*
        $(fn $change(&mut $this $(, $new: $type)?) $(-> $changed)? {
            <$inner>::$change(&mut $at $(, $new)?)
        })*
    };
}

/// The methods of [`Upkeep`].
#[macro_export]
macro_rules! upkeep {
    ($inner:ty, $this:ident, $at:expr) => {
        $crate::forwards! {
            $inner, $this, $at;
            & len() -> usize;
            & is_empty() -> bool;
            & len_live() -> usize;
            & pending_dead() -> usize;
            & reclaim() -> weakly::Reclaim;
            mut set_reclaim(reclaim: weakly::Reclaim);
            mut set_waker(waker: Option<std::task::Waker>);
            mut purge();
            mut clear();
            mut shrink_to_fit();
        }
    };
}

/// The methods of [`Memory`].
macro_rules! memory {
    ($inner:ty, $this:ident, $at:expr) => {
        forwards! {
            $inner, $this, $at;
            & capacity() -> usize;
            mut reserve(additional: usize);
            mut try_reserve(additional: usize) -> Result<(), TryReserveError>;
            mut shrink_to(min_capacity: usize);
        }
    };
}

macro_rules! upkeeps {
    ($($generics:tt $name:ty $(, $memory:ident)?;)*) => {$(
        upkeeps! { @one Upkeep, upkeep, $generics $name }
        $(upkeeps! { @one Memory, $memory, $generics $name })?
    )*};
    (@one $trait:ident, $methods:ident, [$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> $trait for $name {
            $methods!($name, self, *self);
        }
    };
}

impl<W, C: Upkeep, O> Upkeep for Paired<W, C, O> {
    upkeep!(C, self, self.all);
}

impl<W, C: Memory, O> Memory for Paired<W, C, O> {
    memory!(C, self, self.all);
}

/// A collection whose entries live as long as objects that contain a `T`.
pub trait Subject<T: Content = usize>: Upkeep + Default {
    type Life: Life<T>;
    /// Whether deaths are notified.
    const NOTIFIES: bool = Self::Life::NOTIFIES;
    /// Whether it owns something of each entry.
    const OWNS: bool;
    /// Whether entries are keyed by content, and not by the object that is their life.
    const BY_CONTENT: bool;

    fn with_capacity(capacity: usize) -> Self;
    /// Whether a lookup by this life finds it.
    fn has(&self, life: &Self::Life) -> bool;
    /// Whether a lookup finds anything by what is left of a life that may be over.
    fn finds(&self, content: &T, weak: &<Self::Life as WeakKey>::Weak) -> bool;

    /// Whether it finds an object by what will be left of it.
    fn contains(&self, life: &Self::Life) -> bool {
        self.finds(life, &Self::Life::downgrade(life))
    }

    /// `n` if it owns something of each entry, else nothing.
    fn owned(n: usize) -> usize {
        if Self::OWNS { n } else { 0 }
    }

    /// `n` if deaths are notified, else nothing.
    fn notified(n: usize) -> usize {
        if Self::NOTIFIES { n } else { 0 }
    }
}

/// What changes a collection, and how its iterators are: alike in both families, but for `&mut self` and `&self`.
macro_rules! changes {
    ($(#[$doc:meta])* $name:ident($($mut:ident)?) [$($super:tt)*] $life:path, $iterators:ident $Ends:ty { $($more:tt)* }) => {
        $(#[$doc])*
        pub trait $name<T: Content = usize>: Subject<T, Life: $life> + $($super)* {
            /// Inserts an entry that lives as long as `life`, in the place of another of the same name; returns whether it
            /// is new. (An interner keeps the other.)
            fn enter(&$($mut)? self, life: &Self::Life, ends: &$Ends) -> bool;
            /// Removes an entry; returns whether it was there. (An interner, which removes none, is cleared.)
            fn leave(&$($mut)? self, life: &Self::Life) -> bool;
            /// The same by what is left of a life that may be over.
            fn leaves(&$($mut)? self, content: &T, weak: &<Self::Life as WeakKey>::Weak) -> bool;
            /// The lives of the entries.
            fn iter(&self) -> impl Iterator<Item = Self::Life> + $iterators;
            $($more)*

            /// One that has an entry for each life.
            fn of<'a>(lives: impl IntoIterator<Item = &'a Self::Life>, ends: &$Ends) -> Self {
                #[allow(unused_mut)] // where threads share it
                let mut all = Self::default();
                for life in lives {
                    all.enter(life, ends);
                }
                all
            }

            /// The numbers that an iterator shows, in order.
            fn numbers(&self) -> Vec<usize> {
                sorted(self.iter().map(|life| life.number()))
            }
        }
    };
}

changes! {
    /// A collection of one owner.
    Single(mut) [Memory] Life<T>, Clone single::Ends {}
}

changes! {
    /// A collection that threads share.
    Shared() [Send + Sync + 'static] SharedRef, Send shared::Ends {
        fn set_reclaim(&self, reclaim: Reclaim);
        fn purge(&self);
        fn clear(&self);
    }
}

/// In order.
pub fn sorted(numbers: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut numbers: Vec<_> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers
}

/// What an insertion or a removal returns.
pub trait Answer {
    fn is_new(&self) -> bool;
    fn was_there(&self) -> bool;
}

impl Answer for bool {
    fn is_new(&self) -> bool {
        *self
    }
    fn was_there(&self) -> bool {
        *self
    }
}

impl<V> Answer for Option<V> {
    fn is_new(&self) -> bool {
        self.is_none()
    }
    fn was_there(&self) -> bool {
        self.is_some()
    }
}

/// Interns a life; returns whether it has become the one of its content.
fn interns<T: Content, L: Life<T>>(life: &L, intern: impl FnOnce(L) -> L) -> bool {
    let before = life.counts().1;
    intern(life.clone()).is(life) && life.counts().1 > before
}

/// Pairs that live as long as one of their sides: the other is kept beside them.
pub struct Paired<W, C, O> {
    pub all: C,
    pub partners: Partners<O>,
    which: PhantomData<W>,
}

/// The keys live.
pub enum ByKey {}
/// The values live. If `FRESH`, a new value has a new key, and else the key of its number.
pub enum ByValue<const FRESH: bool = false> {}

impl<W, C: Default, O> From<C> for Paired<W, C, O> {
    fn from(all: C) -> Self {
        Paired {
            all,
            partners: Partners::default(),
            which: PhantomData,
        }
    }
}

impl<W, C: Default, O> Default for Paired<W, C, O> {
    fn default() -> Self {
        C::default().into()
    }
}

impl<W, C: Clone, O: Clone> Clone for Paired<W, C, O> {
    fn clone(&self) -> Self {
        Paired {
            all: self.all.clone(),
            partners: Partners(Mutex::new(self.partners.0.lock().unwrap().clone())),
            which: PhantomData,
        }
    }
}

impl<W, C: PartialEq, O> PartialEq for Paired<W, C, O> {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

/// The other sides, by number.
pub struct Partners<O>(pub Mutex<BTreeMap<usize, O>>);

impl<O> Default for Partners<O> {
    fn default() -> Self {
        Partners(Mutex::default())
    }
}

impl<O: Life> Partners<O> {
    pub fn of(&self, number: usize) -> O {
        let mut partners = self.0.lock().unwrap();
        let partner = partners.entry(number).or_insert_with(|| number.into());
        partner.clone()
    }

    pub fn extend(&mut self, others: Self) {
        let mut partners = self.0.lock().unwrap();
        let more = (partners.len()..).zip(others.0.into_inner().unwrap().into_values());
        partners.extend(more);
    }

    /// Another for this number; the one before is kept.
    fn renew(&self, number: usize) -> O {
        let before = self.0.lock().unwrap().remove(&number);
        let place = usize::MAX - self.0.lock().unwrap().len();
        self.0
            .lock()
            .unwrap()
            .extend(before.map(|before| (place, before)));
        self.of(number)
    }
}

/// A collection as a subject: how a life enters and leaves, and is looked up. `named` is what a lookup takes, where the
/// life is there, and where only its content and a weak handle are; `get` what it finds, and whether that is right.
macro_rules! describe {
    (@more Single $($_:tt)*) => {};
    (@more Shared $all:ident $place:expr) => {
        fn set_reclaim(&self, reclaim: Reclaim) {
            let $all = self;
            $place.set_reclaim(reclaim);
        }
        fn purge(&self) {
            let $all = self;
            $place.purge();
        }
        fn clear(&self) {
            let $all = self;
            $place.clear();
        }
    };
    ($name:ident $mut:tt $bound:tt $iterators:ident $({$($one:tt)*})*) => {
        $(describe! { @one $name $mut $bound $iterators $($one)* })*
    };
    (@one $name:ident($($mut:ident)?) ([$($of_content:tt)*] [$($of_life:tt)*]) $iterators:ident
     [$($generics:tt)*] $subject:ty: $new:expr, $owns:expr, $by_content:expr;
        |$all:ident, $life:ident, $owned:ident, $key:ident| $place:expr;
        named $strong:expr, |$content:ident, $weak:ident| $dead:expr;
        enter $enter:expr;
        leave $leave:expr;
        get $get:expr, |$found:pat_param| $is:expr;
        has $has:expr;
        iter $iter:expr;
    ) => {
        impl<T: Content + $($of_content)*, K: Life<T> + $($of_life)*, $($generics)*> Subject<T> for $subject {
            type Life = K;
            const OWNS: bool = $owns;
            const BY_CONTENT: bool = $by_content;

            fn with_capacity(capacity: usize) -> Self {
                $new(capacity).into()
            }
            fn has(&self, $life: &K) -> bool {
                let $all = self;
                let $key = $strong;
                $get.is_some_and(|$found| $is)
            }
            fn finds(&self, $content: &T, $weak: &K::Weak) -> bool {
                let $all = self;
                let $key = $dead;
                let found = $get.is_some();
                assert_eq!($has, found);
                found
            }
        }

        impl<T: Content + $($of_content)*, K: Life<T> + $($of_life)*, $($generics)*> $name<T> for $subject {
            fn enter(&$($mut)? self, $life: &K, ends: &Ends) -> bool {
                let $all = self;
                let $owned = || -> Kept<T> { Owned::new((**$life).clone(), ends).into() };
                $enter
            }
            fn leave(&$($mut)? self, $life: &K) -> bool {
                let $all = self;
                let $key = $strong;
                $leave.was_there()
            }
            fn leaves(&$($mut)? self, $content: &T, $weak: &K::Weak) -> bool {
                let $all = self;
                let $key = $dead;
                $leave.was_there()
            }
            fn iter(&self) -> impl Iterator<Item = K> + $iterators {
                let $all = self;
                $iter
            }
            describe! { @more $name $all $place }
        }
    };
}

/// The descriptions of what both families have.
macro_rules! family {
    ($name:ident $mut:tt $bound:tt $iterators:ident |$content:ident| $kept:expr) => {
        describe! {
            $name $mut $bound $iterators

            {
                [] WeakMap<K, Kept<T>>: WeakMap::with_capacity, true, false;
                |all, life, owned, key| all;
                named life, |_content, weak| weak;
                enter all.insert(life, owned()).is_new();
                leave all.remove(key);
                get all.get(key), |found| found.is(life);
                has all.contains_key(key);
                iter all.iter().map(|(life, owned)| {
                    assert!(owned.is(&life));
                    life
                });
            }

            {
                [] WeakSet<K>: WeakSet::with_capacity, false, false;
                |all, life, _owned, key| all;
                named life, |_content, weak| weak;
                enter all.insert(life);
                leave all.remove(key);
                get all.contains(key).then_some(()), |()| true;
                has all.contains(key);
                iter all.iter();
            }

            {
                [] WeakValueMap<Kept<T>, K>: WeakValueMap::with_capacity, true, true;
                |all, life, owned, key| all;
                named {
                    let $content = &**life;
                    $kept
                }, |$content, _weak| $kept;
                enter all.insert(owned(), life).is_new();
                leave all.remove(key);
                get all.get(key), |found| found.is(life);
                has all.contains_key(key);
                iter all.iter().map(|(owned, life)| {
                    assert!(owned.is(&life));
                    life
                });
            }

            {
                [] WeakHashMap<K, Kept<T>>: WeakHashMap::with_capacity, true, true;
                |all, life, owned, key| all;
                named &**life, |content, _weak| content;
                enter all.insert(life, owned()).is_new();
                leave all.remove(key);
                get all.get_key_value(key), |(found, owned)| found.is(life) && owned.is(life);
                has all.contains_key(key);
                iter all.iter().map(|(life, owned)| {
                    assert!(owned.is(&life));
                    life
                });
            }

            {
                [] WeakHashSet<K>: WeakHashSet::with_capacity, false, true;
                |all, life, _owned, key| all;
                named &**life, |content, _weak| content;
                enter all.insert(life);
                leave all.remove(key);
                get all.get(key), |found| found.is(life);
                has all.contains(key);
                iter all.iter();
            }

            {
                [] Interner<K>: Interner::with_capacity, false, true;
                |all, life, _owned, key| all;
                named &**life, |content, _weak| content;
                enter interns(life, |life| all.intern(life));
                leave {
                    let found = all.get(key);
                    all.clear();
                    found
                };
                get all.get(key), |found| found.is(life);
                has all.get(key).is_some();
                iter all.iter();
            }

            {
                [] WeakPairMap<K, K>: WeakPairMap::with_capacity, false, false;
                |all, life, _owned, key| all;
                named life, |_content, weak| weak;
                enter all.insert(life, life).is_new();
                leave all.remove(key);
                get all.get_key_value(key), |(one, other)| one.is(life) && other.is(life);
                has all.contains_key(key);
                iter all.iter().map(|(life, _)| life);
            }

            {
                [O: Life + Partner] Paired<ByKey, WeakPairMap<K, O>, O>: WeakPairMap::with_capacity, false, false;
                |all, life, _owned, key| all.all;
                named life, |_content, weak| weak;
                enter all.all.insert(life, &all.partners.of(0)).is_new();
                leave all.all.remove(key);
                get all.all.get_key_value(key), |(found, other)| found.is(life) && other.is(&all.partners.of(0));
                has all.all.contains_key(key);
                iter all.all.iter().map(|(life, _)| life);
            }

            {
                [O: Life + Partner, const FRESH: bool] Paired<ByValue<FRESH>, WeakPairMap<O, K>, O>:
                    WeakPairMap::with_capacity, false, true;
                |all, life, _owned, key| all.all;
                named &all.partners.of(life.number()), |content, _weak| &all.partners.of(content.number());
                enter {
                    let number = life.number();
                    let is_fresh = FRESH && !all.has(life);
                    let key = if is_fresh { all.partners.renew(number) } else { all.partners.of(number) };
                    all.all.insert(&key, life).is_new()
                };
                leave all.all.remove(key);
                get all.all.get(key), |found| found.is(life);
                has all.all.contains_key(key);
                iter all.all.iter().map(|(key, life)| {
                    assert_eq!(*key, life.number());
                    life
                });
            }
        }
    };
}

/// Collections of one owner.
pub mod single {
    use super::*;
    use weakly::{
        Interner, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet,
        WeakValueMap,
    };

    pub type Ends = Rc<dyn Fn(usize)>;
    type Kept<T> = Owned<Ends, T>;

    // By their lives: each a collection whose entries live as long as a `K`.
    pub type Maps<K> = WeakMap<K, Kept<<K as Deref>::Target>>;
    pub type Sets<K> = WeakSet<K>;
    pub type ValueMaps<K> = WeakValueMap<Kept<<K as Deref>::Target>, K>;
    pub type HashMaps<K> = WeakHashMap<K, Kept<<K as Deref>::Target>>;
    pub type HashSets<K> = WeakHashSet<K>;
    pub type Interners<K> = Interner<K>;
    /// Both sides are one object: an entry gets two notices.
    pub type PairsTwice<K> = WeakPairMap<K, K>;
    pub type PairsByKey<K, O = K> = Paired<ByKey, WeakPairMap<K, O>, O>;
    pub type PairsByValue<K, O = K> = Paired<ByValue, WeakPairMap<O, K>, O>;
    pub type HashPairsTwice<K> = WeakHashPairMap<K, K>;
    pub type HashPairsByKey<K, O = K> = Paired<ByKey, WeakHashPairMap<K, O>, O>;
    pub type HashPairsByValue<K, O = K> = Paired<ByValue, WeakHashPairMap<O, K>, O>;

    /// Nothing happens.
    pub fn quietly() -> Ends {
        Rc::new(|_| ())
    }

    use Life as Partner;

    upkeeps! {
        [K: StrongRef, V] WeakMap<K, V>, memory;
        [K: StrongRef] WeakSet<K>, memory;
        [K: Eq + Hash, V: StrongRef, S: BuildHasher + Default] WeakValueMap<K, V, S>, memory;
        [T: Eq + Hash, K: StrongRef<Target = T> + Deref<Target = T>, V, S: BuildHasher + Default] WeakHashMap<K, V, S>, memory;
        [T: Eq + Hash, K: StrongRef<Target = T> + Deref<Target = T>, S: BuildHasher + Default] WeakHashSet<K, S>, memory;
        [T: Eq + Hash, K: StrongRef<Target = T> + Deref<Target = T>, S: BuildHasher + Default] Interner<K, S>, memory;
        [K: StrongRef, V: StrongRef] WeakPairMap<K, V>, memory;
        [T: Eq + Hash, K: StrongRef<Target = T> + Deref<Target = T>, V: StrongRef, S: BuildHasher + Default] WeakHashPairMap<K, V, S>, memory;
    }

    family!(Single(mut) ([] []) Clone |content| content);

    describe! {
        Single(mut) ([] []) Clone

        {
            [] WeakHashPairMap<K, K>: WeakHashPairMap::with_capacity, false, true;
            |all, life, _owned, key| all;
            named &**life, |content, _weak| content;
            enter all.insert(life, life).is_new();
            leave all.remove(key);
            get all.get_key_value(key), |(one, other)| one.is(life) && other.is(life);
            has all.contains_key(key);
            iter all.iter().map(|(life, _)| life);
        }

        {
            [O: Life] Paired<ByKey, WeakHashPairMap<K, O>, O>: WeakHashPairMap::with_capacity, false, true;
            |all, life, _owned, key| all.all;
            named &**life, |content, _weak| content;
            enter all.all.insert(life, &all.partners.of(0)).is_new();
            leave all.all.remove(key);
            get all.all.get_key_value(key), |(found, other)| found.is(life) && other.is(&all.partners.of(0));
            has all.all.contains_key(key);
            iter all.all.iter().map(|(life, _)| life);
        }

        {
            [O: Life] Paired<ByValue, WeakHashPairMap<O, K>, O>: WeakHashPairMap::with_capacity, false, true;
            |all, life, _owned, key| all.all;
            named &life.number(), |content, _weak| &content.number();
            enter all.all.insert(&all.partners.of(life.number()), life).is_new();
            leave all.all.remove(key);
            get all.all.get(key), |found| found.is(life);
            has all.all.contains_key(key);
            iter all.all.iter().map(|(_, life)| life);
        }
    }
}

/// Those that threads share.
pub mod shared {
    use super::*;
    use weakly::concurrent::{
        Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
    };

    pub type Ends = Arc<dyn Fn(usize) + Send + Sync>;
    type Kept<T> = Arc<Owned<Ends, T>>;

    // By their lives: each a collection whose entries live as long as a `K`.
    pub type Maps<K> = WeakMap<K, Kept<<K as Deref>::Target>>;
    pub type Sets<K> = WeakSet<K>;
    pub type ValueMaps<K> = WeakValueMap<Kept<<K as Deref>::Target>, K>;
    pub type HashMaps<K> = WeakHashMap<K, Kept<<K as Deref>::Target>>;
    pub type HashSets<K> = WeakHashSet<K>;
    pub type Interners<K> = Interner<K>;
    /// Both sides are one object: an entry gets two notices.
    pub type PairsTwice<K> = WeakPairMap<K, K>;
    pub type PairsByKey<K, O = K> = Paired<ByKey, WeakPairMap<K, O>, O>;
    pub type PairsByValue<K, O = K> = Paired<ByValue, WeakPairMap<O, K>, O>;

    /// Nothing happens.
    pub fn quietly() -> Ends {
        Arc::new(|_| ())
    }

    /// What finds an owned key.
    fn kept<T: Content>(content: &T) -> Kept<T> {
        Arc::new(Owned::new(content.clone(), &quietly()))
    }

    use SharedRef as Partner;

    upkeeps! {
        [K: SharedRef, V] WeakMap<K, V>;
        [K: SharedRef] WeakSet<K>;
        [K: Eq + Hash, V: SharedRef, S: BuildHasher + Default] WeakValueMap<K, V, S>;
        [T: Eq + Hash, K: SharedRef<Target = T> + Deref<Target = T>, V, S: BuildHasher + Default] WeakHashMap<K, V, S>;
        [T: Eq + Hash, K: SharedRef<Target = T> + Deref<Target = T>, S: BuildHasher + Default] WeakHashSet<K, S>;
        [T: Eq + Hash, K: SharedRef<Target = T> + Deref<Target = T>, S: BuildHasher + Default] Interner<K, S>;
        [K: SharedRef, V: SharedRef] WeakPairMap<K, V>;
    }

    family!(Shared() ([Send + Sync] [SharedRef]) Send |content| &kept(content));
}

/// Makes a `#[test]` of each function, for each collection, for each kind of pointer:
/// `for_each_in!([drain] <usize> [map: Maps] in [crate::single] with [atomic: Atomic])` gives `drain::map::atomic`.
#[macro_export]
macro_rules! for_each_in {
    ([$($test:ident)*] $content:tt $subjects:tt in $path:tt with $kinds:tt) => {$(
        mod $test {
            $crate::for_each_in! { @subjects $test $content $subjects in $path with $kinds }
        }
    )*};
    (@subjects $test:ident $content:tt [$($name:ident: $subject:ident),*] in $path:tt with $kinds:tt) => {$(
        mod $name {
            $crate::for_each_in! { @kinds $test $content $subject in $path with $kinds }
        }
    )*};
    (@kinds $test:ident $content:tt $subject:ident in $path:tt with [$($name:ident: $kind:ident),*]) => {$(
        $crate::for_each_in! { @one $name $kind $test $content $subject in $path }
    )*};
    (@one $name:ident $kind:ident $test:ident [$content:ty] $subject:ident in [$($path:tt)*]) => {
        #[test]
        fn $name() {
            type Life = <$crate::common::$kind as $crate::common::Kind>::Strong<$content>;
            super::super::$test::<$($path)*::$subject<Life>>();
        }
    };
}

/// Makes lists of collections: each a macro, `for_each_set!(a, b)` or `for_each_set!(<Content> a, b)`, that calls
/// [`for_each_in!`]. Its first argument is a `$`.
#[macro_export]
macro_rules! subjects {
    ($d:tt in $path:tt; $($list:ident $kinds:tt $subjects:tt;)*) => {$(
        #[allow(unused_macros)] // a program uses a part of them
        macro_rules! $list {
            (<$d content:ty> $d($d test:ident),* $d(,)?) => {
                $crate::for_each_in! { [$d($d test)*] [$d content] $subjects in $path with $kinds }
            };
            ($d($d test:ident),* $d(,)?) => { $list! { <usize> $d($d test),* } };
        }
        #[allow(unused_imports)]
        pub(crate) use $list;
    )*};
}
