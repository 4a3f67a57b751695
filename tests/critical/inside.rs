//! An allocator that uses the collections which its caller uses, with each allocation and each free: it does not deadlock,
//! and does not panic.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{mem, thread};

use super::nothing_found;
use super::world::World;
use crate::common::random::random;
use crate::common::{in_time, sized};

thread_local! {
    /// What the allocator uses on this thread, and how. Not within itself: it would recurse.
    static USES: Cell<Option<(&'static World, usize)>> = const { Cell::new(None) };
}

/// How often it has used that, and how often it has panicked.
static USED: AtomicUsize = AtomicUsize::new(0);
static PANICKED: AtomicUsize = AtomicUsize::new(0);

pub(super) fn is_called() {
    let Some((world, number)) = USES.take() else {
        return;
    };
    let used = catch_unwind(AssertUnwindSafe(|| world.operate(number, true)));
    PANICKED.fetch_add(used.map_err(mem::forget).is_err().into(), Relaxed);
    USED.fetch_add(1, Relaxed);
    USES.set(Some((world, random(number as u64).nth(1).unwrap_or(0))));
}

fn operate(threads: usize, operations: usize) {
    static WORLD: OnceLock<World> = OnceLock::new();
    in_time(move || {
        let world = WORLD.get_or_init(World::new);
        thread::scope(|scope| {
            for thread in 0..threads {
                let numbers = random(thread as u64 + 1).take(operations);
                scope.spawn(move || {
                    USES.set(Some((world, thread)));
                    numbers.for_each(|number| world.operate(number, false));
                    USES.set(None);
                });
            }
        });
        world.end();
    });
    assert!(USED.load(Relaxed) > operations);
    assert_eq!(PANICKED.load(Relaxed), 0);
    nothing_found();
}

/// 310: By one thread, and then by several.
#[test]
fn it_uses_what_its_caller_uses() {
    operate(1, sized(5_000, 1_500, 50));
    operate(4, sized(2_000, 600, 20));
}
