//! The block of an object: where header and payload lie, and what the header means. `memory`
//! allocates and frees blocks.
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
//! Whether a payload is inline follows from its size and alignment alone, so an unsizing coercion
//! does not change it. Weak pointers and entries keep the block, never a payload apart.
//!
//! Invariants:
//!
//! * **B1** A block is freed by the thread that drops the last share: the object's (until the end
//!   of its death), those that `state` counts or names, and those that the record counts. See
//!   [`state`](super::state).
//! * **B2** `count` is the number of strong pointers while the object lives (with [`MARK`], while a
//!   thread checks it), zero while it dies (or is not constructed yet), and then [`DEAD`] with the
//!   layout of the block. Between the step to zero and the one to `DEAD`, which is the dying
//!   thread's, no thread writes it. (The object of an anchor goes from one to `DEAD`: nothing could
//!   upgrade it.)
//! * **B3** `hash` is the hash under which one collection has its entry: the one whose registration
//!   is the block itself (`THIN`, `SHARED`, or the first of the record). A strong pointer writes it
//!   while it has `state` locked or the gate of the record. Its lowest bit marks a payload apart,
//!   and never changes.
//! * **B4** The words after the header are the payload's while the object lives, and until it has
//!   [returned](super::home). If the payload is apart, the first word is its address, marked in the
//!   lowest bit when the object has died, and the second is the depth of a notice. In an inline
//!   block the first word is that depth once the payload is gone (see [`notice`](super::notice)).

use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::flavour::{Flavour, Variable};
#[cfg(weakly_loom)]
use crate::sync::UnsafeCell;
use crate::sync::{Live, Ordering::*};

/// A block of at most this many bytes has its payload inline. Measured: apart, up to several
/// hundred bytes, costs new + drop 1.2 to 1.4 of `Arc`'s; inline, a dead object keeps this much at
/// most.
pub(crate) const INLINE: usize = 256;

/// The flag of a dead object's `count`; the bits below it are the layout of the block.
pub(super) const DEAD: u32 = 1 << 31;
/// The mark of a live object's `count`: see [`mark`](super::mark). The layout of a dead one never
/// reaches the lower of the two bits.
pub(super) const MARK: u32 = 0b11 << 30;
/// The flag in `hash` of a payload apart.
pub(super) const APART: u32 = 1;
/// The mark of the address of a payload apart whose object has died.
const GONE: usize = 1;

/// The largest number of strong pointers; an upgrade past it aborts. (A clone aborts at twice as
/// many, where the sign bit shows it without another instruction: no number of threads gets from
/// one to the other.)
pub(crate) const MAX_STRONG: u32 = 1 << 30;

// Aligned for the tags in pointers to it.
#[repr(C, align(8))]
pub(crate) struct Header<F: Flavour> {
    pub(super) count: F::Half,
    hash: F::Half,
    pub(super) state: F::Link,
    /// The words after the header: loom's atomics cannot lie in raw memory.
    #[cfg(weakly_loom)]
    tail: (F::Link, F::Word, UnsafeCell<()>),
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

/// Whether a count has the mark.
#[inline(always)]
pub(super) const fn is_marked(count: u32) -> bool {
    count & MARK == MARK
}

/// Rounds up to an alignment. (Not `next_multiple_of`, which divides if the alignment is not a
/// constant.)
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

    /// The block whose place for an inline payload is `place`: see [`place`](Self::place).
    ///
    /// # Safety
    /// `place` is such a place, with the provenance of the block.
    #[inline(always)]
    pub(crate) unsafe fn of_place(place: NonNull<u8>) -> Self {
        // SAFETY: the caller's promise.
        Block(unsafe { place.cast::<Header<F>>().sub(1) }, PhantomData)
    }

    /// Where an inline payload is, or would be: the address that weak pointers and entries keep.
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
    /// `ptr` is what [`as_ptr`](Self::as_ptr) has returned.
    #[inline(always)]
    pub(crate) unsafe fn from_ptr(ptr: *mut ()) -> Self {
        // SAFETY: the caller's promise.
        Block(unsafe { NonNull::new_unchecked(ptr.cast()) }, PhantomData)
    }

    /// The header. The caller has a share in the block (B1), or is about to give its share up by
    /// the one access that follows: a header consists of cells, so a reference to it does not
    /// promise that it outlives that access.
    #[inline(always)]
    pub(super) fn header<'a>(self) -> &'a Header<F> {
        // SAFETY: B1.
        let header = unsafe { self.0.as_ref() };
        header.live.check();
        header
    }

    /// The number of strong pointers; zero if the object is dead, dying or not yet constructed.
    #[inline(always)]
    pub(crate) fn strong_count(self) -> u32 {
        // Relaxed: nothing is read because of it.
        let count = self.header().count.load(Relaxed);
        if count & DEAD == 0 {
            count
        } else if is_marked(count) {
            count & !MARK
        } else {
            0
        }
    }

    /// Whether no upgrade can succeed: dead, dying or (in `new_cyclic`) not yet constructed.
    #[inline(always)]
    pub(crate) fn is_expired(self) -> bool {
        self.strong_count() == 0
    }

    /// Counts one more strong pointer, unless there is none. O(1).
    #[inline(always)]
    pub(crate) fn upgrade(self) -> bool {
        let count = &self.header().count;
        let now = count.first_load(1);
        if now.wrapping_sub(1) >= MAX_STRONG {
            return self.upgrade_marked(now);
        }
        // Acquire: the release by which `new_cyclic` publishes the payload.
        match count.compare_exchange(now, now + 1, Acquire, Relaxed) {
            Ok(_) => true,
            Err(other) => self.upgrade_marked(other),
        }
    }

