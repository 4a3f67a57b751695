//! What a panic leaves behind.

use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;

use weakly::{
    Strong, WeakMap, concurrent,
    cycles::{Cycles, Trace, Tracer},
    impl_trace, local,
};

use crate::common::{panics, quiet_panic};
use crate::tools::{Shared, any, shared};

/// Shows nothing, or panics; tells that it has died.
struct Value {
    panics: bool,
    dead: &'static AtomicBool,
}

impl Trace for Value {
    fn trace(&self, _: &mut Tracer<'_>) {
        if self.panics {
            quiet_panic();
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.dead.store(true, SeqCst);
    }
}

type Map = concurrent::WeakMap<Strong<Shared>, Value>;

fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A map, and an object with a value that tells of its death.
fn map(panics: bool) -> (&'static Map, Strong<Shared>, &'static AtomicBool) {
    let dead = leaked(AtomicBool::new(false));
    let (map, key) = (leaked(Map::new()), shared(1));
    map.insert(&key, Value { panics, dead });
    (map, key, dead)
}

/// A `Cycles` that a trace has left by a panic delays no destructor: not those of the maps before, nor its own.
#[test]
fn a_trace_that_panics_leaves_the_maps() {
    let (one, key, dead) = map(false);
    let (other, other_key, other_dead) = map(true);
    let mut cycles = Cycles::new().with(one).with(other);
    assert!(panics(|| _ = cycles.purge().removed));
    drop(key);
    one.purge();
    assert!(dead.load(SeqCst));
    drop(other_key);
    other.purge();
    assert!(other_dead.load(SeqCst));
    assert_eq!(cycles.purge().removed, 0);
}

/// Such a `Cycles` in a thread-local that ends late: its thread does not use what is another's by then. (Miri sees
/// the race, if it does.)
#[test]
fn small_a_cycles_that_ends_late() {
    /// Says that its thread is ending, before it ends.
    struct Late(Option<Cycles<'static, 'static>>, mpsc::Sender<()>);
    impl Drop for Late {
        fn drop(&mut self) {
            self.1.send(()).unwrap();
        }
    }
    thread_local!(static LATE: RefCell<Option<Late>> = const { RefCell::new(None) });

    let (one, key, dead) = map(false);
    let (other, _other_key, _) = map(true);
    let (begun, has_begun) = mpsc::channel();
    let late = thread::spawn(move || {
        // Registered before anything of the maps is, so that it ends after that.
        LATE.set(Some(Late(None, begun)));
        let mut cycles = Cycles::new().with(one).with(other);
        assert!(panics(|| _ = cycles.purge().removed));
        LATE.with_borrow_mut(|late| late.as_mut().unwrap().0 = Some(cycles));
    });
    has_begun.recv().unwrap();
    // Has the number that the thread had.
    let next = thread::spawn(move || one.remove_if(&key, |_| true));
    assert!(next.join().unwrap());
    late.join().unwrap();
    one.purge();
    assert!(dead.load(SeqCst));
}

/// An object that a trace lets go dies with the pointers of the search. If that panics, what was unlinked is destroyed
/// all the same, and does not count for the next search.
#[test]
fn a_death_in_the_search_panics() {
    struct Dying;
    impl_trace!(Dying);
    impl Drop for Dying {
        fn drop(&mut self) {
            quiet_panic();
        }
    }
    struct LetsGo(RefCell<Option<local::Strong<Dying>>>, local::Strong<u8>);
    impl Trace for LetsGo {
        fn trace(&self, tracer: &mut Tracer<'_>) {
            self.0.trace(tracer);
            self.1.trace(tracer);
            self.0.take();
        }
    }
    let (key, dying) = (local::Strong::new(1), local::Strong::new(Dying));
    let weak = local::Strong::downgrade(&key);
    let value = any(LetsGo(RefCell::new(Some(dying)), key.clone()));
    let mut map = WeakMap::from([(&key, value)]);
    drop(key);
    let mut cycles = Cycles::new().with(&mut map);
    assert!(panics(|| _ = cycles.purge().removed));
    assert!(weak.is_expired());
    assert_eq!(cycles.purge().removed, 0);
}

/// A value whose destructor panics.
struct Fails;

impl Drop for Fails {
    fn drop(&mut self) {
        ENDED.with(|ended| ended.set(ended.get() + 1));
        quiet_panic();
    }
}

thread_local! {
    static ENDED: Cell<usize> = const { Cell::new(0) };
}

impl Trace for Fails {
    fn trace(&self, _: &mut Tracer<'_>) {}
}

/// 151: Several destructors panic, of objects that end with the search and of what the closures of
/// foreign objects own: all of them run, and the first panic goes on.
#[test]
fn destructors_at_the_end_of_a_search() {
    /// Drops its handles as soon as the search has seen them.
    struct Forgets(Mutex<Vec<Strong<Fails>>>);
    impl Trace for Forgets {
        fn trace(&self, tracer: &mut Tracer<'_>) {
            let mut all = self.0.lock().unwrap();
            all.iter().for_each(|one| one.trace(tracer));
            all.clear();
        }
    }
    struct Owns;
    impl Trace for Owns {
        fn trace(&self, tracer: &mut Tracer<'_>) {
            for id in 0..3 {
                let fails = Fails;
                tracer.foreign(id, 1, move |_| {
                    let _fails = &fails;
                });
            }
        }
    }
    let key = shared(1);
    let mut map = WeakMap::new();
    map.insert(
        &key,
        any(Forgets(Mutex::new(
            (0..3).map(|_| Strong::new(Fails)).collect(),
        ))),
    );
    assert!(panics(|| _ = map.purge_cycles()));
    assert_eq!((ENDED.take(), map.len()), (3, 1));
    let mut map = WeakMap::new();
    map.insert(&key, any(Owns));
    assert!(panics(|| _ = map.purge_cycles()));
    assert_eq!((ENDED.take(), map.len()), (3, 1));
}
