//! The block of an object: the places of header and payload, and the meaning of the header's words.
//! `memory` allocates and frees blocks.
//!
//! ```text
//! inline: the whole block is at most INLINE bytes          apart
//! ┌──────────────┬───────┬─────────────┐      ┌──────────────┬───────┬─────────┐   ┌───────┬─────────┐
//! │ count │ hash │ state │ payload     │      │ count │ hash │ state │ payload ┼─┐ │ block │ payload │
//! └──────────────┴───────┴─────────────┘      └──────────────┴───────┴─────────┘ │ └───┼───┴─────────┘
//!                         ▲ Strong points here    ▲                              │     │   ▲ Strong
//!                           (padding, if any,     └──────────────────────────────┼─────┘   │
//!                           is before the header)                                └─────────┘
//! ```
//!
//! The size and the alignment of a payload alone decide whether the payload is inline, so an
//! unsizing coercion does not move it. Weak pointers and entries keep the block, never a payload
//! apart.
//!
//! Invariants:
//!
//! * **B1** The thread that drops the last share of a block frees the block. The shares are the
//!   object's (until the end of its death), the shares that `state` counts or names, and the shares
//!   that the record counts. See [`state`](super::state).
//! * **B2** `count` is the number of strong pointers while the object lives (with [`MARK`], while a
//!   thread checks the count), zero while the object dies or is not constructed yet, and then
//!   [`DEAD`] with the layout of the block. The dying thread steps from zero to `DEAD`; between the
//!   step to zero and the step to `DEAD`, no thread writes `count`. (The object of an anchor goes
//!   from one to `DEAD`: no thread could upgrade a weak pointer to it.)
//! * **B3** `hash` is the hash under which one collection has its entry: the collection whose
//!   registration is the block itself (`THIN`, `SHARED`, or the first registration of the record).
//!   The thread of a strong pointer writes `hash` while the thread has `state` locked or holds the
//!   gate of the record. The lowest bit of `hash` marks a payload apart, and never changes.
//! * **B4** The words after the header are the payload's while the object lives, and until the
//!   object has [returned](super::home). If the payload is apart, one word follows: the payload's
//!   address, marked in the lowest bit when the object has died.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::flavour::{Flavour, Variable};
use crate::sync::{Live, Ordering::*};

/// A block of at most this many bytes has its payload inline. Measured: a payload apart, up to
/// several hundred bytes, makes new + drop cost 1.2 to 1.4 times as much as `Arc`'s; with an inline
/// payload, a dead object keeps at most this many bytes.
pub(crate) const INLINE: usize = 256;

/// The flag of a dead object's `count`; the bits below it are the layout of the block.
pub(super) const DEAD: u32 = 1 << 31;
/// The mark of a live object's `count`: see [`mark`](super::mark). The layout in a dead object's
/// `count` never reaches the lower of the two bits.
pub(super) const MARK: u32 = 0b11 << 30;
/// The flag in `hash` of a payload apart.
pub(super) const APART: u32 = 1;
/// The mark of the address of a payload apart whose object has died.
const GONE: usize = 1;

/// The largest number of strong pointers; an upgrade past it aborts. (A clone aborts at twice as
/// many, where the sign bit shows the excess without another instruction. There are not enough
/// threads to get from one limit to the other.)
pub(crate) const MAX_STRONG: u32 = 1 << 30;

// Aligned for the tags in pointers to a header.
#[repr(C, align(8))]
pub(crate) struct Header<F: Flavour> {
    pub(super) count: F::Half,
    hash: F::Half,
    pub(super) state: F::Link,
    /// The word after the header: loom's atomics cannot lie in raw memory.
    #[cfg(weakly_loom)]
    tail: F::Link,
    /// The mark of a payload apart.
    #[cfg(weakly_loom)]
    pub(super) apart: Option<Live>,
    pub(super) live: Live,
}

#[cfg(not(weakly_loom))]
const _: () = assert!(
    size_of::<Header<super::flavour::Local>>() == 16
        && size_of::<Header<super::flavour::Atomic>>() == 16,
    "is_apart knows the size of a header"
);

/// A pointer to a block that is not freed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Block<F: Flavour>(NonNull<Header<F>>, PhantomData<F>);

/// Returns whether a count has the mark.
#[inline(always)]
pub(super) const fn is_marked(count: u32) -> bool {
    count & MARK == MARK
}