    /// The hash (B3), in its short form.
    #[inline(always)]
    pub(crate) fn hash(self) -> u32 {
        // Relaxed: written before the registration that the caller knows of, and constant until
        // that ends.
        self.header().hash.load(Relaxed) & !APART
    }

    /// # Safety
    /// B3: the caller has `state` locked, or has the gate of the record.
    #[inline(always)]
    pub(super) unsafe fn set_hash(self, hash: u32) {
        debug_assert_eq!(hash & APART, 0);
        let place = &self.header().hash;
        // Relaxed: every reader has synchronised with the registration.
        place.store(hash | place.load(Relaxed) & APART, Relaxed);
    }

    /// Whether the payload is apart.
    #[inline(always)]
    pub(crate) fn is_apart(self) -> bool {
        self.header().hash.load(Relaxed) & APART != 0
    }

    /// The address of the payload, also when the payload is gone.
    #[inline(always)]
    pub(crate) fn payload(self) -> NonNull<u8> {
        self.payload_if_apart().unwrap_or(self.place())
    }

    /// The payload, if it is not at the [place](Self::place) of an inline one.
    #[inline(always)]
    pub(crate) fn payload_if_apart(self) -> Option<NonNull<u8>> {
        self.is_apart().then(|| self.payload_apart())
    }

    // Out of line, so that it is behind a branch: inline, the compiler loads the word in any case
    // and chooses by a conditional move, and what follows an upgrade, down to its drop, waits for
    // the flag.
    #[cold]
    #[inline(never)]
    fn payload_apart(self) -> NonNull<u8> {
        // Relaxed: written before the block was published; the mark does not matter here.
        let payload = self.payload_word().load(Relaxed);
        let payload = payload.map_addr(|addr| addr & !GONE);
        // SAFETY: the address of a payload is not null.
        unsafe { NonNull::new_unchecked(payload.cast()) }
    }

    /// Whether the object of this block has its payload at `addr`, or had it there and no other
    /// object can be there yet. So no other object is ever mistaken for it: an inline payload's
    /// address is not reused while the block exists, and the address of one apart is marked before
    /// it is freed.
    #[inline(always)]
    pub(crate) fn is_at(self, addr: *const ()) -> bool {
        self.place().as_ptr().addr() == addr.addr() || self.is_apart_at(addr)
    }

    #[inline(always)]
    fn is_apart_at(self, addr: *const ()) -> bool {
        // Relaxed: if a later object is at this address, the caller has synchronised with its
        // construction, and that with the free, which comes after the mark.
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

    /// Marks the address of a payload apart: it is no longer the object's (B4).
    #[inline(always)]
    pub(super) fn mark_gone(self) {
        let word = self.payload_word();
        let marked = word.load(Relaxed).map_addr(|addr| addr | GONE);
        // Relaxed: the mark comes before the free.
        word.store(marked, Relaxed);
    }

    #[cfg(not(weakly_loom))]
    #[inline(always)]
    fn depth_ptr(self, apart: bool) -> NonNull<F::Word> {
        // SAFETY: B4, two words follow the header if the payload is apart, else one.
        unsafe { self.0.add(1).cast::<F::Word>().add(usize::from(apart)) }
    }

    /// The known depth of a notice; zero if it is not known.
    ///
    /// # Safety
    /// B4: the block is a notice.
    #[inline(always)]
    pub(super) unsafe fn depth<'a>(self) -> &'a F::Word {
        #[cfg(not(weakly_loom))]
        // SAFETY: the caller's promise.
        unsafe {
            self.depth_ptr(self.is_apart()).as_ref()
        }
        #[cfg(weakly_loom)]
        {
            self.header().tail.2.with(|_| ());
            &self.header().tail.1
        }
    }

    /// # Safety
    /// B4: the payload is gone, or `apart`, as the caller knows.
    #[inline(always)]
    pub(super) unsafe fn init_depth(self, apart: bool) {
        #[cfg(not(weakly_loom))]
        // SAFETY: B4; no other thread knows the word.
        unsafe {
            self.depth_ptr(apart).write(F::Word::new(0));
        }
        #[cfg(weakly_loom)]
        {
            debug_assert_eq!(apart, self.is_apart());
            self.header().tail.2.with_mut(|_| ());
        }
    }

    /// Whether the block may be another object's by now. For models that play the other.
    #[cfg(all(test, weakly_loom))]
    pub(crate) fn is_freed(self) -> bool {
        // SAFETY: under loom the memory stays.
        unsafe { self.0.as_ref() }.live.has_ended()
    }

    /// Whether the memory of the payload, which is apart, may be another object's by now.
    #[cfg(all(test, weakly_loom))]
    pub(crate) fn payload_is_freed(self) -> bool {
        // SAFETY: as there.
        unsafe { self.0.as_ref() }
            .apart
            .as_ref()
            .is_some_and(Live::has_ended)
    }
}

/// `ptr` with another address. This is how to keep the metadata on stable Rust.
#[inline(always)]
pub(crate) fn with_address<T: ?Sized>(ptr: NonNull<T>, address: NonNull<u8>) -> NonNull<T> {
    let mut new = ptr.as_ptr();
    // SAFETY: a pointer to `T: ?Sized` begins with its data address, as std relied on before it had
    // `with_metadata_of`, which is not stable yet; the assertion below checks it.
    unsafe { (&raw mut new).cast::<*mut u8>().write(address.as_ptr()) };
    assert!(core::ptr::addr_eq(new, address.as_ptr()));
    // SAFETY: `address` is not null.
    unsafe { NonNull::new_unchecked(new) }
}
