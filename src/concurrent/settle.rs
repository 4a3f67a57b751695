//! How a table evicts the entries beyond its limit.

use core::cell::Cell;
use core::mem;
use core::ptr;
use std::sync::Arc;

use super::bound::{Bound, Ceiling, Ends, Kind};
use super::node::{BoundOf, KeyKind, Node};
use super::raw::Registered;
use super::table::Table;
use super::turn::Turn;
use super::watch::Watches;
use crate::keep::ring::Ring;
use crate::keep::{Gone, Limit};
use crate::panics::FirstPanic;

type CeilingOf<K, T, V> = Ceiling<<K as KeyKind>::Key, T, V>;

/// A node that has been found or inserted, and the bound of its table, which has to be told.
pub(super) struct News<'g, K: KeyKind, T: Registered, V> {
    bound: &'g BoundOf<K, T, V>,
    node: &'g Node<K, T, V>,
}

/// The end of an operation that may put something beyond the limit, or unlink something. If the
/// operation panics, it settles all the same, or what was let go would stay; a second panic is
/// dropped.
pub(super) struct Settling<'t, K: KeyKind, T: Watches, V> {
    table: &'t Table<K, T, V>,
    /// Whether something has to go.
    due: Cell<bool>,
}

impl<K: KeyKind, T: Watches, V> Settling<'_, K, T, V> {
    /// The bound is told of a node that the caller has pinned, with its [weight](Table::weigh), if
    /// that is known.
    #[cold]
    #[inline(never)]
    pub(super) fn tell(&self, News { bound, node }: News<'_, K, T, V>, weight: Option<usize>) {
        let due = match (&bound.kind, node) {
            (Kind::Floor(floor), _) => floor.meet(node, weight),
            (
                Kind::Ceiling(ceiling),
                Node::Ready {
                    stamp, hash, value, ..
                },
            ) => ceiling.meet(ptr::from_ref(node), stamp, *hash, value, weight),
            _ => false,
        };
        self.due.set(self.due.get() | due);
    }

    /// Settles after an operation without a panic. The caller has left the table: destructors run
    /// here.
    #[inline]
    pub(super) fn end(self) {
        let (table, due) = (self.table, self.due.get());
        mem::forget(self);
        if due || table.bound().is_some_and(Bound::is_leaving) {
            table.settle();
        }
    }
}

impl<K: KeyKind, T: Watches, V> Drop for Settling<'_, K, T, V> {
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.table.settle());
        panics.forget();
    }
}

impl<K: KeyKind, T: Watches, V> Table<K, T, V> {
    /// What an entry weighs that is about to be linked, if there is a limit. User code, which may
    /// panic: so it runs before anything has happened.
    #[inline]
    pub(super) fn weigh(&self, node: &Node<K, T, V>) -> Option<usize> {
        let bound = self.bound()?;
        self.weigh_for(bound, node)
    }

    #[cold]
    #[inline(never)]
    fn weigh_for(&self, bound: &BoundOf<K, T, V>, node: &Node<K, T, V>) -> Option<usize> {
        match &bound.kind {
            Kind::Floor(floor) => floor.weigh(node),
            Kind::Ceiling(ceiling) => node.ready().map(|(_, value)| (ceiling.weigh)(value)),
        }
    }

    /// The news for the bound of the table about a node that was found or inserted, and that the
    /// caller has pinned. Usually there is none.
    #[inline]
    pub(super) fn news_of<'g>(&'g self, node: &'g Node<K, T, V>) -> Option<News<'g, K, T, V>> {
        let bound = self.bound()?;
        let is_news = node.stamp().is_some_and(|stamp| bound.is_news(stamp));
        is_news.then_some(News { bound, node })
    }

    /// Tells the bound of this table of a node that has been found. The caller ends the settling
    /// when it has left.
    pub(super) fn hit(&self, news: News<'_, K, T, V>) -> Settling<'_, K, T, V> {
        let (table, due) = (self, Cell::new(false));
        let settling = Settling { table, due };
        settling.tell(news, None);
        settling
    }

    /// Sets the bound of the table. The bound meets the present entries at once.
    #[track_caller]
    pub(super) fn set_bound(&self, bound: BoundOf<K, T, V>) {
        // A ceiling counts what is dead until that is destroyed, and may tell a listener.
        if !bound.is_floor() {
            self.nodes.be_prompt();
        }
        self.nodes.begin_concern().set_bound(bound);
        if self.is_new() {
            return;
        }
        let Some(settling) = self.settling() else {
            return;
        };
        let mut panics = FirstPanic::default();
        let reader = self.nodes.read();
        for node in reader.entries() {
            panics.catch(|| {
                let news = (!node.is_stale()).then(|| self.news_of(node)).flatten();
                news.into_iter().for_each(|news| settling.tell(news, None));
            });
        }
        panics.catch(|| drop(reader));
        panics.catch(|| settling.end());
        panics.resume();
    }

    /// Returns the guard for an operation that may put an entry beyond the limit, or may unlink an
    /// entry: see [`Settling`]. The operation makes the guard first, so that the guard is dropped
    /// last.
    #[inline]
    pub(super) fn settling(&self) -> Option<Settling<'_, K, T, V>> {
        self.bound().map(|_| Settling {
            table: self,
            due: Cell::new(false),
        })
    }

