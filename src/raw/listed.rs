//! The list of all shared collections. Feature `holders`.
//!
//! A collection may move. So the list has the two parts of its table that do not move, and last as
//! long as the table: the rest of the domain, with the context of the entries, and the core. A
//! table enters the list when it gets its first array, or a name.
//!
//! Invariants:
//!
//! * **U1** A table in the list has not ended. A table that ends leaves the list before anything
//!   else happens, and takes the lock of the list to leave. A thread that reads the counts of a
//!   table has this lock: the end of the table waits for the thread.
//! * **U2** No user code runs under the lock. The counts are sums, and a bound answers under the
//!   lock of its ring, under which no user code runs either, and no thread takes the lock of the
//!   list.

use core::ops::Deref;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use core::{fmt, mem};
use std::sync::Arc;
use std::vec::Vec;

use hashbrown::HashTable;

use super::entry::Entry;
use super::rest::Rest;
use super::table::RawTable;
use crate::hash::HashValue;
use crate::holders::{Origin, next};
use crate::ptr::CoreRef;
use crate::statistics::Statistics;
use crate::sync::{Mutex, missing_in, move_table};

/// A shared collection, as [`collections`] has found it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Collection {
    /// The type, as [`core::any::type_name`] names it.
    pub type_name: &'static str,
    /// The name, if [`set_name`](crate::concurrent::WeakMap::set_name) has set one.
    pub name: Option<Arc<str>>,
    /// The origin of the first entry, or of the first value in the making; or the origin of the
    /// collection, if it was made with a capacity.
    pub first_entry: Origin,
    /// The counts.
    pub statistics: Statistics,
}

/// The result of [`collections`]: a slice, whose text is a table.
#[derive(Debug, Clone)]
pub struct Collections(Vec<Collection>);

struct Listed {
    core: CoreRef,
    // An atomic only because a raw pointer is not `Send`.
    rest: AtomicPtr<Rest>,
    tell: unsafe fn(*const Rest, CoreRef) -> Statistics,
    type_name: &'static str,
    name: Option<Arc<str>>,
    /// The number and the origin of the first entry. A table without them is not shown.
    first: Option<(u64, Origin)>,
}

static LIST: Mutex<HashTable<Listed>> = Mutex::new(HashTable::new());

fn hash(core: CoreRef) -> u64 {
    HashValue::of_addr(core.as_ptr().cast_const().cast()).get()
}

impl<N: Entry> RawTable<N> {
    /// Changes the item of the table in the list; adds the item first, if the table is not in the
    /// list. `change` drops nothing: the caller drops the replaced parts, under no lock.
    fn list(&self, change: impl FnOnce(&mut Listed)) {
        let core = self.core_or_new();
        let rest = self.domain.rest_or_new(Self::REST).cast_mut();
        let mut new = Some(Listed {
            core,
            rest: AtomicPtr::new(rest),
            tell: tell::<N>,
            type_name: (self.face)(),
            name: None,
            first: None,
        });
        LIST.with_room(
            |list, memory: &mut HashTable<Listed>| match missing_in(list) {
                0 => Ok(()),
                missing if memory.capacity() < missing => Err(missing),
                _ => {
                    move_table(list, memory, |one| hash(one.core));
                    Ok(())
                }
            },
            |list, _| {
                let is_it = |one: &Listed| one.core == core;
                if list.find(hash(core), is_it).is_none() {
                    list.insert_unique(hash(core), new.take()?, |one| hash(one.core));
                }
                change(list.find_mut(hash(core), is_it)?);
                Some(())
            },
        );
    }

    /// Lists the table, which gets its first array.
    pub(super) fn begin_in_list(&self) {
        let mut first = Some((next(), Origin::here()));
        self.list(|listed| {
            if listed.first.is_none() {
                mem::swap(&mut listed.first, &mut first);
            }
        });
    }

    pub(crate) fn set_name(&self, name: &str) {
        let mut name = Some(Arc::from(name));
        self.list(|listed| mem::swap(&mut listed.name, &mut name));
    }
}

/// Takes a table out of the list. The table is about to end.
pub(super) fn end(core: CoreRef) {
    let mut list = LIST.lock();
    let found = list.find_entry(hash(core), |one| one.core == core).ok();
    let ended = found.map(|found| found.remove().0);
    // As in the registry of handles.
    let empty = list.is_empty().then(|| mem::take(&mut *list));
    drop(list);
    drop((ended, empty));
}

/// # Safety
/// The rest and the core are those of a table of `N` that has not ended.
unsafe fn tell<N: Entry>(rest: *const Rest, core: CoreRef) -> Statistics {
    // SAFETY: the caller's promise.
    let (context, rest) = unsafe { (Rest::context(rest), &*rest) };
    N::statistics(context, &rest.counts(Some(core)))
}

/// Returns all shared collections that have allocated a table, in the order of these allocations: a
/// collection allocates its table for its first entry, for its first value in the making, or when
/// it is made with a capacity. A collection that was forgotten, by `mem::forget`, stays in the
/// list. O(collections and the threads that have used them), and a sort of the collections. Beside
/// threads that use the collections, the result is no picture of a single moment. The drop of a
/// collection waits while its counts are read; no code of yours runs meanwhile.
///
/// ```
/// # #[cfg(feature = "holders")] {
/// use weakly::{Memo, Strong, concurrent::{WeakMap, collections}};
///
/// let (key, map) = (Strong::new("key"), WeakMap::new());
/// map.set_name("notes");
/// assert!(collections().is_empty());
/// map.insert(&key, 1);
/// let listed = collections();
/// assert_eq!((listed.len(), listed[0].statistics.live), (1, 1));
/// assert_eq!(listed[0].name.as_deref(), Some("notes"));
/// println!("{listed}"); // a table
/// # }
/// ```
#[must_use]
pub fn collections() -> Collections {
    let mut all = LIST.with_room(
        |list, all: &mut Vec<(u64, Collection)>| match all.capacity() < list.len() {
            true => Err(list.len()),
            false => Ok(()),
        },
        |list, all| {
            for one in &*list {
                let Some((number, first)) = &one.first else {
                    continue;
                };
                let listed = Collection {
                    type_name: one.type_name,
                    name: one.name.clone(),
                    first_entry: first.clone(),
                    // SAFETY: U1.
                    statistics: unsafe { (one.tell)(one.rest.load(Relaxed), one.core) },
                };
                all.push((*number, listed));
            }
            mem::take(all)
        },
    );
    all.sort_by_key(|(number, _)| *number);
    Collections(all.into_iter().map(|(_, one)| one).collect())
}

impl Deref for Collections {
    type Target = [Collection];

    fn deref(&self) -> &[Collection] {
        &self.0
    }
}

impl fmt::Display for Collections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for head in ["live", "hits", "misses", "failures", "evicted", "weight"] {
            write!(f, "{head:>9} ")?;
        }
        write!(f, " collection")?;
        self.iter().try_for_each(|one| {
            let it = one.statistics;
            let weight = it.retained_weight;
            writeln!(f)?;
            for count in [it.live, it.hits, it.misses, it.failures, it.evicted, weight] {
                write!(f, "{count:>9} ")?;
            }
            if let Some(name) = &one.name {
                write!(f, " {name}:")?;
            }
            write!(
                f,
                " {}, since {}",
                one.type_name,
                one.first_entry.location()
            )
        })
    }
}
