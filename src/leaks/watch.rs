//! Objects that should be dead: an assertion, and a list of objects for tests.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::type_name;
use core::fmt;

use super::groups::{LeakGroup, Leaks};
use crate::holders;
use crate::reference::{StrongRef, WeakKey, WeakRef};
use crate::sync::const_fn;
#[cfg(feature = "std")]
use crate::sync::make_room;

/// Asserts that the object of a weak handle is dead. The message has the object's type and the
/// number of its strong handles; with the feature `holders`, also the lines that made the handles
/// of this crate. A long list of lines is cut, and the message says what is not known.
///
/// An object owned by a dead entry is alive until the collection drops the entry: call
/// [`purge`](crate::WeakMap::purge) first.
///
/// The macro borrows its first argument, a weak handle of any [`StrongRef`]: of this crate, of the
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
/// // still alive after dropping 1 handle: `i32`, 1 strong handle
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
    let object = Object {
        label: None,
        bytes: 0,
        weak: weak.clone(),
    };
    let leaks = with_holders(String::new(), object.find().into_iter().collect());
    if let Some(group) = leaks.groups.first() {
        let since = since.map_or(String::new(), |since| format!(" {since}"));
        let unseen = leaks.unseen().into_iter();
        let unseen: String = unseen.flat_map(|unseen| ["\n(", unseen, ")"]).collect();
        panic!("still alive{since}: {group}{unseen}");
    }
}

/// Groups live objects with known addresses, for which the registry of handles is asked.
fn with_holders(scope: String, leaks: Vec<(usize, LeakGroup)>) -> Leaks {
    let mut addrs: Vec<_> = leaks.iter().map(|(addr, _)| *addr).collect();
    addrs.sort_unstable();
    let known = holders::known_at(&addrs);
    let leaks = leaks.into_iter().map(|(addr, mut leak)| {
        let at = known.binary_search_by_key(&addr, |object| object.addr);
        let object = at.ok().map(|at| &known[at]);
        leak.birth = object.map(|object| object.birth.clone());
        let holders = object.map_or(Vec::new(), |object| object.holders.clone());
        (leak, holders)
    });
    Leaks::group(scope, leaks)
}

/// A list of objects that should be dead at some point, for tests and for shutdowns. Any thread may
/// add objects. The list holds the objects weakly; their types may differ.
///
/// The handles are those of threads: [`Strong`](crate::Strong), `Arc`, or your own.
/// [`local::LeakWatch`](crate::local::LeakWatch) also takes the handles of one thread. All methods
/// are those of [`Watch`].
///
/// ```
/// use weakly::{Strong, leaks::LeakWatch};
///
/// static CLOSED: LeakWatch = LeakWatch::new();
///
/// let (window, icon) = (Strong::new("window"), std::sync::Arc::new([0; 16]));
/// CLOSED.expect_dead(&window, "the main window");
/// std::thread::scope(|scope| _ = scope.spawn(|| CLOSED.expect_dead(&icon, "its icon")));
/// drop(window);
/// let alive = CLOSED.alive();
/// assert_eq!((alive.len(), alive.bytes()), (1, 64));
/// assert!(alive.to_string().contains("its icon: `[i32; 16]`, 1 strong handle"));
/// drop(icon);
/// CLOSED.check();
/// ```
pub type LeakWatch = Watch<dyn Watched + Send + Sync>;

/// A list of objects that should be dead: [`LeakWatch`], or, for the handles of one thread,
/// [`local::LeakWatch`](crate::local::LeakWatch).
///
/// An object that is added twice counts as two objects. The list has a weak handle to each of its
/// objects until the list is dropped, also to the dead ones: list the objects of a server at its
/// shutdown, rather than all that it has ever loaded.
/// [`Strong::get_mut`](crate::ptr::Strong::get_mut) refuses objects with weak handles.
pub struct Watch<D: ?Sized> {
    objects: Objects<D>,
}

#[cfg(feature = "std")]
type Objects<D> = crate::sync::Mutex<Vec<Arc<D>>>;
/// Without std there is one thread.
#[cfg(not(feature = "std"))]
type Objects<D> = core::cell::RefCell<Vec<Arc<D>>>;

