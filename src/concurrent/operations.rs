//! The operations on one entry that change a table, each within a [change](super::change).

use core::ptr;

use super::change::Upkeep;
use super::node::{Compare, Node};
use super::raw::Match;
use super::schema::Schema;
use super::table::Table;
use super::watch::{Unplaced, Watches};
use crate::hash::HashValue;

impl<S: Compare> Table<S> {
    /// Inserts an entry, or replaces the entry with its key. T6: `hold` is asked about the present
    /// entry, again when another thread changes the entry, and returns `None` if an object of the
    /// entry is dead. `show` gets the answer of `hold` about the replaced entry, with the value of
    /// the entry.
    #[inline]
    pub(crate) fn put<H, R>(
        &self,
        hash: HashValue,
        key: S::Key,
        watch: Unplaced<'_, S::Watch>,
        value: S::Value,
        hold: impl Fn(&S::Watch, &S::Value) -> Option<H>,
        show: impl FnOnce(H, &S::Value) -> R,
    ) -> Option<R> {
        self.change(Upkeep::All, |change, shown| {
            let mut node = self.ready(Some(change.pin), hash, key, watch, value);
            let mut held = None;
            let expected = |now: Option<&Node<S>>| {
                let ready = now.and_then(Node::ready);
                held = ready.and_then(|(watch, value)| hold(watch, value));
                true
            };
            let overtakes = |old: Option<&_>| change.overtake(old);
            if let Some(old) = change.put(&mut node, expected, overtakes) {
                let entry = held.zip(old.and_then(Node::ready));
                *shown = entry.map(|(held, (_, value))| show(held, value));
            }
        })
    }

    /// Inserts an entry, unless there is an entry for which `read` returns a result, and then
    /// returns the result.
    pub(crate) fn put_unless<R>(
        &self,
        hash: HashValue,
        key: S::Key,
        watch: Unplaced<'_, S::Watch>,
        value: S::Value,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
    ) -> Option<R> {
        self.change(Upkeep::All, |change, there| {
            let mut node = self.ready(Some(change.pin), hash, key, watch, value);
            let expected = |now: Option<&Node<S>>| {
                let of_use = now
                    .and_then(Node::live)
                    .and_then(|(watch, value)| read(watch, value));
                *there = of_use;
                there.is_none()
            };
            change.put(&mut node, expected, |old| change.overtake(old));
        })
    }

    /// Changes the entry of a key: `alter` is shown the present entry, and returns the new entry.
    /// The operation may call `alter` again when other threads change the same entry. T6: `hold` is
    /// as for [`put`](Self::put).
    #[track_caller]
    pub(crate) fn compute<'t, H, R>(
        &'t self,
        hash: HashValue,
        key: &S::Probe,
        hold: impl Fn(&S::Watch, &S::Value) -> Option<H>,
        mut alter: impl FnMut(
            Option<(&S::Watch, &S::Value)>,
        ) -> (Option<(Unplaced<'t, S::Watch>, S::Value)>, R),
    ) -> R
    where
        S::Probe: Clone,
    {
        let answer = self.change(Upkeep::All, |change, answered| {
            while answered.is_none() {
                // Compares in the same order as `put`: otherwise, with an `Eq` that is not
                // symmetric, `put` would never succeed.
                let Ok(there) = change.find(hash, |node| S::is_of(key, node)) else {
                    break;
                };
                let held = there
                    .and_then(Node::ready)
                    .and_then(|(watch, value)| Some((hold(watch, value)?, watch, value)));
                let shown = held.as_ref().map(|(_, watch, value)| (*watch, *value));
                let (wanted, answer) = alter(shown);
                let done = match (wanted, there) {
                    (None, None | Some(Node::Reserved { .. })) => true,
                    // Also a dead entry: if the dead entry is not linked any more, a new entry may
                    // have taken its place.
                    (None, Some(there)) => self.unlink(change.pin, there),
                    (Some((watch, value)), there) => {
                        let mut node = self.ready(None, hash, S::key(key), watch, value);
                        let expected = |now: Option<&_>| match (now, there) {
                            (Some(now), Some(there)) => ptr::eq(now, there),
                            (None, None) => true,
                            _ => false,
                        };
                        let overtakes = |old: Option<&_>| change.overtake(old);
                        change.put(&mut node, expected, overtakes).is_some()
                    }
                };
                if done {
                    *answered = Some(answer);
                }
            }
        });
        match answer {
            Some(answer) => answer,
            None => unreachable!("it is done"),
        }
    }
}

impl<S: Schema<Watch: Watches>> Table<S> {
    /// Removes the `sought` entry, if the entry is wanted, and shows the entry. T6: `hold` is asked
    /// once about each present entry, and returns `None` if the entry is not wanted; `show` gets
    /// the answer of `hold` about the removed entry. If the value is in the making, `hold` is shown
    /// no entry, and a removal lets the leader or the tasks return the value without keeping the
    /// value.
    pub(crate) fn remove_where<M: Into<Match>, H, R>(
        &self,
        hash: HashValue,
        mut sought: impl FnMut(&Node<S>) -> M,
        mut hold: impl FnMut(Option<(&S::Watch, &S::Value)>) -> Option<H>,
        show: impl FnOnce(H, &S::Key, &S::Value) -> R,
    ) -> Option<R> {
        if self.nodes.is_new() {
            return None;
        }
        let (mut sweeps, mut dead) = (true, false);
        let removed = self.change(Upkeep::Unswept, |change, removed| {
            let mut held = None;
            let node = change.unlink(hash, &mut sought, &mut dead, |node| {
                let ready = node.ready();
                held = hold(ready);
                // As in `read_where`.
                let stays_stale =
                    held.is_none() && ready.is_some_and(|(watch, _)| watch.is_stale());
                sweeps = S::Watch::SWEPT != Some(false) && !stays_stale;
                held.is_some()
            });
            if let Some(node) = node {
                self.end(node);
                let entry = node.entry().zip(held);
                *removed = entry.map(|((key, _, value), held)| show(held, key, value));
            }
        });
        if S::Watch::SWEPT != Some(false) && dead && removed.is_none() {
            self.evict(hash);
        }
        // After the change: in the destructor of the object of the entry, a sweep would take the
        // entry for dead.
        if sweeps {
            self.sweep_some();
        }
        removed
    }
}
