//! Objects that should be dead: an assertion, and a list of objects for tests.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::type_name;
use core::fmt;

use crate::holders;
use crate::reference::{StrongRef, WeakRef};

/// Asserts that the object of a weak handle is dead. The message has the object's type and the
/// number of its strong handles; with the feature `holders`, also the origin of each handle of this
/// crate.
///
/// An object owned by a dead entry is alive until the collection drops the entry: call
/// [`purge`](crate::WeakMap::purge) first.
///
/// The macro takes the weak handle of any [`StrongRef`], by reference: of this crate, of the
/// standard library, or your own. A second argument, which may be a format string with its
/// arguments, says since when the object should be dead.
///
/// # Panics
/// If the object is alive. (During its destructor an object counts as dead.)
///
/// ```
/// use weakly::{Strong, assert_dead};
///
/// let window = Strong::new("window");
/// let weak = Strong::downgrade(&window);
/// drop(window);
/// assert_dead!(weak);
/// assert_dead!(weak, "after closing the window");
/// ```
///
/// ```should_panic
/// # use weakly::assert_dead;
/// let object = std::sync::Arc::new(5);
/// // `i32` is still alive after dropping 1 handle: 1 strong handle
/// assert_dead!(std::sync::Arc::downgrade(&object), "after dropping {} handle", 1);
/// ```
#[macro_export]
macro_rules! assert_dead {
    ($weak:expr $(,)?) => {
        $crate::__assert_dead(&$weak, ::core::option::Option::None)
    };
    ($weak:expr, $($since:tt)+) => {
        $crate::__assert_dead(
            &$weak,
            ::core::option::Option::Some(::core::format_args!($($since)+)),
        )
    };
}

#[doc(hidden)]
#[track_caller]
pub fn __assert_dead<W: WeakRef>(weak: &W, since: Option<fmt::Arguments<'_>>) {
    if let Some(alive) = Alive::find(weak) {
        let name = alive.type_name;
        match since {
            Some(since) => panic!("`{name}` is still alive {since}: {alive}"),
            None => panic!("`{name}` is still alive: {alive}"),
        }
    }
}

/// An object that is not dead. The text names its holders.
struct Alive {
    type_name: &'static str,
    strong_count: Option<usize>,
    holders: String,
}

impl Alive {
    fn find<W: WeakRef>(weak: &W) -> Option<Self> {
        if weak.is_expired() {
            return None;
        }
        // Without an upgraded handle, which would be counted in the message.
        Some(Alive {
            type_name: type_name::<<W::Strong as StrongRef>::Target>(),
            strong_count: weak.strong_count(),
            holders: holders::describe(weak.addr()),
        })
    }
}

impl fmt::Display for Alive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.strong_count {
            Some(1) => f.write_str("1 strong handle")?,
            Some(count) => write!(f, "{count} strong handles")?,
            None => f.write_str("an unknown number of strong handles")?,
        }
        f.write_str(&self.holders)
    }
}

/// A list of objects that should be dead at some point, for tests. The list holds the objects
/// weakly; their types may differ.
///
/// The list has a weak handle to each of its objects, so
/// [`Strong::get_mut`](crate::ptr::Strong::get_mut) refuses these objects.
///
/// ```
/// use std::rc::Rc;
/// use weakly::{Strong, leaks::LeakWatch};
///
/// let mut watch = LeakWatch::new();
/// let (window, icon) = (Strong::new("window"), Rc::new([0; 16]));
/// watch.expect_dead(&window, "the main window");
/// watch.expect_dead(&icon, "its icon");
/// drop(window);
/// assert_eq!(watch.alive(), ["its icon: `[i32; 16]`, 1 strong handle"]);
/// drop(icon);
/// watch.check();
/// ```
#[derive(Default)]
pub struct LeakWatch {
    objects: Vec<(String, Find)>,
}

/// Looks for the object of a weak handle.
type Find = Box<dyn Fn() -> Option<Alive>>;

impl LeakWatch {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        LeakWatch {
            objects: Vec::new(),
        }
    }

    /// Adds an object, with a label for reports. O(1).
    pub fn expect_dead<K: StrongRef<Weak: 'static>>(
        &mut self,
        object: &K,
        label: impl Into<String>,
    ) {
        let weak = K::downgrade(object);
        let find = Box::new(move || Alive::find(&weak));
        self.objects.push((label.into(), find));
    }

    /// Describes the live objects, in the order in which they were added: label, type and number of
    /// strong handles; with the feature `holders`, also the origin of each handle of this crate. An
    /// object owned by a dead entry is alive until the collection drops the entry: call
    /// [`purge`](crate::WeakMap::purge) first. O(objects).
    #[must_use]
    pub fn alive(&self) -> Vec<String> {
        let alive = |(label, find): &(String, Find)| {
            let alive = find()?;
            Some(format!("{label}: `{}`, {alive}", alive.type_name))
        };
        self.objects.iter().filter_map(alive).collect()
    }

    /// Checks that all objects are dead. O(objects).
    ///
    /// # Panics
    /// If some objects are alive, with their descriptions.
    #[track_caller]
    pub fn check(&self) {
        let alive = self.alive();
        assert!(
            alive.is_empty(),
            "{} of {} objects still alive\n{}",
            alive.len(),
            self.objects.len(),
            alive.join("\n")
        );
    }
}

impl fmt::Debug for LeakWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("LeakWatch");
        debug.field("objects", &self.objects.len());
        debug.field("alive", &self.alive()).finish()
    }
}
