//! Purging maps of entries that keep themselves alive.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::type_name;

use super::hash_map::WeakHashMap;
use super::hash_pair_map::WeakHashPairMap;
use super::hash_set::WeakHashSet;
use super::interning::Interner;
use super::iter::DrainDead;
use super::map::WeakMap;
use super::pair_map::WeakPairMap;
use super::set::WeakSet;
use super::store::Store;
use super::value_map::WeakValueMap;
use crate::cycles::{
    Addresses, Cycles, Cyclic, Entries, EntryOf, Member, Purged, Sealed, Trace, Tracer,
    show_nothing,
};
#[cfg(feature = "std")]
use crate::panics::FirstPanic;
use crate::reference::{Owned, Slot, StrongRef, Watch, WeakKey};
use crate::upkeep::{Entry, Remains, Walk};

/// One side of an entry: an object on whose life the entry depends, or a key or value that the
/// entry owns.
trait Side: Slot {
    /// Returns the address of the object.
    fn object(&self) -> Option<*const ()>;
    /// Shows the key or value that the entry owns.
    fn show(&self, tracer: &mut Tracer<'_>);
}

impl<W: Watch> Side for W {
    fn object(&self) -> Option<*const ()> {
        Some(self.addr())
    }

    fn show(&self, _: &mut Tracer<'_>) {}
}

impl<T: Trace> Side for Owned<T> {
    fn object(&self) -> Option<*const ()> {
        None
    }

    fn show(&self, tracer: &mut Tracer<'_>) {
        Trace::trace(&self.0, tracer);
    }
}

struct MemberOf<'m, K: Slot, V: Slot, S> {
    store: &'m mut Store<K, V, S>,
    unlinked: Vec<Remains<K, V>>,
    /// Where what entries own goes, if it is not to be destroyed.
    out: Option<&'m mut Vec<Remains<K, V>>>,
    name: &'static str,
}

/// Returns the name of an entry: its address, as long as no entry moves.
fn name_of<K, V>(entry: &Entry<K, V>) -> usize {
    core::ptr::from_ref(entry).addr()
}

impl<K: Side, V: Side, S> Member for MemberOf<'_, K, V, S> {
    fn purge(&mut self) {
        match &mut self.out {
            None => _ = self.store.table.purge(),
            Some(out) => out.extend(DrainDead::new(&mut self.store.table).remains()),
        }
    }

    fn show(&self, entries: &mut Entries<'_>) {
        for entry in self.store.table.iter() {
            let objects = [entry.key.object(), entry.value.object()];
            let shown = EntryOf {
                name: name_of(entry),
                keys: objects.into_iter().flatten(),
                dead: entry.key.is_expired() || entry.value.is_expired(),
            };
            entries.entry(shown, |tracer| {
                entry.key.show(tracer);
                entry.value.show(tracer);
            });
        }
    }

    /// The entries cannot move while this member borrows the map.
    fn release(&self) {}

    fn unlink(&mut self, doomed: &Addresses) -> usize {
        let mut walk = Walk::default();
        let is_doomed = |entry: &mut Entry<K, V>| doomed.contains(name_of(entry)).then_some(());
        while let Some(((), entry)) = self.store.table.take_next(&mut walk, is_doomed) {
            self.unlinked.push(entry.into_remains());
        }
        self.unlinked.len()
    }

    fn destroy(&mut self) {
        let mut unlinked = core::mem::take(&mut self.unlinked);
        if let Some(out) = &mut self.out {
            return out.append(&mut unlinked);
        }
        #[cfg(feature = "std")]
        {
            let mut panics = FirstPanic::default();
            for remains in unlinked {
                panics.catch(|| drop(remains));
            }
            panics.resume();
        }
        // No panic can be caught: a second panic aborts.
        #[cfg(not(feature = "std"))]
        drop(unlinked);
    }

