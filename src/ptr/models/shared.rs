//! A collection that threads share, with one bucket of two entries instead of a table. Its core,
//! the watches and the deaths are the code that ships.

mod life;
mod moves;
mod pairs;
mod records;
mod reverse;
mod wakers;

use core::mem;
use core::ptr::{self, NonNull};
use std::boxed::Box;

use super::super::{
    CoreRef, Dead, Found, Off, Promise, RegistrationId, SharedWatch, SharedWatchOf, below,
};
use super::*;
use crate::sync::{AtomicPtr, AtomicUsize, Live, Ordering, UnsafeCell, free, relax};

/// The hash of all entries.
const HASH: u32 = 2;

const FREE: usize = 0;
const LOCKED: usize = 1;
const MOVED: usize = 2;

/// An entry, for one object or for two.
struct Node<T> {
    watches: Vec<SharedWatchOf<T>>,
    live: Live,
}

impl<T> Node<T> {
    fn new(watches: Vec<SharedWatchOf<T>>) -> Box<Self> {
        let live = Live::new();
        Box::new(Node { watches, live })
    }

    fn named(&self, of: RegistrationId) -> Option<&AtomicPtr<()>> {
        self.live.check();
        let mut watches = self.watches.iter();
        watches.find_map(|watch| watch.watch().named(of))
    }

    fn link(&self) -> *mut () {
        self.live.check();
        let link = self.watches.iter().find_map(|watch| watch.watch().link());
        below(link.expect("it is in a list"))
    }
}

/// An entry that the model has unlinked, or taken from a list. The drop is the end of the entry's
/// grace period.
struct Unlinked<T: 'static = Payload>(&'static Node<T>);

impl<T> Unlinked<T> {
    /// Ends the entry's registrations.
    fn end(&self) {
        let watches = self.0.watches.iter();
        watches.for_each(|watch| watch.watch().end(&mut Off::new()));
    }

    fn watch(&self) -> &'static SharedWatchOf<T> {
        self.0.live.check();
        &self.0.watches[0]
    }

    /// Returns the weak pointer that a listener gets when the entry is destroyed.
    fn into_weak(self) -> Option<Weak<T>> {
        self.0.live.end();
        // SAFETY: as in `drop`, which does not run.
        let mut watches = unsafe { ptr::from_ref(&self.0.watches).read() };
        mem::forget(self);
        watches.remove(0).into_weak()
    }
}

impl<T> Drop for Unlinked<T> {
    fn drop(&mut self) {
        self.0.live.end();
        let watches = (&raw const self.0.watches).cast_mut();
        // SAFETY: unlinked, and no thread looks at the entry any more. (The memory stays.)
        unsafe { ptr::drop_in_place(watches) };
    }
}

struct Bucket<T> {
    lock: AtomicUsize,
    slots: UnsafeCell<[*mut Node<T>; 2]>,
    /// The bucket to which the entries have moved.
    next: AtomicPtr<Bucket<T>>,
    live: Live,
}

impl<T> Bucket<T> {
    fn new() -> NonNull<Self> {
        NonNull::from(Box::leak(Box::new(Bucket {
            lock: AtomicUsize::new(FREE),
            slots: UnsafeCell::new([ptr::null_mut(); 2]),
            next: AtomicPtr::new(ptr::null_mut()),
            live: Live::new(),
        })))
    }

    /// Locks the bucket as a table does. Returns false if the bucket has moved.
    fn lock(&self) -> bool {
        self.live.check();
        let mut turn = 0;
        loop {
            match (self.lock).compare_exchange(FREE, LOCKED, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return true,
                Err(MOVED) => return false,
                Err(_) => relax(&mut turn),
            }
        }
    }

    fn unlock(&self, to: usize) {
        self.lock.store(to, Ordering::Release);
    }

    fn slots<R>(&self, f: impl FnOnce(&mut [*mut Node<T>; 2]) -> R) -> R {
        // SAFETY: the caller has the lock.
        self.slots.with_mut(|slots| f(unsafe { &mut *slots }))
    }

    /// Uses the slots, in this bucket or in the bucket to which they have moved.
    fn locked<R>(&self, f: impl FnOnce(&mut [*mut Node<T>; 2]) -> R) -> R {
        let mut bucket = self;
        while !bucket.lock() {
            // SAFETY: as for a table's array: not freed while any thread may be here.
            bucket = unsafe { &*bucket.next.load(Ordering::Acquire) };
        }
        let result = bucket.slots(f);
        bucket.unlock(FREE);
        result
    }
}

