//! A hash table shared by threads, and the reclamation of unlinked objects.
//!
//! The table knows two things about an entry: its hash, and its registrations. The caller decides
//! how entries compare. Reads are lock-free: a lookup never waits, whatever other threads do. A
//! leaving reader for which unlinked objects wait takes a lock, and destroys the objects
//! ([`domain`]). Writers of the same bucket (about six neighbouring entries) wait for each other
//! for a few instructions. No thread waits for the table to grow.
//!
//! ```text
//!              array                      bucket, one cache line                    entry
//! table ──► [ bucket | bucket | … ]     [ tags | slot | … | slot | next ]     slot ──► [ hash | … ]
//!              │                                                      │
//!              └─► the next array, while entries move there           └─► more buckets, for more entries
//! ```
//!
//! The files, in the order of reading. The table:
//!
//! | file | contents |
//! |---|---|
//! | [`entry`], [`unlinked`] | an entry; an entry between its making and its insertion |
//! | [`bucket`] | a cache line of entries under one lock, and the chain behind it |
//! | [`array`] | an array of buckets, and the move of its entries to the next array |
//! | [`table`] | the operations of readers and writers |
//! | [`guards`] | the guards of threads that are inside |
//! | [`change`] | insertion and removal, where comparisons are user code |
//! | [`plain`] | insertion and removal by address, in one search under the lock of the bucket |
//! | [`reserve`] | the two visits of a thread that makes a value |
//! | [`resize`], [`sweep`] | growth and shrinking; walks that unlink stale entries |
//!
//! The reclamation of unlinked objects:
//!
//! | file | contents |
//! |---|---|
//! | [`domain`] | which threads are inside, and when an unlinked object is destroyed |
//! | [`rest`] | the part of a domain that is allocated when the first thread comes |
//! | [`participants`], [`directory`] | what a thread has at a table; all participants of a table |
//! | [`retired`], [`bag`], [`batch`] | an unlinked object; those of one thread; one look for many |
//! | [`deferred`] | unlinked objects that a thread inside may still look at |
//! | [`parked`], [`end`] | memory that a thread uses again; the end of entries, arrays and tables |
//! | [`dead`], [`reap`] | how deaths unlink entries; how operations destroy these entries |
//! | [`nested`] | destructors that call the table again |
//!
//! * **R1** An entry is linked in one slot of the chain that is *current* for its hash. Arrays form
//!   a list, and the current chain is in the first array whose home bucket for the hash has not
//!   moved. An entry never changes its slot within a chain, and an unlinked entry is never linked
//!   again. So equal pointers, found twice by a thread during one visit, lead to the same entry.
//! * **R2** User code (comparisons, conditions) runs under no lock. The answer of user code counts
//!   only if the thread, once it has the lock, finds the same entries as before.
//! * **R3** One thread unlinks an entry or an array, and retires the unlinked object. The object is
//!   destroyed when no thread inside can still find it ([`domain`]). An array is unlinked when all
//!   its buckets have moved, and before the next array begins to move.
//! * **R4** A reader that has seen a bucket before the bucket moved reads that bucket, even if the
//!   bucket moves meanwhile. The entries were in the table when the reader looked, and stay
//!   readable while the reader is inside. A read that begins after an entry was unlinked in the
//!   next array finds the bucket moved, because the unlinking thread had found the bucket moved
//!   too.
//! * **R5** A search that finds a [dead](Match::Dead) entry checks whether the entry is still
//!   linked, and begins again if it is not. A live entry may have replaced the dead entry before
//!   the object died.
//!
//! **Growth.** When a chain is full and the table has too many entries, one thread allocates an
//! array of twice the length. Until the new array is published, other threads extend their chains.
//! From then on each writer first moves the bucket it needs, and up to 32 other buckets. A writer
//! moves a bucket under the lock of the bucket: it copies the entries into two buckets that no
//! other thread can find yet, and then marks the bucket as moved. A long chain may need more
//! buckets than the writer has allocated. Then the writer unlocks the bucket unmarked, allocates
//! the missing buckets, and locks the bucket again. The thread that moves the last bucket unlinks
//! the array.
//!
//! **Shrinking** happens on request, and reverses growth: entries move into an array of half the
//! length, two buckets into one under the locks of both, until the array is short enough.
//!
//! **Equal hashes** lengthen one chain. Growth does not separate equal hashes, so a full chain
//! alone does not start growth: the array must also have too many entries. A search compares every
//! entry with its hash; equal hashes have no worse effect.
//!
//! **Checks under the lock.** Before an entry is inserted, the chain is searched without the lock.
//! Under the lock the insertion checks only that all entries with its hash were already compared,
//! in the same order. Tags are checked first, so entries are rarely read. Entries compared by the
//! addresses of their objects are an exception: if nothing is registered with the object yet, the
//! only search is under the lock, because comparing addresses runs no user code. An entry that is
//! probably new ([`plain`]), and a reservation ([`reserve`]), are linked without a comparison if no
//! entry has the hash.

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
#[cfg(feature = "holders")]
mod listed;
#[cfg(all(test, weakly_loom))]
mod models;
mod nested;
mod parked;
mod participants;
mod plain;
mod reap;
mod reserve;
mod resize;
mod rest;
mod retired;
mod sweep;
mod table;
#[cfg(all(test, not(weakly_loom)))]
mod tests;
mod unlinked;

pub(crate) use array::by_hashes;
pub(crate) use change::Put;
pub(crate) use entry::{Entry, Registered};
#[cfg(feature = "holders")]
pub use listed::{Collection, Collections, collections};
pub(crate) use nested::NestedCall;
pub(crate) use participants::Tally;
pub(crate) use plain::{NotPlain, Plain};
pub(crate) use reap::{DeadList, Due, Taken};
pub(crate) use rest::RawCounts;
pub(crate) use sweep::SweepPosition;
pub(crate) use table::{Face, Located, Match, RawTable, Reader, Writer};
pub(crate) use unlinked::Unlinked;
