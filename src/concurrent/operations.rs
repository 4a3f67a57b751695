//! The operations on one entry that change a table, each within a [change](super::change).

use core::cell::Cell;
use core::ptr;

use super::change::Upkeep;
use super::node::{Compare, Node};
use super::schema::Schema;
use super::table::{NewNode, Table};
use super::watch::{Unplaced, Watches};
use crate::hash::HashValue;
use crate::raw::{Located, Match, NotPlain, Plain};

impl<S: Compare> Table<S> {
    /// Inserts an entry, or replaces the entry with its key. Returns the result of `show`, or
    /// `None` if no live entry was replaced. T6: `hold` gets the present entry before the
    /// replacement, and returns the handles that T6 demands, or `None` if an object of the entry is
    /// dead. If another thread changes the entry, `hold` is called again. `show` gets the handles
    /// to the objects of the replaced entry, and the value of the replaced entry.
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
        let ask = |now: Option<&Node<S>>| {
            let ready = now.and_then(Node::ready);
            // True: each present node may be replaced, also a reservation.
            (true, ready.and_then(|(watch, value)| hold(watch, value)))
        };
        let show = |held: Option<H>, old: Option<Option<&Node<S>>>| {
            let (_, value) = old.flatten().and_then(Node::ready)?;
            Some(show(held?, value))
        };
        self.put_if::<false, _, _>(hash, key, watch, value, ask, show)
    }

    /// Inserts an entry, unless there is an entry for which `read` returns a result, and then
    /// returns the result. A lookup of the caller has found no entry.
    #[inline]
    pub(crate) fn put_unless<R>(
        &self,
        hash: HashValue,
        key: S::Key,
        watch: Unplaced<'_, S::Watch>,
        value: S::Value,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
    ) -> Option<R> {
        let ask = |now: Option<&Node<S>>| {
            let live = now.and_then(Node::live);
            let there = live.and_then(|(watch, value)| read(watch, value));
            (there.is_none(), there)
        };
        self.put_if::<true, _, _>(hash, key, watch, value, ask, |there, _| there)
    }

    /// Inserts an entry, or replaces the entry with its key. `ask` gets the present entry, if any,
    /// and returns whether the new entry may be inserted, and an answer for `show`; `ask` is called
    /// again when another thread changes the entry. In a table by address `ask` always returns
    /// true, and its answer holds no handle.
    ///
    /// `show` gets the last answer, and the outcome: `None` if the new entry was not inserted,
    /// `Some(None)` if the new entry has replaced no entry, `Some(Some(old))` if it has replaced
    /// `old`. `PROBABLY_NEW`: an earlier lookup has found no entry.
    #[inline]
    fn put_if<const PROBABLY_NEW: bool, H, R>(
        &self,
        hash: HashValue,
        key: S::Key,
        watch: Unplaced<'_, S::Watch>,
        value: S::Value,
        ask: impl Fn(Option<&Node<S>>) -> (bool, Option<H>),
        show: impl FnOnce(Option<H>, Option<Option<&Node<S>>>) -> Option<R>,
    ) -> Option<R> {
        let (node, upkeep) = match self.plain() {
            Some(plain) => {
                let make = move || Node::new(hash, key, value, watch.into_inner());
                let (mut node, mut answer) = (plain.entry(make), None);
                let put = if S::BY_ADDRESS {
                    // `ask` may be user code, and the search runs under the lock. So the thread calls
                    // `ask` after the replacement. T6 demands no handle from before: an entry of a
                    // table by address watches one object, and the caller has a handle to it.
                    let put = plain.put(&mut node, S::have_same_key, |_| true);
                    put.inspect(|old| answer = ask(*old).1)
                } else {
                    plain.put_found::<PROBABLY_NEW>(&mut node, S::have_same_key, |now| {
                        let (accepts, new) = ask(now);
                        answer = new;
                        accepts
                    })
                };
                if !matches!(put, Err(NotPlain::Unusual)) {
                    let shown = show(answer, put.ok());
                    // T5
                    drop(plain);
                    drop(node);
                    return shown;
                }
                // Nothing was changed: a writer makes the change. `plain` has done the upkeep.
                (node, Upkeep::Nothing)
            }
            None => (self.ready(hash, key, watch, value), Upkeep::All),
        };
        self.put_unusual(upkeep, node, ask, show)
    }

    /// As [`put_if`](Self::put_if), for any table.
    #[inline(never)]
    fn put_unusual<H, R>(
        &self,
        upkeep: Upkeep,
        node: NewNode<'_, S>,
        mut ask: impl FnMut(Option<&Node<S>>) -> (bool, Option<H>),
        show: impl FnOnce(Option<H>, Option<Option<&Node<S>>>) -> Option<R>,
    ) -> Option<R> {
        self.change(upkeep, |change, shown| {
            let (mut node, mut answer) = (node, None);
            let expected = |now: Option<&Node<S>>| {
                let (accepts, new) = ask(now);
                answer = new;
                accepts
            };
            let overtakes = |old: Option<&_>, _: &_| change.overtake(old);
            let put = change.put(&mut node, expected, overtakes);
            *shown = show(answer, put);
        })
    }

    /// Inserts an entry as [`compute`](Self::compute) does, if the present entry is expected. The
    /// thread is inside already.
    #[cold]
    #[inline(never)]
    fn put_expected(
        &self,
        node: NewNode<'_, S>,
        expected: impl Fn(Option<&Node<S>>) -> bool,
    ) -> Result<(), ()> {
        let ask = |now: Option<&Node<S>>| (expected(now), None::<()>);
        let put = self.put_unusual(Upkeep::Nothing, node, ask, |_, put| put.map(|_| ()));
        put.ok_or(())
    }

    /// Changes the entry of a key: `alter` is shown the present entry, and returns the new entry.
    /// The operation may call `alter` again when other threads change the same entry. T6: `hold` is
    /// as for [`put`](Self::put).
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
        if let Some(plain) = self.plain() {
            loop {
                let place = plain.find(hash.bits(), |node| S::is_of(key, node));
                let there = place.as_ref().map(Located::get);
                // The waiters of a reservation go on when the thread has left.
                if matches!(there, Some(Node::Reserved { .. })) {
                    break;
                }
                let (wanted, answer) = alter(there.and_then(Node::ready));
                let done = match (wanted, &place) {
                    (None, None) => Ok(()),
                    (None, Some(place)) => self.remove_plain(&plain, place).then_some(()).ok_or(()),
                    (Some((watch, value)), _) => {
                        let make = || Node::new(hash, S::key(key), value, watch.into_inner());
                        let (mut node, there) = (plain.entry(make), there.map(ptr::from_ref));
                        let expected = |now: Option<&_>| now.map(ptr::from_ref) == there;
                        let put = if S::BY_ADDRESS {
                            plain.put(&mut node, S::have_same_key, expected)
                        } else {
                            plain.put_found::<false>(&mut node, S::have_same_key, expected)
                        };
                        match put {
                            Ok(_) => Ok(()),
                            Err(NotPlain::Changed) => Err(()),
                            Err(NotPlain::Unusual) => self.put_expected(node, expected),
                        }
                    }
                };
                if done.is_ok() {
                    // T5
                    drop(plain);
                    return answer;
                }
            }
        }
        let answer = self.change(Upkeep::All, |change, answered| {
            while answered.is_none() {
                // Compares in the same order as `put`: otherwise, with an `Eq` that is not
                // symmetric, `put` would never succeed.
                let there = change.find(hash, |node| S::is_of(key, node));
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
                        let mut node = self.ready(hash, S::key(key), watch, value);
                        let there = there.map(ptr::from_ref);
                        let expected = |now: Option<&_>| now.map(ptr::from_ref) == there;
                        let overtakes = |old: Option<&_>, _: &_| change.overtake(old);
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

impl<S: Compare<Key: Copy>> Table<S> {
    /// Links a copy of the `sought` entry under another key, and then unlinks the sought entry,
    /// unless another thread has changed the sought entry meanwhile: in between, a reader finds
    /// both. `copy` returns the watch and the value of the new entry, or `None` if nothing is to be
    /// copied. T6: `hold` is asked about the entry that the copy replaces, before the replacement,
    /// and again when another thread changes this entry; its answer is returned. `hold` is not
    /// asked about the sought entry itself. If a closure panics, nothing has changed.
    pub(crate) fn transfer<'t, M: Into<Match>, H>(
        &'t self,
        (from, mut sought): (HashValue, impl FnMut(&Node<S>) -> M),
        (to, key): (HashValue, S::Key),
        mut copy: impl FnMut(&S::Watch, &S::Value) -> Option<(Unplaced<'t, S::Watch>, S::Value)>,
        hold: impl Fn(&S::Watch, &S::Value) -> Option<H>,
    ) -> Option<H> {
        let held = Cell::new(None);
        let ask = |now: Option<&Node<S>>, from| {
            let other = now.filter(|now| !ptr::eq(*now, from)).and_then(Node::ready);
            held.set(other.and_then(|(watch, value)| hold(watch, value)));
            true
        };
        if let Some(plain) = self.plain() {
            let place = plain.find(from.bits(), &mut sought)?;
            let node = place.get();
            let (watch, value) = node.ready().and_then(|(watch, value)| copy(watch, value))?;
            let mut new = plain.entry(|| Node::new(to, key, value, watch.into_inner()));
            let put = plain.put_found::<true>(&mut new, S::have_same_key, |now| ask(now, node));
            if let Ok(old) = put {
                // A plain change unlinks one entry.
                match old {
                    None => self.remove_plain(&plain, &place),
                    Some(_) => self.remove_unusual(node),
                };
                // T5
                drop(plain);
                return held.into_inner();
            }
        }
        _ = self.change(Upkeep::Unswept, |change, _: &mut Option<()>| {
            // The plain change may have asked.
            held.set(None);
            let there = change.find(from, |node| sought(node).into());
            let entry = there.and_then(|node| Some((node, node.ready()?)));
            let entry = entry.and_then(|(node, (watch, value))| Some((node, copy(watch, value)?)));
            let Some((node, (watch, value))) = entry else {
                return;
            };
            let mut new = self.ready(to, key, watch, value);
            let overtakes = |old: Option<&_>, _: &_| change.overtake(old);
            let put = change.put(&mut new, |now| ask(now, node), overtakes);
            if put.is_some() {
                self.unlink(change.pin, node);
            }
        });
        // After the change, as in `remove_where`.
        self.sweep_some();
        held.into_inner()
    }
}

impl<S: Schema<Watch: Watches>> Table<S> {
    /// Unlinks an entry within a plain change, unless another thread has changed the entry.
    #[inline(always)]
    fn remove_plain(&self, plain: &Plain<'_, Node<S>>, place: &Located<'_, Node<S>>) -> bool {
        match plain.remove(place) {
            Ok(()) => true,
            Err(NotPlain::Changed) => false,
            Err(NotPlain::Unusual) => self.remove_unusual(place.get()),
        }
    }

    /// As [`remove_plain`](Self::remove_plain), for any table: a bound may know the entry.
    #[cold]
    #[inline(never)]
    fn remove_unusual(&self, node: &Node<S>) -> bool {
        let removed = self.change(Upkeep::Nothing, |change, removed| {
            *removed = self.unlink(change.pin, node).then_some(());
        });
        removed.is_some()
    }

    /// Removes the `sought` entry, if the entry is wanted, and shows the entry. T6: `hold` is asked
    /// once about each present entry, and returns `None` if the entry is not wanted; `show` gets
    /// the answer of `hold` about the removed entry. If the value is in the making, `hold` is shown
    /// no entry, and after a removal the leader returns the value, which the table does not keep.
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
        if let Some(plain) = self.plain() {
            loop {
                let place = plain.find(hash.bits(), &mut sought)?;
                let node = place.get();
                let held = hold(node.ready())?;
                if self.remove_plain(&plain, &place) {
                    let shown = node.entry().map(|(key, _, value)| show(held, key, value));
                    // T5
                    drop(plain);
                    return shown;
                }
            }
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
