//! Which threads look at the deferred list.

use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::thread;

use super::super::rest::MakeRest;
use super::super::retired::Retire;
use super::*;

#[path = "../../../tests/common/watchdog.rs"]
mod watchdog;

/// The tables have no context.
const REST: MakeRest = MakeRest::with_context::<()>();

/// An object without contents.
struct Nothing;

impl Retire for Nothing {
    type Context = ();

    fn is_counted(&self) -> bool {
        true
    }

    unsafe fn destroy(_: *mut Self, (): &()) {}
}

impl Writing<'_> {
    fn retire_nothing(&self) {
        let nothing = core::ptr::NonNull::<Nothing>::dangling();
        // SAFETY: nothing is read through the pointer.
        self.retire(unsafe { Retired::new(nothing.as_ptr()) });
    }
}

/// A domain in which no thread gathers.
fn domain() -> Domain {
    let domain = Domain::new(REST);
    domain.be_prompt();
    domain
}

/// A leaving reader takes no lock if no deferred object waits for the reader. Another thread may
/// hold the lock meanwhile.
#[test]
fn a_reader_that_nothing_waits_for_takes_no_lock() {
    let _watched = watchdog::watched("a reader waits for the lock");
    {
        let domain = domain();
        let (domain, (came, comes)) = (&domain, channel());
        let ((go, goes), (read, reads)) = (channel::<()>(), channel());
        thread::scope(|scope| {
            scope.spawn(move || {
                let inside = Reading::new(domain, REST);
                came.send(()).unwrap();
                _ = goes.recv();
                drop(inside);
            });
            comes.recv().unwrap();
            let inside = Writing::new(domain, REST);
            inside.retire_nothing();
            drop(inside);
            assert_eq!(domain.known().deferred.batches(), 1);
            let deferred = domain.known().deferred.lock();
            scope.spawn(move || {
                drop(Reading::new(domain, REST));
                read.send(()).unwrap();
            });
            reads.recv().unwrap();
            drop((deferred, go));
        });
        assert!(domain.known().deferred.batches() == 0);
    }
}

/// D3: a named thread leaves without a barrier, and misses its name. The next leaving thread looks
/// at the deferred list.
#[test]
fn the_next_that_leaves_looks_for_one_that_has_missed_it() {
    let domain = domain();
    let (domain, (came, comes)) = (&domain, channel());
    let (go, goes) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let inside = Reading::new(domain, REST);
            came.send(()).unwrap();
            _ = goes.recv();
            let left = inside.0.leave(false);
            assert!(left && inside.0.must_look());
            core::mem::forget(inside);
        });
        comes.recv().unwrap();
        let inside = Writing::new(domain, REST);
        inside.retire_nothing();
        drop(inside);
        drop(Reading::new(domain, REST));
        assert_eq!(domain.known().deferred.batches(), 1, "that one is inside");
        drop(go);
    });
    drop(Reading::new(domain, REST));
    assert!(domain.known().deferred.batches() == 0);
}

/// The same with many threads, present and past.
#[test]
fn nor_however_many_threads_there_are() {
    let _watched = watchdog::watched("one of many readers waits for the lock");
    // At least one thread for each bit of a word, besides the named thread.
    let many = if cfg!(miri) { 20 } else { 400 };
    {
        let domain = domain();
        let (domain, (came, comes)) = (&domain, channel());
        let ((go, goes), (read, reads)) = (channel::<()>(), channel());
        let all_there = &Barrier::new(many + 1);
        let waits = &Barrier::new(many + 1);
        thread::scope(|scope| {
            scope.spawn(move || {
                let inside = Reading::new(domain, REST);
                came.send(()).unwrap();
                _ = goes.recv();
                drop(inside);
            });
            comes.recv().unwrap();
            for _ in 0..many {
                let read = read.clone();
                scope.spawn(move || {
                    drop(Reading::new(domain, REST));
                    all_there.wait();
                    waits.wait();
                    drop(Reading::new(domain, REST));
                    read.send(()).unwrap();
                });
            }
            all_there.wait();
            let inside = Writing::new(domain, REST);
            inside.retire_nothing();
            drop(inside);
            assert_eq!(domain.known().deferred.batches(), 1);
            let deferred = domain.known().deferred.lock();
            waits.wait();
            (0..many).for_each(|_| reads.recv().unwrap());
            drop((deferred, go));
        });
        assert!(domain.known().deferred.batches() == 0);
    }
}

/// D6: a thread gives its number back while it is inside, as when it exits the process there. A
/// look reads the participant of that thread, and the entries that the thread may be reading are
/// not destroyed, whichever thread then has the number.
#[test]
fn a_thread_that_has_ended_inside_is_waited_for() {
    let domain = domain();
    let stay = || core::mem::forget(Reading::new(&domain, REST));
    let visit = || drop(Reading::new(&domain, REST));
    let retire = || Writing::new(&domain, REST).retire_nothing();
    thread::scope(|scope| scope.spawn(stay).join().unwrap());
    for waiting in 1..=5 {
        retire();
        assert_eq!(domain.waiting(), waiting);
        thread::scope(|scope| scope.spawn(visit).join().unwrap());
    }
}

/// D2: a thread waits once for the end of a lasting visit, and not again. It waits for the next
/// visit.
#[test]
fn a_visit_that_lasts_is_looked_for_once() {
    let domain = &domain();
    let (came, comes) = channel();
    let (go, goes) = channel::<()>();
    let visits = || {
        let mut visits = Vec::new();
        domain.visits(|visit| visits.push(visit));
        visits
    };
    thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..2 {
                let inside = Reading::new(domain, REST);
                came.send(()).unwrap();
                goes.recv().unwrap();
                drop(inside);
            }
        });
        drop(Writing::new(domain, REST));
        for _ in 0..2 {
            comes.recv().unwrap();
            assert!(!domain.end_soon(&visits(), 10));
            // If the thread looked again, the call would not return before the other thread leaves.
            assert!(!domain.end_soon(&visits(), usize::MAX));
            go.send(()).unwrap();
        }
    });
    assert!(domain.end_soon(&visits(), usize::MAX));
}

/// The deferred list takes no more memory than its objects do.
#[test]
fn deferred_is_given_back() {
    let many = if cfg!(miri) { 20 } else { 1_000 };
    let domain = domain();
    let (first, second) = (&Barrier::new(2), &Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let inside = Reading::new(&domain, REST);
            first.wait();
            second.wait();
            drop(inside);
        });
        first.wait();
        for _ in 0..many {
            // A new visit each time, so each object waits for a different visit.
            let inside = Reading::new(&domain, REST);
            Writing::new(&domain, REST).retire_nothing();
            drop(inside);
        }
        assert_eq!(domain.waiting(), many);
        assert_eq!(domain.known().deferred.batches(), many);
        second.wait();
    });
    assert_eq!(
        (domain.waiting(), domain.known().deferred.batches()),
        (0, 0)
    );
}
