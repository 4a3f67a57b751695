//! The two visits of a thread that makes a value: the first visit links a *reservation*, an entry
//! without a value; the second visit replaces the reservation by the made entry. Both visits search
//! under the lock of the bucket only, where no user code runs. Where a table or a bucket is
//! unusual, a visit changes nothing, and a [`Writer`](super::table::Writer) makes the change.
//!
//! * **V1** The first visit links the reservation only if no entry has its hash. So the visit
//!   compares no keys.
//! * **V2** The second visit takes the old reservation out of its memory, if no thread inside may
//!   look at it (D1, D2). Then no thread will ever find the reservation: a thread that waits for
//!   the reservation has found it before.

use super::array::Array;
use super::bucket::LockedBucket;
use super::entry::{Entry, Registered, take};
use super::guards::Inside;
use super::reap::Due;
use super::retired::Retired;
use super::table::{RawTable, Reader};
use super::unlinked::Unlinked;
use crate::panics::FirstPanic;
use crate::thread::ThreadNumber;

impl<N: Entry> RawTable<N> {
    /// Makes a reservation, and links it, unless the table is unusual, or has an entry with the
    /// hash: then the caller gets the reservation. A visit of the caller, `before`, becomes this
    /// visit. When the reservation is linked, the thread leaves quietly, as
    /// [`Writer::leave_quietly`](super::table::Writer::leave_quietly) does.
    #[inline]
    pub(crate) fn reserve<'t>(
        &'t self,
        before: Reader<'t, N>,
        make: impl FnOnce() -> N,
    ) -> Result<(), Unlinked<'t, N>> {
        let number = ThreadNumber::current();
        let participant = self.domain.participant(number.get(), Self::REST);
        let mut node = Unlinked::new(self.memory_of(participant), make, self.context());
        let (hash, counted) = (node.hash(), node.is_counted());
        let inside = self.domain.enter_as(participant, number);
        drop(before);
        if let Some((array, mut locked)) = self.lock_usual(&inside, hash) {
            // V1
            let is_free = array.find_in(&locked, hash, |_| true).is_none();
            if let Some(slot) = locked.free_slot().filter(|_| is_free) {
                locked.put_at(slot, node.link(), hash);
                drop(locked);
                inside.count(counted, 1);
                inside.leave(false);
                return Ok(());
            }
        }
        if inside.leave(false) && inside.must_look() {
            self.domain.look_back();
        }
        Err(node)
    }

    /// Makes an entry, and replaces the reservation for which `is_own` is true by the entry, unless
    /// the table is unusual, or the reservation is not linked any more, or an object of the entry
    /// [has died](Registered::may_be_linked): then the caller gets the entry. Otherwise `linked`
    /// gets the linked entry, within the visit. When the thread has left, and before anything is
    /// destroyed, `then` gets the old reservation, if no thread looks at the reservation (V2). The
    /// caller does the upkeep that is returned.
    #[inline]
    pub(crate) fn publish<'t>(
        &'t self,
        make: impl FnOnce() -> N,
        is_own: impl Fn(&N) -> bool,
        linked: impl FnOnce(&N),
        then: impl FnOnce(Option<N>),
    ) -> Result<Option<Due>, Unlinked<'t, N>> {
        let number = ThreadNumber::current();
        let participant = self.domain.participant(number.get(), Self::REST);
        participant.begin_parking();
        let gathers = self.domain.gathers();
        if gathers {
            participant.bag_or_new();
        }
        let mut node = Unlinked::new(self.memory_of(participant), make, self.context());
        let more = (self.core()).map_or(0, |core| node.inherit_or_register(None, core).1);
        let (hash, counted) = (node.hash(), node.is_counted());
        let inside = self.domain.enter_as(participant, number);
        inside.count_registered(more);
        let replace = |(array, locked): (&Array<N>, LockedBucket<'_, N>)| {
            let (bucket, slot) = array.find_in(&locked, hash, is_own)?;
            let may_be_linked = node.watch().is_none_or(Registered::may_be_linked);
            may_be_linked.then(|| {
                let (old, new) = (bucket.slot(slot), node.link());
                locked.replace(bucket, slot, new);
                (old, new)
            })
        };
        let Some((old, new)) = self.lock_usual(&inside, hash).and_then(replace) else {
            if inside.leave(false) && inside.must_look() {
                self.domain.look_back();
            }
            return Err(node);
        };
        inside.count(counted, 1);
        // SAFETY: R3: unlinked by the calling thread, which is inside.
        inside.count(unsafe { &*old }.is_counted(), -1);
        let mut panics = FirstPanic::default();
        // SAFETY: R3: linked above by the calling thread, which is inside.
        panics.catch_inline(|| linked(unsafe { &*new }));
        inside.leave(!gathers);
        let is_unseen = !gathers && self.domain.is_unseen();
        let entry = is_unseen.then(|| {
            // SAFETY: D1, D2: unlinked above, and no thread looks at the entry.
            let (entry, memory) = unsafe { take(old) };
            if let Some(memory) = memory {
                self.keep(participant, memory);
            }
            entry
        });
        panics.catch_inline(|| then(entry));
        if inside.must_look() {
            panics.catch(|| self.domain.look_back());
        }
        if !is_unseen {
            // SAFETY: R3. `Sync` of the table demands `Send` of the entries.
            let old = core::iter::once(unsafe { Retired::new(old) });
            match gathers {
                true => self.domain.gather(participant, old, None, &mut panics),
                false => self.domain.to_deferred(old.collect(), None, &mut panics),
            }
        }
        panics.resume();
        Ok(self.due_of(participant))
    }

    /// Returns the array and the locked home bucket of a hash, if the thread was outside before,
    /// no entries are moving, and the table has no [concern](Self::concern).
    #[inline(always)]
    fn lock_usual<'g>(
        &'g self,
        inside: &'g Inside<'_>,
        hash: u64,
    ) -> Option<(&'g Array<N>, LockedBucket<'g, N>)> {
        let array = self.array_at_rest(inside)?;
        let was_outside = inside.participant.depth.get() == 1;
        let locked = was_outside.then(|| self.lock_plain(array.home(hash)))?;
        Some((array, locked?))
    }
}
