//! 421: Snapshots and leak checks.

use std::any::type_name;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use weakly::leaks::{LeakGroup, Snapshot, leak_check};
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
    let [group] = &leaks.groups[..] else {
        panic!("{leaks}")
    };
    assert_eq!((group.type_name, group.bytes), ("u8", 1));
    let birth = group.birth.as_ref().unwrap().location();
    assert_eq!((birth.line(), birth.column()), (made, 24));
    assert_eq!(group.holders.len(), 1);
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
        "still alive: 1 of the objects made since by this thread, behind handles of `weakly` ({} bytes)\n\
         `{}`, 1 strong handle, made at {file}:{born}:24, thread '{name}'\n  \
         held since {file}:{}:38, thread '{name}'",
        size_of::<Node>(),
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
        let ours = |group: &&LeakGroup| group.type_name == type_name::<Stuck>();
        let leaks = before.leaks();
        leaks
            .groups
            .iter()
            .filter(ours)
            .map(|group| group.count)
            .sum::<usize>()
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

/// 610: Objects of one type, made on one line and held since the same lines, are one group. The text of 5,000 leaks has at
/// most 100 lines; it has the number and the size of those that are alike.
#[test]
fn leaks_are_grouped_by_type_and_lines() {
    let before = Snapshot::new();
    let alike: Vec<_> = (0..4_000).map(|_| Strong::new([0_u8; 300])).collect();
    let born = line!() - 1;
    let again: Vec<_> = alike[..1_000]
        .iter()
        .map(|object| (*object).clone())
        .collect();
    let text = Strong::<str>::from("text");
    let leaks = before.leaks_of_this_thread();
    let sizes: Vec<_> = leaks
        .groups
        .iter()
        .map(|group| (group.count, group.bytes))
        .collect();
    assert_eq!(sizes, [(3_000, 900_000), (1_000, 300_000), (1, 4)]);
    assert_eq!((leaks.len(), leaks.bytes()), (4_001, 1_200_004));
    let birth = leaks.groups[0].birth.as_ref().unwrap().location();
    assert_eq!((birth.file(), birth.line()), (file!(), born));
    let lines: Vec<_> = leaks.groups[1]
        .holders
        .iter()
        .map(|(origin, times)| (origin.location().line(), *times))
        .collect();
    assert_eq!(lines, [(born, 1), (born + 4, 1)]);
    let message = leaks.to_string();
    assert!(
        message.contains("\n  and 2999 more like it, 900000 bytes in all\n"),
        "{message}"
    );
    assert!(message.lines().count() < 12, "{message}");
    drop((alike, again, text));
}

/// 610: The handles of one object are grouped by line.
#[test]
fn the_handles_of_one_object_are_grouped_by_line() {
    let object = Strong::new(1);
    let handles: Vec<_> = std::iter::repeat_with(|| object.clone())
        .take(5_000)
        .collect();
    let weak = Strong::downgrade(&object);
    let message = message_of(|| weakly::assert_dead!(weak));
    assert!(message.contains("\n  held 5000 times since "), "{message}");
    assert_eq!(message.lines().count(), 3, "{message}");
    drop(handles);
}

/// 612: The search for holders knows the line of each handle, and of the birth of its owner; and the lines of the handles
/// that no map shows.
#[test]
fn holders_are_grouped_by_line() {
    struct Owner(Strong<u8>);
    weakly::impl_trace!(Owner: 0);
    let target = Strong::new(1_u8);
    let made = line!() - 1;
    let mut owners: Vec<_> = (0..10)
        .map(|_| Strong::new(Owner(target.clone())))
        .collect();
    owners.push(Strong::new(Owner(target.clone())));
    let key = Strong::new(2);
    let mut map = weakly::WeakMap::from([(&key, owners)]);
    let holders = weakly::cycles::Cycles::new()
        .with(&mut map)
        .holders(&target);
    let place = |origin: &Option<weakly::holders::Origin>| origin.as_ref().unwrap().location();
    let groups: Vec<_> = holders
        .groups
        .iter()
        .map(|group| {
            (
                group.count,
                place(&group.since).line(),
                place(&group.birth).line(),
            )
        })
        .collect();
    assert_eq!(groups, [(10, made + 3, made + 3), (1, made + 5, made + 5)]);
    assert_eq!((holders.count, holders.elsewhere()), (Some(12), Some(1)));
    let text = holders.to_string();
    let elsewhere = format!("\n  held elsewhere since {}:{made}:", file!());
    assert!(
        text.contains(&elsewhere) && text.contains(&format!("\n    since {}:", file!())),
        "{text}"
    );
}

/// 614: Without line tables, the text of a place names the function, and says what is missing; with, there is nothing to say.
#[test]
fn without_line_tables_the_answer_says_so() {
    let before = Snapshot::new();
    let object = Strong::new(2);
    let values = weakly::WeakValueMap::from([(1, &object)]);
    let found = values.get(&1);
    let leaks = before.leaks_of_this_thread();
    let mut origins = leaks.groups[0]
        .holders
        .iter()
        .map(|(origin, _)| origin.location());
    let has_lines = origins.all(|place| place.line() != 0);
    let says_so = leaks
        .to_string()
        .contains("(no line tables: set `debug = \"line-tables-only\"`");
    assert_eq!((leaks.unseen(), says_so), (None, !has_lines), "{leaks}");
    drop(found);
}
