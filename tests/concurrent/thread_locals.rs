//! Shared collections in the destructors of thread-locals, which run at the end of a thread.

use std::cell::RefCell;
use std::env;
use std::io::{Write, stderr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, exit};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use weakly::concurrent::WeakMap;
use weakly::{Memo, Strong};

use crate::common::{in_time, panics, watchdog::watched};
use crate::dynamic::*;
use crate::faces::{Maps, owned, quietly};

type Last = Box<dyn FnOnce() + Send>;

struct AtTheEnd(Option<Last>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if let Some(last) = self.0.take() {
            last();
        }
    }
}

thread_local! {
    static LAST: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd(None)) };
}

/// Runs on a new thread: first `before`, and `last` when all other thread-locals have been destroyed, among them
/// those that `before` has used.
fn at_the_end<R: Send + 'static>(
    before: impl FnOnce() + Send + 'static,
    last: impl FnOnce() -> R + Send + 'static,
) -> R {
    let (sender, receiver): (Sender<R>, Receiver<R>) = channel();
    let thread = thread::spawn(move || {
        // Destroyed in the reverse order of their first use.
        LAST.with_borrow_mut(|own| {
            own.0 = Some(Box::new(move || {
                sender.send(last()).expect("the receiver waits")
            }));
        });
        before();
    });
    thread.join().expect("no panic");
    receiver.recv().expect("it was run")
}

/// 183
#[test]
fn small_a_map_in_the_destructor_of_a_thread_local() {
    let map: &'static Maps<Strong<usize>> = Box::leak(Box::default());
    let key = Strong::new(1);
    let (before, last) = (key.clone(), key.clone());
    const EARLY: usize = 5;
    const LATE: usize = 6;
    let found = at_the_end(
        move || _ = map.insert(&before, owned(EARLY, &quietly())),
        move || {
            let early = map.get(&last);
            map.insert(&last, owned(LATE, &quietly()));
            let other = Strong::new(2);
            let made = map.get_or_insert_dyn(&other, &mut || {
                map.with(&last, Arc::clone).expect("it is present")
            });
            drop(other);
            map.purge();
            let numbers = [early, Some(made), map.remove(&last)].map(|it| it.map(|it| it.number));
            (numbers, map.len())
        },
    );
    assert_eq!(found, ([EARLY, LATE, LATE].map(Some), 0));
    assert!(map.is_empty());
}

/// Uses all thread-locals of the shared types, so that they are gone at the end.
fn early() {
    let map = WeakMap::<Strong<usize>, usize>::new();
    let key = Strong::new(1);
    map.get_or_insert_dyn(&key, &mut || 1);
    let mut asked = false;
    map.compute_dyn(&key, &mut |_| {
        if !std::mem::replace(&mut asked, true) {
            map.insert(&key, 2);
        }
        Some(3)
    });
    assert_eq!(map.remove(&key), Some(3));
}

/// 174: A computation that needs itself is an error at the end of a thread too, and does not wait for itself
/// forever.
#[test]
fn small_a_cycle_at_the_end() {
    let panicked = in_time(|| {
        at_the_end(early, || {
            let memo = Memo::<Strong<usize>, usize>::new();
            let inputs = [1, 2].map(Strong::new);
            let panicked = panics(|| {
                memo.get_or_compute(&inputs[0], |_| {
                    memo.get_or_compute(&inputs[1], |_| {
                        memo.get_or_compute(&inputs[0], |_| unreachable!("it is being made"))
                    })
                });
            });
            (panicked, memo.get_or_compute(&inputs[0], |_| 7), memo.len())
        })
    });
    assert_eq!(panicked, (true, 7, 1));
}

/// 174: Also if that thread has made something else meanwhile: the rest of its flights still stands for it.
#[test]
fn small_a_cycle_with_a_thread_that_has_ended_a_nested_flight() {
    a_cycle_with_a_thread(|memo| {
        let [outer, inner] = [3, 4].map(Strong::new);
        memo.get_or_compute(&outer, |_| memo.get_or_compute(&inner, |_| 4));
    });
}

/// The other thread is at its end, and does something while its value is made.
fn a_cycle_with_a_thread(meanwhile: fn(&Memo<Strong<usize>, usize>)) {
    let made = in_time(move || {
        let memo = Arc::new(Memo::<Strong<usize>, usize>::new());
        let [mine, theirs] = [1, 2].map(Strong::new);
        let (begun, has_begun) = channel();
        let (asks, asked) = channel();
        let other = {
            let (memo, mine, theirs) = (memo.clone(), mine.clone(), theirs.clone());
            thread::spawn(move || {
                at_the_end(early, move || {
                    panics(|| {
                        memo.get_or_compute(&theirs, |_| {
                            begun.send(()).unwrap();
                            asked.recv().unwrap();
                            meanwhile(&memo);
                            memo.get_or_compute(&mine, |_| 1)
                        });
                    })
                })
            })
        };
        let panicked = panics(|| {
            memo.get_or_compute(&mine, |_| {
                has_begun.recv().unwrap();
                asks.send(()).unwrap();
                memo.get_or_compute(&theirs, |_| 2)
            });
        });
        let they_panicked = other.join().unwrap();
        (
            panicked || they_panicked,
            memo.get_or_compute(&mine, |_| 3) > 0,
        )
    });
    assert_eq!(made, (true, true));
}

/// 174, 183: A computation that exits the process: the destructors of thread-locals run then, and one that asks for the same
/// value gets an error, as ever, whatever thread-locals are gone by then. This test runs itself again, in a process of
/// its own.
#[test]
#[cfg_attr(miri, ignore = "no processes")]
fn exit_in_a_computation_ends_the_process() {
    const CHILD: &str = "WEAKLY_TEST_EXIT_IN_A_COMPUTATION";
    const STATUS: i32 = 77;
    if env::var_os(CHILD).is_some() {
        let _watched = watched("the child");
        let map: &'static WeakMap<Strong<usize>, usize> = Box::leak(Box::default());
        let key = Strong::new(1);
        LAST.with_borrow_mut(|own| {
            let key = key.clone();
            own.0 = Some(Box::new(move || {
                let asked =
                    catch_unwind(AssertUnwindSafe(|| map.get_or_insert_dyn(&key, &mut || 2)));
                let panic = asked.expect_err("it is being made");
                let message = panic.downcast_ref::<String>().expect("a message");
                _ = writeln!(stderr(), "the destructor got: {message}");
            }));
        });
        map.get_or_insert_dyn(&key, &mut || exit(STATUS));
    }
    let output = Command::new(env::current_exe().expect("this program"))
        .args([
            "--exact",
            "thread_locals::exit_in_a_computation_ends_the_process",
        ])
        .env(CHILD, "1")
        .output()
        .expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(STATUS), "{message}");
    assert!(message.contains("the destructor got: a cycle"), "{message}");
}
