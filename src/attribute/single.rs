//! One private attribute of objects that you do not own.

use core::fmt;
use core::task::Waker;
use std::boxed::Box;

use crate::concurrent::{Keys, SharedKey, SharedRef, WeakMap};
use crate::cycles::{Cycles, Cyclic, Member, Purged, Sealed, Trace, Tracer};
use crate::holders::Caller;
use crate::reference::Identify;
use crate::table::Reclaim;

/// One private attribute, of one type, of objects that you do not own: on any thread, and usable as a `static`. No
/// other code sees it. It goes with its object, or all at once ([`clear`](Self::clear), or dropping the
/// attribute).
///
/// It is a [`concurrent::WeakMap`](crate::concurrent::WeakMap) and has its rules. Reads are lock-free. Values are
/// returned as clones or shown to a closure. A dead object's value is destroyed by the next change of this
/// attribute, on whatever thread that is. An object that has never had the attribute pays nothing for it, at no
/// time.
///
/// Methods that read take the object by its pointer or by plain reference, so they work inside the object's own
/// methods, its destructor included. Methods that write take the pointer: a dying object gets no attribute any
/// more. A clone of an object's *value* is another object, and has none of its attributes.
///
/// Objects behind no such pointer, in a `Vec` or a `Box`, have an [`Anchor`](crate::Anchor) as a field:
///
/// ```
/// use weakly::{Anchor, Attribute};
///
/// struct Node { name: &'static str, anchor: Anchor }
///
/// static DOC: Attribute<Anchor, String> = Attribute::new();
///
/// let nodes = Vec::from([Node { name: "main", anchor: Anchor::new() }]);
/// DOC.set(&nodes[0].anchor, format!("{}: where it begins.", nodes[0].name));
/// assert!(DOC.has(&nodes[0].anchor));
/// drop(nodes);
/// assert_eq!(DOC.len(), 0);
/// ```
///
/// ```
/// use weakly::{Attribute, Strong};
///
/// struct Node { name: &'static str }
///
/// static DOC: Attribute<Strong<Node>, String> = Attribute::new();
///
/// impl Node {
///     fn describe(&self) -> String {
///         DOC.get(self).unwrap_or_else(|| self.name.into()) // by reference
///     }
/// }
///
/// let node = Strong::new(Node { name: "main" });
/// DOC.set(&node, "Where it begins.".into());
/// assert_eq!(node.describe(), "Where it begins.");
/// drop(node);
/// assert_eq!(DOC.len(), 0);
/// ```
pub struct Attribute<K: SharedKey, V> {
    map: WeakMap<K, V>,
}

impl<K: SharedKey, V> Attribute<K, V> {
    /// An attribute that no object has. Allocates nothing before it is first set.
    #[must_use]
    pub const fn new() -> Self {
        Attribute {
            map: WeakMap::new(),
        }
    }

    /// Shows the value of an object to a closure. O(1), lock-free. See
    /// [`WeakMap::with`](crate::concurrent::WeakMap::with).
    #[inline]
    pub fn with<Q: ?Sized + Identify<K>, R>(
        &self,
        object: &Q,
        look: impl FnOnce(&V) -> R,
    ) -> Option<R> {
        self.map.with(object, look)
    }

