//! What is destroyed while a reservation is put into the table, or while a value takes its place. (Here by an `Eq` that removes an
//! entry while the table compares keys.)

use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use weakly::concurrent::WeakValueMap;

use super::common::in_time;
use super::tools::*;

type Map = WeakValueMap<Key, Arc<u32>, BuildHasherDefault<DefaultHasher>>;

static MAP: Map = WeakValueMap::with_hasher(BuildHasherDefault::new());
/// Which comparison removes the entry.
static COMPARED: AtomicUsize = AtomicUsize::new(0);
/// What the key of that runs when it is destroyed.
static RUNS: Mutex<fn()> = Mutex::new(|| ());

#[derive(Clone)]
struct Key(u32);

impl Drop for Key {
    fn drop(&mut self) {
        if self.0 == 3 {
            let run = *RUNS.lock().unwrap();
            run();
        }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        if COMPARED.fetch_sub(1, SeqCst) == 1 {
            MAP.retain(|key, _| key.0 != 3);
        }
        self.0 == other.0
    }
}

impl Eq for Key {}

/// Has each of the first comparisons of `ask` destroy the key of an entry, which runs something.
fn each(runs: fn(), ask: impl Fn()) {
    let (two, three) = (Arc::new(2), Arc::new(3));
    for nth in 1..if cfg!(miri) { 10 } else { 20 } {
        COMPARED.store(1 << 20, SeqCst);
        MAP.clear();
        MAP.insert(Key(2), &two);
        MAP.insert(Key(3), &three);
        *RUNS.lock().unwrap() = runs;
        COMPARED.store(nth, SeqCst);
        ask();
        COMPARED.store(1 << 20, SeqCst);
        *RUNS.lock().unwrap() = || ();
    }
}

fn by_thread() -> Arc<u32> {
    MAP.get_or_insert_with(Key(1), |_| Arc::new(1))
}

fn by_task() -> Arc<u32> {
    block_on(MAP.get_or_insert_async(Key(1), |_| async {
        yields(1).await;
        Arc::new(1)
    }))
}

/// 453: No destructor runs between the insertion of a reservation and the computation. So a destructor that asks for the same key
/// finds the value, or makes it: it waits for nobody.
#[test]
fn no_destructor_runs_in_between() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    fn ask() {
        ASKED.fetch_add(1, SeqCst);
        assert_eq!((*by_thread(), *by_task()), (1, 1));
    }
    in_time(|| {
        each(ask, || assert_eq!(*by_thread(), 1));
        each(ask, || assert_eq!(*by_task(), 1));
        // The closure runs under the reservation, and asks for another key: what was removed before is destroyed in that call, as
        // a part of the computation.
        static CYCLES: AtomicUsize = AtomicUsize::new(0);
        fn ask_inside() {
            let asked = catch_unwind(by_thread);
            CYCLES.fetch_add(usize::from(asked.is_err()), SeqCst);
        }
        each(ask_inside, || {
            let made = MAP.get_or_insert_with(Key(1), |_| {
                drop(MAP.get_or_insert_with(Key(9), |_| Arc::new(9)));
                Arc::new(1)
            });
            assert_eq!(*made, 1);
        });
        assert_ne!(CYCLES.load(SeqCst), 0);
    });
    assert_ne!(ASKED.load(SeqCst), 0);
}
