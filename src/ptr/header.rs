//! The block of an object: where header and payload lie, and what the header says. How a block is allocated and
//! freed is in `memory`.
//!
//! ```text
//! inline: the whole block is at most INLINE bytes          apart
//! ┌──────────────┬───────┬─────────────┐      ┌──────────────┬───────┬─────────┬───────┐   ┌───────┬─────────┐
//! │ count │ hash │ state │ payload     │      │ count │ hash │ state │ payload ┼ depth │   │ block │ payload │
//! └──────────────┴───────┴─────────────┘      └──────────────┴───────┴────┬────┴───────┘   └───┬───┴─────────┘
//!                         ▲ Strong points here    ▲                       │                    │   ▲ Strong
//!                           (padding, if any,     └───────────────────────┼────────────────────┘   │
//!                           is before the header)                         └────────────────────────┘
//! ```
//!
//! Whether a payload is inline follows from its size and alignment alone, so an unsizing coercion does not
//! change it. Whoever holds on weakly keeps the block, never a payload apart.
//!
//! Invariants:
//!
//! * **B1** A block is freed by whoever takes the last of: the object (until the end of its death), what
//!   `state` counts or names, and what the record counts. See [`state`](super::state).
//! * **B2** `count` is the number of strong handles while the object lives, zero while it dies (or is not
//!   born yet), and then [`DEAD`] with the layout of the block. Nobody writes it between the step to zero
//!   and the one to `DEAD`, which is the dying thread's.
//! * **B3** `hash` is the hash under which the one collection that the block itself stands for (`THIN`, or
//!   the first hook of the record) has its entry. It is written by a strong handle that has `state` locked,
//!   or holds the gate of the record. Its lowest bit says that the payload is apart, and never changes.
//! * **B4** The words after the header are the payload's while the object lives. Apart, the first is the
//!   payload's address, marked in its lowest bit when the object has died; the second, as the first of an
//!   inline block, is the depth of a notice once the payload is gone (see [`notice`](super::notice)).

use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::flavour::{Counter, Flavour, Link, abort};
#[cfg(weakly_loom)]
use crate::sync::UnsafeCell;
use crate::sync::{Live, Ordering::*};

/// A block of at most this many bytes has its payload inside. Measured: apart, up to several hundred bytes,
/// costs new + drop 1.2 to 1.4 of `Arc`'s; inline, a dead object keeps this much at most.
pub(crate) const INLINE: usize = 256;

/// The flag of a dead object's `count`; below it, the layout of the block.
pub(super) const DEAD: u32 = 1 << 31;
/// The flag in `hash`.
pub(super) const APART: u32 = 1;
/// The mark of the address of a payload apart that has died.
const GONE: usize = 1;

/// The largest number of handles; an upgrade past it aborts. (A clone does at twice as many, where the
/// sign tells it without another instruction: no number of threads gets from one to the other.)
pub(crate) const MAX_HANDLES: u32 = 1 << 30;

// Aligned for the tags in pointers to it.
#[repr(C, align(8))]
pub(crate) struct Header<F: Flavour> {
    pub(super) count: F::Half,
    hash: F::Half,
    pub(super) state: F::Link,
    /// loom's atomics cannot lie in raw memory.
    #[cfg(weakly_loom)]
    tail: (F::Link, F::Word, UnsafeCell<()>),
    /// Of a payload apart.
    #[cfg(weakly_loom)]
    pub(super) apart: Option<Live>,
    pub(super) live: Live,
}

#[cfg(not(weakly_loom))]
const _: () = assert!(
    size_of::<Header<super::flavour::Local>>() == 16
        && size_of::<Header<super::flavour::Atomic>>() == 16,
    "is_apart knows it"
);

/// A pointer to a block that is not freed.
pub(crate) struct Block<F: Flavour>(NonNull<Header<F>>, PhantomData<F>);

impl<F: Flavour> Clone for Block<F> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Flavour> Copy for Block<F> {}

impl<F: Flavour> PartialEq for Block<F> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// Rounds up to an alignment. (Not `next_multiple_of`, which divides where it is not a constant.)
#[inline(always)]
pub(super) const fn round_up(size: usize, align: usize) -> usize {
    (size + align - 1) & !(align - 1)
}

/// Whether a payload of this layout is apart.
#[inline(always)]
pub(super) const fn is_apart(payload: Layout) -> bool {
    // (The header of either flavour, as it is without loom.)
    let offset = round_up(
        16,
        if payload.align() > 8 {
            payload.align()
        } else {
            8
        },
    );
    let size = if payload.size() > size_of::<usize>() {
        payload.size()
    } else {
        size_of::<usize>()
    };
    offset + size_of::<usize>() > INLINE || size > INLINE - offset
}

impl<F: Flavour> Header<F> {
    #[inline(always)]
    pub(super) fn new(count: u32, hash: u32, state: *mut ()) -> Self {
        Header {
            count: F::Half::new(count),
            hash: F::Half::new(hash),
            state: F::Link::new(state),
            #[cfg(weakly_loom)]
            tail: (
                F::Link::new(core::ptr::null_mut()),
                F::Word::new(0),
                UnsafeCell::new(()),
            ),
            #[cfg(weakly_loom)]
            apart: (hash == APART).then(Live::new),
            live: Live::new(),
        }
    }
}

