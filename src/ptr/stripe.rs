//! A stripe of a shared collection's core: a lock, and the list of the entries that deaths have
//! unlinked under the lock. See [`shared`](super::shared).

use core::ptr::{self, NonNull};

use crate::sync::{self, AtomicBool, AtomicPtr, AtomicUsize, Critical, Ordering::*, UnsafeCell};

/// The mark of a link between entries in a list. The word was a registration before.
pub(super) const LINK: usize = 4;

/// From this number of entries on, a list is full (C7).
pub(super) const FULL: usize = if cfg!(weakly_loom) { 2 } else { 16 };

/// An entry that a death has unlinked.
pub(crate) struct Dead {
    // Not null, so that a death gets an `Option` of this in two registers.
    entry: NonNull<()>,
    link: NonNull<AtomicPtr<()>>,
}

impl Dead {
    /// Makes a dead entry. `link` is the word of the entry's registration, and takes the link to
    /// the next entry in a list.
    #[inline]
    pub(crate) fn new<N>(entry: NonNull<N>, link: NonNull<AtomicPtr<()>>) -> Self {
        const {
            assert!(
                align_of::<N>() > LINK,
                "no room for the mark in a link to it"
            )
        };
        Dead {
            entry: entry.cast(),
            link,
        }
    }
}

/// Returns the entry that a link leads to. The caller has taken the list, or has the stripe.
#[inline]
pub(crate) fn below(link: &AtomicPtr<()>) -> *mut () {
    // Relaxed: written under the lock of the stripe.
    link.load(Relaxed).map_addr(|addr| addr & !LINK)
}

/// No thread has the stripe.
const FREE: usize = 0;
/// A thread has the stripe.
const LOCKED: usize = 1;
/// The collection has ended (C4). Final.
const CLOSED: usize = 2;

/// On cache lines of its own: a thread whose objects die there shares no line with the deaths of
/// other threads.
#[repr(C, align(128))]
pub(super) struct Stripe {
    lock: AtomicUsize,
    /// The bit of the stripe in the word of the full lists (C7).
    bit: usize,
    /// The newest of the entries that deaths have unlinked here and no thread has taken. Under the
    /// lock.
    dead: UnsafeCell<*mut ()>,
    /// The number of these entries. Written under the lock.
    waiting: AtomicUsize,
    /// The number of entries that deaths have ever unlinked here, modulo 2^n. Written under the
    /// lock.
    unlinked: AtomicUsize,
    /// The number of registrations that deaths have ended here, modulo 2^n. Under the lock.
    ended: UnsafeCell<usize>,
    /// Whether a thread has looked at the list, and no entry has come since. A hint.
    looked: AtomicBool,
}

/// A stripe that this thread has locked, until this guard is dropped. The drop may be the thread's
/// last access to the core. (No reference: the core may be freed by then, with the bytes between
/// the cells.)
pub(super) struct Locked {
    stripe: NonNull<Stripe>,
    _critical: Critical,
}

impl Drop for Locked {
    #[inline]
    fn drop(&mut self) {
        // Release: with the Acquire of the next lock: the changes under the lock, and at the
        // entries.
        self.get().lock.store(FREE, Release);
    }
}

/// The reason why a stripe cannot be locked.
pub(super) enum Busy {
    Locked,
    /// The stripe stays closed.
    Closed,
}

impl Stripe {
    /// Makes the stripe with this number.
    pub(super) fn new(at: usize) -> Self {
        Stripe {
            lock: AtomicUsize::new(FREE),
            bit: 1 << at,
            dead: UnsafeCell::new(ptr::null_mut()),
            waiting: AtomicUsize::new(0),
            unlinked: AtomicUsize::new(0),
            ended: UnsafeCell::new(0),
            looked: AtomicBool::new(false),
        }
    }

    /// Locks the stripe, unless a thread has the stripe, or the stripe is closed.
    #[inline]
    pub(super) fn try_lock(&self) -> Result<Locked, Busy> {
        // Acquire: with the unlocking: the list; and the changes made before the stripe was passed
        // (C3). Acquire on failure: with `close`: the end of the dependents of all entries.
        match self.lock.compare_exchange(FREE, LOCKED, Acquire, Acquire) {
            Ok(_) => Ok(Locked {
                stripe: NonNull::from(self),
                _critical: Critical::enter(),
            }),
            Err(CLOSED) => Err(Busy::Closed),
            Err(_) => Err(Busy::Locked),
        }
    }

    /// Returns whether a thread has the stripe. If not, the caller sees the changes made under the
    /// lock.
    pub(super) fn is_locked(&self) -> bool {
        // Acquire: with the unlocking, as in `try_lock`.
        self.lock.load(Acquire) != FREE
    }

    /// Waits for the thread that has the stripe, and locks it. For threads that belong to the
    /// collection, so the stripe is not closed.
    pub(super) fn lock(&self) -> Locked {
        let mut turn = 0;
        loop {
            match self.try_lock() {
                Ok(locked) => return locked,
                Err(_) => sync::relax(&mut turn),
            }
        }
    }

