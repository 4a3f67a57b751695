//! How deep computations may nest. (Not under Miri, where frame addresses mean nothing, nor with a sanitizer, whose frames
//! are larger.) The numbers are those of the behaviours.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use weakly::concurrent::{WeakMap, WeakValueMap};
use weakly::memo::Value;
use weakly::{Memo, Strong};

use common::{panics, quiet_panic};

const STACK: usize = 8 << 20;
/// Without optimisation a level takes about six times as much.
const LEVELS: usize = if cfg!(debug_assertions) {
    5_000
} else {
    50_000
};

struct Function {
    size: usize,
    callee: Option<Callee>,
}

type Callee = Strong<Function>;

/// The current position of the stack.
#[inline(never)]
fn here() -> usize {
    let local = 0_u8;
    std::hint::black_box(&raw const local).addr()
}

/// A chain of functions, each of which calls the one before.
fn functions(levels: usize) -> Vec<Callee> {
    let mut all: Vec<Callee> = Vec::new();
    for size in 0..levels {
        let callee = all.last().cloned();
        all.push(Strong::new(Function { size, callee }));
    }
    all
}

/// Computes something for the last of many functions, on a stack of 8 MiB: once with few, to measure how much a
/// level takes, then with as many as are promised. (A stack overflow would end the process.)
fn nested(compute: impl Fn(&Callee, &AtomicUsize) -> usize + Send + Sync) {
    nested_to(LEVELS, compute);
}

fn nested_to(all_levels: usize, compute: impl Fn(&Callee, &AtomicUsize) -> usize + Send + Sync) {
    let run = |levels: usize| {
        let (top, bottom) = (here(), AtomicUsize::new(0));
        let mut all = functions(levels);
        assert_eq!(
            compute(&all[levels - 1], &bottom),
            levels * (levels - 1) / 2
        );
        // From the caller to the callee, or their drops would nest as deep.
        while all.pop().is_some() {}
        (top - bottom.into_inner()) / levels
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        let done = thread.spawn_scoped(scope, || {
            let level = run(all_levels / 10);
            assert!(level * all_levels < STACK, "{level} bytes a level");
            run(all_levels);
        });
        done.unwrap().join().unwrap();
    });
}

/// 172: The example of the documentation.
#[test]
fn of_one_input() {
    fn size(sizes: &Memo<Callee, usize>, function: &Callee, bottom: &AtomicUsize) -> usize {
        sizes.get_or_compute(function, |cx| {
            let Some(callee) = &function.callee else {
                bottom.store(here(), Relaxed);
                return function.size;
            };
            cx.depends_on(callee);
            function.size + size(sizes, callee, bottom)
        })
    }
    nested(|last, bottom| size(&Memo::new(), last, bottom));
}

/// 172: A tuple takes the stack for its pointers besides, and no more.
#[test]
fn of_several_inputs() {
    type Pairs = Memo<(Callee, Strong<str>), usize>;
    fn of_two(memo: &Pairs, function: &Callee, name: &Strong<str>, bottom: &AtomicUsize) -> usize {
        memo.get_or_compute((function, name), |_| match &function.callee {
            Some(callee) => function.size + of_two(memo, callee, name, bottom),
            None => {
                bottom.store(here(), Relaxed);
                function.size
            }
        })
    }
    let name = Strong::from("name");
    nested(|last, bottom| of_two(&Memo::new(), last, &name, bottom));
}

/// 175: A failure at the bottom propagates all the way up, as a value or as a panic, and no result is stored.
#[test]
fn of_failures() {
    type Sizes = Memo<Callee, usize>;
    fn fail(sizes: &Sizes, function: &Callee, bottom: &AtomicUsize) -> Result<usize, String> {
        sizes.try_get_or_compute(function, |_| match &function.callee {
            Some(callee) => Ok(function.size + fail(sizes, callee, bottom)?),
            None => {
                bottom.store(here(), Relaxed);
                Err("no".into())
            }
        })
    }
    fn panic(sizes: &Sizes, function: &Callee) -> usize {
        sizes.get_or_compute(function, |_| match &function.callee {
            Some(callee) => function.size + panic(sizes, callee),
            None => quiet_panic(),
        })
    }
    let sum = |last: &Callee| last.size * (last.size + 1) / 2;
    nested(|last, bottom| {
        let sizes = Sizes::new();
        assert_eq!(fail(&sizes, last, bottom), Err("no".into()));
        assert!(panics(|| _ = panic(&sizes, last)));
        let levels = last.size + 1;
        let statistics = sizes.statistics();
        assert_eq!(
            [statistics.misses, statistics.failures],
            [2 * levels as u64; 2]
        );
        assert_eq!(sizes.get_or_compute(last, |_| sum(last)), sum(last));
        sum(last)
    });
}

