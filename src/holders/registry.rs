//! The registry of all objects, by address, with the handles of each object.
//!
//! Each count of a strong handle has an entry: the entry of the handle, or of the raw pointer that
//! the handle became. A handle's entry is made after the handle is counted, and removed before the
//! count is given up. An object has an entry from before its first handle until the ending thread
//! begins to destroy the object. So if one handle is upgraded while the others are dropped, the
//! upgraded handle still finds the object's entry. The address is not reused before the entry is
//! removed.
//!
//! No lock is held while user code runs, including the destructors of entries and the allocator.

use alloc::vec::Vec;
use core::any::type_name;
use core::slice;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hashbrown::HashTable;

use super::origin::Origin;
use crate::hash::HashValue;
use crate::sync::{Mutex, missing_in, move_table};

/// The number of shards: two threads seldom use the same shard at once.
const SHARDS: usize = 64;

struct Shard {
    objects: HashTable<Object>,
    /// The handles of these objects.
    handles: HashTable<Handle>,
}

static OBJECTS: [Mutex<Shard>; SHARDS] = [const { Mutex::new(Shard::new()) }; SHARDS];

/// The number of the next handle. The numbers order the handles that one thread makes.
static NEXT: AtomicU64 = AtomicU64::new(1);

#[derive(Clone)]
struct Object {
    addr: usize,
    type_name: &'static str,
    bytes: usize,
    /// The number of the object's first handle.
    number: u64,
    birth: Origin,
    /// The number of the object's handles.
    handles: usize,
    /// The newest raw pointer, or 0. Raw pointers to one object cannot be told apart.
    raw: u64,
}

#[derive(Clone)]
struct Handle {
    number: u64,
    addr: usize,
    origin: Origin,
    /// For a raw pointer: the next older raw pointer, or 0.
    below: u64,
}

/// The registry's knowledge about a live object.
pub(crate) struct Known {
    pub(crate) addr: usize,
    pub(crate) type_name: &'static str,
    pub(crate) bytes: usize,
    pub(crate) birth: Origin,
    /// The handles, oldest first.
    pub(crate) holders: Vec<(Holder, Origin)>,
}

fn hash_of(addr: usize) -> u64 {
    HashValue::of_addr(core::ptr::without_provenance(addr)).get()
}

impl Handle {
    fn hash(number: u64) -> u64 {
        hash_of(number as usize)
    }
}

/// Memory for a shard with one more object and one more handle.
type ShardMemory = (HashTable<Object>, HashTable<Handle>);

impl Shard {
    const fn new() -> Self {
        Shard {
            objects: HashTable::new(),
            handles: HashTable::new(),
        }
    }

    /// Makes room for one more object and one more handle: moves a full table into the given
    /// memory. The error is the capacity that each table needs in the memory; zero for a table that
    /// has room.
    fn make_room(&mut self, (objects, handles): &mut ShardMemory) -> Result<(), (usize, usize)> {
        let missing = (missing_in(&self.objects), missing_in(&self.handles));
        if objects.capacity() < missing.0 || handles.capacity() < missing.1 {
            return Err(missing);
        }
        if missing.0 != 0 {
            move_table(&mut self.objects, objects, |object| hash_of(object.addr));
        }
        if missing.1 != 0 {
            move_table(&mut self.handles, handles, |handle| {
                Handle::hash(handle.number)
            });
        }
        Ok(())
    }

    fn object(&mut self, addr: usize) -> Option<&mut Object> {
        self.objects
            .find_mut(hash_of(addr), |object| object.addr == addr)
    }

    /// Adds a handle of an object, for which there is room.
    fn add(&mut self, handle: Handle) {
        let hash = Handle::hash(handle.number);
        self.handles
            .insert_unique(hash, handle, |handle| Handle::hash(handle.number));
    }

    /// Removes a handle of an object.
    fn remove(&mut self, number: u64, addr: usize) -> Option<Handle> {
        let is = |handle: &Handle| handle.number == number;
        let found = self.handles.find_entry(Handle::hash(number), is).ok()?;
        let (removed, _) = found.remove();
        if let Some(object) = self.object(addr) {
            object.handles -= 1;
        }
        Some(removed)
    }
}

