//! How much is kept, and why something is kept no more.

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
    pub(crate) counts_live: bool,
}

impl Limit {
    /// No limit: everything is kept until it is released.
    pub const fn none() -> Self {
        Limit {
            entries: usize::MAX,
            weight: None,
            generations: u32::MAX,
            counts_live: false,
        }
    }

    /// At most so many at a time. With 0, nothing is kept.
    pub const fn entries(entries: usize) -> Self {
        Limit {
            entries,
            ..Self::none()
        }
    }

    /// At most so much weight at a time, in units of your own: bytes, say. What alone is heavier is
    /// not kept at all; what weighs 0 never is too heavy. A sum of weights is exact, and shown as
    /// `usize::MAX` if it is larger: such a sum is beyond any limit of weight, `usize::MAX`
    /// included.
    ///
    /// In a collection that threads share, an insertion adds the weight of its entry first, and
    /// evicts others then. So the sum may exceed the limit for a moment, by one entry for each
    /// thread that is inserting.
    pub const fn weight(self, weight: usize) -> Self {
        Limit {
            weight: Some(weight),
            ..self
        }
    }

    /// What was neither kept nor touched during the last so many generations goes when the next one
    /// begins. A generation is what you say it is: it ends with a call of `advance`, by a timer, or
    /// after a frame or a revision. There is no clock inside. `u32::MAX` generations are no limit.
    /// Above 65,000, a collection may miss hits of an entry that was not asked for that long.
    pub const fn generations(self, generations: u32) -> Self {
        Limit {
            generations,
            ..self
        }
    }

    /// Also counts the weight of what is kept no more and still in use: see
    /// [`live_weight`](super::KeepAlive::live_weight). This costs an entry of a weak map for each
    /// such object. For [`KeepAlive`](super::KeepAlive)s; a ceiling does not look at it.
    pub const fn count_live(self) -> Self {
        Limit {
            counts_live: true,
            ..self
        }
    }
}

/// Why something is kept no more: what a listener is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gone {
    /// Its key has died. Only entries under a ceiling do: what a floor keeps lives.
    Died,
    /// There were too many.
    Entries,
    /// They weighed too much.
    Weight,
    /// It was not touched for too many generations.
    Generation,
    /// It was released or removed, or replaced by another.
    Removed,
}
