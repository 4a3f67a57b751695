//! 421: Snapshots and leak checks.

use std::any::type_name;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use weakly::leaks::{Leak, Snapshot, leak_check};
use weakly::{Strong, local, unsize};

/// An object that can own itself.
struct Node(RefCell<Option<local::Strong<Node>>>);

fn message_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    *payload.downcast().expect("a formatted message")
}

#[test]
fn a_snapshot_sees_what_was_made_since_and_lives() {
    let old = Strong::new(1);
    let before = Snapshot::new();
    assert!(before.leaks_of_this_thread().is_empty());
    // A new handle to an old object is no new object.
    let again = old.clone();
    assert!(before.leaks_of_this_thread().is_empty());
    let kept = unsize!(Strong::new(2_u8) => dyn std::fmt::Debug);
    let made = line!() - 1;
    drop(Strong::new(3));
    let later = Snapshot::new();
    let leaks = before.leaks_of_this_thread();
    assert_eq!(leaks.len(), 1);
    assert_eq!(leaks[0].type_name(), "u8");
    let birth = leaks[0].birth().location();
    assert_eq!((birth.line(), birth.column()), (made, 24));
    assert_eq!(leaks[0].holders().len(), 1);
    assert_eq!(format!("{:?}", leaks[0]), leaks[0].to_string());
    assert!(later.leaks_of_this_thread().is_empty());
    drop((kept, again));
    assert!(before.leaks_of_this_thread().is_empty());
}

#[test]
fn a_leak_check_names_birth_and_holders_of_a_cycle() {
    let mut cycle = None;
    let message = message_of(|| {
        leak_check(|| {
            drop(Strong::new(1));
            let node = local::Strong::new(Node(None.into()));
            node.0.replace(Some(node.clone()));
            // To break it afterwards.
            cycle = Some(local::Strong::downgrade(&node));
        });
    });
    let (file, born) = (file!(), line!() - 6);
    let name = thread::current().name().unwrap().to_owned();
    let expected = format!(
        "still alive: 1 of the objects made here\n\
         {}, made at {file}:{born}:24, thread '{name}'\n  \
         held since {file}:{}:38, thread '{name}'",
        type_name::<Node>(),
        born + 1
    );
    assert_eq!(message, expected);
    let node = cycle.unwrap().upgrade().unwrap();
    node.0.take();
}

#[test]
fn a_panic_passes_through_a_leak_check() {
    let kept = RefCell::new(None);
    let message = message_of(|| {
        leak_check(|| {
            kept.replace(Some(Strong::new(5)));
            panic!("{}", "its own");
        })
    });
    assert_eq!(message, "its own");
}

/// 421: A snapshot names the live objects of all threads; of its own thread, on request.
#[test]
fn a_snapshot_sees_the_objects_of_all_threads() {
    struct Stuck;
    let before = Snapshot::new();
    let names = || {
        let ours = |leak: &Leak| leak.type_name() == type_name::<Stuck>();
        before.leaks().iter().filter(|leak| ours(leak)).count()
    };
    let theirs = thread::spawn(|| Strong::new(Stuck)).join().unwrap();
    let own = Strong::new(Stuck);
    assert_eq!((names(), before.leaks_of_this_thread().len()), (2, 1));
    thread::scope(|scope| scope.spawn(|| assert_eq!(names(), 2)).join().unwrap());
    drop(theirs);
    assert_eq!((names(), before.leaks_of_this_thread().len()), (1, 1));
    drop(own);
    assert_eq!(names(), 0);
}
