//! Each collection, as a [`Collection`] of entries identified by numbers.

use weakly::{
    Interner, Reclaim, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap, WeakRef,
    WeakSet, WeakValueMap,
};

use super::*;

/// Wraps a collection, with the other sides of its entries. `$others` is how many it keeps.
macro_rules! wrappers {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name<P: Kind> {
            pub(crate) inner: $inner,
            #[allow(dead_code)] // where there is nothing to keep
            others: Others<P>,
        }

        impl<P: Kind> Default for $name<P> {
            fn default() -> Self {
                $name {
                    inner: Default::default(),
                    others: Others::<P>::new(),
                }
            }
        }
    )*};
}

wrappers! {
    /// Weak keys by identity, owned values.
    Maps(WeakMap<Key<P>, Owned>);
    /// Weak elements by identity.
    Sets(WeakSet<Key<P>>);
    /// Owned keys, weak values.
    ValueMaps(WeakValueMap<Owned, Key<P>>);
    /// Weak keys and values, of which the keys die.
    PairsByKey(WeakPairMap<Key<P>, Key<P>>);
    /// Weak keys and values, of which the values die.
    PairsByValue(WeakPairMap<Key<P>, Key<P>>);
    /// Weak keys and values, both the same object: an entry gets two notices.
    PairsTwice(WeakPairMap<Key<P>, Key<P>>);
    /// Weak keys by content and weak values, of which the keys die.
    HashPairsByKey(WeakHashPairMap<Key<P>, Key<P>>);
    /// Weak keys by content and weak values, of which the values die.
    HashPairsByValue(WeakHashPairMap<Key<P>, Key<P>>);
    /// Weak keys by content and weak values, both the same object.
    HashPairsTwice(WeakHashPairMap<Key<P>, Key<P>>);
    /// Weak keys by content, owned values.
    HashMaps(WeakHashMap<Key<P>, Owned>);
    /// Weak elements by content.
    HashSets(WeakHashSet<Key<P>>);
    /// One handle for each number.
    Interners(Interner<Key<P>>);
}

macro_rules! copies {
    ($($name:ident)*) => {$(
        impl<P: Kind> Clone for $name<P> {
            fn clone(&self) -> Self {
                $name {
                    inner: self.inner.clone(),
                    others: self.others.clone(),
                }
            }
        }

        impl<P: Kind> PartialEq for $name<P>
        where
            Key<P>: PartialEq,
        {
            fn eq(&self, other: &Self) -> bool {
                self.inner == other.inner
            }
        }
    )*};
}

copies!(Maps Sets ValueMaps PairsByKey PairsByValue PairsTwice HashPairsByKey HashPairsByValue HashPairsTwice
    HashMaps HashSets);

/// The methods about size and memory, and `with_capacity`.
macro_rules! housekeeping {
    ($inner:ident) => {
        type Kind = P;

        fn with_capacity(capacity: usize) -> Self {
            Self {
                inner: $inner::with_capacity(capacity),
                ..Self::default()
            }
        }
        fn capacity(&self) -> usize {
            self.inner.capacity()
        }
        fn len(&self) -> usize {
            self.inner.len()
        }
        fn is_empty(&self) -> bool {
            self.inner.is_empty()
        }
        fn len_live(&self) -> usize {
            self.inner.len_live()
        }
        fn pending_dead(&self) -> usize {
            self.inner.pending_dead()
        }
        fn reclaim(&self) -> Reclaim {
            self.inner.reclaim()
        }
        fn set_reclaim(&mut self, reclaim: Reclaim) {
            self.inner.set_reclaim(reclaim);
        }
        fn purge(&mut self) {
            self.inner.purge();
        }
        fn reserve(&mut self, additional: usize) {
            self.inner.reserve(additional);
        }
        fn try_reserve(&mut self, additional: usize) -> bool {
            self.inner.try_reserve(additional).is_ok()
        }
        fn shrink_to(&mut self, capacity: usize) {
            self.inner.shrink_to(capacity);
        }
        fn shrink_to_fit(&mut self) {
            self.inner.shrink_to_fit();
        }
        fn clear(&mut self) {
            self.inner.clear();
        }
    };
}