/// Rounds up to an alignment. (`next_multiple_of` would divide if the alignment is not a constant.)
#[inline(always)]
pub(super) const fn round_up(size: usize, align: usize) -> usize {
    (size + align - 1) & !(align - 1)
}

/// Returns whether a payload of this layout is apart.
#[inline(always)]
pub(super) const fn is_apart(payload: Layout) -> bool {
    // The size of a header of either flavour without loom.
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
            tail: F::Link::new(core::ptr::null_mut()),
            #[cfg(weakly_loom)]
            apart: (hash == APART).then(Live::new),
            live: Live::new(),
        }
    }
}

impl<F: Flavour> Block<F> {
    /// Returns the block of a payload.
    ///
    /// # Safety
    /// `payload` comes from `memory::allocate` with this layout, keeps the provenance of its
    /// allocation, and is not freed.
    #[inline(always)]
    pub(super) unsafe fn of(payload: NonNull<u8>, layout: Layout) -> Self {
        // SAFETY: the layouts in the module's picture.
        let header = unsafe {
            if is_apart(layout) {
                payload.cast::<NonNull<Header<F>>>().sub(1).read()
            } else {
                payload.cast::<Header<F>>().sub(1)
            }
        };
        Block(header, PhantomData)
    }

    /// Returns the block whose place for an inline payload is `place`: see [`place`](Self::place).
    ///
    /// # Safety
    /// `place` was returned by [`place`](Self::place), and has the provenance of the block.
    #[inline(always)]
    pub(crate) unsafe fn of_place(place: NonNull<u8>) -> Self {
        // SAFETY: the caller's promise.
        Block(unsafe { place.cast::<Header<F>>().sub(1) }, PhantomData)
    }