unsafe fn unlink<T>(
    entries: *mut (),
    of: RegistrationId,
    _: *const (),
    hash: u32,
    off: &mut Off,
) -> Found {
    assert_eq!(hash, HASH);
    // SAFETY: as in `begin`.
    let bucket = unsafe { &*entries.cast::<Bucket<T>>() };
    let node = bucket.locked(|slots| {
        // SAFETY: the entry is linked.
        let named = |node: &&mut *mut Node<T>| unsafe {
            node.as_ref().is_some_and(|node| node.named(of).is_some())
        };
        let slot = slots.iter_mut().find(named)?;
        Some(mem::replace(slot, ptr::null_mut()))
    });
    let Some(node) = node else {
        return Found::Nothing;
    };
    // SAFETY: the entry was unlinked by us.
    let there = unsafe { &*node };
    for watch in &there.watches {
        if watch.watch().named(of).is_none() {
            watch.watch().end(off);
        }
    }
    Found::Unlinked(Dead::new(
        NonNull::new(node).unwrap(),
        NonNull::from(there.named(of).unwrap()),
    ))
}

/// A promise for the objects of a model.
fn kept() -> Promise {
    // SAFETY: all callers have strong pointers, and no other thread knows the watch.
    unsafe { Promise::given() }
}

fn watch<T>(object: &Strong<T>) -> SharedWatchOf<T> {
    SharedWatchOf::of(SharedWatch::new(object))
}

/// The collection of a model.
struct Shared<T: 'static = Payload> {
    core: CoreRef,
    bucket: UnsafeCell<NonNull<Bucket<T>>>,
}

// SAFETY: the watches and the lock are made for many threads.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn new() -> Self {
        let core = CoreRef::new(unlink::<T>);
        let bucket = Bucket::<T>::new();
        core.begin_entries(bucket.as_ptr().cast()).unwrap();
        let bucket = UnsafeCell::new(bucket);
        Shared { core, bucket }
    }

    fn of(keys: &[&Strong<T>]) -> Self {
        let map = Self::new();
        keys.iter().for_each(|key| map.insert(key));
        map
    }

    /// Lends the collection to another thread, which ends before the collection.
    fn lend(&self) -> &'static Self {
        // SAFETY: the models join the other thread first.
        unsafe { &*ptr::from_ref(self) }
    }

    fn bucket(&self) -> &'static Bucket<T> {
        // SAFETY: the bucket is in its place until it has moved, and the memory stays.
        self.bucket.with(|bucket| unsafe { &*(*bucket).as_ptr() })
    }

    fn register(&self, node: &Node<T>) {
        for watch in &node.watches {
            if watch.watch().register(self.core, Some(HASH), &kept()) {
                self.core.count().keep();
            }
        }
    }

    fn link(&self, node: Box<Node<T>>) {
        let node = Box::into_raw(node);
        self.bucket().locked(|slots| {
            let slot = slots.iter_mut().find(|slot| slot.is_null()).unwrap();
            *slot = node;
        });
    }

    fn insert(&self, key: &Strong<T>) {
        let node = Node::new([watch(key)].into());
        self.register(&node);
        self.link(node);
    }

    fn insert_pair(&self, one: &Strong<T>, other: &Strong<T>) {
        let node = Node::new([watch(one), watch(other)].into());
        self.register(&node);
        self.link(node);
    }

    /// Inserts as a memo does: only if the input, which was registered before, has not died since.
    fn insert_if_registered(&self, input: SharedWatchOf<T>) {
        let node = Node::new([input].into());
        let left = self.bucket().locked(|slots| {
            if !node.watches[0].watch().is_registered() {
                return Some(node);
            }
            slots[0] = Box::into_raw(node);
            None
        });
        drop(left.map(unlinked));
    }

    /// Replaces a present entry of the same object.
    fn replace(&self, slot: usize, key: &Strong<T>) -> Unlinked<T> {
        let node = Node::new([watch(key)].into());
        let old = self.bucket().locked(|slots| {
            // SAFETY: the entry is linked.
            let old = unsafe { &*slots[slot] };
            let (new, old) = (node.watches[0].watch(), old.watches[0].watch());
            assert!(new.is_unregistered() && new.is_like(old));
            new.inherit(old);
            mem::replace(&mut slots[slot], Box::into_raw(node))
        });
        // SAFETY: the entry was unlinked by us.
        Unlinked(unsafe { &*old })
    }

    /// Unlinks an entry; ends no registration.
    fn unlink(&self, slot: usize) -> Option<Unlinked<T>> {
        let take = |slots: &mut [_; 2]| mem::replace(&mut slots[slot], ptr::null_mut());
        let node = self.bucket().locked(take);
        // SAFETY: unlinked by us, if the entry was present.
        unsafe { node.as_ref() }.map(Unlinked)
    }

    /// Removes an entry at which no other thread looks. Returns whether the entry was present.
    fn remove(&self, slot: usize) -> bool {
        self.unlink(slot).is_some()
    }

    /// Returns the watch of an entry, for a thread that keeps the entry from being destroyed.
    fn look(&self, slot: usize) -> Option<&'static SharedWatchOf<T>> {
        let node = self.bucket().locked(|slots| slots[slot]);
        // SAFETY: the model destroys the entry later.
        unsafe { node.as_ref() }.map(|node| {
            node.live.check();
            &node.watches[0]
        })
    }

    /// Takes the entries that deaths have unlinked.
    fn take(&self) -> Vec<Unlinked<T>> {
        (0..self.core.stripes())
            .flat_map(|at| self.take_from(at))
            .collect()
    }

    fn take_from(&self, stripe: usize) -> Vec<Unlinked<T>> {
        let below = |node: *mut ()| link_of::<T>(node);
        let (first, count) = self.core.take(stripe, usize::MAX, below);
        list(first, count)
    }

    /// Takes and ends entries of a full list; returns how many.
    fn take_full(&self) -> usize {
        let (first, count) = self.core.take_full(|node| link_of::<T>(node));
        list::<T>(first, count).len()
    }

    /// Takes and ends the entries that deaths have unlinked; returns how many there were.
    fn drain(&self) -> usize {
        self.take().len()
    }

    /// Moves the entries to a new bucket, as growth does.
    fn grow(&self) {
        let (old, new) = (self.bucket(), Bucket::new());
        old.next.store(new.as_ptr(), Ordering::Release);
        assert!(old.lock());
        // SAFETY: the bucket is ours until it is found.
        unsafe { new.as_ref() }.slots(|to| *to = old.slots(|from| *from));
        old.unlock(MOVED);
        self.core.set_entries(new.as_ptr().cast());
        // SAFETY: no other thread of the model is inside.
        self.bucket.with_mut(|place| unsafe { *place = new });
        self.core.pass();
        free_bucket(old);
    }

    fn is_empty(&self) -> bool {
        let slots = self.bucket().locked(|slots| *slots);
        slots.iter().all(|slot| slot.is_null())
    }
}

