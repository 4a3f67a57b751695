//! Reclamation of dead entries: entries unlinked by deaths, and stale entries of handles that have
//! to be polled.

use core::cell::RefCell;
use core::ptr;
use core::task::{Context, Poll, Waker};
use std::vec::Vec;

use super::bound::TableContext;
use super::kept::{KeptRemains, Taking};
use super::node::Node;
use super::schema::Schema;
use super::table::{Pin, Table};
use super::watch::Watches;
use crate::hash::HashValue;
use crate::panics::FirstPanic;
use crate::ptr::CoreRef;
use crate::raw::NestedCall;
use crate::raw::{DeadList, Due, Entry, Taken};
use crate::table::Reclaim;

/// The number of entries that an operation takes from a list of dead entries, at most.
const CHUNK: usize = 16;
/// The number of drains of one table that may nest: the destructor of an entry that a drain
/// destroys may start a further drain.
const MAX_NESTED: usize = 16;

impl<S: Schema<Watch: Watches>> Table<S> {
    /// Calls `run` in a turn for the destruction of dead entries, unless too many nest.
    fn in_turn<R>(&self, run: impl FnOnce(&NestedCall) -> R) -> Option<R> {
        let core = self.nodes.core().map_or(ptr::null_mut(), CoreRef::as_ptr);
        NestedCall::with(core, MAX_NESTED, |turn| turn.map(run))
    }

    /// Destroys what other threads may have left: the next list, and the next bag.
    #[cold]
    #[inline(never)]
    fn look_around(&self, nth: usize) {
        let mut panics = FirstPanic::default();
        if let Some(list) = self.nodes.next_due(nth) {
            panics.catch(|| self.drain_next(list));
        }
        if let Some(bag) = self
            .nodes
            .next_idle_bag(nth)
            .filter(|_| !NestedCall::is_deep())
        {
            self.in_turn(|_| self.nodes.empty_bag(bag, &mut panics));
        }
        panics.resume();
    }

    /// Continues the sweep: polls the next few entries, if there are entries that have to be
    /// polled, and unlinks the stale entries.
    #[inline]
    pub(super) fn sweep_some(&self) {
        if self.is_swept() && !NestedCall::is_deep() {
            self.sweep_on(1, usize::MAX);
        }
    }

    /// Continues the sweep as far as the given number of operations would, but at most once around
    /// the table. Unlinks at most `most` stale entries, and returns their number.
    #[inline(never)]
    fn sweep_on(&self, operations: usize, most: usize) -> usize {
        // The destructors that a sweep runs may use the table, and so may continue the sweep.
        let sweep = |_: &_| {
            let pin = self.pin();
            let mut unlinked = 0;
            for _ in 0..operations.min(pin.sweeps_around()) {
                pin.sweep(&self.nodes.context().position, |node| {
                    let stale = unlinked < most && node.is_stale();
                    unlinked += usize::from(stale && self.unlink(&pin, node));
                });
                if unlinked == most {
                    break;
                }
            }
            unlinked
        };
        self.in_turn(sweep).unwrap_or(0)
    }

    /// Polls all entries, and unlinks the stale entries. `again`: the sweep looks for entries
    /// killed by the destructors of entries that an earlier sweep unlinked.
    ///
    /// But threads may all the time kill entries and insert entries that die at once, and polling
    /// does not tell which thread has killed which entry. So a repeated sweep looks twice before it
    /// destroys anything: an entry that only the second look finds was killed by a different
    /// thread.
    fn sweep_all(&self, again: bool, panics: &mut FirstPanic) -> SweepFound {
        let pin = self.pin();
        if !self.unlink_stale(&pin, panics) {
            return SweepFound::Nothing;
        }
        let others = again && self.unlink_stale(&pin, panics);
        panics.catch(|| drop(pin));
        if others {
            SweepFound::OfOthers
        } else {
            SweepFound::Some
        }
    }

