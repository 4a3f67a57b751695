//! J. Callbacks and finalizers (items 131–143). The scripts of `pointers` state those that no test here names.
//!
//! The callbacks are finalizers. A weak handle has none of its own, so here 143 is about a token that dies with
//! its object: like every dropped token it has no effect.

use std::cell::{Cell, OnceCell};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use weakly::{
    Strong, WeakMap, WeakSet,
    ptr::{self, FinalizerToken},
};

use crate::common::{Log, OnDrop, Own, on_a_stack_of, panics, scaled};
use crate::{for_each_flavour, heap};

for_each_flavour!(
    finalizers_run_at_every_way_to_the_end,
    a_panicking_finalizer_does_not_stop_the_others,
    finalizers_run_also_if_the_destructor_panics,
    a_finalizer_may_make_and_drop_anything,
    a_destructor_uses_its_objects_finalizer,
    captured_state_is_freed_right_after_the_run,
    a_token_that_dies_with_its_object_changes_nothing,
    a_death_has_two_steps,
    the_second_step_may_panic,
);

/// Logs its name when it is dropped.
struct Noisy(Log, &'static str);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.0.note(self.1);
    }
}

/// An object that logs its drop, and the log.
fn logged<F: Own>() -> (ptr::Strong<Noisy, F>, Log) {
    let log = Log::default();
    (ptr::Strong::new(Noisy(log.clone(), "destructor")), log)
}

/// Registers a finalizer that logs.
fn note<F: Own, T>(
    object: &ptr::Strong<T, F>,
    log: &Log,
    event: &'static str,
) -> FinalizerToken<F> {
    let log = log.clone();
    F::finalize(object, move || log.note(event))
}

/// J131: When a finalizer runs, no weak handle and no map find the object.
#[test]
fn weak_handles_and_entries_are_dead_before_any_finalizer_runs() {
    let object = Strong::new(1_usize);
    let (weak, map) = (
        Strong::downgrade(&object),
        WeakMap::from([(&object, 1_usize)]),
    );
    let (ran, map) = (Arc::new(AtomicUsize::new(0)), Arc::new(map));
    for _ in 0..2 {
        let (ran, weak, map) = (ran.clone(), weak.clone(), map.clone());
        Strong::finalize(&object, move || {
            assert!(weak.is_expired() && weak.upgrade().is_none());
            assert_eq!(
                (map.get(&weak), map.len(), map.pending_dead()),
                (None, 0, 1)
            );
            ran.fetch_add(1, Relaxed);
        });
    }
    drop(object);
    assert_eq!(ran.load(Relaxed), 2);
}

/// J132: However the object ends: into_inner, try_unwrap, make_mut, or a failed construction.
fn finalizers_run_at_every_way_to_the_end<F: Own>() {
    let ends: [fn(ptr::Strong<usize, F>); 4] = [
        drop,
        |object| assert_eq!(ptr::Strong::into_inner(object), Some(5)),
        |object| assert_eq!(ptr::Strong::try_unwrap(object).ok(), Some(5)),
        |mut object| {
            let _weak = ptr::Strong::downgrade(&object);
            *ptr::Strong::make_mut(&mut object) += 1;
        },
    ];
    for end in ends {
        let (object, log) = (ptr::Strong::new(5_usize), Log::default());
        note(&object, &log, "run");
        end(object);
        assert_eq!(log.take(), ["run"]);
    }
}

/// J134: A finalizer that panics does not stop the others; the panic surfaces once, where the last handle was
/// dropped.
fn a_panicking_finalizer_does_not_stop_the_others<F: Own>() {
    let (object, log) = logged::<F>();
    let weak = ptr::Strong::downgrade(&object);
    note(&object, &log, "first");
    F::finalize(&object, || panic!("bad finalizer"));
    note(&object, &log, "third");
    assert!(panics(|| drop(object)));
    assert_eq!(log.take(), ["destructor", "third", "first"]);
    assert!(weak.is_expired());
}

