//! Models of the reclamation, with one word instead of a table.

use core::ptr;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::thread::JoinHandle;

use super::super::batch::CROWD;
use super::super::domain::Domain;
use super::super::guards::{Reading, Writing};
use super::super::rest::MakeRest;
use super::super::retired::{Retire, Retired};
use super::spawn;
use crate::panics::FirstPanic;
use crate::sync::{Live, models};
use crate::thread::ThreadNumber;

/// The worlds have no context.
const REST: MakeRest = MakeRest::with_context::<()>();

/// Three things, of which one can be found at a time. Threads may gather things before they read
/// the participants.
struct World<const GATHERS: bool> {
    domain: Domain,
    found: AtomicUsize,
    things: [Thing; 3],
}

struct Thing {
    live: Live,
    ends: AtomicUsize,
}

impl<const GATHERS: bool> World<GATHERS> {
    /// Makes a world as if so many threads had come that threads gather, if they gather.
    fn new() -> Arc<Self> {
        Self::after(if GATHERS { CROWD } else { 1 })
    }

    /// Makes a world as if `threads` threads had come.
    fn after(threads: usize) -> Arc<Self> {
        let domain = Domain::new(REST);
        domain.participants.pretend(threads);
        if !GATHERS {
            domain.be_prompt();
        }
        Arc::new(World {
            domain,
            found: AtomicUsize::new(0),
            things: [(); 3].map(|()| Thing {
                live: Live::new(),
                ends: AtomicUsize::new(0),
            }),
        })
    }

    /// Makes a world to which no thread has come.
    fn empty() -> Arc<Self> {
        let mut world = Self::new();
        let domain = Domain::without_threads();
        if !GATHERS {
            domain.be_prompt();
        }
        Arc::get_mut(&mut world).unwrap().domain = domain;
        world
    }

    fn look(&self) {
        let _inside = Reading::new(&self.domain, REST);
        self.things[self.found.load(Acquire)].live.check();
    }

    /// Retires the thing that was found, as a writer does.
    fn replace(&self, new: usize) {
        let inside = Writing::new(&self.domain, REST);
        // As in a table: the barrier of making a bag is not the barrier after unlinking.
        inside.make_room_to_retire(1);
        // AcqRel: the Acquire stands for the lock that orders two writers of a table.
        let old = self.found.swap(new, AcqRel);
        self.things[old].live.check();
        let old = ptr::from_ref(&self.things[old]).cast_mut();
        // SAFETY: unlinked by the calling thread.
        inside.retire(unsafe { Retired::new(old) });
    }

    /// Empties all bags.
    fn empty_bags(&self) {
        let mut panics = FirstPanic::default();
        self.domain.empty_bags(true, usize::MAX, &mut panics);
        panics.resume();
    }

    /// Empties all bags, and then destroys the deferred things.
    fn purge(&self) {
        self.empty_bags();
        drop(Writing::new(&self.domain, REST));
    }

    fn ended(&self) -> usize {
        self.things
            .iter()
            .map(|thing| thing.ends.load(Relaxed))
            .sum()
    }
}

fn model<const GATHERS: bool>(model: impl Fn(Arc<World<GATHERS>>) + Send + Sync + 'static) {
    models::check(move || model(World::new()));
}

/// Runs another thread in the world.
fn with<const GATHERS: bool>(
    world: &Arc<World<GATHERS>>,
    number: usize,
    run: impl FnOnce(&World<GATHERS>) + 'static,
) -> JoinHandle<()> {
    let world = Arc::clone(world);
    spawn(number, move || run(&world))
}

impl Retire for Thing {
    type Context = ();

    fn is_counted(&self) -> bool {
        true
    }

    unsafe fn destroy(thing: *mut Self, (): &()) {
        // SAFETY: a thing of a world that still exists.
        let thing = unsafe { &*thing };
        thing.live.end();
        thing.ends.fetch_add(1, Relaxed);
    }
}

