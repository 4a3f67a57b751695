//! All objects, by address, with the handles of each.
//!
//! Each count of a strong handle has an entry: the handle's, or that of the raw pointer it became. A handle's entry is
//! made after it is counted, and removed before its count is given up. The object has an entry from before its first
//! handle until the thread that ends it begins to destroy it, so even if one handle is upgraded while the others are
//! dropped, it finds the entry. The address is not reused before.
//!
//! No lock is held while user code runs, destructors of entries included. (The allocator is called: one that
//! uses handles of this crate itself would deadlock, as it would recurse.)

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::type_name;
use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::origin::Origin;

/// Few threads meet in one of so many.
const SHARDS: usize = 64;

type Shard = BTreeMap<usize, Object>;

static OBJECTS: [Mutex<Shard>; SHARDS] = [const { Mutex::new(Shard::new()) }; SHARDS];

/// The number of the next handle. They order what one thread makes.
static NEXT: AtomicU64 = AtomicU64::new(1);

struct Object {
    type_name: &'static str,
    /// The number of its first handle.
    number: u64,
    birth: Origin,
    handles: BTreeMap<u64, Origin>,
    /// Those of them that are raw pointers. Which is which cannot be told.
    raw: Vec<u64>,
}

/// What is known about a live object.
pub(crate) struct Known {
    pub(crate) type_name: &'static str,
    pub(crate) number: u64,
    pub(crate) birth: Origin,
    pub(crate) holders: Vec<Origin>,
}

impl Object {
    fn holders(&self) -> Vec<Origin> {
        self.handles.values().cloned().collect()
    }
}

fn lock(shard: &'static Mutex<Shard>) -> MutexGuard<'static, Shard> {
    // A panic while it is locked is a failed allocation, before anything changes.
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shard(addr: usize) -> MutexGuard<'static, Shard> {
    // The lowest bits are equal, and so are those above in pages that are filled alike.
    lock(&OBJECTS[(addr >> 4 ^ addr >> 12) % SHARDS])
}

/// The next number: that of a handle, or the point in time of a snapshot.
pub(crate) fn next() -> u64 {
    // Relaxed: only the number matters.
    NEXT.fetch_add(1, Relaxed)
}

/// A strong handle's entry in the registry. Its owner ends it: there is no destructor, as there are handles that
/// are taken apart.
#[derive(Clone, Copy)]
pub(crate) struct Holder(u64);

impl Holder {
    /// Of a handle that is not listed yet.
    pub(crate) const NONE: Self = Holder(0);

    /// Of the first handle of a new object.
    #[track_caller]
    pub(crate) fn first<T: ?Sized>(object: *const T) -> Self {
        let (number, origin) = (next(), Origin::here());
        let object_entry = Object {
            type_name: type_name::<T>(),
            number,
            birth: origin.clone(),
            handles: BTreeMap::from([(number, origin)]),
            raw: Vec::new(),
        };
        let addr = object.cast::<()>().addr();
        let old = shard(addr).insert(addr, object_entry);
        debug_assert!(old.is_none(), "an object that died is still listed");
        Holder(number)
    }

    /// Of a further handle.
    #[track_caller]
    pub(crate) fn another(object: *const ()) -> Self {
        let (number, origin) = (next(), Origin::here());
        let addr = object.addr();
        if let Some(object) = shard(addr).get_mut(&addr) {
            object.handles.insert(number, origin);
        }
        Holder(number)
    }

    /// Of a handle from a raw pointer, which is none any more.
    #[track_caller]
    pub(crate) fn of_raw(object: *const ()) -> Self {
        let (number, origin) = (next(), Origin::here());
        let addr = object.addr();
        let mut old = None;
        if let Some(object) = shard(addr).get_mut(&addr) {
            object.handles.insert(number, origin);
            old = object.raw.pop().map(|raw| object.handles.remove(&raw));
        }
        drop(old);
        Holder(number)
    }

    /// The handle becomes a raw pointer.
    #[track_caller]
    pub(crate) fn into_raw(self, object: *const ()) {
        let (number, origin) = (next(), Origin::here());
        let addr = object.addr();
        let mut old = None;
        if let Some(object) = shard(addr).get_mut(&addr) {
            object.raw.push(number);
            object.handles.insert(number, origin);
            old = object.handles.remove(&self.0);
        }
        drop(old);
    }

    /// The handle gives up its count next.
    pub(crate) fn end(self, object: *const ()) {
        let addr = object.addr();
        let old = match shard(addr).get_mut(&addr) {
            Some(object) => object.handles.remove(&self.0),
            None => None,
        };
        drop(old);
    }

    /// The object has no handle any more, and is destroyed next.
    pub(crate) fn died(object: *const ()) {
        let addr = object.addr();
        let mut objects = shard(addr);
        let old = objects.remove(&addr);
        if objects.is_empty() {
            // An emptied tree keeps a node, which would look like a leak to who counts bytes.
            *objects = Shard::new();
        }
        drop(objects);
        drop(old);
    }
}

/// Where the handles of the object at this address were made, oldest first. None if there is no such object.
pub(crate) fn holders_of(object: *const ()) -> Vec<Origin> {
    let addr = object.addr();
    shard(addr)
        .get(&addr)
        .map_or_else(Vec::new, Object::holders)
}

/// The holders of the object at this address as lines of text. Empty if there is no such object.
pub(crate) fn describe(object: *const ()) -> String {
    let mut text = String::new();
    for holder in holders_of(object) {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  held since {holder}");
    }
    text
}

/// All live objects for which this holds, oldest first.
pub(crate) fn objects(wanted: impl Fn(u64, &Origin) -> bool) -> Vec<Known> {
    let mut known = Vec::new();
    for shard in &OBJECTS {
        let objects = lock(shard);
        let wanted = objects
            .values()
            .filter(|object| wanted(object.number, &object.birth));
        known.extend(wanted.map(|object| Known {
            type_name: object.type_name,
            number: object.number,
            birth: object.birth.clone(),
            holders: object.holders(),
        }));
    }
    known.sort_by_key(|object| object.number);
    known
}
