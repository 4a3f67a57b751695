//! 592: `assert_dead!` and `LeakWatch`: objects that should be dead, with any kind of pointer, with and without the
//! feature `holders`.

mod common;

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use common::own::Own;
use common::{Kind, place_of_panic};
use weakly::leaks::{LeakGroup, LeakWatch, Leaks};
use weakly::{Strong, WeakMap, assert_dead, local, reference::WeakKey};

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
    let first = |since: &str, handles| format!("still alive{since}: `{name}`, {handles}");
    assert!(
        message.starts_with(&first("", "1 strong handle")),
        "{message}"
    );
    let other = window.clone();
    let message = first_line_of(|| assert_dead!(weak, "after closing the {}", window.0));
    let expected = first(" after closing the main", "2 strong handles");
    assert!(message.starts_with(&expected), "{message}");
    drop((window, other));
    assert_dead!(weak);
}

/// The first lines of the groups, without the origins.
fn first_lines(leaks: &Leaks) -> Vec<String> {
    let first = |text: String| {
        let line = text.lines().next().unwrap();
        line.split(", made at").next().unwrap().to_owned()
    };
    let groups = leaks.groups.iter();
    groups.map(|group| first(group.to_string())).collect()
}

fn a_watch_lists_what_is_alive<P: Kind>() {
    let watch = local::LeakWatch::new();
    watch.check();
    let (one, other) = (window::<P>(), P::Strong::from(5));
    watch.expect_dead(&one, "the window");
    watch.expect_dead(&other, String::from("its icon"));
    let of_one = format!("the window: `{}`, 1 strong handle", type_name::<Window>());
    let of_other = "its icon: `i32`, 2 strong handles";
    let again = other.clone();
    // The larger one first.
    assert_eq!(first_lines(&watch.alive()), [of_one.as_str(), of_other]);
    let bytes = size_of::<Window>() + size_of::<i32>();
    assert_eq!((watch.alive().len(), watch.alive().bytes()), (2, bytes));
    drop(one);
    assert_eq!(first_lines(&watch.alive()), [of_other]);
    let message = message_of(|| watch.check());
    let expected = format!("still alive: 1 of 2 watched objects (4 bytes)\n{of_other}");
    assert!(message.starts_with(&expected), "{message}");
    drop((other, again));
    assert!(watch.alive().is_empty());
    assert_eq!(
        watch.alive().to_string(),
        "0 of 2 watched objects (0 bytes)"
    );
    watch.check();
}

