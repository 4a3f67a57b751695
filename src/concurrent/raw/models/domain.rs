//! Models of the reclamation, with one word instead of a table.

use core::ptr;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::thread::JoinHandle;

use super::super::domain::Domain;
use super::super::guards::{Reading, Writing};
use super::super::retired::{Retire, Retired};
use super::spawn;
use crate::sync::{Live, models};
use crate::thread::ThreadNumber;

/// Things to look at, of which one can be found at a time.
struct World<const PROMPT: bool> {
    domain: Domain<()>,
    found: AtomicUsize,
    things: [Thing; 3],
}

struct Thing {
    live: Live,
    ends: AtomicUsize,
}

impl<const PROMPT: bool> World<PROMPT> {
    fn new() -> Arc<Self> {
        Arc::new(World {
            domain: Domain::new(()),
            found: AtomicUsize::new(0),
            things: [(); 3].map(|()| Thing {
                live: Live::new(),
                ends: AtomicUsize::new(0),
            }),
        })
    }

    fn look(&self) {
        let _inside = Reading::new(&self.domain, PROMPT);
        self.things[self.found.load(Acquire)].live.check();
    }

    /// A writer: retires the thing that was found.
    fn replace(&self, new: usize) {
        let inside = Writing::new(&self.domain, PROMPT);
        // Relaxed on the loading side: in a table, a lock orders two writers.
        let old = self.found.swap(new, AcqRel);
        self.things[old].live.check();
        let old = ptr::from_ref(&self.things[old]).cast_mut();
        // SAFETY: unlinked by us.
        inside.retire(unsafe { Retired::new(old) });
    }

    /// A writer that retires what was unlinked before it entered, as by a death.
    fn reap(&self, new: usize) {
        let old = self.found.swap(new, AcqRel);
        let inside = Writing::new(&self.domain, PROMPT);
        let old = ptr::from_ref(&self.things[old]).cast_mut();
        // SAFETY: unlinked by us.
        inside.retire_earlier(unsafe { Retired::new(old) });
    }

    fn ended(&self) -> usize {
        self.things
            .iter()
            .map(|thing| thing.ends.load(Relaxed))
            .sum()
    }
}

fn model<const PROMPT: bool>(model: impl Fn(Arc<World<PROMPT>>) + Send + Sync + 'static) {
    models::check(move || model(World::new()));
}

/// Another thread in the world.
fn with<const PROMPT: bool>(
    world: &Arc<World<PROMPT>>,
    number: usize,
    run: impl FnOnce(&World<PROMPT>) + 'static,
) -> JoinHandle<()> {
    let world = Arc::clone(world);
    spawn(number, move || run(&world))
}

impl Retire<()> for Thing {
    fn is_counted(&self) -> bool {
        true
    }

    unsafe fn destroy(thing: *mut Self, (): &()) {
        // SAFETY: a thing of a world that is there.
        let thing = unsafe { &*thing };
        thing.live.end();
        thing.ends.fetch_add(1, Relaxed);
    }
}

