//! Purging maps of entries that keep themselves alive.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::type_name;

use super::hash_map::WeakHashMap;
use super::hash_pair_map::WeakHashPairMap;
use super::hash_set::WeakHashSet;
use super::interning::Interner;
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
use crate::reference::{Slot, StrongRef, Watch, WeakKey};
use crate::table::{Entry, Remains, Walk};

/// The sides of an entry: the entry depends on the life of one side's object, and owns the other
/// side.
struct Sides<K: Slot, V: Slot, T> {
    /// Returns the address of the object.
    object: fn(&Entry<K, V>) -> *const (),
    /// Returns the key or value that the entry owns.
    shown: fn(&Entry<K, V>) -> &T,
    /// Returns the key or value that a removed entry has owned.
    owned: fn(Remains<K, V>) -> T,
}

struct MemberOf<'m, K: Slot, V: Slot, S, T> {
    store: &'m mut Store<K, V, S>,
    sides: Sides<K, V, T>,
    /// The keys or values that dead entries and unlinked entries have owned, until `destroy`.
    unlinked: Vec<T>,
    /// Takes the unlinked keys or values, if `destroy` is not to destroy them.
    out: Option<&'m mut Vec<T>>,
    name: &'static str,
}

/// Returns the graph's name for an entry: the address of the entry, which stays the same from
/// `show` to `unlink`. For the remains of an unlinked entry (a key or a value in `unlinked`),
/// returns the address of the remains; no verdict dooms remains.
fn name_of<E>(entry_or_remains: &E) -> usize {
    core::ptr::from_ref(entry_or_remains).addr()
}

impl<K: Slot, V: Slot, S, T: Trace> Member for MemberOf<'_, K, V, S, T> {
    fn take_dead(&mut self) {
        while let Some(dead) = self.store.table.take_dead() {
            self.unlinked.push((self.sides.owned)(dead));
        }
    }

    fn show(&self, entries: &mut Entries<'_>) {
        for entry in self.store.table.entries.iter() {
            let shown = EntryOf {
                name: name_of(entry),
                keys: Some((self.sides.object)(entry)),
                dead: entry.is_expired(),
            };
            entries.entry(shown, |tracer| (self.sides.shown)(entry).trace(tracer));
        }
        for owned in &self.unlinked {
            let shown = EntryOf {
                name: name_of(owned),
                keys: None,
                dead: true,
            };
            entries.entry(shown, |tracer| owned.trace(tracer));
        }
    }

    /// The entries cannot move while this member borrows the map.
    fn release(&self) {}

    fn unlink(&mut self, doomed: &Addresses) -> usize {
        let (mut walk, before) = (Walk::default(), self.unlinked.len());
        let is_doomed = |entry: &mut Entry<K, V>| doomed.contains(name_of(entry)).then_some(());
        while let Some(((), entry)) = self.store.table.take_next(&mut walk, is_doomed) {
            self.unlinked.push((self.sides.owned)(entry.into_remains()));
        }
        self.unlinked.len() - before
    }

    fn destroy(&mut self) {
        let mut unlinked = core::mem::take(&mut self.unlinked);
        if let Some(out) = &mut self.out {
            return out.append(&mut unlinked);
        }
        #[cfg(feature = "std")]
        {
            let mut panics = FirstPanic::default();
            for owned in unlinked {
                panics.catch(|| drop(owned));
            }
            panics.resume();
        }
        // No panic can be caught: a second panic aborts.
        #[cfg(not(feature = "std"))]
        drop(unlinked);
    }

    fn purge(&mut self) {
        if self.out.is_none() {
            self.store.table.purge();
        } else {
            self.take_dead();
            self.destroy();
        }
    }

    fn shared(&self) -> Option<*const ()> {
        None
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

macro_rules! cyclic {
    ($([$($generics:tt)*] $map:ty where $owned:ident, $watched:ident, $shown:ident, |$remains:pat_param| $get:expr;)*) => {$(
        impl<$($generics)*> Sealed for &mut $map {}

        impl<$($generics)*> Cyclic for &mut $map
        where
            $owned: Trace,
        {
            fn member<'m>(self) -> Box<dyn Member + 'm>
            where
                Self: 'm,
            {
                self.cyclic(None)
            }
        }

        impl<$($generics)*> $map {
            fn cyclic<'m>(&'m mut self, out: Option<&'m mut Vec<$owned>>) -> Box<dyn Member + 'm>
            where
                $owned: Trace,
            {
                Box::new(MemberOf {
                    store: &mut self.store,
                    sides: Sides {
                        object: |entry| entry.$watched.addr(),
                        shown: |entry| &entry.$shown.0,
                        owned: |$remains| $get,
                    },
                    unlinked: Vec::new(),
                    out,
                    name: type_name::<$map>(),
                })
            }

            /// Removes entries that keep themselves alive: the keys and values that the entries own
            /// lead to the objects on whose lives the entries depend, and nothing else leads to
            /// these objects. Destroys the owned keys and values. Returns the number of removed
            /// entries. Also returns the number of entries that stay because objects that own each
            /// other also keep the keys alive.
            ///
            /// The decision depends on the handles that the owned keys and values [show](Trace). No
            /// object that the program still holds is destroyed. Also reclaims dead entries, which
            /// are not counted; what dead entries own keeps no entry, as far as it is shown. For
            /// the costs, the rules for threads, and a purge of several maps together, see
            /// [`Cycles`].
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
            /// the borrow, and then drop the returned contents. (If only the returned contents keep
            /// a key alive, and do not show the key, then the entry of the key dies at that drop.)
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
                let purged = Cycles::of(self.cyclic(Some(&mut out))).purge();
                (purged, out)
            }
        }
    )*};
}

cyclic! {
    [K: StrongRef, V] WeakMap<K, V> where V, key, value, |(_, value)| value;
    [K: StrongRef, V, S] WeakHashMap<K, V, S> where V, key, value, |(_, value)| value;
    [K, V: StrongRef, S] WeakValueMap<K, V, S> where K, value, key, |(key, _)| key;
}

macro_rules! fields {
    ($([$($generics:tt)*] $map:ty, $shown:ident;)*) => {$(
        /// A map in a field, or behind a field. Shows the keys and values that its entries own, and
        /// the kept remains of dead entries.
        impl<$($generics)*> Trace for $map {
            fn trace(&self, tracer: &mut Tracer<'_>) {
                for entry in self.store.table.entries.iter() {
                    entry.$shown.0.trace(tracer);
                }
                self.store.table.kept.iter().for_each(|kept| Trace::trace(kept, tracer));
            }
        }
    )*};
}

fields! {
    [K: WeakKey, V: Trace] WeakMap<K, V>, value;
    [K: StrongRef, V: Trace, S] WeakHashMap<K, V, S>, value;
    [K: Trace, V: StrongRef, S] WeakValueMap<K, V, S>, key;
}

// These collections are weak on all sides.
show_nothing! {
    [K: WeakKey] WeakSet<K>;
    [K: WeakKey, V: StrongRef] WeakPairMap<K, V>;
    [K: StrongRef, S] WeakHashSet<K, S>, Interner<K, S>;
    [K: StrongRef, V: StrongRef, S] WeakHashPairMap<K, V, S>;
}
