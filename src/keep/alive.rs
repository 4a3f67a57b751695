//! What one owner keeps alive.

use alloc::vec::Vec;
use core::fmt;
use core::iter;

use super::limit::Limit;
use super::ring::{Outcome, Ring};
use crate::collections::WeakMap;
use crate::panics::run_all;
use crate::reference::{Identify, StrongRef, WeakKey};
use crate::sync::allocating;

/// Strong handles to the latest objects, within a [`Limit`]: nobody else needs to use them, and
/// they live on for a while.
///
/// It goes under weak collections, as their *floor*: what is in use is never missing, since the
/// collection finds it, and what nobody uses is found as long as it is kept. What goes from here is
/// not destroyed if somebody uses it: strong becomes weak, and whoever finds the object again keeps
/// it again, by [`touch`](Self::touch) or [`keep`](Self::keep). One may serve several collections,
/// since it knows objects, and not their keys.
///
/// When there are too many, the one goes that SIEVE chooses (Y. Zhang et al., NSDI 2024): of those
/// that were not touched since it looked last, the oldest from where it looked last. With
/// [`generations`](Limit::generations), what was not touched for a while goes, too.
///
/// This one is for one owner, and any handle. For what threads share there is
/// [`concurrent::KeepAlive`](crate::concurrent::KeepAlive), which collections [keep in
/// themselves](crate::concurrent::WeakValueMap::set_keep_alive), and which tells a listener what
/// goes.
///
/// An object takes some 50 bytes here, and 8 more where generations count.
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
    /// The weights of those that went, with [`count_live`](Limit::count_live).
    evicted: WeakMap<P, usize>,
}

impl<P: StrongRef> KeepAlive<P> {
    /// Keeps nothing yet. Allocates nothing before the first object.
    pub const fn new(limit: Limit) -> Self {
        KeepAlive {
            ring: Ring::new(limit),
            evicted: WeakMap::new(),
        }
    }

    /// Returns the limit.
    pub fn limit(&self) -> Limit {
        self.ring.limit()
    }

    /// Sets another limit. What is beyond it goes at once: O(what goes); and O(kept) if generations
    /// come to count, all of which begin with this one.
    pub fn set_limit(&mut self, limit: Limit) {
        allocating(|room| self.ring.set_limit(limit, room));
        if !limit.counts_live {
            self.evicted = WeakMap::new();
        }
        self.settle();
    }

    /// Keeps an object alive, as the newest, and returns whether it does: not if it is heavier than
    /// the limit, or the limit is of 0 entries. One that is kept already is touched, and has this
    /// weight from now on. O(1) amortised, and what goes instead.
    ///
    /// A weight says how much of the limit the object takes: bytes, say, or 1. It is taken once,
    /// here.
    pub fn keep(&mut self, object: &P, weight: usize) -> bool
    where
        P: Clone,
    {
        // The object of this handle is kept, whatever a `Clone` returns.
        let handle = object.clone();
        let addr = addr_of(&handle);
        let kept = self.ring.keep(addr, weight, handle);
        let is_kept = !matches!(kept, Outcome::Refused(_));
        if let Some(handle) = self
            .ring
            .get(addr)
            .filter(|_| self.ring.limit().counts_live)
        {
            self.evicted.remove(handle);
        }
        self.settle();
        drop(kept);
        is_kept
    }

    /// Notes that a kept object is in use: it goes later. Returns whether it is kept. O(1).
    pub fn touch<Q: ?Sized + Identify<P>>(&mut self, object: &Q) -> bool {
        self.ring.touch(Q::addr(object).addr())
    }

    /// Returns whether an object is kept. O(1). This is no use of it.
    #[must_use]
    pub fn contains<Q: ?Sized + Identify<P>>(&self, object: &Q) -> bool {
        self.ring.get(Q::addr(object).addr()).is_some()
    }

    /// Keeps an object no more, and returns the handle to it, if it was kept. O(1).
    pub fn release<Q: ?Sized + Identify<P>>(&mut self, object: &Q) -> Option<P> {
        let (released, _) = self.ring.release(Q::addr(object).addr());
        if self.ring.limit().counts_live {
            self.evicted.remove(object);
        }
        released
    }

    /// Begins the next generation: what was neither kept nor touched in the [last
    /// ones](Limit::generations) goes. O(what goes).
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

    /// Lets objects go until the others weigh no more than this; returns how many went. O(what
    /// goes) amortised. For memory that is wanted elsewhere: the limit stays.
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

    /// Returns whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of the weights of what is kept; `usize::MAX` if it is larger.
    #[must_use]
    pub fn retained_weight(&self) -> usize {
        self.ring.weight()
    }

    /// Returns the weight of what is kept, and, with [`count_live`](Limit::count_live), also of
    /// what has gone from here and is still in use. What was [released](Self::release) counts no
    /// more. Exact: the death of an object ends its weight. O(gone and in use).
    ///
    /// ```
    /// use weakly::{keep::{KeepAlive, Limit}, local::Strong};
    ///
    /// let mut pages = KeepAlive::new(Limit::none().weight(4).count_live());
    /// let (page, other) = (Strong::new(1), Strong::new(2));
    /// pages.keep(&page, 3);
    /// pages.keep(&other, 2);
    /// assert_eq!((pages.retained_weight(), pages.live_weight()), (2, 5));
    /// drop(page);
    /// assert_eq!(pages.live_weight(), 2);
    /// ```
    #[must_use]
    pub fn live_weight(&self) -> usize {
        let evicted = self.evicted.iter_weak().map(|(_, weight)| *weight);
        evicted.fold(self.ring.weight(), usize::saturating_add)
    }

    /// Lets everything go. It counts no more, nor does what went before.
    pub fn clear(&mut self) {
        let empty = Self::new(self.limit());
        drop(core::mem::replace(self, empty));
    }

    /// Lets go what has to, and destroys it when all of it is out.
    fn settle(&mut self) {
        let mut next = || {
            let going = self.ring.next_to_go()?;
            if self.ring.limit().counts_live {
                self.evicted.insert(&going.what, going.weight);
            }
            Some((going.what, going.more))
        };
        let Some((first, more)) = next() else { return };
        if more {
            let others: Vec<_> = iter::from_fn(|| Some(next()?.0)).collect();
            let mut all = iter::once(first).chain(others);
            run_all(|| all.next().is_some());
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