/// The methods with the same names in maps and sets, where `$life` is the life in an item, `$number` its number
/// by reference.
macro_rules! taking {
    (|$item:pat_param| $life:expr, |$($shown:pat_param),*| $number:expr) => {
        fn pop(&mut self) -> Option<Key<P>> {
            self.inner.pop().map(|$item| $life)
        }
        fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
            self.inner.retain(|$($shown),*| keep($number));
        }
        fn extract_if(&mut self, mut take: impl FnMut(usize) -> bool) -> impl Iterator<Item = Key<P>> {
            let taken = self.inner.extract_if(move |$($shown),*| take($number));
            taken.map(|$item| $life)
        }
        fn drain(&mut self) -> impl Iterator<Item = Key<P>> {
            self.inner.drain().map(|$item| $life)
        }
        fn into_iter(self) -> impl Iterator<Item = Key<P>> {
            let others = self.others; // which must live as long as the iterator
            self.inner.into_iter().map(move |$item| {
                let _ = &others;
                $life
            })
        }
    };
}

fn payload<K: WeakRef>(weak: K) -> usize
where
    K::Strong: std::ops::Deref<Target = usize>,
{
    *weak.upgrade().unwrap()
}

// === Owned values: two maps that differ in how a lookup names a key ===

macro_rules! owned_values {
    ($name:ident($inner:ident), $by_content:expr, |$ghost:ident| $name_of:expr $(, often $often:expr)?) => {
        impl<P: Kind> Collection for $name<P> {
            $(const OFTEN: usize = $often;)?
            const OWNS: bool = true;
            const BY_CONTENT: bool = $by_content;
            housekeeping!($inner);

            fn enter(&mut self, life: &Key<P>, ends: &Ends) {
                self.inner.insert(life, Owned::new(**life, ends));
            }
            fn has(&self, $ghost: &Ghost<P>) -> bool {
                let found = self.inner.get($name_of);
                assert_eq!(self.inner.contains_key($name_of), found.is_some());
                found.is_some()
            }
            fn iter(&self) -> impl Iterator<Item = Key<P>> + Clone {
                self.inner.iter().map(|(key, _)| key)
            }
        }

        impl<P: Kind> Changing for $name<P>
        where
            Key<P>: PartialEq,
        {
            taking!(|(life, _)| life, |life, _| **life);

            fn leave(&mut self, $ghost: &Ghost<P>) -> bool {
                self.inner.remove($name_of).is_some()
            }
            fn extend_from(&mut self, other: Self) {
                self.inner.extend(other.inner);
            }
            fn extend<'a>(&mut self, lives: impl IntoIterator<Item = &'a Key<P>>, ends: &Ends) {
                let lives = lives.into_iter();
                self.inner
                    .extend(lives.map(|life| (life, Owned::new(**life, ends))));
            }
            fn weak(&self) -> impl Iterator<Item = <Key<P> as StrongRef>::Weak> {
                self.inner.weak_keys()
            }
            fn look_to_change(&mut self, life: &Key<P>) -> Vec<Vec<usize>> {
                let $ghost = &ghost::<P>(life);
                vec![
                    sorted(self.inner.iter_mut().map(|(_, value)| value.number)),
                    sorted(self.inner.values_mut().map(|value| value.number)),
                    vec![self.inner.get_mut($name_of).unwrap().number],
                ]
            }
            fn views(mut self) -> Vec<Vec<usize>> {
                let number = |(_, owned): (Key<P>, Owned)| owned.number;
                vec![
                    sorted(
                        (&self.inner)
                            .into_iter()
                            .map(|(key, value)| (*key + value.number) / 2),
                    ),
                    sorted(self.inner.iter().map(|(_, value)| value.number)),
                    sorted(self.inner.keys().map(|key| *key)),
                    sorted(self.inner.values().map(|value| value.number)),
                    sorted(self.inner.iter_mut().map(|(_, value)| value.number)),
                    sorted((&mut self.inner).into_iter().map(|(key, _)| *key)),
                    sorted(self.inner.values_mut().map(|value| value.number)),
                    sorted(self.inner.weak_keys().map(payload)),
                    sorted(self.inner.clone().into_keys().map(|key| *key)),
                    sorted(self.inner.clone().into_values().map(|value| value.number)),
                    sorted(self.inner.clone().extract_if(|_, _| true).map(number)),
                    sorted(self.inner.clone().drain().map(number)),
                    sorted(self.inner.into_iter().map(number)),
                ]
            }
        }

        impl<P: Kind> Owning for $name<P>
        where
            Key<P>: PartialEq,
        {
            fn drain_dead(&mut self) -> impl std::iter::FusedIterator<Item = Owned> {
                self.inner.drain_dead()
            }
        }
    };
}

