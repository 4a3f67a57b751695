//! Objects made since a point in time and still alive.

use std::thread;

use super::groups::{LeakGroup, Leaks};
use crate::holders::{self, Origin};

/// A point in time, for [`leaks`](Self::leaks).
///
/// ```
/// use weakly::{Strong, leaks::Snapshot};
///
/// let before = Snapshot::new();
/// let kept = Strong::new("kept");
/// drop(Strong::new("dropped"));
/// let leaks = before.leaks_of_this_thread();
/// assert_eq!((leaks.len(), leaks.bytes()), (1, size_of::<&str>()));
/// assert_eq!(leaks.groups[0].type_name, "&str");
/// assert_eq!(leaks.groups[0].holders.len(), 1);
///
/// struct Settings;
/// let stuck = std::thread::spawn(|| Strong::new(Settings)).join().unwrap();
/// let leaks = before.leaks();
/// assert!(leaks.groups.iter().any(|group| group.type_name.ends_with("::Settings")));
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

    /// Returns the live objects made since the snapshot, by any thread, with handles of this crate.
    /// Beside threads that make and drop objects, the result is no picture of a single moment.
    ///
    /// O(all live objects), times the logarithm of their number. A handle that a collection or the
    /// standard library has made takes about 50 µs more, to find its line in a backtrace.
    #[must_use]
    pub fn leaks(&self) -> Leaks {
        self.leaks_where("the objects made since, behind handles of `weakly`", |_| {
            true
        })
    }

    /// Returns the [`leaks`](Self::leaks) of the current thread, for tests that run beside other
    /// tests.
    #[must_use]
    pub fn leaks_of_this_thread(&self) -> Leaks {
        let here = thread::current().id();
        let scope = "the objects made since by this thread, behind handles of `weakly`";
        self.leaks_where(scope, |birth| birth.thread().id() == here)
    }

    fn leaks_where(&self, scope: &str, wanted: impl Fn(&Origin) -> bool) -> Leaks {
        let leaks = holders::known_since(self.0, wanted)
            .into_iter()
            .map(|object| {
                let leak = LeakGroup {
                    type_name: object.type_name,
                    count: 1,
                    bytes: object.bytes,
                    strong_count: Some(object.holders.len()),
                    birth: Some(object.birth),
                    ..LeakGroup::default()
                };
                (leak, object.holders)
            });
        Leaks::group(scope.into(), leaks)
    }
}

/// Runs a closure, and checks that every object made by the closure on this thread is dead when the
/// closure returns.
///
/// # Panics
/// If an object is alive: the message is that of [`Leaks`]. An object in the closure's result
/// counts, too. Objects that other threads make, and objects behind `Arc` and `Rc`, are not
/// checked. If the closure panics, nothing is checked.
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
    assert!(leaks.is_empty(), "still alive: {leaks}");
    result
}