fn nothing_is_kept_alive<P: Kind>() {
    let (window, token) = (window::<P>(), Rc::new(()));
    let watch = local::LeakWatch::new();
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
    let watch = LeakWatch::new();
    watch.expect_dead(&object, "own");
    let alive = watch.alive();
    let line = "own: `usize`, an unknown number of strong handles";
    assert_eq!(first_lines(&alive), [line]);
    // Nor does it tell its size. The feature finds the pointer inside.
    let holders = alive.groups[0].holders.len();
    assert_eq!(
        (alive.bytes(), holders),
        (0, usize::from(cfg!(feature = "holders")))
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
    let watch = LeakWatch::new();
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
    let watch = LeakWatch::new();
    watch.expect_dead(&object, "object");
    drop(object);
    watch.check();
    drop(map);
}

/// The sentence of an answer without the feature.
const NO_LINES: &str =
    "(the lines that made the handles are not known: build with the feature `holders` of `weakly`)";

/// 614: An answer says that the lines are not known, and how to know them.
#[test]
fn without_lines_the_answer_says_so() {
    let (strong, arc) = (Strong::new(5), Arc::new(6));
    let message = message_of(|| assert_dead!(Strong::downgrade(&strong)));
    assert_eq!(
        message.contains(NO_LINES),
        cfg!(not(feature = "holders")),
        "{message}"
    );
    let watch = LeakWatch::new();
    watch.expect_dead(&arc, "an Arc");
    let expected = match cfg!(feature = "holders") {
        true => "the lines of handles that are not of `weakly` are not known",
        false => NO_LINES.trim_matches(['(', ')']),
    };
    assert_eq!(watch.alive().unseen(), Some(expected));
    assert!(
        watch
            .alive()
            .to_string()
            .ends_with(&format!("\n({expected})"))
    );
}

/// 611: Threads add objects and ask, all by a shared reference.
#[test]
#[cfg(feature = "std")]
fn any_thread_adds_objects() {
    static WATCH: LeakWatch = LeakWatch::new();
    let made = |number| Strong::new(number);
    let objects: Vec<_> = (0..common::scaled(400, 40)).map(made).collect();
    std::thread::scope(|scope| {
        for part in objects.chunks(objects.len() / 4) {
            scope.spawn(move || {
                for object in part {
                    WATCH.expect_dead(object, object.to_string());
                }
                assert!(WATCH.alive().len() >= part.len());
            });
        }
    });
    assert_eq!(WATCH.alive().len(), objects.len());
    drop(objects);
    WATCH.check();
}

/// 610: Objects that are like each other are one group, the largest group first.
#[test]
fn leaks_that_are_alike_are_one_group() {
    let watch = local::LeakWatch::new();
    let windows: Vec<_> = (0..40).map(|_| Strong::new(Window("main"))).collect();
    let icons: Vec<_> = (0..1000_u64).map(local::Strong::new).collect();
    windows
        .iter()
        .for_each(|window| watch.expect_dead(window, window.0));
    icons
        .iter()
        .for_each(|icon| watch.expect_dead(icon, format!("icon {icon}")));
    let alive = watch.alive();
    let counts: Vec<_> = alive
        .groups
        .iter()
        .map(|group| (group.count, group.bytes))
        .collect();
    assert_eq!(counts, [(1000, 8000), (40, 40 * size_of::<Window>())]);
    assert_eq!(
        (alive.len(), alive.groups[0].label.as_deref()),
        (1040, Some("icon 0"))
    );
    let text = alive.to_string();
    assert!(
        text.contains("\n  and 999 more like it, 8000 bytes in all\nmain: "),
        "{text}"
    );
}

/// Adds a hundred objects of each of 64 types.
macro_rules! add_types {
    ($watch:ident, $kept:ident, [$($done:tt)*]) => {
        for _ in 0..100 {
            let object = local::Strong::new(<[($($done)*); 1]>::default());
            $watch.expect_dead(&object, "one of many");
            $kept.push(Box::new(object));
        }
    };
    ($watch:ident, $kept:ident, [$($done:tt)*] $next:tt $($rest:tt)*) => {
        add_types!($watch, $kept, [$($done)* u8,] $($rest)*);
        add_types!($watch, $kept, [$($done)* i8,] $($rest)*);
    };
}

/// 610: A group may have lost all its objects: its fields are public.
#[test]
fn an_empty_group_has_a_text() {
    assert!(!LeakGroup::default().to_string().contains("more like it"));
}

/// 610: The text of 6,400 leaks of 64 types has at most 100 lines, and has the number of those it does not show.
#[test]
fn a_long_answer_is_cut() {
    let (watch, mut kept) = (
        local::LeakWatch::new(),
        Vec::<Box<dyn std::any::Any>>::new(),
    );
    add_types!(watch, kept, [] . . . . . .);
    let alive = watch.alive();
    assert_eq!((alive.len(), alive.groups.len()), (6_400, 64));
    let text = alive.to_string();
    assert!(text.lines().count() <= 100, "{text}");
    assert!(text.contains("\nand 49 more groups, of 4900"), "{text}");
    assert_eq!(alive.to_dot().matches("subgraph cluster").count(), 64);
}

#[test]
#[cfg(feature = "holders")]
fn with_the_feature_the_holders_are_named() {
    let object = Strong::new(5);
    let line = line!() - 1;
    let weak = Strong::downgrade(&object);
    let others = [&object; 3].map(Strong::clone);
    let thread = std::thread::current();
    let at = |line: u32, column: u32| {
        let thread = thread.name().unwrap();
        format!("{}:{line}:{column}, thread '{thread}'", file!())
    };
    let first = |handles| format!("`i32`, {handles}, made at {}", at(line, 18));
    let more = others.iter().map(Strong::clone).collect::<Vec<_>>();
    drop(others);
    let message = message_of(|| assert_dead!(weak));
    // By `clone` as a function, which the standard library calls, from `map` and from `collect`.
    let expected = format!(
        "still alive: {}\n  held 3 times since {}",
        first("4 strong handles"),
        at(line + 10, 49)
    );
    assert!(message.starts_with(&expected), "{message}");
    assert!(
        message.ends_with(&format!("\n  held since {}", at(line, 18))),
        "{message}"
    );
    drop(more);
    let watch = LeakWatch::new();
    watch.expect_dead(&object, "object");
    let alive = format!(
        "1 of 1 watched objects (4 bytes)\nobject: {}\n  held since {}",
        first("1 strong handle"),
        at(line, 18)
    );
    assert_eq!(watch.alive().to_string(), alive);
}
