//! Objects made since a point in time and still alive.

use alloc::vec::Vec;
use core::fmt;
use std::thread;

use crate::holders::{self, Known, Origin};

/// A point in time, for [`leaks`](Self::leaks).
///
/// ```
/// use weakly::{Strong, leaks::Snapshot};
///
/// let before = Snapshot::new();
/// let kept = Strong::new("kept");
/// drop(Strong::new("dropped"));
/// let leaks = before.leaks_of_this_thread();
/// assert_eq!(leaks.len(), 1);
/// assert_eq!(leaks[0].type_name(), "&str");
/// assert_eq!(leaks[0].holders().len(), 1);
///
/// struct Settings;
/// let stuck = std::thread::spawn(|| Strong::new(Settings)).join().unwrap();
/// let leaks = before.leaks();
/// assert!(leaks.iter().any(|leak| leak.type_name().ends_with("::Settings")));
/// # drop(stuck);
/// ```
#[derive(Debug, Clone)]
pub struct Snapshot(u64);

impl Snapshot {
    /// Creates a snapshot of the current point in time.
    #[must_use]
    #[allow(
        clippy::new_without_default,
        reason = "a default point in time is no such thing"
    )]
    pub fn new() -> Self {
        Snapshot(holders::next())
    }

    /// Returns all live objects made since the snapshot, by any thread, oldest first. Beside
    /// threads that make and drop objects, the result is no picture of a single moment. O(all live
    /// objects).
    #[must_use]
    pub fn leaks(&self) -> Vec<Leak> {
        self.leaks_where(|_| true)
    }

    /// Returns the [`leaks`](Self::leaks) of the current thread, for tests that run beside other
    /// tests. O(all live objects).
    #[must_use]
    pub fn leaks_of_this_thread(&self) -> Vec<Leak> {
        let here = thread::current().id();
        self.leaks_where(|birth| birth.thread().id() == here)
    }

    fn leaks_where(&self, wanted: impl Fn(&Origin) -> bool) -> Vec<Leak> {
        let objects = holders::objects(|number, birth| number > self.0 && wanted(birth));
        objects.into_iter().map(Leak).collect()
    }
}

/// An object that is still alive.
#[derive(Clone)]
pub struct Leak(Known);

impl Leak {
    /// Returns the type with which the object was made, as [`core::any::type_name`] names it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.0.type_name
    }

    /// Returns the origin of the object.
    #[must_use]
    pub fn birth(&self) -> &Origin {
        &self.0.birth
    }

    /// Returns the origins of the object's handles, oldest first.
    #[must_use]
    pub fn holders(&self) -> &[Origin] {
        &self.0.holders
    }
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, made at {}", self.type_name(), self.birth())?;
        for holder in self.holders() {
            write!(f, "\n  held since {holder}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Runs a closure, and checks that every object made by the closure on this thread is dead when the
/// closure returns.
///
/// # Panics
/// If an object is alive: the message has the origin of each such object, and of each of its
/// handles. An object in the closure's result counts, too. If the closure panics, nothing is
/// checked.
///
/// ```should_panic
/// use weakly::{Strong, leaks::leak_check};
///
/// struct Node(std::cell::RefCell<Option<weakly::local::Strong<Node>>>);
///
/// leak_check(|| {
///     let node = weakly::local::Strong::new(Node(None.into()));
///     node.0.replace(Some(node.clone())); // a cycle
/// });
/// ```
#[track_caller]
pub fn leak_check<R>(f: impl FnOnce() -> R) -> R {
    let before = Snapshot::new();
    let result = f();
    let leaks = before.leaks_of_this_thread();
    if !leaks.is_empty() {
        panic_with(&leaks);
    }
    result
}

#[cold]
#[track_caller]
fn panic_with(leaks: &[Leak]) -> ! {
    /// Shows the texts of the leaks.
    struct All<'a>(&'a [Leak]);
    impl fmt::Display for All<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.iter().try_for_each(|leak| write!(f, "\n{leak}"))
        }
    }
    panic!(
        "still alive: {} of the objects made here{}",
        leaks.len(),
        All(leaks)
    )
}