fn shard(addr: usize) -> &'static Mutex<Shard> {
    // The lowest bits of all addresses are equal, and so are the bits above them in pages with the
    // same layout.
    &OBJECTS[(addr >> 4 ^ addr >> 12) % SHARDS]
}

/// Returns the next number: the number of a handle, or of a snapshot's point in time.
pub(crate) fn next() -> u64 {
    // Relaxed: only the number matters.
    NEXT.fetch_add(1, Relaxed)
}

/// A strong handle's entry in the registry. The owner ends the entry explicitly: a destructor would
/// not run for handles that are taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Holder(u64);

impl Holder {
    /// The holder of a handle that is not listed yet.
    pub(crate) const NONE: Self = Holder(0);

    /// Lists the first handle of a new object with a payload of this size.
    #[track_caller]
    pub(crate) fn first<T: ?Sized>(object: *const T, bytes: usize) -> Self {
        let (number, birth) = (next(), Origin::here());
        let object = Object {
            addr: object.cast::<()>().addr(),
            type_name: type_name::<T>(),
            bytes,
            number,
            birth,
            handles: 0,
            raw: 0,
        };
        Self::list(
            object.addr,
            number,
            object.birth.clone(),
            Some(object),
            |_, _| None,
        );
        Holder(number)
    }

    /// Lists a further handle of an object.
    #[track_caller]
    pub(crate) fn another(object: *const ()) -> Self {
        let (number, origin) = (next(), Origin::here());
        Self::list(object.addr(), number, origin, None, |_, _| None);
        Holder(number)
    }

    /// Lists a handle made from a raw pointer; the raw pointer's entry is removed.
    #[track_caller]
    pub(crate) fn of_raw(object: *const ()) -> Self {
        let (number, origin) = (next(), Origin::here());
        let addr = object.addr();
        // (`?`, here and below: the object has an entry, see the head of the file. A wrong registry
        // shall not panic under the lock.)
        Self::list(addr, number, origin, None, |shard, _| {
            let raw = shard.object(addr)?.raw;
            let removed = shard.remove(raw, addr)?;
            shard.object(addr)?.raw = removed.below;
            Some(removed)
        });
        Holder(number)
    }

    /// Lists a raw pointer made from this handle; the handle's entry is removed.
    #[track_caller]
    pub(crate) fn into_raw(self, object: *const ()) {
        let (number, origin) = (next(), Origin::here());
        let addr = object.addr();
        Self::list(addr, number, origin, None, |shard, below| {
            *below = core::mem::replace(&mut shard.object(addr)?.raw, number);
            shard.remove(self.0, addr)
        });
    }

    /// Lists a handle, of a new object or of a known object. `replace` removes and returns the
    /// entry that the new entry replaces, if any, and may set `below` of the new entry. The
    /// replaced entry is dropped under no lock.
    fn list(
        addr: usize,
        number: u64,
        origin: Origin,
        new: Option<Object>,
        replace: impl FnOnce(&mut Shard, &mut u64) -> Option<Handle>,
    ) {
        let mut handle = Some(Handle {
            number,
            addr,
            origin,
            below: 0,
        });
        let mut new = new;
        let old = shard(addr).with_room(Shard::make_room, |shard, _| {
            if let Some(object) = new.take() {
                debug_assert!(
                    shard.object(addr).is_none(),
                    "an object that died is still listed"
                );
                shard
                    .objects
                    .insert_unique(hash_of(addr), object, |object| hash_of(object.addr));
            }
            shard.object(addr)?.handles += 1;
            let mut handle = handle.take()?;
            let old = replace(shard, &mut handle.below);
            shard.add(handle);
            old
        });
        drop((old, handle));
    }

    /// Removes the entry: the handle gives up its count next.
    pub(crate) fn end(self, object: *const ()) {
        let addr = object.addr();
        let removed = shard(addr).lock().remove(self.0, addr);
        drop(removed);
    }