    /// Whether the object has the attribute. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn has<Q: ?Sized + Identify<K>>(&self, object: &Q) -> bool {
        self.with(object, |_| ()).is_some()
    }

    /// Sets the attribute; returns true if the object had none. O(1) amortised.
    #[inline]
    pub fn set(&self, object: &K, value: V) -> bool {
        self.map.insert(object, value)
    }

    /// Removes the attribute; returns whether the object had it. O(1). The value is destroyed as soon as no thread
    /// looks at it.
    pub fn remove<Q: ?Sized + Identify<K>>(&self, object: &Q) -> bool {
        self.map.remove_if(object, |_| true)
    }

    /// The number of objects that have it. See [`WeakMap::len`](crate::concurrent::WeakMap::len).
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether no object has it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of values that wait to be destroyed: their objects are dead, or they were removed or replaced while a
    /// thread was looking. O(1). See [`WeakMap::pending_dead`](crate::concurrent::WeakMap::pending_dead).
    #[must_use]
    pub fn pending_dead(&self) -> usize {
        self.map.pending_dead()
    }

    /// Removes the attribute from all objects at once. O(capacity).
    pub fn clear(&self) {
        self.map.clear();
    }

    /// When it destroys the values of dead objects. See [`set_reclaim`](Self::set_reclaim).
    #[must_use]
    pub fn reclaim(&self) -> Reclaim {
        self.map.reclaim()
    }

    /// Chooses when it destroys the values of dead objects. See
    /// [`WeakMap::set_reclaim`](crate::concurrent::WeakMap::set_reclaim).
    pub fn set_reclaim(&self, reclaim: Reclaim) {
        self.map.set_reclaim(reclaim);
    }

    /// Gives back memory that is not needed. See
    /// [`WeakMap::shrink_to_fit`](crate::concurrent::WeakMap::shrink_to_fit).
    pub fn shrink_to_fit(&self) {
        self.map.shrink_to_fit();
    }

    /// Destroys the values of all dead objects. See [`WeakMap::purge`](crate::concurrent::WeakMap::purge).
    pub fn purge(&self) {
        self.map.purge();
    }

    /// Sets what is called when an object has died and there is something to [purge](Self::purge), or removes it. See
    /// [`WeakMap::set_waker`](crate::concurrent::WeakMap::set_waker).
    pub fn set_waker(&self, waker: Option<Waker>) {
        self.map.set_waker(waker);
    }
}

impl<K: SharedRef, V> Attribute<K, V> {
    /// The live objects that have it, as a snapshot that keeps none of them alive. O(capacity), and O(1) for each. See
    /// [`WeakMap::keys`](crate::concurrent::WeakMap::keys).
    pub fn objects(&self) -> Keys<'_, K, V> {
        self.map.keys()
    }
}

impl<K: SharedKey, V: Clone> Attribute<K, V> {
    /// A clone of the value of an object. O(1), lock-free.
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn get<Q: ?Sized + Identify<K>>(&self, object: &Q) -> Option<V> {
        let _caller = Caller::enter();
        self.with(object, V::clone)
    }

    /// Removes the attribute of an object, and returns a clone of its value. O(1).
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn take<Q: ?Sized + Identify<K>>(&self, object: &Q) -> Option<V> {
        let _caller = Caller::enter();
        self.map.remove(object)
    }

    /// Changes the value of an object, atomically. The closure is called again as often as other threads are faster. See
    /// [`WeakMap::compute`](crate::concurrent::WeakMap::compute).
    ///
    /// # Panics
    /// If the closure itself sets the attribute of this object every time it is called: it would be called again
    /// for ever.
    #[track_caller]
    pub fn update(&self, object: &K, change: impl FnMut(Option<&V>) -> Option<V>) -> Option<V> {
        let _caller = Caller::enter();
        self.map.compute(object, change)
    }

    /// The value of an object, which is made if it has none, by one thread only. See
    /// [`WeakMap::get_or_insert_with`](crate::concurrent::WeakMap::get_or_insert_with).
    ///
    /// # Panics
    /// If the closure asks for the value that it makes.
    #[inline]
    #[track_caller]
    pub fn get_or_init(&self, object: &K, make: impl FnOnce() -> V) -> V {
        let _caller = Caller::enter();
        self.map.get_or_insert_with(object, make)
    }
}

impl<K: SharedRef, V> Attribute<K, V> {
    /// Removes the attribute from objects that only such attributes keep alive. Returns how many lost it, and how many kept
    /// it because they own each other besides. See
    /// [`WeakMap::purge_cycles`](crate::concurrent::WeakMap::purge_cycles).
    pub fn purge_cycles(&self) -> Purged
    where
        V: Trace,
    {
        Cycles::new().with(self).purge()
    }
}

impl<K: SharedRef, V> Sealed for &Attribute<K, V> {}

impl<K: SharedRef, V: Trace> Cyclic for &Attribute<K, V> {
    fn member<'m>(self) -> Box<dyn Member + 'm>
    where
        Self: 'm,
    {
        self.map.member()
    }
}

/// Shows what a [`concurrent::WeakMap`](crate::concurrent::WeakMap) shows.
impl<K: SharedKey, V: Trace> Trace for Attribute<K, V> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.map.trace(tracer);
    }
}

impl<K: SharedKey, V> Default for Attribute<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: SharedKey, V> fmt::Debug for Attribute<K, V>
where
    WeakMap<K, V>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.map.fmt(f)
    }
}
