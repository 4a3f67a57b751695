//! How much is kept, and the causes of a removal.

/// How much is kept: a number of objects or entries, a sum of weights, a number of generations, or
/// several of these.
///
/// ```
/// use weakly::keep::Limit;
///
/// let latest = Limit::entries(100);
/// let a_mebibyte = Limit::none().weight(1 << 20);
/// let both_for_a_while = Limit::entries(100).weight(1 << 20).generations(60);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Limit {
    pub(crate) entries: usize,
    pub(crate) weight: Option<usize>,
    pub(crate) generations: u32,
}

impl Limit {
    /// No limit: everything is kept until it is released.
    pub const fn none() -> Self {
        Limit {
            entries: usize::MAX,
            weight: None,
            generations: u32::MAX,
        }
    }

    /// Keeps at most `entries` objects or entries at a time. With 0, nothing is kept.
    pub const fn entries(entries: usize) -> Self {
        Limit {
            entries,
            ..Self::none()
        }
    }

    /// Keeps at most this sum of weights at a time, in units of your own, such as bytes. An object
    /// that is heavier than the limit is not kept at all; an object of weight 0 exceeds no sum.
    /// Sums of weights are exact. A sum above `usize::MAX` is shown as `usize::MAX`, and exceeds
    /// every limit of weight, even `usize::MAX`.
    ///
    /// In a collection that threads share, an insertion first adds the weight of the new entry, and
    /// then evicts other entries. So the sum may exceed the limit for a moment, by one entry for
    /// each inserting thread.
    pub const fn weight(self, weight: usize) -> Self {
        Limit {
            weight: Some(weight),
            ..self
        }
    }

    /// Keeps objects for this number of generations: an object that was neither kept nor touched
    /// during the last `generations` generations is evicted when the next generation begins. The
    /// program decides how long a generation lasts: each call of `advance` ends one, for example by
    /// a timer, after a frame or after a revision. The library has no clock. `u32::MAX` means no
    /// limit. Above 65,000, a collection may miss hits of an entry that had no hit for this long.
    pub const fn generations(self, generations: u32) -> Self {
        Limit {
            generations,
            ..self
        }
    }
}

/// The cause of a removal, as a listener hears it: why an object or an entry is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gone {
    /// The key of the entry has died, or another input of a result of a `Memo` has ended: a
    /// declared object, or a result from which the result was computed. Happens only under a
    /// ceiling: a floor keeps its objects alive.
    Died,
    /// There were too many objects or entries.
    Entries,
    /// The objects or entries weighed too much together, or one alone did.
    Weight,
    /// The object or entry was not touched for too many generations.
    Generation,
    /// The object or entry was released or removed, or another entry has replaced it.
    Removed,
}
