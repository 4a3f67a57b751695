//! Keeps objects alive for one owner.

use alloc::vec::Vec;
use core::fmt;
use core::iter;

use super::limit::Limit;
use super::ring::{Outcome, Ring};
use crate::panics::run_all;
use crate::reference::{Identify, StrongRef, WeakKey};

/// Strong handles to the objects that were used last, within a [`Limit`]: the objects live on for a
/// while although nobody uses them.
///
/// A `KeepAlive` serves weak collections as their [*floor*](crate::guide::keep). Code that finds an
/// evicted object in the collection can keep the object again, by [`keep`](Self::keep). A
/// `KeepAlive` may serve several collections, since it knows the objects, but not their keys.
///
/// When the limit is exceeded, SIEVE chooses the victim (Y. Zhang et al., NSDI 2024). Its hand
/// moves from older to newer objects, skips the objects that were touched since its last visit, and
/// evicts the first object that was not. The hand begins again with the oldest object after at most
/// twice as many evictions as there are objects: an object that is not touched goes before five
/// times as many others have gone. With [`generations`](Limit::generations), objects that were not
/// touched for a while are evicted, too.
///
/// `KeepAlive` is for one owner, and takes handles of any kind. Threads share a
/// [`concurrent::KeepAlive`](crate::concurrent::KeepAlive), in which shared collections [keep their
/// objects](crate::concurrent::WeakValueMap::set_keep_alive) by themselves, and which tells a
/// listener about each eviction.
///
/// An object takes some 58 bytes here.
///
/// ```
/// use weakly::{WeakValueMap, keep::{KeepAlive, Limit}, local::Strong};
///
/// let mut fonts = WeakValueMap::new();
/// let mut latest = KeepAlive::new(Limit::entries(2));
/// let mut loads = 0;
/// let mut font = |name: &'static str| {
///     let font = fonts.get_or_insert_with(name, |name| {
///         loads += 1;
///         Strong::new(format!("the font {name}"))
///     });
///     latest.keep(&font, 1);
///     font
/// };
/// let sans = font("sans");
/// drop(font("serif")); // stays, though nobody uses it
/// drop(font("serif"));
/// for other in ["mono", "slab", "hand"] {
///     drop(font(other)); // there are two at most: others go
/// }
/// assert!(Strong::ptr_eq(&sans, &font("sans"))); // it is in use, and so it was never missing
/// assert_eq!(loads, 5);
/// ```
pub struct KeepAlive<P: StrongRef> {
    ring: Ring<P>,
}

impl<P: StrongRef> KeepAlive<P> {
    /// Creates a `KeepAlive` that keeps nothing yet. Allocates nothing before the first object.
    pub const fn new(limit: Limit) -> Self {
        KeepAlive {
            ring: Ring::new(limit),
        }
    }

    /// Returns the limit.
    pub fn limit(&self) -> Limit {
        self.ring.limit()
    }

    /// Sets another limit, and evicts the objects beyond the limit at once: O(evicted objects).
    pub fn set_limit(&mut self, limit: Limit) {
        self.ring.set_limit(limit);
        self.settle();
    }

    /// Keeps an object alive as the newest, and returns true. An object that is kept already is
    /// touched, and gets the new weight. Returns false, and does not keep the object, if the object
    /// is heavier than the limit, or the limit is 0 entries. O(1) amortised, and O(evicted
    /// objects).
    ///
    /// The weight says how much of the limit the object takes: bytes, say, or 1. The weight changes
    /// only by another call of this method.
    pub fn keep(&mut self, object: &P, weight: usize) -> bool
    where
        P: Clone,
    {
        // `Clone` may return a handle to another object: the object of the new handle is kept.
        let handle = object.clone();
        let addr = addr_of(&handle);
        let kept = self.ring.keep(addr, weight, handle);
        let is_kept = !matches!(kept, Outcome::Refused(_));
        self.settle();
        drop(kept);
        is_kept
    }

    /// Notes a use of a kept object, so that its eviction comes later. Returns whether the object
    /// is kept. O(1).
    pub fn touch<Q: ?Sized + Identify<P>>(&mut self, object: &Q) -> bool {
        self.ring.touch(Q::addr(object).addr())
    }

    /// Returns whether an object is kept. Does not count as a use of the object. O(1).
    #[must_use]
    pub fn contains<Q: ?Sized + Identify<P>>(&self, object: &Q) -> bool {
        self.ring.get(Q::addr(object).addr()).is_some()
    }

    /// Stops keeping an object, and returns the handle to the object if it was kept. O(1).
    pub fn release<Q: ?Sized + Identify<P>>(&mut self, object: &Q) -> Option<P> {
        let released = self.ring.release(Q::addr(object).addr());
        self.shrink();
        released
    }

    /// Begins the next generation: evicts the objects that were neither kept nor touched in the
    /// [last generations](Limit::generations). O(evicted objects).
    ///
    /// ```
    /// use weakly::{keep::{KeepAlive, Limit}, local::Strong};
    ///
    /// let mut latest = KeepAlive::new(Limit::none().generations(1));
    /// let (glyph, other) = (Strong::new('g'), Strong::new('o'));
    /// latest.keep(&glyph, 1);
    /// latest.keep(&other, 1);
    /// latest.advance(); // after each frame
    /// latest.touch(&glyph);
    /// latest.advance();
    /// assert!(latest.contains(&glyph) && !latest.contains(&other));
    /// ```
    pub fn advance(&mut self) {
        self.ring.advance();
        self.settle();
    }

    /// Evicts objects until the remaining objects weigh at most `weight`, and returns the number of
    /// evicted objects. The limit stays as it is: this method is for a moment when memory is needed
    /// elsewhere. O(evicted objects) amortised.
    pub fn shrink_to(&mut self, weight: usize) -> usize {
        let gone = self.ring.let_go_above(weight);
        self.settle();
        gone
    }

    /// Returns the number of kept objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Returns whether no object is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of the weights of the kept objects, or `usize::MAX` if the sum is larger.
    #[must_use]
    pub fn retained_weight(&self) -> usize {
        self.ring.weight()
    }

    /// Frees the memory that is not needed for the kept objects. O(kept objects). Without this
    /// method, a `KeepAlive` has room for at most four times as many objects as it keeps.
    pub fn shrink_to_fit(&mut self) {
        if let Some(size) = self.ring.fitting() {
            self.ring.shrink(size);
        }
    }

    /// Releases all kept objects.
    pub fn clear(&mut self) {
        let empty = Self::new(self.limit());
        drop(core::mem::replace(self, empty));
    }

    /// Evicts the victims that the limit demands. Destroys the handles only after all victims have
    /// left the ring.
    fn settle(&mut self) {
        let Some(first) = self.ring.next_victim() else {
            return;
        };
        let others: Vec<_> = iter::from_fn(|| self.ring.next_victim()).collect();
        self.shrink();
        let mut all = iter::once(first).chain(others);
        run_all(|| all.next().is_some());
    }

    /// Frees memory, if most of it is not needed any more.
    fn shrink(&mut self) {
        if let Some(size) = self.ring.size_if_sparse() {
            self.ring.shrink(size);
        }
    }
}

fn addr_of<P: WeakKey>(object: &P) -> usize {
    P::addr(object).addr()
}

impl<P: StrongRef> fmt::Debug for KeepAlive<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeepAlive")
            .field("len", &self.len())
            .field("retained_weight", &self.retained_weight())
            .field("limit", &self.limit())
            .finish()
    }
}
