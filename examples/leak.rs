//! A leak, found. A window owns its widgets. What a click does is an attribute of the widget that is clicked, and the
//! one that closes the window owns the window: so the value of the entry keeps its own key alive, and the closed
//! window is never freed. The program finds that out, and prints who holds the window, and on which way; then it has
//! such entries removed; then it does it right.
//! It checks itself: `cargo run --release --example leak`. To see also the line where the holder was made:
//! `cargo run --release --example leak --features holders`

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use weakly::local::{Strong, Weak};
use weakly::{WeakMap, assert_dead, cycles::Cycles, impl_trace, leaks::LeakWatch};

/// A window, or something in it.
struct Widget {
    name: &'static str,
    open: Cell<bool>,
    children: RefCell<Vec<Strong<Widget>>>,
}

impl_trace!(Widget: children);

impl Widget {
    fn new(name: &'static str) -> Strong<Self> {
        Strong::new(Widget {
            name,
            open: Cell::new(true),
            children: RefCell::default(),
        })
    }

    fn add(&self, child: &Strong<Widget>) {
        self.children.borrow_mut().push(child.clone());
    }

    fn close(&self) {
        self.open.set(false);
    }
}

/// What a click does.
enum Action {
    /// Closes a window, and owns it: the mistake.
    Close(Strong<Widget>),
    /// Closes a window, if it is still there.
    CloseIfAlive(Weak<Widget>),
}

impl_trace!(match Action {
    Action::Close(window) => [window],
    Action::CloseIfAlive(_) => [],
});

impl Action {
    fn run(&self) {
        match self {
            Action::Close(window) => window.close(),
            Action::CloseIfAlive(window) => {
                if let Some(window) = window.upgrade() {
                    window.close();
                }
            }
        }
    }
}

/// The application: what clicks do, and what has been closed and should be dead.
#[derive(Default)]
struct App {
    clicks: WeakMap<Strong<Widget>, Action>,
    closed: LeakWatch,
}

impl App {
    /// Opens a window with a button, has the button clicked, and lets go of the window. `action` is what closes it.
    fn session(&mut self, action: fn(&Strong<Widget>) -> Action) -> Weak<Widget> {
        let window = Widget::new("window");
        let button = Widget::new("button");
        window.add(&button);
        self.clicks.insert(&button, action(&window));
        self.closed.expect_dead(&window, window.name);
        self.clicks[&button].run();
        assert!(!window.open.get());
        Strong::downgrade(&window)
    }

    /// Who holds what should be dead, and on which way the clicks lead to this window.
    fn report(&mut self, window: &Weak<Widget>) -> String {
        let mut report = String::new();
        for alive in self.closed.alive() {
            let _ = writeln!(report, "still alive: {alive}");
        }
        if let Some(window) = window.upgrade() {
            let holders = Cycles::new().with(&mut self.clicks).holders(&window);
            for path in holders.paths() {
                let _ = writeln!(report, "  held by {path}");
            }
        }
        report
    }
}

fn owning(window: &Strong<Widget>) -> Action {
    Action::Close(window.clone()) // the leak
}

fn not_owning(window: &Strong<Widget>) -> Action {
    Action::CloseIfAlive(Strong::downgrade(window))
}

fn main() -> ExitCode {
    let mut wrong = App::default();
    let window = wrong.session(owning);
    let leaked = !window.is_expired();
    let report = wrong.report(&window);
    let removed = wrong.clicks.purge_cycles().removed;
    assert_dead!(window, "after the purge of cycles");

    let mut right = App::default();
    let window = right.session(not_owning);
    assert_dead!(window, "after closing it");
    right.closed.check();
    if !leaked || removed != 1 || !right.clicks.is_empty() {
        eprintln!(
            "leaked: {leaked}, removed: {removed}, left: {}",
            right.clicks.len()
        );
        return ExitCode::FAILURE;
    }
    let text = format!(
        "A button's action owns the window of the button:\n{report}\
         The same with a weak handle: the closed window is dead (checked)\n"
    );
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
