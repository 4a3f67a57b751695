//! The anchor: an identity that is a field of a value, and the weak handle to the anchor.
//!
//! * **A1** The word of an anchor is null, or the place of a block of ours. The block's object has
//!   no payload and is alive until the anchor is dropped. The word changes once, from null. The
//!   object's count is one, and no strong pointer to the object is ever made. So the drop of the
//!   anchor is the object's death, and the count goes from one to `DEAD` at once (B2).

use alloc::boxed::Box;
use core::alloc::Layout;
use core::cmp;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};

use super::death::Disposal;
use super::finalize::{FinalizerToken, register};
use super::flavour::{Atomic, Flavour, Local, Variable};
use super::header::Block;
use super::memory;
use super::object_ref::ObjectRef;
use super::state;
use super::weak::Weak;
use crate::sync::Ordering::*;

/// A field that gives its value an identity, wherever the value is: in a `Box`, a `Vec`, an arena,
/// on the stack. Weak collections take the anchor as a key, and the anchor's drop is the death of
/// the value.
///
/// Use it as [`Anchor`](crate::Anchor), or as [`local::Anchor`](crate::local::Anchor) for values
/// that stay on one thread.
///
/// An anchor is one word, and nothing else until an entry, an [`AnchorRef`](crate::AnchorRef) or a
/// finalizer watches it. From there on an anchor [costs](crate::guide::costs#memory) as much as a
/// [`Strong`](crate::Strong) object. Making, looking up and dropping an unwatched anchor allocates
/// nothing, and takes no locked instruction.
///
/// An anchor is a key of [`WeakMap`](crate::WeakMap), [`WeakSet`](crate::WeakSet) and
/// [`WeakPairMap`](crate::WeakPairMap), of the collections of the same names in
/// [`concurrent`](crate::concurrent), of [`Attributes`](crate::Attributes), and an input of
/// [`Memo`](crate::Memo)s. All methods of these types take anchors, except the methods that return
/// a strong handle to a key. An [`AnchorRef`](crate::AnchorRef) takes the place of a weak handle,
/// as in `iter_weak` and `get_or_insert_with`.
/// [`ReferenceQueue::register_anchor`](crate::ReferenceQueue::register_anchor) delivers the
/// anchor's death.
///
/// ```
/// use weakly::{Anchor, WeakMap};
///
/// struct Node { name: &'static str, anchor: Anchor } // the anchor last
///
/// let mut arena: Vec<Node> = ["a", "b"].map(|name| Node { name, anchor: Anchor::new() }).into();
/// let mut depth = WeakMap::new();
/// depth.insert(&arena[1].anchor, 7);
/// let b = arena.swap_remove(1); // the node moves; its identity stays
/// assert_eq!((b.name, depth.get(&b.anchor)), ("b", Some(&7)));
/// assert_eq!(depth.get(&arena[0].anchor), None);
/// drop(b);
/// assert!(depth.is_empty());
/// ```
///
/// # An anchor says nothing about its value
///
/// So `derive` on the value means the same as without the anchor: two anchors are always equal,
/// they hash to nothing, and the clone of an anchor is a **new identity**, without the attributes
/// of the first. To compare identities, use [`ptr_eq`](Self::ptr_eq), or compare
/// [`AnchorRef`](crate::AnchorRef)s.
///
/// # What to look out for
///
/// * **Declare the anchor last.** Fields are dropped in the order of their declaration, after the
///   value's own `Drop::drop`. The attributes live until the anchor is dropped, so fields that are
///   dropped before the anchor still find the attributes.
/// * A forgotten or leaked anchor never dies. Its entries stay until they are removed.
/// * The identity is the anchor. Swapping two anchors swaps the attributes of their values;
///   assigning a new anchor is the death of the old anchor; [`mem::take`](core::mem::take) leaves a
///   new identity and returns the old one. Swapping or moving whole values changes nothing.
/// * If a map's value owns the anchor that is the value's key, the value keeps its own entry, as
///   with every weak key.
///
/// # Layout
///
/// An anchor is `repr(transparent)` over one pointer, and that stays so: an anchor can be a field
/// of a C struct, there a `void *`. All zeros are an anchor that nobody watches, so memory from
/// `calloc` holds anchors. C moves an anchor like any other word, gives a clone of a struct a zero,
/// and reads nothing in the word. Only [`drop_in_place`](core::ptr::drop_in_place) is the death: a
/// struct that C frees without it never dies.
///
/// ```
/// use std::mem::{MaybeUninit, size_of};
/// use weakly::{Anchor, WeakMap};
///
/// #[repr(C)]
/// struct Widget { width: u32, anchor: Anchor } // in C: uint32_t width; void *anchor;
///
/// assert_eq!(size_of::<Anchor>(), size_of::<*mut ()>());
/// // SAFETY: zeros are a width, and an anchor that nobody watches.
/// let widget: Widget = unsafe { MaybeUninit::zeroed().assume_init() };
/// let mut names = WeakMap::new();
/// names.insert(&widget.anchor, "button");
/// drop(widget);
/// assert!(names.is_empty());
/// ```
///
/// # At the drop
///
/// When an anchor is dropped, the same [happens as at the
/// death](crate::ptr::Strong#what-happens-at-the-death) of an object: its weak handles are dead, no
/// collection finds an entry for the anchor, and its finalizers run, newest first. If a finalizer
/// panics, the others still run, and the panic propagates from the drop.
#[repr(transparent)]
pub struct Anchor<F: Flavour> {
    /// See A1.
    object: F::Link,
}

