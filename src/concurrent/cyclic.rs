//! The shared maps, and the purge of their entries that keep themselves alive.

use core::any::type_name;
use core::cell::Cell;
use std::boxed::Box;
use std::vec::Vec;

use super::content::Contents as ByContents;
use super::hash_map::WeakHashMap;
use super::hash_set::WeakHashSet;
use super::identity::ByAddress;
use super::interner::Interner;
use super::kept::Taking;
use super::map::WeakMap;
use super::node::Node;
use super::pair_map::WeakPairMap;
use super::schema::Schema;
use super::set::WeakSet;
use super::table::{Pin, Table};
use super::value_map::{Named, WeakValueMap};
use super::watch::{SharedKey, SharedRef, Watches, WatchesOne};
use crate::cycles::{
    Addresses, Contents, Cyclic, Entries, EntryOf, Member, Purged, Sealed, Trace, Tracer, WeakKeys,
    drain_one, purge_one, show_nothing,
};
use crate::keep::Gone;

/// Shows the owned key or value of an entry.
type Show<K, V> = fn(&K, &V, &mut Tracer<'_>);

/// A shared map or a memo, while its cycles are purged or drained.
pub(crate) struct MemberOf<'m, S: Schema<Watch: Watches>> {
    table: &'m Table<S>,
    show: Show<S::Key, S::Value>,
    /// Returns the keys of an entry weakly, if they live. Set only in a member of
    /// [`Cycles`](crate::cycles::Cycles): `purge_cycles` and `drain_cycles` name no entries.
    pub(crate) weak: fn(&S::Key, &S::Watch) -> Option<WeakKeys>,
    name: &'static str,
    /// Set by a drain: until the drain ends, the table keeps the contents of dead entries.
    taking: Option<Taking<'m, S::Key, S::Value>>,
    /// The keys and values of dead and of unlinked entries that a drain has taken out.
    pub(crate) taken: Vec<(S::Key, S::Value)>,
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
            weak: |_, _| None,
            name,
            taking: None,
            taken: Vec::new(),
            pin: Cell::new(None),
        }
    }
}

fn name_of<S: Schema<Watch: Watches>>(node: &Node<S>) -> usize {
    core::ptr::from_ref(node).addr()
}