owned_values!(Maps(WeakMap), false, |ghost| &ghost.weak, often 1_000_000);
owned_values!(HashMaps(WeakHashMap), true, |ghost| &ghost.number);

// === Weak values: under owned keys, and under weak ones ===

impl<P: Kind> Collection for ValueMaps<P> {
    const OWNS: bool = true;
    housekeeping!(WeakValueMap);

    fn enter(&mut self, life: &Key<P>, ends: &Ends) {
        self.inner.insert(Owned::new(**life, ends), life);
    }
    fn has(&self, ghost: &Ghost<P>) -> bool {
        let found = self.inner.contains_key(&ghost.number);
        assert_eq!(self.inner.get(&ghost.number).is_some(), found);
        found
    }
    fn iter(&self) -> impl Iterator<Item = Key<P>> + Clone {
        self.inner.iter().map(|(_, value)| value)
    }
}

impl<P: Kind> Changing for ValueMaps<P>
where
    Key<P>: PartialEq,
{
    taking!(|(_, life)| life, |_, life| **life);

    fn leave(&mut self, ghost: &Ghost<P>) -> bool {
        self.inner.remove(&ghost.number).is_some()
    }
    fn extend_from(&mut self, other: Self) {
        self.inner.extend(other.inner);
    }
    fn extend<'a>(&mut self, lives: impl IntoIterator<Item = &'a Key<P>>, ends: &Ends) {
        let lives = lives.into_iter();
        self.inner
            .extend(lives.map(|life| (Owned::new(**life, ends), life)));
    }
    fn weak(&self) -> impl Iterator<Item = <Key<P> as StrongRef>::Weak> {
        self.inner.weak_values()
    }
    fn views(self) -> Vec<Vec<usize>> {
        let number = |(key, value): (Owned, Key<P>)| (key.number + *value) / 2;
        vec![
            sorted((&self.inner).into_iter().map(|(key, _)| key.number)),
            sorted(self.inner.keys().map(|key| key.number)),
            sorted(self.inner.values().map(|value| *value)),
            sorted(self.inner.weak_values().map(payload)),
            sorted(self.inner.clone().into_keys().map(|key| key.number)),
            sorted(self.inner.clone().into_values().map(|value| *value)),
            sorted(self.inner.clone().extract_if(|_, _| true).map(number)),
            sorted(self.inner.clone().drain().map(number)),
            sorted(self.inner.into_iter().map(number)),
        ]
    }
}

impl<P: Kind> Owning for ValueMaps<P>
where
    Key<P>: PartialEq,
{
    fn drain_dead(&mut self) -> impl std::iter::FusedIterator<Item = Owned> {
        self.inner.drain_dead()
    }
}

mod pairs;
mod sets;