/// J134: They also run if the payload's destructor panics, and its memory is freed.
fn finalizers_run_also_if_the_destructor_panics<F: Own>() {
    struct Bad(#[expect(dead_code)] [u8; 4096]);
    impl Drop for Bad {
        fn drop(&mut self) {
            // Without a message: the harness would keep it, and this test counts bytes.
            resume_unwind(Box::new("bad destructor"));
        }
    }
    let log = Log::default();
    let object = ptr::Strong::<_, F>::new(Bad([0; 4096]));
    let map = WeakMap::from([(&object, 1_usize)]);
    note(&object, &log, "finalizer");
    let before = heap::bytes();
    assert!(panics(|| drop(object)));
    let freed = before - heap::bytes();
    assert_eq!((log.take(), map.len()), (vec!["finalizer"], 0));
    assert!(cfg!(miri) || freed > 2048);
}

/// J135, J142: A finalizer may make and drop objects, weak handles, maps and finalizers.
fn a_finalizer_may_make_and_drop_anything<F: Own>() {
    let (object, log) = logged::<F>();
    let inner = log.clone();
    F::finalize(&object, move || {
        let others = [1, 2].map(ptr::Strong::<usize, F>::new);
        let set: WeakSet<_> = others.iter().collect();
        let weak = ptr::Strong::downgrade(&others[0]);
        note(&others[0], &inner, "inner");
        assert!(note(&others[1], &inner, "called off").detach().is_some());
        drop(others);
        assert!(weak.is_expired() && set.is_empty());
        inner.note("outer");
    });
    drop(object);
    assert_eq!(log.take(), ["destructor", "inner", "outer"]);
}

/// An object whose destructor does something with the token of its own finalizer.
struct WithToken<F: Own> {
    token: OnceCell<FinalizerToken<F>>,
    log: Log,
    act: fn(&FinalizerToken<F>),
}

impl<F: Own> WithToken<F> {
    /// What an object with two finalizers logs, the token of the second of which it has.
    fn log_of(act: fn(&FinalizerToken<F>)) -> Vec<&'static str> {
        let (token, log) = (OnceCell::new(), Log::default());
        let object = ptr::Strong::<_, F>::new(WithToken {
            token,
            log: log.clone(),
            act,
        });
        note(&object, &log, "first");
        assert!(object.token.set(note(&object, &log, "second")).is_ok());
        drop(object);
        log.take()
    }
}

impl<F: Own> Drop for WithToken<F> {
    fn drop(&mut self) {
        let token = self.token.get().unwrap();
        assert!(token.is_pending());
        (self.act)(token);
        assert!(!token.is_pending() && token.detach().is_none());
        self.log.note("destructor");
    }
}

/// J136, J137: In the object's own destructor the finalizer is pending, and can be cancelled, or run early.
fn a_destructor_uses_its_objects_finalizer<F: Own>() {
    let log = WithToken::<F>::log_of(|token| drop(token.detach().unwrap()));
    assert_eq!(log, ["destructor", "first"]);
    let log = WithToken::<F>::log_of(|token| assert!(token.run_now()));
    assert_eq!(log, ["second", "destructor", "first"]);
}

/// J135: Each finalizer owns the next object: all run inside the first one's. 200 of them fit in 2 MiB, unoptimised.
#[test]
fn a_chain_of_finalizers_recurses() {
    thread_local!(static DEPTHS: Cell<(usize, usize)> = const { Cell::new((0, 0)) });
    let links = scaled(200, 20);
    let depths = on_a_stack_of(2 << 20, move || {
        let mut first = Strong::new(0_usize);
        for _ in 0..links {
            let object = Strong::new(0_usize);
            Strong::finalize(&object, move || {
                let (depth, deepest) = DEPTHS.get();
                DEPTHS.set((depth + 1, deepest.max(depth + 1)));
                drop(first);
                DEPTHS.set((depth, DEPTHS.get().1));
            });
            first = object;
        }
        drop(first);
        DEPTHS.get()
    });
    assert_eq!(depths, (0, links));
}