impl<'v, S> Member<'v> for MemberOf<'_, S>
where
    S: Schema<Watch: Watches, Key: 'v, Value: 'v>,
{
    fn take_dead(&mut self, drains: bool) {
        if !drains {
            return self.purge();
        }
        let taking = &mut self.taking;
        taking.get_or_insert_with(|| self.table.begin_draining());
        self.taken.append(&mut self.table.take_kept(usize::MAX));
    }

    fn show(&self, entries: &mut Entries<'_>) {
        if self.table.nodes.is_new() {
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
        for (key, value) in &self.taken {
            entries.dead(value, |tracer| (self.show)(key, value, tracer));
        }
        self.pin.set(Some(pin));
    }

    fn weak_keys(&self, entries: &Addresses) -> Vec<WeakKeys> {
        if self.table.nodes.is_new() {
            return Vec::new();
        }
        let pin = self.table.pin();
        let nodes = pin.entries().into_iter();
        let named = nodes.filter(|node| entries.contains(name_of(*node)));
        let weak = |(key, watch, _)| (self.weak)(key, watch);
        named
            .filter_map(|node| node.entry().and_then(weak))
            .collect()
    }

    fn release(&self) {
        self.pin.set(None);
    }

    fn unlink(&mut self, doomed: &Addresses) -> usize {
        let drains = self.taking.is_some();
        let Some(pin) = self.pin.get_mut() else {
            return 0;
        };
        // The table keeps the contents of dead entries at which no thread looks any more.
        let why = if drains { Gone::Died } else { Gone::Removed };
        if drains {
            pin.gather_nothing();
        }
        let doomed = |node: &&Node<_>| doomed.contains(name_of(*node));
        let nodes = pin.entries().into_iter().filter(doomed);
        nodes
            .filter(|node| self.table.unlink_as(pin, node, why))
            .count()
    }

    fn destroy(&mut self) {
        self.release();
    }

    fn purge(&mut self) {
        self.table.purge();
    }

    fn hand_out(&mut self) -> Box<dyn Contents + 'v> {
        self.taking = None;
        Box::new(core::mem::take(&mut self.taken))
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
        if tracer.is_shared() || tracer.is_member(self.addr()) || self.nodes.is_new() {
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
    ($([$($generics:tt)*] $map:ty, $schema:ty where $type:ident, $weak:ident, |$key:pat_param, $value:pat_param| $owned:expr;)*) => {$(
        impl<$($generics)*> Sealed for &$map {}

        impl<$($generics)*> Cyclic for &$map
        where
            $type: Trace,
            $weak: 'static,
        {
            type Contents = $type;

            fn member<'m, 'v>(self) -> Box<dyn Member<'v> + 'm>
            where
                Self: 'm,
                $type: 'v,
            {
                let mut member = self.cyclic();
                member.weak = |_, watch| Some(Box::new(watch.downgrade()?));
                Box::new(member)
            }
        }

        impl<$($generics)*> $map {
            fn cyclic(&self) -> MemberOf<'_, $schema>
            where
                $type: Trace,
            {
                let show: Show<_, _> = |$key, $value, tracer| Trace::trace($owned, tracer);
                MemberOf::new(&self.table, show, type_name::<$map>())
            }

            /// Removes entries that keep themselves alive: the keys and values that the entries own
            /// lead to the objects on whose lives the entries depend, and nothing else leads to
            /// these objects. Returns the number of removed entries, and the number of entries that
            /// stay because objects that own each other keep the keys alive. The
            /// owned keys and values are destroyed as soon as no thread looks at them. Other
            /// threads may use the map meanwhile.
            ///
            /// The decision depends on the handles that the owned keys and values [show](Trace). A
            /// handle behind a lock is not shown, so the entry stays, and is not counted, except
            /// [at rest](crate::cycles::Cycles::at_rest). No object that the program still holds is
            /// destroyed. Reclaims dead entries as
            /// [`purge`](Self::purge) does, before and after. For the costs, the rules for threads,
            /// and a purge of several maps together, see [`Cycles`](crate::cycles::Cycles).
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
                purge_one(&mut self.cyclic())
            }

            /// Removes the same entries as [`purge_cycles`](Self::purge_cycles), and dead entries,
            /// but destroys no contents of these entries: returns the values (in a map with weak
            /// values: the keys). For callers that hold a lock under which no destructor may run:
            /// drop the returned contents after the lock. An entry at which another thread looks is
            /// removed and counted, but the call cannot hand out its contents:
            /// [`take_dead`](Self::take_dead) says where they are destroyed.
            /// [`Cycles::drain`](crate::cycles::Cycles::drain) does the same for several maps, for
            /// maps at rest, and names the entries that stay.
            ///
            /// # Panics
            /// If a `trace` panics: then no live entry is removed, and the contents of dead entries
            /// are destroyed. If a listener or the destructor of a weak handle panics.
            ///
            /// ```
            /// use std::sync::OnceLock;
            /// use weakly::{Strong, concurrent::WeakMap, impl_trace};
            ///
            /// struct Node { parent: OnceLock<Strong<Node>> }
            /// impl_trace!(Node: parent);
            ///
            /// let all = WeakMap::new();
            /// let node = Strong::new(Node { parent: OnceLock::new() });
            /// all.insert(&node, node.clone()); // keeps its own key alive
            /// drop(node);
            /// let (purged, values) = all.drain_cycles();
            /// assert_eq!((purged.removed, values.len()), (1, 1));
            /// ```
            #[must_use = "what is returned is destroyed when it is dropped"]
            pub fn drain_cycles(&self) -> (Purged, Vec<$type>)
            where
                $type: Trace,
            {
                let mut member = self.cyclic();
                let purged = drain_one(&mut member);
                let taken = core::mem::take(&mut member.taken).into_iter();
                (purged, taken.map(|($key, $value)| $owned).collect())
            }
        }
    )*};
}

cyclic! {
    [K: SharedRef, V] WeakMap<K, V>, ByAddress<K, V> where V, K, |_, value| value;
    [K: SharedRef, V, S] WeakHashMap<K, V, S>, ByContents<K, V> where V, K, |_, value| value;
    [K, V: SharedRef, S] WeakValueMap<K, V, S>, Named<K, V> where K, V, |key, _| key;
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