fn link_of<T>(node: *mut ()) -> *mut () {
    // SAFETY: the entry is in a list.
    unsafe { &*node.cast::<Node<T>>() }.link()
}

fn unlinked<T>(node: Box<Node<T>>) -> Unlinked<T> {
    Unlinked(Box::leak(node))
}

fn list<T>(first: *mut (), count: usize) -> Vec<Unlinked<T>> {
    let mut next = first;
    let mut all = Vec::new();
    for _ in 0..count {
        // SAFETY: the entry is in a list, which the caller has taken.
        all.push(Unlinked(unsafe { &*next.cast::<Node<T>>() }));
        next = link_of::<T>(next);
    }
    all
}

fn free_bucket<T>(bucket: &'static Bucket<T>) {
    bucket.live.end();
    // SAFETY: made from a box. (loom's memory stays.)
    unsafe { free(NonNull::from(bucket)) };
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: called once, at the end.
        let closed = unsafe { self.core.close() };
        for at in 0..self.core.stripes() {
            let (first, count) = closed.take(at);
            drop(list::<T>(first, count));
        }
        let bucket = self.bucket();
        let left = bucket.slots(|slots| *slots);
        for node in left {
            // SAFETY: all linked entries are ours.
            drop(unsafe { node.as_ref() }.map(Unlinked));
        }
        free_bucket(bucket);
        closed.leave(0);
    }
}

/// The other references to an object, when a model begins.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    Nothing,
    /// A record, and nothing else.
    Record,
    /// An entry of a collection of one owner: the next entry is the second of the record.
    OneEntry,
    /// Two such entries: the next entry has a hook.
    TwoEntries,
}

const LIGHT: &[Beside] = &[Beside::Nothing];
const BOTH: &[Beside] = &[Beside::Nothing, Beside::Record];
/// With each of these, another registration of an entry: with the block, with its record as the
/// first, as the second, and with a hook.
const EACH: &[Beside] = &[
    Beside::Nothing,
    Beside::Record,
    Beside::OneEntry,
    Beside::TwoEntries,
];

impl Beside {
    /// Makes an object, and a collection that refers to the object as `self` says.
    fn object(self, maker: &Maker) -> (Strong<Payload>, Map) {
        let a = maker.object();
        let mut map = Map::new();
        match self {
            Beside::Nothing => {}
            Beside::Record => drop(Strong::finalize(&a, || {}).detach()),
            Beside::OneEntry => _ = map.put(&a),
            Beside::TwoEntries => _ = (map.put(&a), map.put(&a)),
        }
        (a, map)
    }
}

/// Checks a model of one object, with each of `besides`.
fn check_object(
    besides: &'static [Beside],
    model: impl Fn(Strong<Payload>) + Send + Sync + Copy + 'static,
) {
    for beside in besides {
        check(1, move |maker| {
            let (a, _beside) = beside.object(maker);
            model(a);
        });
    }
}

/// Checks a model of one object, with each of `besides`, and a collection with an entry for the
/// object.
fn check_entry(
    besides: &'static [Beside],
    model: impl Fn(Strong<Payload>, Shared) + Send + Sync + Copy + 'static,
) {
    check_object(besides, move |a| {
        let map = Shared::of(&[&a]);
        model(a, map);
    });
}