    /// Polls all entries that are linked now, and unlinks the stale entries. Returns whether there
    /// were any.
    fn unlink_stale(&self, pin: &Pin<'_, S>, panics: &mut FirstPanic) -> bool {
        let (mut any, panics) = (false, RefCell::new(panics));
        let is_stale = |node: &Node<S>| {
            let mut stale = false;
            panics.borrow_mut().catch(|| stale = node.is_stale());
            stale
        };
        let again = false;
        pin.remove_everywhere(again, is_stale, |dead| {
            any = true;
            panics.borrow_mut().catch(|| _ = self.end(dead));
        });
        any
    }

    /// Polls the entries of one hash, and unlinks the stale entries. O(entries of the hash).
    #[inline]
    pub(super) fn sweep_hash(&self, hash: HashValue) {
        if self.is_swept() {
            let mut panics = FirstPanic::default();
            let pin = self.pin();
            let again = false;
            pin.remove_all(hash.bits(), again, Node::is_stale, |dead| {
                panics.catch(|| _ = self.end(dead));
            });
            panics.catch(|| drop(pin));
            panics.resume();
        }
    }

    /// Unlinks the stale entries of a hash, for a lookup that found only a dead entry. The
    /// destructors of the unlinked entries may look up further dead entries; deep in such nested
    /// calls, the eviction is left to the next operation.
    #[cold]
    #[inline(never)]
    pub(super) fn evict(&self, hash: HashValue) {
        if !self.is_swept() || NestedCall::is_deep() {
            return;
        }
        self.in_turn(|_| self.sweep_hash(hash));
    }

    /// Destroys some of the dead entries, if there are any.
    #[inline]
    pub(super) fn reap_some(&self) {
        self.reap(self.nodes.due());
    }

    /// Does the upkeep that is due, if any.
    #[inline]
    pub(super) fn reap(&self, due: Option<Due>) {
        if let Some(taken) = due.and_then(|due| self.take_due(due)) {
            self.reap_taken(taken);
        }
    }

    /// The upkeep of a making, when its leader has left.
    #[inline]
    pub(super) fn tidy(&self) {
        self.sweep_some();
        self.reap_some();
    }