/// J139: A finalizer's captures are freed right after it has run, before the next runs; those of a cancelled
/// one, with it.
fn captured_state_is_freed_right_after_the_run<F: Own>() {
    let (object, log) = logged::<F>();
    let tokens = [("old ran", "old freed"), ("new ran", "new freed")].map(|(ran, freed)| {
        let captured = Noisy(log.clone(), freed);
        F::finalize(&object, move || captured.0.note(ran))
    });
    let captured = Noisy(log.clone(), "called off");
    drop(F::finalize(&object, move || captured.0.note("never")).detach());
    assert_eq!(log.take(), ["called off"]);
    drop(object);
    assert_eq!(
        log.take(),
        ["destructor", "new ran", "new freed", "old ran", "old freed"]
    );
    assert!(tokens.iter().all(|token| !token.is_pending()));
}

/// J141: A finalizer that owns its own target keeps it alive, as documented; cancelling it breaks the cycle.
#[test]
fn a_finalizer_that_owns_its_target_keeps_it_alive() {
    let (object, log) = logged::<weakly::ptr::Atomic>();
    let (weak, owned) = (Strong::downgrade(&object), object.clone());
    let token = Strong::finalize(&object, move || drop(owned));
    drop(object);
    assert!(!weak.is_expired() && token.is_pending());
    drop(token.detach());
    assert!(weak.is_expired());
    assert_eq!(log.take(), ["destructor"]);
}

/// J143: An object that owns the token of its own finalizer: the token dies with it, the finalizer runs.
fn a_token_that_dies_with_its_object_changes_nothing<F: Own>() {
    let (start, log) = (heap::bytes(), Log::default());
    let object = ptr::Strong::<OnceCell<FinalizerToken<F>>, F>::new(OnceCell::new());
    assert!(object.set(note(&object, &log, "run")).is_ok());
    drop(object);
    assert_eq!(log.take(), ["run"]);
    drop(log);
    assert_eq!(heap::bytes(), start);
}

/// 366: From the first step on weak handles fail; the destructor, the notices and the finalizers wait for the second.
fn a_death_has_two_steps<F: Own>() {
    let (object, log) = logged::<F>();
    let weak = ptr::Strong::downgrade(&object);
    let mut map = WeakMap::from([(&object, 1_usize)]);
    note(&object, &log, "finalizer");
    assert!(ptr::Strong::begin_death(object.clone()).is_err());
    assert!(weak.upgrade().is_some(), "there was another handle");
    let dying = ptr::Strong::begin_death(object).ok().unwrap();
    assert!(weak.upgrade().is_none() && weak.is_expired());
    assert_eq!(
        (weak.strong_count(), map.get(&weak), map.len_live()),
        (0, None, 0)
    );
    assert_eq!(
        (dying.1, map.get(&*dying)),
        ("destructor", Some(&1)),
        "as in its destructor"
    );
    assert_eq!((log.take().len(), map.pending_dead()), (0, 0));
    drop(dying);
    assert_eq!(log.take(), ["destructor", "finalizer"]);
    assert_eq!(
        (map.len(), map.pending_dead(), map.get(&weak)),
        (0, 1, None)
    );
    assert!(map.drain_dead().eq([1]));
    // Without anything that watches, and of an unsized type.
    let text = ptr::Strong::<str, F>::from("text");
    assert_eq!(&*ptr::Strong::begin_death(text).unwrap(), "text");
    // What is forgotten keeps its entries, which nothing finds.
    let (object, log) = logged::<F>();
    let weak = ptr::Strong::downgrade(&object);
    let mut map = WeakMap::from([(&object, 1_usize)]);
    crate::common::forget(ptr::Strong::begin_death(object).ok().unwrap());
    assert!(!map.purge() && map.get(&weak).is_none() && log.take().is_empty());
}

/// 366: A destructor and a finalizer that panic in the second step stop nothing.
fn the_second_step_may_panic<F: Own>() {
    let bomb = OnDrop::new(|| crate::common::quiet_panic());
    let (object, log) = (ptr::Strong::<_, F>::new(bomb), Log::default());
    let mut map = WeakMap::from([(&object, 1_usize)]);
    note(&object, &log, "finalizer");
    let dying = ptr::Strong::begin_death(object).ok().unwrap();
    assert!(panics(|| drop(dying)));
    assert_eq!((log.take(), map.len()), (vec!["finalizer"], 0));
    assert!(map.drain_dead().eq([1]));
}
