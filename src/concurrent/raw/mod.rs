//! A hash table shared by threads, and the reclamation of what they unlink.
//!
//! The table knows of an entry its hash, and that it is registered. The caller decides how entries
//! compare. Reads are lock-free: they find what they look for without waiting, whatever other
//! threads do. A reader for which what others have unlinked waits takes a lock when it leaves, and
//! destroys that; see [`domain`]. Writers of the same bucket (some six neighbours) wait for each
//! other for a few instructions. No thread waits for the table to grow.
//!
//! ```text
//!              array                      bucket, one cache line                    entry
//! table ──► [ bucket | bucket | … ]     [ tags | slot | … | slot | next ]     slot ──► [ hash | … ]
//!              │                                                      │
//!              └─► the next array, while entries move there           └─► more buckets, if there are more entries
//! ```
//!
//! * **R1** An entry is linked in one slot of the chain that is *current* for its hash: the chain
//!   of the first array, in the list of arrays, whose home bucket has not moved. It does not move
//!   within the chain, and once unlinked it does not come back. So a thread that finds the same
//!   pointer again, while it is inside, finds the same entry.
//! * **R2** User code (comparisons, conditions) runs under no lock. Its answer counts if, under the
//!   lock, the entries are still those it was asked about.
//! * **R3** Entries and arrays are unlinked by one thread, retired, and destroyed when no thread
//!   inside may still find them ([`domain`]). An array is unlinked when all its buckets have moved,
//!   and before the next array begins to move.
//! * **R4** A reader that has seen a bucket before it moved reads that bucket, even if it moves
//!   meanwhile: its entries were there when the reader looked, and stay readable as long as the
//!   reader is inside. A read that begins after an entry was unlinked in the next array finds that
//!   the bucket has moved, as the thread that unlinked the entry had found.
//! * **R5** A search that finds an entry [dead](Match::Dead) looks whether that is still linked,
//!   and begins again if it is not: another entry may have taken its place before the object died.
//!
//! **Growth.** When a chain is full and the table has too many entries, one thread allocates an
//! array twice as long. Until that is published, other threads extend their chains. From then on
//! each writer first moves the bucket it needs, and up to 32 others. A bucket is moved under its
//! lock: its entries are copied into two buckets that no other thread can find yet, then the bucket
//! is marked as moved. If its chain is long, and its entries need more buckets than the thread has,
//! it unlocks the bucket first, unmarked, and allocates those. The thread that moves the last
//! bucket unlinks the array.
//!
//! **Shrinking** happens on request, and is growth backwards: into an array half as long, two
//! buckets into one, under the locks of both, and so on until the array is short enough.
//!
//! **Equal hashes** make one chain longer. Growth does not help against them, so it is only tried
//! when the array has too many entries. A search compares each entry with this hash; nothing worse
//! happens.
//!
//! **What is checked under the lock.** Before an entry is inserted, the chain is searched without
//! the lock. Under the lock only one thing is checked: that all entries with this hash are among
//! those already compared, in the same order. Tags are checked first, so hardly ever an entry. An
//! entry told apart by its address, with whose object nothing is registered
//! ([`Entry::BY_ADDRESS`]), is sought under the lock only: no user code runs.

mod array;
mod bag;
mod batch;
mod bucket;
mod change;
mod dead;
mod deferred;
mod directory;
mod domain;
mod end;
mod entry;
mod guards;
#[cfg(all(test, weakly_loom))]
mod models;
mod participants;
mod reap;
mod resize;
mod retired;
mod sweep;
mod table;
#[cfg(all(test, not(weakly_loom)))]
mod tests;
mod unlinked;

pub(super) use array::by_hashes;
pub(super) use change::Put;
pub(super) use entry::Entry;
pub(crate) use entry::Registered;
pub(super) use reap::{Place, Taken};
pub(super) use sweep::SweepPosition;
pub(crate) use table::Match;
pub(super) use table::{RawTable, Reader, Writer};
pub(super) use unlinked::Unlinked;