    /// Takes the dead entries that are due, before a change. If their end may run user code, they
    /// are destroyed here.
    #[inline(always)]
    pub(super) fn take_due(&self, due: Due) -> Option<Taken<'_, Node<S>>> {
        if let Some(nth) = due.around {
            self.look_around(nth);
        }
        let list = due.list?;
        if self.ends_run_users() {
            self.drain_next(list);
            return None;
        }
        self.nodes.take_dead(list, CHUNK)
    }

    /// Destroys or retires the dead entries that a change has taken, while the thread is outside.
    #[cold]
    #[inline(never)]
    pub(super) fn reap_taken(&self, taken: Taken<'_, Node<S>>) {
        // Another thread may have changed the policy meanwhile.
        if self.ends_run_users() {
            return self.destroy_taken(taken);
        }
        let _armed = Armed(self);
        self.nodes.gather_or_reap(taken);
    }

    /// Whether the end of an entry may run user code: a destructor, also of a user's weak handle;
    /// the waker, when the key and value are kept; or the listener of a ceiling.
    #[inline]
    fn ends_run_users(&self) -> bool {
        Node::<S>::PROMPT
            || self.is_swept()
            || (self.nodes.concern()).is_some_and(TableContext::ends_run_users)
    }

    /// Destroys some entries of a list, in a turn.
    #[cold]
    fn drain_next(&self, list: DeadList) {
        if !NestedCall::is_deep() {
            self.in_turn(|_| self.drain(list, CHUNK, &mut 0));
        }
    }

    /// Takes some dead entries from a list, adds their number to `drained`, and destroys the
    /// entries.
    #[inline]
    fn drain(&self, list: DeadList, most: usize, drained: &mut usize) {
        if let Some(taken) = self.nodes.take_dead(list, most) {
            *drained += taken.len();
            self.destroy_taken(taken);
        }
    }

    /// Destroys taken entries, or lets the table keep their keys and values.
    #[inline]
    fn destroy_taken(&self, taken: Taken<'_, Node<S>>) {
        // Dropped last.
        let _armed = Armed(self);
        if self.is_keeping() {
            taken.each(Node::keep);
        }
        self.nodes.reap(taken);
    }

    /// Destroys the entries that are dead now, the entries that the destructors kill, and all that
    /// is kept of dead entries now. Returns whether dead entries are pending now: other
    /// threads have killed entries meanwhile, or too many drains of the table nest. All destructors
    /// run, even if some panic.
    pub(crate) fn purge(&self) -> bool {
        let mut panics = FirstPanic::default();
        let _taking = self.begin_taking();
        let swept = self.unlink_dead(usize::MAX, &mut panics);
        self.enter_and_leave(&mut panics);
        panics.resume();
        !swept
            || self.nodes.dead() != 0
            || self.nodes.bagged() != 0
            || self.kept().map_or(0, KeptRemains::len) != 0
    }

    /// Destroys keys and values that are kept of dead entries, then further dead entries: `most` in
    /// all. Returns the number of destroyed entries, including entries that threads are still
    /// looking at. Polls as many entries as `most` operations would. All destructors run, even if
    /// some panic.
    pub(crate) fn purge_some(&self, most: usize) -> usize {
        let mut panics = FirstPanic::default();
        let _taking = self.begin_taking();
        let kept = self.destroy_kept(most, &mut panics);
        let mut dead = self.drain_dead(most - kept, &mut panics);
        if self.is_swept() && kept + dead < most {
            panics.catch(|| dead += self.sweep_on(most, most - kept - dead));
        }
        // With the policy `OnRequest`, the entries that no thread is looking at are kept now.
        self.destroy_kept(dead, &mut panics);
        if kept + dead < most {
            self.enter_and_leave(&mut panics);
        }
        panics.resume();
        kept + dead
    }

    /// Kept pairs call the waker at the end of the caller, if at all.
    fn begin_taking(&self) -> Option<Taking<'_, S::Key, S::Value>> {
        let on_request = self.is_on_request();
        Some(self.kept().filter(|_| on_request)?.begin_taking())
    }

    /// Keeps keys and values of dead entries for a call that takes them out.
    pub(super) fn begin_draining(&self) -> Taking<'_, S::Key, S::Value> {
        self.nodes.begin_concern().kept.begin_taking()
    }

    /// Takes out the keys and values of at most `most` dead entries, without destroying them.
    ///
    /// Bags are left alone where keys or values have a destructor: a bag may have removed entries,
    /// which are destroyed with the bag.
    pub(crate) fn take_kept(&self, most: usize) -> Vec<(S::Key, S::Value)> {
        if self.nodes.known_context().is_none() {
            return Vec::new();
        }
        let kept = &self.nodes.begin_concern().kept;
        let taking = kept.begin_taking();
        let left = || most.saturating_sub(kept.len());
        let mut panics = FirstPanic::default();
        self.in_turn(|turn| {
            // The remains of entries at which threads look are not kept yet, so a single call may
            // not suffice. A call that drains fewer entries than allowed has left the lists empty.
            let mut wanted = left();
            while wanted != 0 && self.drain_lists(turn, wanted, &mut panics) >= wanted {
                wanted = left();
            }
            if left() != 0 && !Node::<S>::PROMPT {
                let of_all = true;
                self.nodes.empty_bags(of_all, left(), &mut panics);
            }
        });
        if left() != 0 {
            if self.is_swept() {
                panics.catch(|| _ = self.sweep_on(most, left()));
            }
            self.enter_and_leave(&mut panics);
        }
        panics.resume();
        let taken = kept.take(most);
        // T5: the waker may panic, and the destructors of pairs that are left.
        drop(taking);
        taken
    }

    /// Enters and leaves the table: a reader may have left its retired entries to the next thread
    /// that leaves (D3 of `raw`).
    pub(super) fn enter_and_leave(&self, panics: &mut FirstPanic) {
        if !self.nodes.is_new() {
            panics.catch(|| drop(self.pin()));
        }
    }

    /// Unlinks the dead entries, and frees memory.
    pub(crate) fn shrink_to_fit(&self) {
        let mut panics = FirstPanic::default();
        self.unlink_dead(0, &mut panics);
        if !self.nodes.is_new() {
            panics.catch(|| self.pin().shrink_to_fit());
        }
        self.shrink_ceiling();
        panics.resume();
    }

    /// Unlinks the entries that are dead now, and the entries that the destructors kill. After each
    /// look, also destroys `most_kept` of the kept pairs.
    ///
    /// Looks at each entry three times at most, and twice more for each generation of entries
    /// killed by destructors that the call itself runs. Returns whether the last look has seen all
    /// entries that have to be polled.
    fn unlink_dead(&self, most_kept: usize, panics: &mut FirstPanic) -> bool {
        let unlink = |turn: &NestedCall| {
            let mut again = false;
            loop {
                let mut swept = SweepFound::Nothing;
                if self.is_swept() {
                    swept = self.sweep_all(again, panics);
                }
                let drained = match again {
                    false => self.drain_all(turn, usize::MAX, panics),
                    true => self.drain_killed(turn, usize::MAX, panics),
                };
                let destroyed = self.destroy_kept(most_kept, panics);
                // The destruction may have killed entries that the sweep has already passed.
                // (After the first turn, what is destroyed was swept or drained in this call, or
                // belongs to other threads.)
                let some = drained != 0 || swept == SweepFound::Some || destroyed != 0 && !again;
                again = turn.has_killed() || self.is_swept() && some && Node::<S>::PROMPT;
                let all = swept != SweepFound::OfOthers;
                if !again || !all {
                    return all;
                }
            }
        };
        self.in_turn(unlink).unwrap_or(!self.is_swept())
    }

    /// Destroys dead entries as [`drain_all`](Self::drain_all) does, unless too many drains nest.
    pub(super) fn drain_dead(&self, most: usize, panics: &mut FirstPanic) -> usize {
        self.in_turn(|turn| self.drain_all(turn, most, panics))
            .unwrap_or(0)
    }

    /// Destroys `most` of the entries that are dead now, in lists and bags, and of the entries that
    /// the destructors kill. Returns their number. If there were fewer, the next death calls the
    /// waker.
    fn drain_all(&self, turn: &NestedCall, most: usize, panics: &mut FirstPanic) -> usize {
        let mut drained = self.drain_lists(turn, most, panics);
        let (mut of_all, mut more) = (true, true);
        while more && drained < most {
            let before = drained;
            drained += self.nodes.empty_bags(of_all, most - drained, panics);
            drained += self.drain_killed(turn, most - drained, panics);
            (of_all, more) = (false, drained != before);
        }
        drained
    }

    /// Destroys `most` of the entries that are in lists now, and of the entries that the
    /// destructors kill. Returns their number.
    fn drain_lists(&self, turn: &NestedCall, most: usize, panics: &mut FirstPanic) -> usize {
        let mut drained = 0;
        for is_last in [false, true] {
            for list in self.nodes.lists() {
                if drained < most {
                    panics.catch(|| self.drain(list, most - drained, &mut drained));
                }
            }
            drained += self.drain_killed(turn, most - drained, panics);
            // From now on a death calls the waker. Before, a death may have put an entry into a
            // list without a call: so one more look follows.
            if is_last || drained == most || self.nodes.arm() {
                break;
            }
        }
        drained
    }

    /// Destroys `most` of the entries that the destructors of this turn have killed, and of the
    /// entries that their destructors kill. Returns their number. Other threads may kill entries
    /// all the time: so the call destroys no more entries than this thread has killed.
    fn drain_killed(&self, turn: &NestedCall, most: usize, panics: &mut FirstPanic) -> usize {
        let mut drained = 0;
        loop {
            let end = drained + turn.take_killed().min(most - drained);
            if end == drained {
                return drained;
            }
            while drained < end {
                let Some(list) = self.nodes.any_due() else {
                    break;
                };
                panics.catch(|| self.drain(list, end - drained, &mut drained));
            }
        }
    }

    pub(crate) fn reclaim(&self) -> Reclaim {
        if self.is_on_request() {
            Reclaim::OnRequest
        } else {
            Reclaim::OnUse
        }
    }

    pub(crate) fn set_reclaim(&self, reclaim: Reclaim) {
        let before = self.reclaim();
        if reclaim != before {
            let kept = &self.nodes.begin_concern().kept;
            kept.set_on_request(reclaim == Reclaim::OnRequest);
        }
        if reclaim == Reclaim::OnUse && before == Reclaim::OnRequest {
            let mut panics = FirstPanic::default();
            self.destroy_kept(usize::MAX, &mut panics);
            self.drain_dead(usize::MAX, &mut panics);
            self.enter_and_leave(&mut panics);
            panics.resume();
        }
    }

    /// Sets or removes the waker, which deaths call, and threads that keep pairs.
    pub(crate) fn set_waker(&self, waker: Option<Waker>) {
        if let Some(cell) = self.nodes.set_waker(waker) {
            self.nodes.context().kept.set_waker(cell);
        }
    }

    /// Whether a purge would destroy something. If not, the waker is called as soon as a purge
    /// would: by a death, or by a thread that leaves a pair to be kept.
    pub(crate) fn poll_pending(&self, context: &mut Context<'_>) -> Poll<()> {
        // First the waker, then the look. A death after the look at its stripe calls the waker (C3
        // of `ptr::shared`). So does a thread that keeps a pair after the look at the kept pairs,
        // since the look is under the lock of their list. A thread that puts an entry into its bag
        // after the look at the bag takes the entry out itself (D8 of `raw`).
        let cell = self.nodes.renew_waker(context.waker());
        let is_idle = self.nodes.dead() == 0 && self.nodes.bagged() == 0 && self.nodes.arm();
        if self.nodes.context().kept.set_waker(cell) && is_idle {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }

    /// Destroys `most` of the kept pairs, even if some destructors panic. Returns the number of
    /// destroyed pairs, which are taken out first: a nested call leaves them to this call.
    fn destroy_kept(&self, most: usize, panics: &mut FirstPanic) -> usize {
        let taken = self.kept().map_or_else(Vec::new, |kept| kept.take(most));
        let len = taken.len();
        panics.drop_each(taken);
        len
    }
}

impl<S: Schema> Drop for Table<S> {
    /// The waker and the listener are dropped before the entries: they may own the last handles to
    /// other keys, and no thread can purge the table any more.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| _ = self.nodes.set_waker(None));
        if let Some(context) = self.nodes.known_context() {
            panics.catch(|| context.end_listener());
        }
        panics.resume();
    }
}

/// The guard of a drain. When the drain ends, also by a panic, the next death calls the waker
/// again, if nothing is left. Not before: the destructors that a drain runs may kill the next key,
/// and the same purge finds the key.
struct Armed<'t, S: Schema>(&'t Table<S>);

impl<S: Schema> Drop for Armed<'_, S> {
    #[inline]
    fn drop(&mut self) {
        self.0.nodes.arm_if_idle();
    }
}

/// The result of a sweep over all entries.
#[derive(PartialEq)]
enum SweepFound {
    Nothing,
    Some,
    /// The sweep has found stale entries, and other threads kill further entries meanwhile.
    OfOthers,
}
