//! 592: `assert_dead!` and `LeakWatch`: objects that should be dead, with any kind of pointer, with and without the
//! feature `holders`.

mod common;

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use common::own::Own;
use common::{Kind, place_of_panic};
use weakly::{Strong, WeakMap, assert_dead, leaks::LeakWatch, reference::WeakKey};

for_each_kind! {
    a_live_object_is_named_with_its_handles,
    a_watch_lists_what_is_alive,
    nothing_is_kept_alive,
}

struct Window(&'static str);

fn message_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    *payload.downcast().expect("a formatted message")
}

/// The first line: with the feature `holders`, others say who holds it.
fn first_line_of(f: impl FnOnce()) -> String {
    message_of(f).lines().next().unwrap().to_owned()
}

fn window<P: Kind>() -> P::Strong<Window> {
    Window("main").into()
}

fn a_live_object_is_named_with_its_handles<P: Kind>() {
    let window = window::<P>();
    let weak = WeakKey::downgrade(&window);
    let name = type_name::<Window>();
    let message = first_line_of(|| assert_dead!(weak));
    assert_eq!(message, format!("`{name}` is still alive: 1 strong handle"));
    let other = window.clone();
    let message = first_line_of(|| assert_dead!(weak, "after closing the {}", window.0));
    let expected = "is still alive after closing the main: 2 strong handles";
    assert_eq!(message, format!("`{name}` {expected}"));
    drop((window, other));
    assert_dead!(weak);
}

fn a_watch_lists_what_is_alive<P: Kind>() {
    let mut watch = LeakWatch::new();
    watch.check();
    let (one, other) = (window::<P>(), P::Strong::from(5));
    watch.expect_dead(&one, "the window");
    watch.expect_dead(&other, String::from("its icon"));
    let first_lines = |watch: &LeakWatch| {
        let alive = watch.alive().into_iter();
        let first = alive.map(|text| text.lines().next().unwrap().to_owned());
        first.collect::<Vec<_>>()
    };
    let of_one = format!("the window: `{}`, 1 strong handle", type_name::<Window>());
    let of_other = "its icon: `i32`, 2 strong handles";
    let again = other.clone();
    assert_eq!(first_lines(&watch), [of_one.as_str(), of_other]);
    drop(one);
    assert_eq!(first_lines(&watch), [of_other]);
    let message = message_of(|| watch.check());
    let expected = format!("1 of 2 objects still alive\n{of_other}");
    assert!(message.starts_with(&expected), "{message}");
    drop((other, again));
    assert!(watch.alive().is_empty());
    watch.check();
}

fn nothing_is_kept_alive<P: Kind>() {
    let (window, token) = (window::<P>(), Rc::new(()));
    let mut watch = LeakWatch::new();
    let held = P::Strong::from(token.clone());
    watch.expect_dead(&held, "held");
    watch.expect_dead(&window, "window");
    assert_eq!(P::counts(&held).0, 1);
    // Nor by reporting.
    assert_eq!(watch.alive().len(), 2);
    assert_eq!(format!("{watch:?}").matches("held: ").count(), 1);
    drop(held);
    assert_eq!((Rc::strong_count(&token), watch.alive().len()), (1, 1));
}

#[test]
fn a_pointer_of_a_user_may_have_no_count() {
    let object = Own::<()>::new(5);
    let mut watch = LeakWatch::new();
    watch.expect_dead(&object, "own");
    let alive = watch.alive();
    let line = alive[0].lines().next().unwrap();
    assert_eq!(line, "own: `usize`, an unknown number of strong handles");
    // The feature finds the pointer inside.
    assert_eq!(
        alive[0].lines().count(),
        1 + usize::from(cfg!(feature = "holders"))
    );
    drop(object);
    watch.check();
}

/// A destructor that asserts that its own object is dead.
#[test]
fn an_object_in_its_destructor_counts_as_dead() {
    struct Node(weakly::Weak<Node>);
    impl Drop for Node {
        fn drop(&mut self) {
            assert_dead!(self.0);
        }
    }
    drop(Strong::new_cyclic(|me| Node(me.clone())));
}

/// The panic is reported where the assertion is.
#[test]
fn the_place_is_that_of_the_assertion() {
    let object = Strong::new(Window("main"));
    let weak = Strong::downgrade(&object);
    let mut watch = LeakWatch::new();
    watch.expect_dead(&object, "the place");
    let (file, line) = (file!().to_owned(), line!());
    let place = place_of_panic(|| assert_dead!(weak, "at the place"));
    assert_eq!(place, (file.clone(), line + 1));
    assert_eq!(place_of_panic(|| watch.check()), (file, line + 3));
}

/// An entry in a collection is no holder.
#[test]
fn entries_do_not_count() {
    let object = Strong::new(5);
    let map = WeakMap::from([(&object, ())]);
    let mut watch = LeakWatch::new();
    watch.expect_dead(&object, "object");
    drop(object);
    watch.check();
    drop(map);
}

#[test]
#[cfg(feature = "holders")]
fn with_the_feature_the_holders_are_named() {
    let object = Strong::new(5);
    let line = line!() - 1;
    let weak = Strong::downgrade(&object);
    let other = object.clone();
    let message = message_of(|| assert_dead!(weak));
    let thread = std::thread::current();
    let held = |line: u32, column: u32| {
        let thread = thread.name().unwrap();
        format!(
            "\n  held since {}:{line}:{column}, thread '{thread}'",
            file!()
        )
    };
    let expected = held(line, 18) + &held(line + 3, 24);
    assert_eq!(
        message,
        format!("`i32` is still alive: 2 strong handles{expected}")
    );
    let mut watch = LeakWatch::new();
    watch.expect_dead(&object, "object");
    drop(other);
    let alive = format!("object: `i32`, 1 strong handle{}", held(line, 18));
    assert_eq!(watch.alive(), [alive]);
}