    /// Waits for the thread that has the stripe, and closes it (C4).
    pub(super) fn close(&self) {
        let mut turn = 0;
        // Acquire: as in `try_lock`. Release: with a death that finds the stripe closed.
        while (self.lock)
            .compare_exchange(FREE, CLOSED, AcqRel, Relaxed)
            .is_err()
        {
            sync::relax(&mut turn);
        }
    }

    /// Returns how many entries are in the list.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        // Relaxed: a snapshot, which contains all deaths that happen before this call.
        self.waiting.load(Relaxed)
    }

    /// Returns how many entries of this stripe deaths have ever unlinked, modulo 2^`usize::BITS`.
    #[inline]
    pub(super) fn unlinked(&self) -> usize {
        // Relaxed: as in `waiting`.
        self.unlinked.load(Relaxed)
    }

    /// Notes a look at the list. Returns whether no entry has come since the previous look.
    pub(super) fn look_if_idle(&self) -> bool {
        // Relaxed: a hint.
        self.looked.swap(true, Relaxed)
    }

    /// Takes the list. Returns the newest entry and the number of entries.
    ///
    /// # Safety
    /// The stripe is closed, and the caller is the end of the collection.
    pub(super) unsafe fn take_all(&self) -> (*mut (), usize) {
        // SAFETY: the caller's promise.
        let first = (self.dead).with_mut(|head| unsafe { ptr::replace(head, ptr::null_mut()) });
        (first, self.waiting.swap(0, Relaxed))
    }

    /// Returns how many registrations deaths have ended.
    ///
    /// # Safety
    /// As for [`take_all`](Self::take_all).
    pub(super) unsafe fn ended(&self) -> usize {
        // SAFETY: the caller's promise.
        self.ended.with(|ended| unsafe { *ended })
    }
}

/// Returns the entry that is `nth` entries below `first`. `below` is as for [`Locked::take`].
#[cold]
#[inline(never)]
fn nth_below(first: *mut (), nth: usize, below: impl Fn(*mut ()) -> *mut ()) -> *mut () {
    (0..nth).fold(first, |entry, _| below(entry))
}

impl Locked {
    #[inline]
    fn get<'a>(&self) -> &'a Stripe {
        // SAFETY: while the stripe is locked, the core exists.
        unsafe { self.stripe.as_ref() }
    }

    /// Counts a registration that a death has ended.
    #[inline]
    pub(super) fn count_ended(&self) {
        // SAFETY: we have the lock.
        let count = |ended: *mut usize| unsafe { *ended = (*ended).wrapping_add(1) };
        self.get().ended.with_mut(count);
    }

    /// Puts an entry into the list. `full` is the word of the full lists.
    #[inline]
    pub(super) fn put(&self, dead: &Dead, full: &AtomicUsize) {
        let stripe = self.get();
        // SAFETY: we have the lock.
        let below =
            (stripe.dead).with_mut(|head| unsafe { ptr::replace(head, dead.entry.as_ptr()) });
        // Relaxed: read under the lock.
        // SAFETY: the entry is ours until we unlock.
        unsafe { dead.link.as_ref() }.store(below.map_addr(|addr| addr | LINK), Relaxed);
        // Relaxed: counts; no other thread writes them now.
        let count = |counter: &AtomicUsize| {
            let now = counter.load(Relaxed).wrapping_add(1);
            counter.store(now, Relaxed);
            now
        };
        count(&stripe.unlinked);
        stripe.looked.store(false, Relaxed);
        if count(&stripe.waiting) == FULL {
            // Release: with `CoreRef::take_full`: a stripe that was added is initialised.
            full.fetch_or(stripe.bit, Release);
        }
    }

    /// Returns whether the list is full.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.get().waiting() >= FULL
    }

    /// Takes the newest entries from the list, at most `most` of them. Returns the first entry and
    /// their number. `full` is the word of the full lists; `below` returns the entry to which the
    /// link of an entry leads.
    #[inline]
    pub(super) fn take(
        self,
        most: usize,
        full: &AtomicUsize,
        below: impl Fn(*mut ()) -> *mut (),
    ) -> (*mut (), usize) {
        let stripe = self.get();
        let there = stripe.waiting();
        let (taken, left) = (there.min(most), there.saturating_sub(most));
        // SAFETY: we have the lock.
        let first = stripe.dead.with_mut(|head| unsafe {
            let first = *head;
            *head = if left == 0 {
                ptr::null_mut()
            } else {
                nth_below(first, taken, below)
            };
            first
        });
        stripe.waiting.store(left, Relaxed);
        if there >= FULL && left < FULL {
            // Relaxed: under the lock, as all changes of the bit.
            full.fetch_and(!stripe.bit, Relaxed);
        }
        (first, taken)
    }

    /// Shows the entries of the list, unless there are more than `most`; returns how many there
    /// are.
    pub(super) fn each(
        self,
        most: usize,
        below: impl Fn(*mut ()) -> *mut (),
        mut look: impl FnMut(*mut ()),
    ) -> usize {
        let there = self.get().waiting();
        if there <= most {
            // SAFETY: we have the lock.
            let mut entry = self.get().dead.with(|head| unsafe { *head });
            for _ in 0..there {
                look(entry);
                entry = below(entry);
            }
        }
        there
    }
}