/// A weak handle to a value with an [`Anchor`](crate::Anchor). The handle can be compared, hashed,
/// and asked whether the value is still there. It never leads to the value.
///
/// Use it as [`AnchorRef`](crate::AnchorRef) or [`local::AnchorRef`](crate::local::AnchorRef). Two
/// handles are equal, and hash equal, exactly if they were made from the same anchor, also after
/// the anchor's drop. In a lookup a handle identifies its anchor; a dead handle finds nothing.
///
/// ```
/// use weakly::Anchor;
///
/// let (one, other) = (Anchor::new(), Anchor::new());
/// let weak = one.downgrade();
/// assert!(weak == one.downgrade() && weak != other.downgrade());
/// drop(one);
/// assert!(weak.is_expired());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct AnchorRef<F: Flavour>(Weak<(), F>);

impl<F: Flavour> Anchor<F> {
    /// Creates an identity that nothing watches. Allocates nothing.
    #[cfg(not(weakly_loom))]
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Anchor { object: F::NULL }
    }

    /// Creates an identity at run time, since loom's types cannot be constants.
    #[cfg(weakly_loom)]
    pub fn new() -> Self {
        Anchor {
            object: F::Link::new(ptr::null_mut()),
        }
    }

    /// Returns a weak handle. O(1). Allocates if nothing watched the anchor before, or if only one
    /// entry does.
    #[must_use]
    pub fn downgrade(&self) -> AnchorRef<F> {
        let object = self.object();
        // SAFETY: the anchor keeps the object alive; the new share is the weak pointer's.
        AnchorRef(unsafe {
            object.block().downgrade();
            Weak::from_counted(object.place())
        })
    }

    /// Returns whether both are the same anchor.
    #[must_use]
    #[inline]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }

    /// Returns the object, which is made if there is none.
    #[inline]
    pub(crate) fn object(&self) -> ObjectRef<'_, (), F> {
        // (An acquire, as in `make`.)
        let place = match NonNull::new(self.object.first_load(ptr::null_mut())) {
            Some(place) => place,
            None => self.make(),
        };
        // SAFETY: A1, and the anchor is borrowed.
        unsafe { ObjectRef::new(place, Block::of_place(place.cast())) }
    }

    /// Makes the object, unless another thread is faster.
    #[cold]
    #[inline(never)]
    fn make(&self) -> NonNull<()> {
        let new = memory::allocate::<F>(Layout::new::<()>(), 1, state::NONE).cast::<()>();
        // Release: the block is initialised for the threads that find it.
        // Acquire on failure: the other thread's block is initialised.
        let there = (self.object).compare_exchange(ptr::null_mut(), new.as_ptr(), Release, Acquire);
        match there.map_err(NonNull::new) {
            Err(Some(there)) => {
                // SAFETY: no other thread knows the new object.
                unsafe { end::<F>(new) };
                there
            }
            _ => new,
        }
    }

    /// Returns the address of the object, or null if there is none.
    #[inline(always)]
    pub(crate) fn known_addr(&self) -> *const () {
        // Relaxed: callers only compare the address. If an entry was inserted, or a weak handle
        // made, before this call (happens-before), the load finds the address of the object: the
        // word changes once (A1).
        self.object.load(Relaxed)
    }
}

impl Anchor<Atomic> {
    /// Registers `f` to run once, when the anchor is dropped, on the dropping thread, when no
    /// collection finds an entry for the anchor any more. See
    /// [`Strong::finalize`](crate::ptr::Strong::finalize) for the details. O(1).
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use weakly::Anchor;
    ///
    /// let (sender, receiver) = channel();
    /// let node = Box::new((1, Anchor::new()));
    /// node.1.finalize(move || sender.send("gone").unwrap());
    /// drop(node);
    /// assert_eq!(receiver.try_recv(), Ok("gone"));
    /// ```
    pub fn finalize(&self, f: impl FnOnce() + Send + 'static) -> FinalizerToken<Atomic> {
        register(self.object(), Box::new(f))
    }
}

