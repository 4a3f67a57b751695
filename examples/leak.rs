//! Three classic leaks, and the lines that find each: a handle in a closure, a value that owns its own key, and an entry
//! that a registry has forgotten. Each function makes the mistake, finds it in at most five lines, marked `// find`,
//! then undoes it and proves that nothing is left. The program checks itself: `cargo run --release --example leak`.
//! To see also the lines that made the handles: `cargo run --release --example leak --features holders`

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write as _;
use std::process::ExitCode;

use weakly::local::{LeakWatch, Strong};
use weakly::{WeakMap, assert_dead, cycles::Cycles, impl_trace};

/// A window, and the closures that a click runs.
#[derive(Default)]
struct Window {
    title: RefCell<&'static str>,
    on_click: RefCell<Vec<Box<dyn Fn()>>>,
}

/// A closure of the window owns the window. No map knows closures, so a watch is told which object should be dead.
fn a_handle_in_a_closure() -> String {
    let watch = LeakWatch::new(); // find
    let window = Strong::new(Window::default());
    watch.expect_dead(&window, "the closed window"); // find

    let captured = window.clone(); // the first leak: a weak handle would do
    let rename = move || *captured.title.borrow_mut() = "clicked";
    window.on_click.borrow_mut().push(Box::new(rename));
    window.on_click.borrow().iter().for_each(|click| click());

    let weak = Strong::downgrade(&window);
    drop(window);
    let found = watch.alive().to_string(); // find

    let window = weak.expect("the leak");
    assert_eq!(*window.title.borrow(), "clicked");
    window.on_click.take();
    drop(window);
    assert_dead!(weak);
    watch.check();
    found
}

/// A dialog owns its buttons.
struct Dialog {
    buttons: Vec<Strong<Button>>,
}

struct Button;

/// What a click does, in a map beside the buttons.
struct Action {
    closes: Strong<Dialog>,
}

impl_trace!(Dialog: buttons);
impl_trace!(Button);
impl_trace!(Action: closes);

/// The value of an entry leads to the key of the entry. The map shows the path, and removes such entries on request.
fn a_value_that_owns_its_key() -> String {
    let mut clicks = WeakMap::new();
    let button = Strong::new(Button);
    let buttons = vec![button.clone()];
    let closes = Strong::new(Dialog { buttons });
    clicks.insert(&button, Action { closes }); // the second leak: the dialog owns the button
    assert_eq!(clicks[&button].closes.buttons.len(), 1);
    drop(button);

    let left = clicks.keys().next().expect("the leak"); // find
    let holders = Cycles::new().with(&mut clicks).holders(&left); // find
    let found = holders.to_string(); // find

    drop(left);
    assert_eq!(clicks.purge_cycles().removed, 1);
    assert!(clicks.is_empty());
    found
}

struct Session {
    user: u32,
}

/// A registry has a strong handle to each session, and one of the ways to end a session forgets the registry.
fn a_forgotten_entry() -> String {
    let mut registry = HashMap::new();
    let watch = LeakWatch::new(); // find
    for user in 0..5_000 {
        let session = Strong::new(Session { user });
        watch.expect_dead(&session, format!("session {}", session.user)); // find
        registry.insert(user, session.clone());
        let timed_out = user % 5 == 2; // the third leak
        if !timed_out {
            registry.remove(&user);
        }
    }
    let found = watch.alive().to_string(); // find

    assert_eq!(watch.alive().len(), registry.len());
    registry.clear();
    watch.check();
    found
}

fn main() -> ExitCode {
    let found = [
        ("A handle in a closure", a_handle_in_a_closure()),
        ("A value that owns its key", a_value_that_owns_its_key()),
        ("A forgotten entry", a_forgotten_entry()),
    ];
    let texts = found.map(|(leak, found)| format!("{leak}: {found}\n\n"));
    let text = texts.concat() + "Each leak was found, and then nothing was left (checked)\n";
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
