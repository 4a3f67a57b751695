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
use super::value_map::WeakValueMap;
use crate::cycles::{
    Addresses, Contents, Cyclic, Entries, EntryOf, Member, Purged, Sealed, Trace, Tracer, WeakKeys,
    drain_one, purge_one, show_nothing,
};
use crate::panics::FirstPanic;
use crate::reference::{ByContent, Owned, Slot, StrongRef, Watch, WeakKey};
use crate::table::{Entry, Remains, Table, Walk};

/// The sides of an entry: the entry depends on the life of one side's object, and owns the other
/// side.
struct Sides<K: Slot, V: Slot, T> {
    /// Returns the address of the object.
    object: fn(&Entry<K, V>) -> *const (),
    /// Returns a weak handle to the object, if the object lives. Set only in a member of
    /// [`Cycles`](crate::cycles::Cycles): a handle in a [`WeakKeys`] is `'static`, and
    /// `purge_cycles` and `drain_cycles` do not need the handle, since they name no entries.
    weak: fn(&Entry<K, V>) -> Option<WeakKeys>,
    /// Returns the key or value that the entry owns.
    shown: fn(&Entry<K, V>) -> &T,
    /// Returns the key or value that a removed entry has owned.
    owned: fn(Remains<K, V>) -> T,
}

struct MemberOf<'m, K: Slot, V: Slot, T> {
    table: &'m mut Table<K, V>,
    sides: Sides<K, V, T>,
    /// The keys or values that dead entries and unlinked entries have owned.
    unlinked: Vec<T>,
    name: &'static str,
}

/// Returns the graph's name for an entry: the address of the entry, which stays the same from
/// `show` to `unlink`. For the remains of an unlinked entry (a key or a value in `unlinked`),
/// returns the address of the remains; no verdict dooms remains.
fn name_of<E>(entry_or_remains: &E) -> usize {
    core::ptr::from_ref(entry_or_remains).addr()
}

impl<'v, K: Slot, V: Slot, T: Trace + 'v> Member<'v> for MemberOf<'_, K, V, T> {
    fn take_dead(&mut self, _drains: bool) {
        while let Some(dead) = self.table.take_dead() {
            self.unlinked.push((self.sides.owned)(dead));
        }
    }

    fn show(&self, entries: &mut Entries<'_>) {
        for entry in self.table.entries.iter() {
            let shown = EntryOf {
                name: name_of(entry),
                keys: Some((self.sides.object)(entry)),
                dead: entry.is_expired(),
            };
            entries.entry(shown, |tracer| (self.sides.shown)(entry).trace(tracer));
        }
        for owned in &self.unlinked {
            entries.dead(owned, |tracer| owned.trace(tracer));
        }
    }

    fn weak_keys(&self, entries: &Addresses) -> Vec<WeakKeys> {
        let all = self.table.entries.iter();
        all.filter(|entry| entries.contains(name_of(*entry)))
            .filter_map(self.sides.weak)
            .collect()
    }

    // The borrow of the map keeps the entries in place, and ends with this member.
    fn release(&self) {}

    fn unlink(&mut self, doomed: &Addresses) -> usize {
        let (mut walk, before) = (Walk::default(), self.unlinked.len());
        let is_doomed = |entry: &mut Entry<K, V>| doomed.contains(name_of(entry)).then_some(());
        while let Some(((), entry)) = self.table.take_next(&mut walk, is_doomed) {
            self.unlinked.push((self.sides.owned)(entry.into_remains()));
        }
        self.unlinked.len() - before
    }

    fn destroy(&mut self) {
        let mut panics = FirstPanic::default();
        panics.drop_each(core::mem::take(&mut self.unlinked));
        panics.resume();
    }

    fn purge(&mut self) {
        self.table.purge();
    }

    fn hand_out(&mut self) -> Box<dyn Contents + 'v> {
        Box::new(core::mem::take(&mut self.unlinked))
    }

    fn shared(&self) -> Option<*const ()> {
        None
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

macro_rules! cyclic {
    ($([$($generics:tt)*] $map:ty, $key:ty, $value:ty where $owned:ident, $watched:ident: $weak:ident, $shown:ident, |$remains:pat_param| $get:expr;)*) => {$(
        impl<$($generics)*> Sealed for &mut $map {}

        impl<$($generics)*> Cyclic for &mut $map
        where
            $owned: Trace,
            $weak: 'static,
        {
            type Contents = $owned;

            fn member<'m, 'v>(self) -> Box<dyn Member<'v> + 'm>
            where
                Self: 'm,
                $owned: 'v,
            {
                let mut member = self.cyclic();
                member.sides.weak = |entry| Some(Box::new(entry.$watched.downgrade()?));
                Box::new(member)
            }
        }

        impl<$($generics)*> $map {
            fn cyclic(&mut self) -> MemberOf<'_, $key, $value, $owned> {
                MemberOf {
                    table: &mut self.store.table,
                    sides: Sides {
                        object: |entry| entry.$watched.addr(),
                        weak: |_| None,
                        shown: |entry| &entry.$shown.0,
                        owned: |$remains| $get,
                    },
                    unlinked: Vec::new(),
                    name: type_name::<$map>(),
                }
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
            /// [`Cycles`](crate::cycles::Cycles).
            ///
            /// # Panics
            /// If a `trace` panics: then no entry is removed. If a destructor panics, after all
            /// destructors have run.
            pub fn purge_cycles(&mut self) -> Purged
            where
                // (Not a bound of the `impl`: here, the compiler shows the message of `Trace`.)
                $owned: Trace,
            {
                purge_one(&mut self.cyclic())
            }

            /// Removes the same entries as [`purge_cycles`](Self::purge_cycles), and dead entries,
            /// but destroys no contents of these entries: returns the values (in a map with weak
            /// values: the keys), with the [kept](crate::Reclaim::OnRequest) contents of dead
            /// entries. For a map in a `RefCell` or behind a lock, if destructors use the map: end
            /// the borrow, and then drop the returned contents. (If only the returned contents keep
            /// a key alive, and do not show the key, then the entry of the key dies at that drop.)
            /// [`Cycles::drain`](crate::cycles::Cycles::drain) does the same for several maps, for
            /// maps at rest, and names the entries that stay.
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
                let mut member = self.cyclic();
                let purged = drain_one(&mut member);
                (purged, member.unlinked)
            }
        }
    )*};
}

cyclic! {
    [K: StrongRef, V] WeakMap<K, V>, K::Watch, Owned<V> where V, key: K, value, |(_, value)| value;
    [K: StrongRef, V, S] WeakHashMap<K, V, S>, ByContent<K>, Owned<V> where V, key: K, value, |(_, value)| value;
    [K, V: StrongRef, S] WeakValueMap<K, V, S>, Owned<K>, V::Watch where K, value: V, key, |(key, _)| key;
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