impl Anchor<Local> {
    /// Registers `f` to run once, when the anchor is dropped. Does the same as
    /// [`Anchor::finalize`](crate::Anchor::finalize), for one thread: `f` need not be `Send`.
    pub fn finalize(&self, f: impl FnOnce() + 'static) -> FinalizerToken<Local> {
        register(self.object(), Box::new(f))
    }
}

impl<F: Flavour> Drop for Anchor<F> {
    /// Costs one load, if nothing watches the anchor. Otherwise the drop pays for the death:
    /// O(entries for the anchor), and the finalizers.
    #[inline]
    fn drop(&mut self) {
        // Relaxed: `&mut self` has synchronised with the thread that made the object.
        if let Some(object) = NonNull::new(self.object.load(Relaxed)) {
            // SAFETY: A1: no thread can reach the object through this anchor any more.
            unsafe { end::<F>(object) };
        }
    }
}

/// Ends an object. Out of line, since most anchors are never watched.
///
/// # Safety
/// `place` is the place of an object as in A1, and is not used afterwards.
#[cold]
#[inline(never)]
unsafe fn end<F: Flavour>(place: NonNull<()>) {
    let end = Disposal::<F> {
        // SAFETY: the caller's promise.
        block: unsafe { Block::of_place(place.cast()) },
        // Inline, and of no size.
        payload: place.cast(),
        layout: Layout::new::<()>(),
    };
    // (To decrement the count first would be one more locked instruction.)
    end.run();
}

impl<F: Flavour> Default for Anchor<F> {
    /// Creates a new identity.
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Flavour> Clone for Anchor<F> {
    /// Creates a new identity: the clone of a value is another value.
    fn clone(&self) -> Self {
        Self::new()
    }
}

/// Always equal: an anchor says nothing about its value.
impl<F: Flavour> PartialEq for Anchor<F> {
    #[inline]
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<F: Flavour> Eq for Anchor<F> {}

impl<F: Flavour> PartialOrd for Anchor<F> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<F: Flavour> Ord for Anchor<F> {
    #[inline]
    fn cmp(&self, _: &Self) -> cmp::Ordering {
        cmp::Ordering::Equal
    }
}

/// Hashes nothing.
impl<F: Flavour> Hash for Anchor<F> {
    #[inline]
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl<F: Flavour> fmt::Debug for Anchor<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.known_addr().is_null() {
            "Anchor"
        } else {
            "Anchor(watched)"
        })
    }
}

// A panic cannot break the anchor of a value.
impl<F: Flavour> UnwindSafe for Anchor<F> {}
impl<F: Flavour> RefUnwindSafe for Anchor<F> {}

impl<F: Flavour> AnchorRef<F> {
    #[inline]
    pub(crate) fn new(object: Weak<(), F>) -> Self {
        AnchorRef(object)
    }

    /// Returns whether the anchor has been dropped. `false` is a snapshot.
    #[must_use]
    #[inline]
    pub fn is_expired(&self) -> bool {
        self.0.is_expired()
    }

    /// Returns whether this handle was made from the given anchor. O(1), and allocates nothing,
    /// unlike a comparison with [`downgrade`](Anchor::downgrade).
    ///
    /// ```
    /// use weakly::Anchor;
    ///
    /// let [one, other] = [Anchor::new(), Anchor::new()];
    /// let selected = one.downgrade();
    /// assert!(selected.is(&one) && !selected.is(&other));
    /// ```
    #[must_use]
    #[inline]
    pub fn is(&self, anchor: &Anchor<F>) -> bool {
        // Our share keeps the block, so no later object is at its place. An anchor that nothing
        // watched has no block.
        ptr::eq(self.0.as_ptr(), anchor.known_addr())
    }

    /// Returns the address of the object, live or dead.
    #[inline]
    pub(crate) fn identity(&self) -> *const () {
        self.0.identity()
    }

    /// Returns the address of the object, or null if it is dead.
    #[inline]
    pub(crate) fn addr_if_live(&self) -> *const () {
        if self.is_expired() {
            ptr::null()
        } else {
            self.0.as_ptr()
        }
    }
}

impl<F: Flavour> fmt::Debug for AnchorRef<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_expired() {
            "(AnchorRef, dead)"
        } else {
            "(AnchorRef)"
        })
    }
}
