//! A death allocates nothing: on threads that are new, in the destructors of thread-locals, while the table grows.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use super::{MANY, nothing_found};
use crate::common::in_time;
use weakly::concurrent::{WeakMap, WeakPairMap, WeakSet, WeakValueMap};
use weakly::{Memo, Strong};

thread_local! {
    /// Whether this thread is dropping a handle.
    static DYING: Cell<bool> = const { Cell::new(false) };
}

/// What threads have allocated while they dropped a handle.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
/// How many handles were dropped.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

pub(super) fn allocates() {
    if DYING.get() {
        ALLOCATED.fetch_add(1, Relaxed);
    }
}

/// A handle whose drop is watched.
struct Watched<T>(Option<Strong<T>>);

impl<T> Drop for Watched<T> {
    fn drop(&mut self) {
        DYING.set(true);
        drop(self.0.take());
        DYING.set(false);
        DROPPED.fetch_add(1, Relaxed);
    }
}

thread_local! {
    static LATE: RefCell<Vec<Box<dyn std::any::Any>>> = const { RefCell::new(Vec::new()) };
}

/// The ways to be in shared collections: once; twice in one; in several; with a weak handle; of a payload apart.
struct All<T: Send + Sync + 'static> {
    map: WeakMap<Strong<T>, Box<usize>>,
    /// Without destructors: a thread gathers more of them.
    other: WeakMap<Strong<T>, usize>,
    set: WeakSet<Strong<T>>,
    values: WeakValueMap<usize, Strong<T>>,
    pairs: WeakPairMap<Strong<T>, Strong<usize>>,
    memo: Memo<Strong<T>, Box<usize>>,
}

impl<T: Send + Sync + 'static> All<T> {
    /// Objects in some of the collections, one way after the other.
    fn objects(&self, make: impl Fn(usize) -> T) -> Vec<Watched<T>> {
        let side = Strong::new(0);
        let all = (0..MANY).map(|number| {
            let object = Strong::new(make(number));
            if number % 7 != 1 {
                self.map.insert(&object, Box::new(1));
            }
            if number % 7 == 2 {
                self.other.insert(&object, 1);
                self.set.insert(&object);
            }
            if number % 7 == 3 || number % 7 == 1 {
                self.values.insert(number, &object);
                self.values.insert(MANY + number, &object);
            }
            if number % 7 == 4 {
                self.pairs.insert(&object, &side);
                self.memo.get_or_compute(&object, |cx| {
                    cx.depends_on(&side);
                    Box::new(1)
                });
            }
            if number % 7 == 5 {
                drop(Strong::downgrade(&object));
                Strong::finalize(&object, || ());
            }
            Watched(Some(object))
        });
        all.collect()
    }
}

fn nothing_allocated<T: Send + Sync + 'static>(make: fn(usize) -> T) {
    let all = All::<T> {
        map: WeakMap::new(),
        other: WeakMap::new(),
        set: WeakSet::new(),
        values: WeakValueMap::new(),
        pairs: WeakPairMap::new(),
        memo: Memo::new(),
    };
    let dropped = DROPPED.load(Relaxed);
    // On this thread, and on new ones.
    drop(all.objects(make));
    let objects = all.objects(make);
    thread::spawn(move || drop(objects)).join().unwrap();
    // In the destructor of a thread-local, which is older than all that the collections use, or younger.
    let (old, new) = (all.objects(make), all.objects(make));
    thread::spawn(move || LATE.with_borrow_mut(|late| late.push(Box::new(old))))
        .join()
        .unwrap();
    thread::spawn(move || {
        WeakMap::new().insert(&Strong::new(1_usize), Box::new(1_usize));
        LATE.with_borrow_mut(|late| late.push(Box::new(new)));
    })
    .join()
    .unwrap();
    // While the table grows, and shrinks.
    let objects = all.objects(make);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..super::ROUNDS {
                let more: Vec<_> = (0..2 * MANY)
                    .map(|number| Strong::new(make(number)))
                    .collect();
                more.iter()
                    .for_each(|it| _ = all.map.insert(it, Box::new(2)));
                all.map.retain_values(|value| **value == 1);
                all.map.shrink_to_fit();
            }
        });
        scope.spawn(move || drop(objects));
    });
    assert!(DROPPED.load(Relaxed) - dropped >= 5 * MANY);
    assert_eq!(ALLOCATED.load(Relaxed), 0, "a death has allocated");
    assert!(all.map.is_empty() && all.values.is_empty() && all.memo.is_empty());
    assert!(all.pairs.is_empty() && all.set.is_empty() && all.other.is_empty());
    nothing_found();
}

/// 72
#[test]
fn of_small_objects() {
    in_time(|| nothing_allocated(|number| number));
}

/// 72
#[test]
fn of_payloads_apart() {
    in_time(|| nothing_allocated(|number| [number; 50]));
}