/// D1, D2: no thread looks at a thing that has ended. D3: the last leaving thread destroys the
/// thing, or the next thread does.
#[test]
fn reader_and_writer() {
    model::<false>(|world| {
        let other = with(&world, 1, |world| world.replace(1));
        world.look();
        world.look();
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

#[test]
fn reader_and_two_writes() {
    model::<false>(|world| {
        let other = with(&world, 1, |world| {
            world.replace(1);
            world.replace(2);
        });
        world.look();
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

#[test]
fn reader_and_two_writers() {
    // With three preemptions the model took minutes.
    models::check_up_to(2, || {
        let world = World::<false>::new();
        let writers = [1, 2].map(|number| with(&world, number, move |world| world.replace(number)));
        world.look();
        for writer in writers {
            writer.join().unwrap();
        }
        world.look();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// Two readers leave at once: the last of them, or the next thread, finds the thing that the writer
/// has retired.
#[test]
fn two_readers_and_a_writer() {
    // With three preemptions the model took 846,000 interleavings.
    models::check_up_to(2, || {
        let world = World::<false>::new();
        let readers = [1, 2].map(|number| with(&world, number, World::look));
        world.replace(1);
        for reader in readers {
            reader.join().unwrap();
        }
        world.look();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// A thread that is inside twice delays the thing it has found until it has left twice.
#[test]
fn nested() {
    model::<false>(|world| {
        let other = with(&world, 1, |world| world.replace(1));
        {
            let _outer = Reading::new(&world.domain, REST);
            let found = world.found.load(Acquire);
            world.replace(2);
            world.things[found].live.check();
        }
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// A thread that enters after a thing was deferred does not find the thing.
#[test]
fn nested_and_a_reader() {
    model::<false>(|world| {
        let other = with(&world, 1, World::look);
        {
            let _outer = Reading::new(&world.domain, REST);
            world.replace(1);
        }
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// Readers leave without a barrier. Another thread destroys the things left behind.
#[test]
fn a_reader_and_another() {
    model::<false>(|world| {
        let other = with(&world, 1, World::look);
        world.replace(1);
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind for good");
    });
}

/// P1, P2: a thread comes for the first time. The home of its number is taken by another number, so
/// the thread replaces the directory. The thread looks, while an earlier thread replaces the thing
/// to look at.
#[test]
fn a_reader_replaces_the_directory() {
    models::check(|| {
        let world = World::<false>::empty();
        world.look();
        let other = with(&world, 4, |world| {
            world.look();
            assert_eq!(world.domain.participants.slots(), 8);
        });
        world.replace(1);
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// P2: two threads come for the first time. One looks, while the other replaces the thing to look
/// at.
#[test]
fn a_reader_and_a_writer_come() {
    models::check(|| {
        let world = World::<false>::empty();
        let other = with(&world, 1, World::look);
        world.replace(1);
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// P1: a thread looks up its participant, while another thread replaces the directory.
#[test]
fn a_lookup_and_a_replaced_directory() {
    models::check(|| {
        let world = World::<false>::empty();
        let own = core::ptr::from_ref(world.domain.participant(0, REST));
        let other = with(&world, 4, |world| {
            let new = world.domain.include(4, REST);
            assert_eq!(new.number, 4);
        });
        for _ in 0..2 {
            assert!(core::ptr::eq(world.domain.participant(0, REST), own));
        }
        other.join().unwrap();
    });
}

/// D7: a reader against a thread that gathers two things and reads the participants once for both.
#[test]
fn reader_and_batch() {
    model::<true>(|world| {
        let other = with(&world, 1, |world| {
            world.replace(1);
            world.replace(2);
        });
        world.look();
        world.look();
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// D7: a reader against a gathering thread that is inside when its bag is full.
#[test]
fn reader_and_batch_inside() {
    model::<true>(|world| {
        let other = with(&world, 1, |world| {
            let _outer = Reading::new(&world.domain, REST);
            let found = world.found.load(Acquire);
            world.replace(1);
            world.replace(2);
            world.things[found].live.check();
        });
        world.look();
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// D7: a third thread empties the bag of the gathering thread, and reads the participants for the
/// things in it.
#[test]
fn reader_and_bag_and_purge() {
    models::check_up_to(2, || {
        let world = World::<true>::new();
        let writer = with(&world, 1, |world| world.replace(1));
        let reader = with(&world, 2, |world| {
            world.look();
            world.look();
        });
        world.purge();
        writer.join().unwrap();
        reader.join().unwrap();
        world.purge();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// D7: two threads unlink, and one of the two takes the things that both have gathered, while a
/// reader looks. The taking thread may be inside, and look at the thing that the other thread has
/// unlinked.
#[test]
fn two_unlinkers_and_a_taker() {
    for is_inside in [false, true] {
        models::check_up_to(2, move || {
            let world = World::<true>::new();
            let unlinker = with(&world, 1, |world| world.replace(1));
            let reader = with(&world, 2, World::look);
            {
                let outer = is_inside.then(|| Reading::new(&world.domain, REST));
                let found = outer.as_ref().map(|_| world.found.load(Acquire));
                world.replace(2);
                world.empty_bags();
                found.inspect(|found| world.things[*found].live.check());
            }
            unlinker.join().unwrap();
            reader.join().unwrap();
            world.purge();
            assert_eq!(world.ended(), 2, "left behind");
        });
    }
}

/// D7: a lone thread gathers nothing. Another thread comes for the first time, and from then on the
/// first thread gathers.
#[test]
fn the_inclusion_of_a_second_thread() {
    let _long = models::long();
    models::check(|| {
        let world = World::<true>::empty();
        let other = with(&world, 1, World::look);
        world.replace(1);
        world.replace(2);
        other.join().unwrap();
        world.purge();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// D7: a third thread has emptied a bag, and not read the participants yet, when a purge finds the
/// bag empty.
#[test]
fn a_foreign_take_and_a_purge() {
    models::check_up_to(2, || {
        let world = World::<true>::new();
        let reader = with(&world, 2, World::look);
        world.replace(1);
        let taker = with(&world, 1, World::empty_bags);
        world.empty_bags();
        taker.join().unwrap();
        reader.join().unwrap();
        world.purge();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// D1: the only thread so far ends what it has unlinked before it entered, beside a thread that
/// comes for the first time.
#[test]
fn the_only_thread() {
    models::check(|| {
        let world = World::<false>::empty();
        world.look();
        let other = with(&world, 1, World::look);
        let old = world.found.swap(1, AcqRel);
        let inside = world.domain.enter(REST);
        if world.domain.is_alone(inside.participant) {
            world.things[old].live.end();
        }
        inside.leave(false);
        other.join().unwrap();
    });
}

/// D3: the next visit destroys things that the last reader has missed, also where too few threads
/// have come to gather.
#[test]
fn few_threads() {
    models::check(|| {
        let world = World::<true>::after(CROWD - 1);
        let other = with(&world, 1, |world| {
            world.look();
            world.look();
        });
        world.replace(1);
        assert_eq!(world.domain.bagged(), 0);
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// D7: two threads gather, and one of them empties both bags.
#[test]
fn two_bags_and_a_purge() {
    models::check_up_to(2, || {
        let world = World::<true>::new();
        let writers = [1, 2].map(|number| with(&world, number, move |world| world.replace(number)));
        world.look();
        world.purge();
        for writer in writers {
            writer.join().unwrap();
        }
        world.purge();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// D7: a purge against a thread that empties its own full bag.
#[test]
fn full_bag_and_purge() {
    model::<true>(|world| {
        let other = with(&world, 1, |world| {
            world.replace(1);
            world.replace(2);
        });
        world.purge();
        other.join().unwrap();
        world.purge();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// D7: a thread ends with a thing in its bag. The next thread with its number gathers on, and a
/// third thread purges.
#[test]
fn a_bag_passes_on() {
    model::<true>(|world| {
        ThreadNumber::set(1);
        world.replace(1);
        ThreadNumber::set(2);
        let next = with(&world, 1, |world| world.replace(2));
        world.look();
        world.purge();
        next.join().unwrap();
        world.purge();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// D7: the domain ends with a thing in a bag.
#[test]
fn the_end_of_a_bag() {
    model::<true>(|world| {
        let other = with(&world, 1, |world| {
            world.replace(1);
            world.look();
        });
        other.join().unwrap();
        let mut world = Arc::try_unwrap(world).ok().unwrap();
        let mut panics = FirstPanic::default();
        world.domain.end(&mut panics);
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// D6: a thread gives its number back while it is inside, and looks at a thing after that, while
/// the next thread with the number comes and goes.
#[test]
fn a_thread_that_ends_inside_and_the_next_with_its_number() {
    model::<false>(|world| {
        ThreadNumber::set(1);
        let inside = Reading::new(&world.domain, REST);
        let found = world.found.load(Acquire);
        let next = with(&world, 1, |world| world.look());
        let writer = with(&world, 2, |world| world.replace(1));
        next.join().unwrap();
        world.things[found].live.check();
        writer.join().unwrap();
        drop(inside);
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// A thread without a participant counts the entries, while another thread makes the directory.
#[test]
fn a_count_and_the_first_bench() {
    model::<false>(|world| {
        let other = with(&world, 1, |world| {
            Writing::new(&world.domain, REST).count(true, 1);
        });
        assert!(world.domain.entries() <= 1);
        other.join().unwrap();
        assert_eq!(world.domain.entries(), 1);
    });
}