    /// Removes the object, which has no handle any more and is destroyed next.
    pub(crate) fn died(object: *const ()) {
        let addr = object.addr();
        let removed = shard(addr).with_room(
            |shard, rest: &mut Vec<Handle>| match shard.object(addr) {
                Some(object) if object.handles > rest.capacity() => Err(object.handles),
                _ => Ok(()),
            },
            |shard, rest| {
                let is = |object: &Object| object.addr == addr;
                let found = shard.objects.find_entry(hash_of(addr), is).ok()?;
                let (removed, _) = found.remove();
                if removed.handles != 0 {
                    rest.extend(shard.handles.extract_if(|handle| handle.addr == addr));
                }
                // An empty table that is not freed would look like a leak to a test that counts
                // bytes.
                let is_empty = shard.objects.is_empty();
                Some((
                    removed,
                    is_empty.then(|| core::mem::replace(shard, Shard::new())),
                ))
            },
        );
        drop(removed);
    }
}

/// Returns the live objects at these addresses, which are in order. The result has the same order.
/// O(all live objects).
pub(crate) fn known_at(addrs: &[usize]) -> Vec<Known> {
    let wanted = |object: &Object| addrs.binary_search(&object.addr).is_ok();
    let mut known = match addrs {
        [addr] => known_in(slice::from_ref(shard(*addr)), wanted),
        _ => known_in(&OBJECTS, wanted),
    };
    known.sort_unstable_by_key(|(_, known)| known.addr);
    known.into_iter().map(|(_, known)| known).collect()
}

/// Returns the live objects with a larger number whose origin satisfies the closure, oldest first.
/// O(all live objects).
pub(crate) fn known_since(number: u64, wanted: impl Fn(&Origin) -> bool) -> Vec<Known> {
    let wanted = |object: &Object| object.number > number && wanted(&object.birth);
    let mut known = known_in(&OBJECTS, wanted);
    known.sort_unstable_by_key(|(number, _)| *number);
    known.into_iter().map(|(_, known)| known).collect()
}

/// Returns the origin of the object at this address, if there is a live object.
pub(crate) fn birth_of(addr: usize) -> Option<Origin> {
    Some(shard(addr).lock().object(addr)?.birth.clone())
}

/// Returns the wanted objects of some shards, each with its number. `wanted` runs under the locks.
fn known_in(shards: &[Mutex<Shard>], wanted: impl Fn(&Object) -> bool) -> Vec<(u64, Known)> {
    let mut known = Vec::new();
    for shard in shards {
        let (objects, mut handles) = shard.with_room(
            |shard, (objects, handles): &mut (Vec<Object>, Vec<Handle>)| {
                let there = || shard.objects.iter().filter(|object| wanted(object));
                let room = (there().count(), there().map(|object| object.handles).sum());
                match objects.capacity() < room.0 || handles.capacity() < room.1 {
                    true => Err(room),
                    false => Ok(()),
                }
            },
            |shard, (objects, handles)| {
                objects.extend(
                    shard
                        .objects
                        .iter()
                        .filter(|object| wanted(object))
                        .cloned(),
                );
                let is_wanted = |handle: &&Handle| {
                    let is = |object: &Object| object.addr == handle.addr;
                    shard
                        .objects
                        .find(hash_of(handle.addr), is)
                        .is_some_and(&wanted)
                };
                handles.extend(shard.handles.iter().filter(is_wanted).cloned());
                (core::mem::take(objects), core::mem::take(handles))
            },
        );
        handles.sort_unstable_by_key(|handle| (handle.addr, handle.number));
        known.extend(objects.into_iter().map(|object| {
            let from = handles.partition_point(|handle| handle.addr < object.addr);
            let own = handles[from..].iter();
            let own = own.take_while(|handle| handle.addr == object.addr);
            let known = Known {
                addr: object.addr,
                type_name: object.type_name,
                bytes: object.bytes,
                holders: own
                    .map(|handle| (Holder(handle.number), handle.origin.clone()))
                    .collect(),
                birth: object.birth,
            };
            (object.number, known)
        }));
    }
    known
}
