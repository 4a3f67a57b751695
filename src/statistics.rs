//! What collections tell about themselves, as plain numbers.

#[cfg(feature = "std")]
use core::fmt;

/// The counts of a shared collection so far, for a metrics exporter. They are exact while no thread
/// uses the collection. The `Display` is one line.
///
/// Calls that may load are counted: `get_or_compute`, `get_or_insert_with` and their variants, for
/// threads, tasks and races alike. In a collection with a [floor or ceiling](crate::guide::keep),
/// from its first limit on, two further kinds of calls are counted: lookups that find an entry
/// (`get`, `get_key_value`, `with` and `contains_key`), and the `intern` methods of an interner. A
/// lookup that finds nothing counts nothing: if a call that loads follows, that call is the miss.
/// So one request is one hit or one miss. A call that replaces, changes or removes an entry,
/// `compute` included, and an iterator count nothing.
///
/// A lookup takes not one instruction for the counts without a limit. So an
/// [`Interner`](crate::concurrent::Interner) without a floor counts only [`live`](Self::live), and
/// a map that is filled by `insert` counts no misses.
#[cfg(feature = "std")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Calls that found their value, at once or after waiting for another caller's computation.
    pub hits: u64,
    /// Calls that may load, or intern, and did not: each began a computation or made an object, or
    /// gave up its wait, or waited for a computation whose error it shares, or would have waited
    /// for itself.
    pub misses: u64,
    /// Computations begun. Each began in a call that is a miss.
    pub loads: u64,
    /// Computations that failed, panicked, or were dropped. A computation whose result is not kept
    /// is none of these.
    pub failures: u64,
    /// Entries evicted by the ceiling, or objects evicted by the floor, because of the limit or by
    /// `shrink_to`. A floor that several collections share counts the objects of all of them.
    pub evicted: u64,
    /// Results of a [`Memo`](crate::Memo) dropped because an input died, or because a call removed,
    /// replaced or [invalidated](crate::Memo::invalidate) them; and results that were not kept,
    /// because one of these happened during the computation. 0 for all other collections.
    pub invalidated: u64,
    /// Entries that are there now: `len`.
    pub live: u64,
    /// The sum of the weights that the floor or ceiling retains now: bytes, if the weights are
    /// bytes. A floor that several collections share counts the objects of all of them. 0 without a
    /// limit.
    pub retained_weight: u64,
}

#[cfg(feature = "std")]
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.hits, "hits"),
            (self.misses, "misses"),
            (self.loads, "loads"),
            (self.failures, "failures"),
            (self.evicted, "evicted"),
            (self.invalidated, "invalidated"),
            (self.live, "live"),
        ];
        counts
            .iter()
            .try_for_each(|(count, name)| write!(f, "{count} {name}, "))?;
        write!(f, "weight {}", self.retained_weight)
    }
}

/// The memory that a collection has allocated, in bytes: what its method `memory_usage` returns.
///
/// The allocator's own bytes do not count. Neither does memory behind keys and values, nor an
/// object with its record, which belong to no collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemoryUsage {
    /// The buckets. In a collection of one owner, the entries lie in the buckets.
    pub table: usize,
    /// Entries that are apart from the buckets: in a shared collection, all entries, also entries
    /// that wait for their destruction and values that are being made. The list of
    /// [kept](crate::Reclaim::OnRequest) remains.
    pub entries: usize,
    /// The registrations of entries, past the two registrations that an object has place for; the
    /// lists of the inputs of entries with several inputs; and in a shared collection the slots of
    /// the threads that have used it, and the lists of dead entries.
    pub records: usize,
    /// The ring of a floor or ceiling, without the kept objects. A floor that several collections
    /// share counts in each of them.
    pub rings: usize,
}

impl MemoryUsage {
    /// Returns the sum.
    #[must_use]
    pub fn total(&self) -> usize {
        self.table + self.entries + self.records + self.rings
    }
}