/// An object in a [`Watch`]. Only the methods of a watch make such objects.
pub trait Watched {
    #[doc(hidden)]
    fn find(&self) -> Option<(usize, LeakGroup)>;
}

struct Object<W> {
    label: Option<String>,
    bytes: usize,
    weak: W,
}

impl<W: WeakRef> Object<W> {
    fn new(object: &W::Strong, label: impl Into<String>) -> Arc<Self> {
        Arc::new(Object {
            label: Some(label.into()),
            bytes: W::Strong::size(object).unwrap_or(0),
            weak: W::Strong::downgrade(object),
        })
    }
}

impl<W: WeakRef> Watched for Object<W> {
    fn find(&self) -> Option<(usize, LeakGroup)> {
        if self.weak.is_expired() {
            return None;
        }
        let leak = LeakGroup {
            label: self.label.clone(),
            type_name: type_name::<<W::Strong as StrongRef>::Target>(),
            count: 1,
            bytes: self.bytes,
            // Without an upgraded handle, which would be counted.
            strong_count: self.weak.strong_count(),
            ..LeakGroup::default()
        };
        Some((self.weak.addr().addr(), leak))
    }
}

impl LeakWatch {
    /// Adds an object, with a label for reports. O(1).
    pub fn expect_dead<K: StrongRef<Weak: Send + Sync + 'static>>(
        &self,
        object: &K,
        label: impl Into<String>,
    ) {
        self.add(Object::<K::Weak>::new(object, label));
    }
}

impl Watch<dyn Watched> {
    /// Adds an object, with a label for reports. O(1).
    pub fn expect_dead<K: StrongRef<Weak: 'static>>(&self, object: &K, label: impl Into<String>) {
        self.add(Object::<K::Weak>::new(object, label));
    }
}

impl<D: ?Sized> Watch<D> {
    const_fn! {
        /// Creates an empty list.
        #[must_use]
        pub fn new() -> Self {
            Watch {
                objects: Objects::new(Vec::new()),
            }
        }
    }

    fn add(&self, object: Arc<D>) {
        #[cfg(feature = "std")]
        self.objects.with_room(
            |objects, memory| make_room(objects, 1, memory),
            |objects, _| objects.push(object),
        );
        #[cfg(not(feature = "std"))]
        self.objects.borrow_mut().push(object);
    }

    fn objects(&self) -> Vec<Arc<D>> {
        #[cfg(feature = "std")]
        return self.objects.with_room(
            |objects, copy: &mut Vec<_>| make_room(copy, objects.len(), &mut Vec::new()),
            |objects, copy| {
                copy.extend(objects.iter().cloned());
                core::mem::take(copy)
            },
        );
        #[cfg(not(feature = "std"))]
        self.objects.borrow().clone()
    }
}

impl<D: ?Sized + Watched> Watch<D> {
    /// Returns the live objects in groups, the largest group first. With the feature `holders`, the
    /// answer names the lines that made the handles of this crate; without, the answer says so. An
    /// object owned by a dead entry is alive until the collection drops the entry: call
    /// [`purge`](crate::WeakMap::purge) first.
    ///
    /// O(objects), with the feature `holders` O(all live objects), times the logarithm of their
    /// number.
    #[must_use]
    pub fn alive(&self) -> Leaks {
        let objects = self.objects();
        let alive = objects.iter().filter_map(|object| object.find()).collect();
        with_holders(format!("{} watched objects", objects.len()), alive)
    }

    /// Checks that all objects are dead. Costs as much as [`alive`](Self::alive).
    ///
    /// # Panics
    /// If some objects are alive: the message is that of [`Leaks`].
    #[track_caller]
    pub fn check(&self) {
        let alive = self.alive();
        assert!(alive.is_empty(), "still alive: {alive}");
    }
}

impl<D: ?Sized> Default for Watch<D> {
    fn default() -> Self {
        Watch::new()
    }
}

impl<D: ?Sized + Watched> fmt::Debug for Watch<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alive = self.alive();
        f.debug_struct("Watch")
            .field("alive", &format_args!("{alive}"))
            .finish()
    }
}