    /// Evicts the entries beyond the limit. The caller has left the table: destructors run here.
    ///
    /// The destructors may insert further entries beyond the limit: their eviction is left to this
    /// call.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(&self) {
        match self.bound().map(|bound| &bound.kind) {
            Some(Kind::Floor(floor)) => floor.settle(),
            Some(Kind::Ceiling(ceiling)) => self.unlink_all(ceiling),
            None => {}
        }
    }

    /// Unlinks the entries that have to go.
    fn unlink_all(&self, ceiling: &CeilingOf<K, T, V>) {
        Turn::with(&ceiling.ring, 1, |turn| {
            if let Some(turn) = turn {
                self.unlink_in_turn(ceiling, turn);
            }
        });
    }

    fn unlink_in_turn(&self, ceiling: &CeilingOf<K, T, V>, turn: &Turn) {
        let (mut more, mut panics) = (true, FirstPanic::default());
        // Dead entries count until they are destroyed: otherwise a live entry would be evicted in
        // place of a dead entry.
        if self.pending_dead() != 0 {
            self.destroy_dead(&mut panics);
        }
        while more {
            let pin = self.pin();
            let Some(going) = ceiling.ring.with(Ring::next_going) else {
                break;
            };
            // A node that is linked now is not freed before this thread leaves. But the death of
            // the victim may have unlinked the victim's node, and a drain that saw no thread inside
            // may have freed the node, before this thread entered. Then a new node may be at the
            // same address, with the same hash. The drain takes the victim out of the ring before
            // it frees the node, and the ring says so (Q5 of the ring): so this thread asks the
            // ring after it has found a node at the address.
            let mut answer = None;
            let mut is_gone = || {
                let end = || ceiling.ring.with(|ring| ring.end_going(&going));
                *answer.get_or_insert_with(end)
            };
            let is_it = |node: &Node<K, T, V>| ptr::from_ref(node).addr() == going.addr;
            let unlinked = self.unlink_if(&pin, going.what, is_it, |_| is_gone());
            is_gone();
            if let Some(node) = unlinked {
                node.set_gone(going.why);
                panics.catch(|| _ = self.end(node));
            }
            panics.catch(|| drop(pin));
            more = turn.is_wanted_again() || going.more;
        }
        panics.resume();
    }

    fn ceiling(&self) -> Option<&CeilingOf<K, T, V>> {
        match &self.bound()?.kind {
            Kind::Ceiling(ceiling) => Some(ceiling),
            Kind::Floor(_) => None,
        }
    }

    /// # Panics
    /// If there is no ceiling.
    #[track_caller]
    fn known_ceiling(&self) -> &CeilingOf<K, T, V> {
        self.ceiling()
            .expect("this collection has no ceiling: `set_ceiling` first")
    }

    #[track_caller]
    pub(crate) fn set_ceiling(
        &self,
        limit: Limit,
        weigh: impl Fn(&V) -> usize + Send + Sync + 'static,
    ) {
        self.set_bound(Bound::ceiling(limit, weigh));
    }

    /// Sets the listener, which is told the key of an entry, its watch and its value.
    ///
    /// # Panics
    /// If there is no ceiling.
    #[track_caller]
    pub(crate) fn set_listener(
        &self,
        listener: impl Fn(&K::Key, T, &V, Gone) + Send + Sync + 'static,
    ) {
        self.known_ceiling().listener.set(Some(Arc::new(listener)));
    }

    /// Whether a listener is told of evictions.
    pub(super) fn is_heard(&self) -> bool {
        self.bound().is_some_and(Bound::is_heard)
    }

    /// # Panics
    /// If there is no ceiling.
    #[track_caller]
    pub(crate) fn set_limit(&self, limit: Limit) {
        let ceiling = self.known_ceiling();
        ceiling.ring.set_limit(limit, |_| ());
        self.settle();
    }

    pub(crate) fn advance(&self) {
        if let Some(ceiling) = self.ceiling() {
            ceiling.ring.with(Ring::advance);
            self.settle();
        }
    }

    pub(crate) fn shrink_weight_to(&self, weight: usize) -> usize {
        let Some(ceiling) = self.ceiling() else {
            return 0;
        };
        let mut panics = FirstPanic::default();
        // As in `unlink_all`.
        self.destroy_dead(&mut panics);
        let gone = ceiling.ring.with(|ring| ring.let_go_above(weight));
        panics.catch(|| self.settle());
        panics.resume();
        gone
    }

    pub(crate) fn retained_weight(&self) -> usize {
        self.ceiling()
            .map_or(0, |ceiling| ceiling.ring.with(|ring| ring.weight()))
    }
}

impl<K: KeyKind, T: Registered, V> Table<K, T, V> {
    /// The end of the table: a listener is not told of what is there. A floor may live on: what
    /// only this table has found is found there no more.
    pub(super) fn end_bound(&self) {
        let Some(bound) = self.nodes.known_context().and_then(Ends::bound) else {
            return;
        };
        let floor = match &bound.kind {
            Kind::Ceiling(ceiling) => return ceiling.listener.set(None),
            Kind::Floor(floor) => floor,
        };
        let mut panics = FirstPanic::default();
        let reader = self.nodes.read();
        for node in reader.entries() {
            if let Some(stamp) = node.stamp() {
                panics.catch(|| bound.leave(node, stamp));
            }
        }
        panics.catch(|| drop(reader));
        panics.catch(|| floor.settle());
        panics.resume();
    }
}
