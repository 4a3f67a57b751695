//! Every allocation of a script fails once, in turn.
//!
//! A script is a list of steps on a [`World`]. It runs again and again: first the first allocation fails, then the second,
//! until none is left.
//!
//! * On stable Rust a failure ends the process, so each of these runs is in a child: it ends by `handle_alloc_error`, and
//!   nothing goes on with an entry that is lost. Where the library reports the failure, the child goes on to the end.
//! * With nightly, and under Miri, a failure unwinds. Then each entry is as it was before the step, or as it is after it.
//!   The step runs again, as it would have, and so does the rest; in the end no byte is left.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::Write;
#[cfg(not(any(weakly_nightly, miri)))]
use std::process::Command;
use std::rc::Rc;
use std::{env, io, thread};

use crate::common::heap::bytes;
use crate::common::watchdog::watched;
use crate::{asking, unwinds};

/// An entry: of which collection, its key, its value.
pub(crate) type Entry = (usize, usize, usize);

/// What a script works on. It is made without a failure.
pub(crate) trait World {
    /// The entries that can be seen. Checks what always holds.
    fn shows(&self) -> Vec<Entry>;
}

#[derive(Clone, Copy, PartialEq)]
enum Failure {
    /// It unwinds, or aborts: `handle_alloc_error`.
    Is,
    /// Likewise, and then what it has taken out may be leaked.
    Leaks,
    /// It is reported.
    Reported,
    /// Nothing is allocated.
    Never,
}

type Act<W> = Box<dyn Fn(&mut W) -> bool>;

/// A world, and steps. What has failed runs again, so it must not matter that a part of it was done.
pub(crate) struct Script<W>(Vec<(Failure, Act<W>)>, Box<dyn Fn() -> W>);

impl<W> Script<W> {
    pub(crate) fn new() -> Self
    where
        W: Default + 'static,
    {
        Script::of(W::default)
    }

    pub(crate) fn of(make: impl Fn() -> W + 'static) -> Self {
        Script(Vec::new(), Box::new(make))
    }

    pub(crate) fn runs(&mut self, act: impl Fn(&mut W) + 'static) -> &mut Self {
        self.add(Failure::Is, move |world| {
            act(world);
            true
        })
    }

    /// A step that takes out what this thread is looking at. If no memory is there to note that, it is leaked: nobody
    /// knows when it may be destroyed.
    pub(crate) fn leaks(&mut self, act: impl Fn(&mut W) + 'static) -> &mut Self {
        self.add(Failure::Leaks, move |world| {
            act(world);
            true
        })
    }

    /// A step that returns whether memory was there. If not, nothing has changed.
    pub(crate) fn tries(&mut self, act: impl Fn(&mut W) -> bool + 'static) -> &mut Self {
        self.add(Failure::Reported, act)
    }

    /// A step that allocates nothing.
    pub(crate) fn never(&mut self, act: impl Fn(&mut W) + 'static) -> &mut Self {
        self.add(Failure::Never, move |world| {
            act(world);
            true
        })
    }

    fn add(&mut self, failure: Failure, act: impl Fn(&mut W) -> bool + 'static) -> &mut Self {
        self.0.push((failure, Box::new(act)));
        self
    }
}

/// A script of any world, so that running it is compiled once.
trait Plan {
    fn failures(&self) -> Vec<Failure>;
    fn begin(&self) -> Box<dyn Stage + '_>;
}

/// A world, and the script that runs there.
trait Stage {
    fn act(&mut self, step: usize) -> bool;
    fn shows(&self) -> BTreeSet<Entry>;
}

impl<W: World> Plan for Script<W> {
    fn failures(&self) -> Vec<Failure> {
        self.0.iter().map(|(failure, _)| *failure).collect()
    }

    fn begin(&self) -> Box<dyn Stage + '_> {
        Box::new((self.1(), self))
    }
}

impl<W: World> Stage for (W, &Script<W>) {
    fn act(&mut self, step: usize) -> bool {
        self.1.0[step].1(&mut self.0)
    }

    fn shows(&self) -> BTreeSet<Entry> {
        in_order(self.0.shows())
    }
}

/// Written by a child when an allocation fails: whether that will be reported.
const FAILS: [&str; 2] = [
    "an allocation fails\n",
    "an allocation fails, which is reported\n",
];

/// How an attempt has ended.
#[derive(Debug, PartialEq)]
enum End {
    Done(bool),
    Unwound,
}

/// Counts down to the allocation that fails; whether it has come.
struct Countdown {
    left: Cell<Option<usize>>,
    came: Cell<bool>,
    says: bool,
}

/// Attempts a step.
fn attempt(failure: Failure, countdown: &Rc<Countdown>, stage: &mut dyn Stage, step: usize) -> End {
    let count = Rc::new(Cell::new(0));
    let ask = {
        let (count, countdown) = (count.clone(), countdown.clone());
        move || {
            count.set(count.get() + 1);
            let now = countdown.left.get();
            countdown.left.set(now.and_then(|left| left.checked_sub(1)));
            if now == Some(0) {
                countdown.came.set(true);
                if countdown.says {
                    let says = FAILS[usize::from(failure == Failure::Reported)];
                    _ = io::stderr().write_all(says.as_bytes());
                }
            }
            now == Some(0)
        }
    };
    let mut done = false;
    let unwound = unwinds(|| asking(ask, || done = stage.act(step)));
    let never = failure == Failure::Never;
    assert!(!never || count.get() == 0, "it allocates");
    if unwound {
        End::Unwound
    } else {
        End::Done(done)
    }
}

