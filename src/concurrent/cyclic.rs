//! The shared maps, and the purge of their entries that keep themselves alive.

use core::any::type_name;
use core::cell::Cell;
use std::boxed::Box;
use std::vec::Vec;

use super::hash_map::WeakHashMap;
use super::hash_set::WeakHashSet;
use super::interner::Interner;
use super::map::WeakMap;
use super::node::Node;
use super::pair_map::WeakPairMap;
use super::schema::Schema;
use super::set::WeakSet;
use super::table::{Pin, Table};
use super::value_map::WeakValueMap;
use super::watch::{SharedKey, SharedRef, Watches};
use crate::cycles::{
    Addresses, Cycles, Cyclic, Entries, EntryOf, Member, Purged, Sealed, Trace, Tracer,
    show_nothing,
};

/// Shows the owned key or value of an entry.
type Show<K, V> = fn(&K, &V, &mut Tracer<'_>);

/// A shared map or a memo, during a purge of its cycles.
pub(crate) struct MemberOf<'m, S: Schema<Watch: Watches>> {
    table: &'m Table<S>,
    show: Show<S::Key, S::Value>,
    name: &'static str,
    /// Set by `show`: until the pin ends, no entry unlinked meanwhile ends, so no entry takes the
    /// address of an unlinked entry.
    pin: Cell<Option<Pin<'m, S>>>,
}

impl<'m, S: Schema<Watch: Watches>> MemberOf<'m, S> {
    pub(crate) fn new(
        table: &'m Table<S>,
        show: Show<S::Key, S::Value>,
        name: &'static str,
    ) -> Self {
        MemberOf {
            table,
            show,
            name,
            pin: Cell::new(None),
        }
    }
}

fn name_of<S: Schema<Watch: Watches>>(node: &Node<S>) -> usize {
    core::ptr::from_ref(node).addr()
}

impl<S: Schema<Watch: Watches>> Member for MemberOf<'_, S> {
    fn purge(&mut self) {
        self.table.purge();
    }

    fn show(&self, entries: &mut Entries<'_>) {
        if self.table.is_new() {
            return;
        }
        let pin = self.table.pin();
        let mut objects = Vec::new();
        for node in pin.entries().into_iter().chain(pin.dead_entries()) {
            let Some((key, watch, value)) = node.entry() else {
                continue;
            };
            objects.clear();
            watch.objects(&mut |object| objects.push(object));
            let shown = EntryOf {
                name: name_of(node),
                keys: objects.iter().copied(),
                dead: watch.is_expired(),
            };
            entries.entry(shown, |tracer| (self.show)(key, value, tracer));
        }
        self.pin.set(Some(pin));
    }

    fn release(&self) {
        self.pin.set(None);
    }

    fn unlink(&mut self, doomed: &Addresses) -> usize {
        let Some(pin) = self.pin.get_mut() else {
            return 0;
        };
        let doomed = |node: &&Node<_>| doomed.contains(name_of(*node));
        let nodes = pin.entries().into_iter().filter(doomed);
        nodes.filter(|node| self.table.unlink(pin, node)).count()
    }

    fn destroy(&mut self) {
        self.release();
    }

    fn shared(&self) -> Option<*const ()> {
        Some(self.table.addr())
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

impl<S: Schema<Watch: Watches>> Table<S> {
    fn addr(&self) -> *const () {
        core::ptr::from_ref(self).cast()
    }

    /// Shows the owned keys or values of a table that is a field, or behind a field. Shows nothing
    /// if other threads may change the table: a thread may clone a shown object, and then destroy
    /// the entry, and the counts are as before.
    pub(crate) fn show(&self, show: Show<S::Key, S::Value>, tracer: &mut Tracer<'_>) {
        // The entries of a member are shown with their keys.
        if tracer.is_shared() || tracer.is_member(self.addr()) || self.is_new() {
            return;
        }
        let pin = self.pin();
        let nodes = pin.entries().into_iter().chain(pin.dead_entries());
        for (key, _, value) in nodes.filter_map(Node::entry) {
            show(key, value, tracer);
        }
    }
}

macro_rules! cyclic {
    ($([$($generics:tt)*] $map:ty where $type:ident, |$key:pat_param, $value:pat_param| $owned:expr;)*) => {$(
        impl<$($generics)*> Sealed for &$map {}

        impl<$($generics)*> Cyclic for &$map
        where
            $type: Trace,
        {
            fn member<'m>(self) -> Box<dyn Member + 'm>
            where
                Self: 'm,
            {
                let show: Show<_, _> = |$key, $value, tracer| Trace::trace($owned, tracer);
                Box::new(MemberOf::new(&self.table, show, type_name::<$map>()))
            }
        }

        impl<$($generics)*> $map {
            /// Removes entries that keep themselves alive: the keys and values that the entries own
            /// lead to the objects on whose lives the entries depend, and nothing else leads to
            /// these objects. Returns the number of removed entries. Also returns the number of
            /// entries that stay because objects that own each other also keep the keys alive. The
            /// owned keys and values are destroyed as soon as no thread looks at them. Other
            /// threads may use the map meanwhile.
            ///
            /// The decision depends on the handles that the owned keys and values [show](Trace). No
            /// object that the program still holds is destroyed. Reclaims dead entries as
            /// [`purge`](Self::purge) does, before and after. For the costs, the rules for threads,
            /// and a purge of several maps together, see [`Cycles`].
            ///
            /// # Panics
            /// If a `trace` panics: then no entry is removed. If a destructor panics, after all
            /// destructors have run.
            pub fn purge_cycles(&self) -> Purged
            where
                // Not a bound of the `impl`: a bound here lets the compiler show the message of
                // `Trace`.
                $type: Trace,
            {
                Cycles::new().with(self).purge()
            }
        }
    )*};
}

cyclic! {
    [K: SharedRef, V] WeakMap<K, V> where V, |_, value| value;
    [K: SharedRef, V, S] WeakHashMap<K, V, S> where V, |_, value| value;
    [K, V: SharedRef, S] WeakValueMap<K, V, S> where K, |key, _| key;
}

macro_rules! fields {
    ($([$($generics:tt)*] $map:ty, |$key:pat_param, $value:pat_param| $owned:expr;)*) => {$(
        /// A map that is a field, or behind a field. Shows its owned keys or values (kept keys and
        /// values of dead entries count as held); shows nothing where [threads share the
        /// map](Tracer::is_shared).
        impl<$($generics)*> Trace for $map {
            fn trace(&self, tracer: &mut Tracer<'_>) {
                self.table.show(|$key, $value, tracer| $owned.trace(tracer), tracer);
            }
        }
    )*};
}

fields! {
    [K: SharedKey, V: Trace] WeakMap<K, V>, |_, value| value;
    [K: SharedRef, V: Trace, S] WeakHashMap<K, V, S>, |_, value| value;
    [K: Trace, V: SharedRef, S] WeakValueMap<K, V, S>, |key, _| key;
}

// Maps and sets without strong handles show nothing.
show_nothing! {
    [K: SharedKey] WeakSet<K>;
    [K: SharedKey, V: SharedRef] WeakPairMap<K, V>;
    [K: SharedRef, S] WeakHashSet<K, S>, Interner<K, S>;
}