impl<F: Flavour> Block<F> {
    /// The block of a payload.
    ///
    /// # Safety
    /// `payload` comes from `memory::allocate` with this layout, keeps the provenance of its allocation, and is
    /// not freed.
    #[inline(always)]
    pub(super) unsafe fn of(payload: NonNull<u8>, layout: Layout) -> Self {
        // SAFETY: the picture above.
        let header = unsafe {
            if is_apart(layout) {
                payload.cast::<NonNull<Header<F>>>().sub(1).read()
            } else {
                payload.cast::<Header<F>>().sub(1)
            }
        };
        Block(header, PhantomData)
    }

    /// The block whose place for an inline payload is `place`: see [`place`](Self::place).
    ///
    /// # Safety
    /// `place` is such a place, with the provenance of the block.
    #[inline(always)]
    pub(crate) unsafe fn of_place(place: NonNull<u8>) -> Self {
        // SAFETY: the caller's promise.
        Block(unsafe { place.cast::<Header<F>>().sub(1) }, PhantomData)
    }

    /// Where an inline payload is, and one apart would be: what weak handles and entries keep.
    #[inline(always)]
    pub(crate) fn place(self) -> NonNull<u8> {
        // SAFETY: there is a word after the header at least.
        unsafe { self.0.add(1).cast() }
    }

    #[inline(always)]
    pub(super) fn as_ptr(self) -> *mut () {
        self.0.as_ptr().cast()
    }

    /// # Safety
    /// `ptr` is what [`as_ptr`](Self::as_ptr) has returned.
    #[inline(always)]
    pub(super) unsafe fn from_ptr(ptr: *mut ()) -> Self {
        // SAFETY: the caller's promise.
        Block(unsafe { NonNull::new_unchecked(ptr.cast()) }, PhantomData)
    }

    /// The header. The caller has a share in the block (B1), or is about to give its share up by the one
    /// access that follows: a header is made of cells, so a reference to it does not promise that it
    /// outlives that access.
    #[inline(always)]
    pub(super) fn header<'a>(self) -> &'a Header<F> {
        // SAFETY: B1.
        let header = unsafe { self.0.as_ref() };
        header.live.check();
        header
    }

    /// The number of strong handles; none if the object is dead, dying or not yet born.
    #[inline(always)]
    pub(crate) fn strong_count(self) -> u32 {
        // Relaxed: nothing is read on the strength of it.
        let count = self.header().count.load(Relaxed);
        if count & DEAD == 0 { count } else { 0 }
    }

    /// Whether no upgrade can succeed: dead, dying or (in `new_cyclic`) not yet born.
    #[inline(always)]
    pub(crate) fn is_expired(self) -> bool {
        self.strong_count() == 0
    }