    /// Returns the place where an inline payload is, or would be. Weak pointers and entries keep
    /// this address.
    #[inline(always)]
    pub(crate) fn place(self) -> NonNull<u8> {
        // SAFETY: at least one word follows the header.
        unsafe { self.0.add(1).cast() }
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut () {
        self.0.as_ptr().cast()
    }

    /// # Safety
    /// `ptr` was returned by [`as_ptr`](Self::as_ptr).
    #[inline(always)]
    pub(crate) unsafe fn from_ptr(ptr: *mut ()) -> Self {
        // SAFETY: the caller's promise.
        Block(unsafe { NonNull::new_unchecked(ptr.cast()) }, PhantomData)
    }

    /// Returns the header. The caller has a share in the block (B1), or is about to give its share
    /// up by the next access to the header. A header consists of cells, so a reference to it does
    /// not promise that the header outlives the access.
    #[inline(always)]
    pub(super) fn header<'a>(self) -> &'a Header<F> {
        // SAFETY: B1.
        let header = unsafe { self.0.as_ref() };
        header.live.check();
        header
    }

    /// Returns the number of strong pointers; zero if the object is dead, dying or not yet
    /// constructed.
    #[inline(always)]
    pub(crate) fn strong_count(self) -> u32 {
        // Relaxed: the value guards no other memory.
        let count = self.header().count.load(Relaxed);
        if count & DEAD == 0 {
            count
        } else if is_marked(count) {
            count & !MARK
        } else {
            0
        }
    }

    /// Returns whether no upgrade can succeed: the object is dead, dying or (in `new_cyclic`) not
    /// yet constructed.
    #[inline(always)]
    pub(crate) fn is_expired(self) -> bool {
        self.strong_count() == 0
    }

    /// Counts one more strong pointer, unless there is none. O(1).
    #[inline(always)]
    pub(crate) fn upgrade(self) -> bool {
        let count = &self.header().count;
        let now = count.first_load(1);
        // One test for zero, which wraps, `DEAD`, a mark, and too large a count.
        if now.wrapping_sub(1) >= MAX_STRONG {
            return self.upgrade_marked(now);
        }
        // Acquire: the Release by which `new_cyclic` publishes the payload.
        match count.compare_exchange(now, now + 1, Acquire, Relaxed) {
            Ok(_) => true,
            Err(other) => self.upgrade_marked(other),
        }
    }

    /// Returns the hash (B3), in its short form.
    #[inline(always)]
    pub(crate) fn hash(self) -> u32 {
        // Relaxed: the hash was written before the registration that the caller knows of, and is
        // constant until the registration ends.
        self.header().hash.load(Relaxed) & !APART
    }

    /// # Safety
    /// B3: the caller has `state` locked, or holds the gate of the record.
    #[inline(always)]
    pub(super) unsafe fn set_hash(self, hash: u32) {
        debug_assert_eq!(hash & APART, 0);
        let place = &self.header().hash;
        // Relaxed: every reader has synchronised with the registration.
        place.store(hash | place.load(Relaxed) & APART, Relaxed);
    }

    /// Returns whether the payload is apart.
    #[inline(always)]
    pub(crate) fn is_apart(self) -> bool {
        self.header().hash.load(Relaxed) & APART != 0
    }

    /// Returns the address of the payload, also when the payload is gone.
    #[inline(always)]
    pub(crate) fn payload(self) -> NonNull<u8> {
        self.payload_if_apart().unwrap_or(self.place())
    }

    /// Returns the payload, unless it is at the [place](Self::place) of an inline payload.
    #[inline(always)]
    pub(crate) fn payload_if_apart(self) -> Option<NonNull<u8>> {
        self.is_apart().then(|| self.payload_apart())
    }

    // Out of line, so that the load is behind a branch. Inline, the compiler loads the word in any
    // case and chooses by a conditional move; then the code after an upgrade, down to the drop,
    // waits for the flag.
    #[cold]
    #[inline(never)]
    fn payload_apart(self) -> NonNull<u8> {
        // Relaxed: the word was written before the block was published; the mark does not matter
        // here.
        let payload = self.payload_word().load(Relaxed);
        let payload = payload.map_addr(|addr| addr & !GONE);
        // SAFETY: the address of a payload is not null.
        unsafe { NonNull::new_unchecked(payload.cast()) }
    }

    /// Returns whether the object of this block has its payload at `addr`, or had its payload there
    /// and no other object can be there yet. So no other object is ever mistaken for this object:
    /// the address of an inline payload is not reused while the block exists, and the address of a
    /// payload apart is marked before the payload is freed.
    #[inline(always)]
    pub(crate) fn is_at(self, addr: *const ()) -> bool {
        self.place().as_ptr().addr() == addr.addr() || self.is_apart_at(addr)
    }

    #[inline(always)]
    fn is_apart_at(self, addr: *const ()) -> bool {
        // Relaxed: if a later object is at this address, the caller has synchronised with the later
        // object's construction, and the construction with the free, which comes after the mark.
        self.is_apart() && self.payload_word().load(Relaxed).addr() == addr.addr()
    }

    #[cfg(not(weakly_loom))]
    #[inline(always)]
    fn payload_word<'a>(self) -> &'a F::Link {
        // SAFETY: B4, the word behind the header of a block whose payload is apart.
        unsafe { self.0.add(1).cast::<F::Link>().as_ref() }
    }

    #[cfg(weakly_loom)]
    fn payload_word<'a>(self) -> &'a F::Link {
        &self.header().tail
    }

    /// # Safety
    /// The payload is apart, and the block is new.
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

    /// Marks the address of a payload apart: the address is no longer the object's (B4).
    #[inline(always)]
    pub(super) fn mark_gone(self) {
        let word = self.payload_word();
        let marked = word.load(Relaxed).map_addr(|addr| addr | GONE);
        // Relaxed: the mark comes before the free.
        word.store(marked, Relaxed);
    }

    /// Returns whether the block may be another object's by now. For models, which play the other
    /// object.
    #[cfg(all(test, weakly_loom))]
    pub(crate) fn is_freed(self) -> bool {
        // SAFETY: under loom the memory stays.
        unsafe { self.0.as_ref() }.live.has_ended()
    }

    /// Returns whether the memory of the payload, which is apart, may be another object's by now.
    #[cfg(all(test, weakly_loom))]
    pub(crate) fn payload_is_freed(self) -> bool {
        // SAFETY: as in `is_freed`.
        unsafe { self.0.as_ref() }
            .apart
            .as_ref()
            .is_some_and(Live::has_ended)
    }
}

/// Returns `ptr` with another address. This is how to keep the metadata on stable Rust.
#[inline(always)]
pub(crate) fn with_address<T: ?Sized>(ptr: NonNull<T>, address: NonNull<u8>) -> NonNull<T> {
    let mut new = ptr.as_ptr();
    // SAFETY: a pointer to `T: ?Sized` begins with its data address. The standard library relied on
    // the same layout before it had `with_metadata_of`, which is not stable yet. The assertion
    // below checks the layout.
    unsafe { (&raw mut new).cast::<*mut u8>().write(address.as_ptr()) };
    assert!(core::ptr::addr_eq(new, address.as_ptr()));
    // SAFETY: `address` is not null.
    unsafe { NonNull::new_unchecked(new) }
}
