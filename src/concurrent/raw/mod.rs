//! A hash table that threads share, and the reclamation of what they unlink.
//!
//! It knows entries that say their hash, and nothing else: how they are compared, and what they are, is the
//! caller's. Reads are lock-free: they wait for nobody, whatever others do. Writers of the same bucket, some six
//! neighbours, wait for each other for some instructions; nobody waits for the table to grow.
//!
//! ```text
//!              array                      bucket, one cache line                    entry
//! table ──► [ bucket | bucket | … ]     [ tags | slot | … | slot | next ]     slot ──► [ hash | … ]
//!              │                                                      │
//!              └─► the next array, while entries move there           └─► more buckets, if there are more entries
//! ```
//!
//! * **R1** An entry is linked in one slot of the chain that is *current* for its hash: that of the first array,
//!   of those that follow each other, whose home bucket has not moved. It does not move within the chain, and
//!   once unlinked it does not come back: so who finds the same pointer again, while inside, finds the same
//!   entry.
//! * **R2** Code of users (comparisons, conditions) runs under no lock. What it has said is of use if,
//!   under the lock, the same entries are there that it was asked about.
//! * **R3** Entries and arrays are unlinked by one thread, retired, and destroyed when nobody is inside who may
//!   find them ([`domain`]). An array is unlinked when all its buckets have moved, and before the next one
//!   begins to move.
//! * **R4** A reader that sees a bucket before it moves reads what is in it, though it moves meanwhile: that was
//!   there when the reader looked, and stays readable as long as it is inside. One that begins after an entry
//!   was unlinked in the next array finds that the bucket has moved, as whoever unlinked it had found.
//!
//! **Growth.** When a chain is full and there are too many entries on the whole, somebody makes an array
//! twice as long. Until that is there, others make their chains longer. From then on whoever puts in or takes
//! out moves its own bucket first, and up to 32 others. A bucket is moved under its lock: its entries are
//! put into two buckets that nobody else can find yet, then it says that it has moved. Who moves the last one
//! unlinks the array.
//!
//! **Shrinking** is growth backwards, when it is asked for: into an array half as long, two buckets into one, under the
//! locks of both, and so on until it is short enough.
//!
//! **Equal hashes** make one chain longer, and growth, which does not help against them, is only tried when
//! there are too many entries for the array. A search asks for each entry with this hash; nothing worse
//! happens.
//!
//! **What is asked under the lock.** Before an entry is put in, the chain is searched without lock. Under the lock
//! it is only compared whether all entries with this hash are among those that were asked about, in the
//! same order: tags first, so hardly ever one.

mod array;
mod bucket;
mod domain;
mod entry;
#[cfg(all(test, weakly_loom))]
mod models;
mod resize;
mod retired;
mod seats;
mod sweep;
mod table;
#[cfg(all(test, not(weakly_loom)))]
mod tests;

pub(super) use entry::Entry;
pub(super) use retired::FirstPanic;
pub(super) use sweep::SweepPosition;
pub(super) use table::{Put, RawTable, Reader, Unlinked, Writer};