/// D1, D2: no thread looks at a thing that has ended. D3: when all have left, all that was retired has ended.
#[test]
fn reader_and_writer() {
    model::<true>(|world| {
        let other = with(&world, 1, |world| world.replace(1));
        world.look();
        world.look();
        other.join().unwrap();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// D1: the barrier of entering is enough for what was unlinked before; the writer leaves without one.
#[test]
fn reader_and_reaper() {
    fn run<const PROMPT: bool>() {
        model::<PROMPT>(|world| {
            let other = with(&world, 1, |world| world.reap(1));
            world.look();
            world.look();
            other.join().unwrap();
            // Without prompt, memory may wait for the next thread that leaves.
            drop(Writing::new(&world.domain, PROMPT));
            assert_eq!(world.ended(), 1, "left behind");
        });
    }
    run::<true>();
    run::<false>();
}

#[test]
fn reader_and_two_writes() {
    model::<true>(|world| {
        let other = with(&world, 1, |world| {
            world.replace(1);
            world.replace(2);
        });
        world.look();
        other.join().unwrap();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

#[test]
fn reader_and_two_writers() {
    // With three it took minutes.
    models::check_up_to(2, || {
        let world = World::<true>::new();
        let writers = [1, 2].map(|number| with(&world, number, move |world| world.replace(number)));
        world.look();
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// Two readers leave at once: the last of them finds what the writer has retired.
#[test]
fn two_readers_and_a_writer() {
    model::<true>(|world| {
        let readers = [1, 2].map(|number| with(&world, number, World::look));
        world.replace(1);
        for reader in readers {
            reader.join().unwrap();
        }
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// A thread that is inside twice delays what it found until it has left twice.
#[test]
fn nested() {
    model::<true>(|world| {
        let other = with(&world, 1, |world| world.replace(1));
        {
            let _outer = Reading::new(&world.domain, true);
            let found = world.found.load(Acquire);
            world.replace(2);
            world.things[found].live.check();
        }
        other.join().unwrap();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// A thread that enters after something was put to the deferred list does not find it.
#[test]
fn nested_and_a_reader() {
    model::<true>(|world| {
        let other = with(&world, 1, World::look);
        {
            let _outer = Reading::new(&world.domain, true);
            world.replace(1);
        }
        other.join().unwrap();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// Without destructors, readers leave without a barrier: what they leave behind goes with the next thread.
#[test]
fn without_destructors() {
    model::<false>(|world| {
        let other = with(&world, 1, |world| world.replace(1));
        world.look();
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind for good");
    });
}

/// And it goes with another thread.
#[test]
fn without_destructors_by_another() {
    model::<false>(|world| {
        let other = with(&world, 1, World::look);
        world.replace(1);
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind for good");
    });
}

/// A writer that waits for a visit sees the reader's next one instead.
#[test]
fn without_destructors_and_two_visits() {
    model::<false>(|world| {
        let other = with(&world, 1, |world| world.replace(1));
        world.look();
        world.look();
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind for good");
    });
}

/// D6: A thread takes a number, looks, leaves, and gives it back. Nobody reads its participant before and after that,
/// and it looks at nothing that has ended.
#[test]
fn a_thread_that_comes_and_goes() {
    model::<true>(|world| {
        ThreadNumber::end(1);
        let other = with(&world, 0, |world| {
            ThreadNumber::take(1);
            world.look();
            ThreadNumber::end(1);
        });
        world.replace(1);
        world.replace(2);
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// D6: A thread that gives its number back while it is inside, and looks after that.
#[test]
fn a_thread_that_ends_inside() {
    model::<true>(|world| {
        let other = with(&world, 1, |world| {
            let inside = Reading::new(&world.domain, true);
            let found = world.found.load(Acquire);
            ThreadNumber::end(1);
            world.things[found].live.check();
            drop(inside);
        });
        world.replace(1);
        world.replace(2);
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// D6: The same, and another thread has the number when it checks whether a thread was left inside. A writer that
/// believes that check sees that the number is taken.
#[test]
fn a_thread_that_ends_inside_and_the_next_with_its_number() {
    model::<true>(|world| {
        ThreadNumber::set(1);
        let inside = Reading::new(&world.domain, true);
        let found = world.found.load(Acquire);
        ThreadNumber::end(1);
        let next = with(&world, 0, |world| {
            ThreadNumber::take(1);
            world.domain.visits(|_| {});
        });
        let writer = with(&world, 2, |world| world.replace(1));
        world.things[found].live.check();
        next.join().unwrap();
        writer.join().unwrap();
        drop(inside);
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// A thread that has no participant counts the entries, while another makes the chunk.
#[test]
fn a_count_and_the_first_bench() {
    model::<true>(|world| {
        let other = with(&world, 1, |world| {
            Writing::new(&world.domain, true).count(true, 1);
        });
        assert!(world.domain.entries() <= 1);
        other.join().unwrap();
        assert_eq!(world.domain.entries(), 1);
    });
}