fn in_order(entries: Vec<Entry>) -> BTreeSet<Entry> {
    let count = entries.len();
    let all: BTreeSet<_> = entries.into_iter().collect();
    assert_eq!(all.len(), count, "an entry is there twice: {all:?}");
    all
}

/// What is shown after each step, if no allocation fails.
fn expected(plan: &dyn Plan) -> Vec<BTreeSet<Entry>> {
    let mut stage = plan.begin();
    let mut all = vec![stage.shows()];
    for step in 0..plan.failures().len() {
        assert!(stage.act(step));
        all.push(stage.shows());
    }
    all
}

/// Runs a script, in which this allocation fails. Counts all of them. Returns whether it came to that.
fn run(plan: &dyn Plan, nth: usize, expected: &[BTreeSet<Entry>], count: &mut usize) -> bool {
    let failures = plan.failures();
    let before = bytes();
    let countdown = Rc::new(Countdown {
        left: Cell::new(Some(nth)),
        came: Cell::new(false),
        says: child().is_some(),
    });
    let mut stage = plan.begin();
    let mut failed = None;
    for (at, failure) in failures.iter().enumerate() {
        let (was, will) = (&expected[at], &expected[at + 1]);
        let came = countdown.came.get();
        let end = attempt(*failure, &countdown, &mut *stage, at);
        if countdown.came.get() == came {
            assert_eq!(end, End::Done(true), "step {at}");
        } else {
            failed = Some(at);
            let now = stage.shows();
            if *failure == Failure::Reported {
                assert_eq!((end, &now), (End::Done(false), was), "step {at}");
            }
            let is_between = now.is_superset(&(was & will)) && now.is_subset(&(was | will));
            assert!(
                is_between,
                "step {at}, allocation {nth}: {was:?}, {now:?}, {will:?}"
            );
            let again = attempt(*failure, &countdown, &mut *stage, at);
            assert_eq!(again, End::Done(true), "step {at}, again");
        }
        let is_last = at + 1 == failures.len();
        if cfg!(miri) && !is_last && failed != Some(at) {
            continue;
        }
        let now = stage.shows();
        assert_eq!(now, *will, "step {at}, allocation {nth}");
    }
    drop(stage);
    let came = countdown.came.get();
    *count = nth - countdown.left.get().unwrap_or(nth);
    drop(countdown);
    let may_leak = failed.is_some_and(|at: usize| failures[at] == Failure::Leaks);
    let left = bytes() - before;
    assert!(
        left == 0 || may_leak && left > 0,
        "allocation {nth}, step {failed:?}: {left}"
    );
    came
}

const CHILD: &str = "WEAKLY_TEST_ALLOCATION";

/// Which allocation fails, in a child.
fn child() -> Option<usize> {
    Some(env::var(CHILD).ok()?.parse().expect("a number"))
}

/// Runs this test in a child, in which an allocation fails. Returns whether it came to that.
#[cfg(not(any(weakly_nightly, miri)))]
fn in_a_child(test: &str, nth: usize) -> bool {
    let output = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, nth.to_string())
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let [fails, reported] = FAILS.map(|it| said.matches(it).count());
    assert!(fails + reported <= 1);
    if fails == 0 {
        assert!(output.status.success(), "allocation {nth}: {said}");
        return reported != 0;
    }
    assert!(!said.contains("panicked"), "allocation {nth}: {said}");
    assert!(
        said.contains("memory allocation of"),
        "allocation {nth}: {said}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        const SIGABRT: i32 = 6;
        assert_eq!(
            output.status.signal(),
            Some(SIGABRT),
            "allocation {nth}: {said}"
        );
    }
    assert!(!output.status.success());
    true
}

/// Runs a script once for each of its allocations, which fails; under Miri, for some of them. (How many there are may
/// depend on hashes a little.)
pub(crate) fn each_fails_once<W: World>(script: &Script<W>) {
    fails_once(script);
}

fn fails_once(plan: &dyn Plan) {
    let name = thread::current().name().unwrap_or("?").to_owned();
    let _watched = watched(&name);
    // (That makes what is made once in a thread, too.)
    let expected = expected(plan);
    if let Some(nth) = child() {
        run(plan, nth, &expected, &mut 0);
        return;
    }
    let mut count = 0;
    assert!(!run(plan, usize::MAX, &expected, &mut count));
    #[cfg(any(weakly_nightly, miri))]
    let comes = |nth: &usize| run(plan, *nth, &expected, &mut 0);
    #[cfg(not(any(weakly_nightly, miri)))]
    let comes = |nth: &usize| in_a_child(&name, *nth);
    let step = if cfg!(miri) { count / 3 + 1 } else { 1 };
    let count = (0..).step_by(step).take_while(comes).count();
    assert_ne!(count, 0);
    println!("{name}: {count} allocations have failed");
}