    /// Whether the object's destructor has run, as far as the caller knows: if that happens before this call,
    /// it has.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn is_dead(self) -> bool {
        // Relaxed: nothing is read on the strength of it, and `DEAD` is final.
        self.header().count.load(Relaxed) & DEAD != 0
    }

    /// Counts one more strong handle, while there is one. O(1).
    #[inline(always)]
    pub(crate) fn upgrade(self) -> bool {
        let count = &self.header().count;
        let mut now = count.first_load(1);
        loop {
            // Never from zero, which is final for all that were born; nor from `DEAD`.
            if now.wrapping_sub(1) >= MAX_HANDLES {
                if now == 0 || now & DEAD != 0 {
                    return false;
                }
                abort();
            }
            // Acquire: the release by which `new_cyclic` publishes the payload.
            match count.compare_exchange(now, now + 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
    }

    /// The hash of B3, in its short form.
    #[inline(always)]
    pub(crate) fn hash(self) -> u32 {
        // Relaxed: written before the registration that the caller knows of, and not changed until it ends.
        self.header().hash.load(Relaxed) & !APART
    }

    /// # Safety
    /// B3: the caller has `state` locked, or the gate of the record.
    #[inline(always)]
    pub(super) unsafe fn set_hash(self, hash: u32) {
        debug_assert_eq!(hash & APART, 0);
        let place = &self.header().hash;
        // Relaxed: whoever reads it has synchronised with the registration.
        place.store(hash | place.load(Relaxed) & APART, Relaxed);
    }

    /// Whether the payload is apart.
    #[inline(always)]
    pub(crate) fn is_apart(self) -> bool {
        self.header().hash.load(Relaxed) & APART != 0
    }

    /// The payload: where it is, or was.
    #[inline(always)]
    pub(crate) fn payload(self) -> NonNull<u8> {
        self.payload_if_apart().unwrap_or(self.place())
    }

    /// The payload, if it is not at the [place](Self::place) of an inline one.
    #[inline(always)]
    pub(crate) fn payload_if_apart(self) -> Option<NonNull<u8>> {
        self.is_apart().then(|| self.payload_apart())
    }

    #[inline]
    fn payload_apart(self) -> NonNull<u8> {
        // Relaxed: written before the block was published; the mark says nothing of what is there.
        let payload = self.payload_word().load(Relaxed);
        let payload = payload.map_addr(|addr| addr & !GONE);
        // SAFETY: the address of a payload is not null.
        unsafe { NonNull::new_unchecked(payload.cast()) }
    }

    /// Whether the object of this block has its payload at `addr`, or had it there and nobody else can
    /// have it yet. So nothing else is ever taken for it: an inline payload's address is not used again
    /// while there is a block, and one apart is marked before it is freed.
    #[inline(always)]
    pub(crate) fn is_at(self, addr: *const ()) -> bool {
        self.place().as_ptr().addr() == addr.addr() || self.is_apart_at(addr)
    }

    #[inline(always)]
    fn is_apart_at(self, addr: *const ()) -> bool {
        // Relaxed: if an object that came later is at this address, whoever asks has synchronised with its
        // making, and that with the free which the mark precedes.
        self.is_apart() && self.payload_word().load(Relaxed).addr() == addr.addr()
    }

    #[cfg(not(weakly_loom))]
    #[inline(always)]
    fn payload_word<'a>(self) -> &'a F::Link {
        // SAFETY: B4, the first word behind the header of a block whose payload is apart.
        unsafe { self.0.add(1).cast::<F::Link>().as_ref() }
    }

    #[cfg(weakly_loom)]
    fn payload_word<'a>(self) -> &'a F::Link {
        &self.header().tail.0
    }

    /// # Safety
    /// The payload is apart, and the block fresh.
    #[inline(always)]
    pub(super) unsafe fn init_payload(self, payload: *mut u8) {
        #[cfg(not(weakly_loom))]
        // SAFETY: B4.
        unsafe {
            self.0
                .add(1)
                .cast::<F::Link>()
                .write(F::Link::new(payload.cast()));
        }
        #[cfg(weakly_loom)]
        self.payload_word().store(payload.cast(), Relaxed);
    }

    /// Marks the address of a payload apart: it is no object's any more (B4).
    #[inline(always)]
    pub(super) fn mark_gone(self) {
        let word = self.payload_word();
        let marked = word.load(Relaxed).map_addr(|addr| addr | GONE);
        // Relaxed: the mark precedes the free.
        word.store(marked, Relaxed);
    }

    #[cfg(not(weakly_loom))]
    #[inline(always)]
    fn depth_ptr(self) -> NonNull<F::Word> {
        // SAFETY: B4, there are two words behind the header if the payload is apart, else one.
        unsafe {
            self.0
                .add(1)
                .cast::<F::Word>()
                .add(usize::from(self.is_apart()))
        }
    }

    /// What of a notice's depth is known; zero if nothing is.
    ///
    /// # Safety
    /// B4: the block is a notice.
    #[inline(always)]
    pub(super) unsafe fn depth<'a>(self) -> &'a F::Word {
        #[cfg(not(weakly_loom))]
        // SAFETY: the caller's promise.
        unsafe {
            self.depth_ptr().as_ref()
        }
        #[cfg(weakly_loom)]
        {
            self.header().tail.2.with(|_| ());
            &self.header().tail.1
        }
    }

    /// # Safety
    /// B4: the payload is gone, or apart.
    #[inline(always)]
    pub(super) unsafe fn init_depth(self) {
        #[cfg(not(weakly_loom))]
        // SAFETY: B4; nobody else knows the word.
        unsafe {
            self.depth_ptr().write(F::Word::new(0));
        }
        #[cfg(weakly_loom)]
        self.header().tail.2.with_mut(|_| ());
    }

    /// Whether the block could be another's by now: asked by a model that plays the other.
    #[cfg(all(test, weakly_loom))]
    pub(crate) fn has_gone(self) -> bool {
        // SAFETY: under loom the memory stays.
        unsafe { self.0.as_ref() }.live.has_ended()
    }

    /// The same of its payload, which is apart.
    #[cfg(all(test, weakly_loom))]
    pub(crate) fn has_lost_payload(self) -> bool {
        // SAFETY: as there.
        unsafe { self.0.as_ref() }
            .apart
            .as_ref()
            .is_some_and(Live::has_ended)
    }
}

/// `ptr` with another address: the metadata of a pointer without a stable way to take it apart.
#[inline(always)]
pub(crate) fn with_address<T: ?Sized>(ptr: NonNull<T>, address: NonNull<u8>) -> NonNull<T> {
    let mut new = ptr.as_ptr();
    // SAFETY: a pointer to `T: ?Sized` begins with its data address, as std relied on before it had
    // `with_metadata_of`, which is not stable yet; the assertion holds us to it.
    unsafe { (&raw mut new).cast::<*mut u8>().write(address.as_ptr()) };
    assert!(core::ptr::addr_eq(new, address.as_ptr()));
    // SAFETY: not null, as it is `address`.
    unsafe { NonNull::new_unchecked(new) }
}