    fn shared(&self) -> Option<*const ()> {
        None
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

macro_rules! cyclic {
    ($([$($generics:tt)*] $map:ty where $owned:ident, |$remains:pat_param| $get:expr;)*) => {$(
        impl<$($generics)*> Sealed for &mut $map {}

        impl<$($generics)*> Cyclic for &mut $map
        where
            $owned: Trace,
        {
            fn member<'m>(self) -> Box<dyn Member + 'm>
            where
                Self: 'm,
            {
                Box::new(MemberOf {
                    store: &mut self.store,
                    unlinked: Vec::new(),
                    out: None,
                    name: type_name::<$map>(),
                })
            }
        }

        impl<$($generics)*> $map {
            /// Removes entries that keep themselves alive: the keys and values that the entries own
            /// lead to the objects on whose lives the entries depend, and nothing else leads to
            /// these objects. Destroys the owned keys and values. Returns the number of removed
            /// entries. Also returns the number of entries that stay because objects that own each
            /// other also keep the keys alive.
            ///
            /// The decision depends on the handles that the owned keys and values [show](Trace). No
            /// object that the program still holds is destroyed. Reclaims dead entries as
            /// [`purge`](Self::purge) does, before and after. For the costs, the rules for threads,
            /// and a purge of several maps together, see [`Cycles`].
            ///
            /// # Panics
            /// If a `trace` panics: then no entry is removed. If a destructor panics, after all
            /// destructors have run.
            pub fn purge_cycles(&mut self) -> Purged
            where
                // (Not a bound of the `impl`: here, the compiler shows the message of `Trace`.)
                $owned: Trace,
            {
                Cycles::new().with(self).purge()
            }

            /// Removes the same entries as [`purge_cycles`](Self::purge_cycles), and dead entries,
            /// but destroys no contents of these entries: returns the values (in a map with weak
            /// values: the keys), with the [kept](crate::Reclaim::OnRequest) contents of dead
            /// entries. For a map in a `RefCell` or behind a lock, if destructors use the map: end
            /// the borrow, and then drop the returned contents.
            ///
            /// # Panics
            /// If a `trace` panics: then no live entry is removed, and what dead entries own is
            /// destroyed.
            ///
            /// ```
            /// use std::cell::RefCell;
            /// use weakly::{WeakMap, impl_trace, local::Strong};
            ///
            /// struct Node { parent: RefCell<Option<Strong<Node>>> }
            /// impl_trace!(Node: parent);
            ///
            /// let all = RefCell::new(WeakMap::new());
            /// let node = Strong::new(Node { parent: RefCell::new(None) });
            /// all.borrow_mut().insert(&node, node.clone()); // keeps its own key alive
            /// drop(node);
            /// let (purged, values) = all.borrow_mut().drain_cycles();
            /// assert_eq!((purged.removed, values.len()), (1, 1));
            /// drop(values); // the map is not borrowed
            /// ```
            #[must_use = "what is returned is destroyed when it is dropped"]
            pub fn drain_cycles(&mut self) -> (Purged, Vec<$owned>)
            where
                $owned: Trace,
            {
                let mut out = Vec::new();
                let purged = Cycles::of(Box::new(MemberOf {
                    store: &mut self.store,
                    unlinked: Vec::new(),
                    out: Some(&mut out),
                    name: type_name::<$map>(),
                }))
                .purge();
                (purged, out.into_iter().map(|$remains| $get).collect())
            }
        }
    )*};
}

cyclic! {
    [K: StrongRef, V] WeakMap<K, V> where V, |(_, value)| value;
    [K: StrongRef, V, S] WeakHashMap<K, V, S> where V, |(_, value)| value;
    [K, V: StrongRef, S] WeakValueMap<K, V, S> where K, |(key, _)| key;
}

macro_rules! fields {
    ($([$($generics:tt)*] $map:ty),* $(,)?) => {$(
        /// A map in a field, or behind a field. Shows the keys and values that its entries own, and
        /// the kept remains of dead entries.
        impl<$($generics)*> Trace for $map {
            fn trace(&self, tracer: &mut Tracer<'_>) {
                for entry in self.store.table.iter() {
                    entry.key.show(tracer);
                    entry.value.show(tracer);
                }
                self.store.table.kept.iter().for_each(|kept| Trace::trace(kept, tracer));
            }
        }
    )*};
}

fields! {
    [K: WeakKey, V: Trace] WeakMap<K, V>,
    [K: StrongRef, V: Trace, S] WeakHashMap<K, V, S>,
    [K: Trace, V: StrongRef, S] WeakValueMap<K, V, S>,
}

// These collections are weak on all sides.
show_nothing! {
    [K: WeakKey] WeakSet<K>;
    [K: WeakKey, V: StrongRef] WeakPairMap<K, V>;
    [K: StrongRef, S] WeakHashSet<K, S>, Interner<K, S>;
    [K: StrongRef, V: StrongRef, S] WeakHashPairMap<K, V, S>;
}