/// 557: By a death, by calls, and by the drop of a memo, of one that was computed from another in a chain, a tree or a star.
#[test]
fn of_ends() {
    type Bottom = Memo<Strong<usize>, usize>;
    type End = fn(&Bottom, Strong<usize>);
    let ends: [End; 4] = [
        |_, object| drop(object),
        |bottom, object| _ = bottom.invalidate(&object),
        |bottom, object| _ = bottom.remove(&object),
        |bottom, _| bottom.clear(),
    ];
    let below: [fn(usize) -> usize; 3] = [|at| at - 1, |at| at / 2, |_| 0];
    let run = move |count: usize, below: fn(usize) -> usize, end: Option<End>| {
        let (bottom, above) = (
            Bottom::new(),
            Memo::<(Strong<usize>, Value<usize>), usize>::new(),
        );
        let (object, user) = (Strong::new(1), Strong::new(2));
        for at in 1..=count {
            above.get_or_compute((&user, &at), |_| match below(at) {
                0 => bottom.get_or_compute(&object, |_| 1),
                below => above.get_or_compute((&user, &below), |_| unreachable!()),
            });
        }
        assert_eq!(above.len(), count);
        match end {
            Some(end) => end(&bottom, object),
            None => drop(bottom),
        }
        assert!(above.is_empty());
    };
    let thread = thread::Builder::new().stack_size(128 << 10);
    let all = move || {
        run(20 * LEVELS, below[0], Some(ends[0]));
        for below in below {
            ends.map(Some)
                .into_iter()
                .chain([None])
                .for_each(|end| run(LEVELS, below, end));
        }
    };
    thread.spawn(all).unwrap().join().unwrap();
}

/// The maps compute their values likewise; half the depth is enough here.
#[test]
fn of_values_in_maps() {
    type Sizes = WeakMap<Callee, usize>;
    fn size(sizes: &Sizes, function: &Callee, bottom: &AtomicUsize) -> usize {
        sizes.get_or_insert_with(function, |_| match &function.callee {
            Some(callee) => function.size + size(sizes, callee, bottom),
            None => {
                bottom.store(here(), Relaxed);
                function.size
            }
        })
    }
    type Loaded = WeakValueMap<usize, Strong<usize>>;
    fn load(loaded: &Loaded, name: usize, bottom: &AtomicUsize) -> Strong<usize> {
        loaded.get_or_insert_with(name, |_| {
            let below = match name.checked_sub(1) {
                Some(name) => *load(loaded, name, bottom),
                None => {
                    bottom.store(here(), Relaxed);
                    0
                }
            };
            Strong::new(name + below)
        })
    }
    let half = LEVELS / 2;
    nested_to(half, |last, bottom| size(&WeakMap::new(), last, bottom));
    nested_to(half, |last, bottom| {
        *load(&WeakValueMap::new(), last.size, bottom)
    });
}

/// 368: A chain of objects, each the only owner of the next, is dropped by recursion. A level takes a fraction of the stack of
/// 2 MiB that a thread has, with entries and finalizers too.
#[test]
fn of_owners() {
    struct Owner {
        bottom: Arc<AtomicUsize>,
        _owned: Option<Strong<Owner>>,
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            self.bottom.store(here(), Relaxed);
        }
    }
    let level = |each: &mut dyn FnMut(&Strong<Owner>)| {
        let bottom = Arc::new(AtomicUsize::new(0));
        let mut last = None;
        for _ in 0..100 {
            let new = Strong::new(Owner {
                bottom: bottom.clone(),
                _owned: last.take(),
            });
            each(&new);
            last = Some(new);
        }
        let top = here();
        drop(last);
        (top - bottom.load(Relaxed)) / 100
    };
    let (mut one, shared) = (weakly::WeakMap::new(), WeakMap::new());
    let most = [
        level(&mut |_| ()),
        level(&mut |new| _ = one.insert(new, 1)),
        level(&mut |new| _ = shared.insert(new, 1)),
        level(&mut |new| {
            _ = (one.insert(new, 1), shared.insert(new, 1));
            Strong::finalize(new, || ());
        }),
    ];
    let allowed = if cfg!(debug_assertions) { 900 } else { 160 };
    assert!(most.iter().all(|level| *level <= allowed), "{most:?}");
}
