//! Attributes that threads share.

use core::any::Any;
use core::fmt;
use core::iter::FusedIterator;
use std::sync::Arc;
use std::vec::Vec;

use super::key::{AttributeId, AttributeKey, AttributeValue, ids, position};
use crate::concurrent::{SharedKey, SharedRef, WeakMap, shared_housekeeping};
use crate::reference::Identify;

/// A private attribute, with values of one type, of objects that you do not own: on any thread, and
/// usable as a `static`. No other code sees the attribute. A value is removed when its object dies;
/// all values are removed by `clear`, or by dropping the map.
///
/// `Attribute` is another name for [`concurrent::WeakMap`](WeakMap), with the same methods and
/// rules: objects and values must be `Send` and `Sync`. On one thread, a field of the type
/// [`WeakMap`](crate::WeakMap) serves the same purpose. See [the chapter](crate::guide::attributes)
/// of the guide.
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
/// DOC.insert(&node, "Where it begins.".into());
/// assert_eq!(node.describe(), "Where it begins.");
/// drop(node);
/// assert!(DOC.is_empty());
/// ```
pub type Attribute<K, V> = WeakMap<K, V>;

/// A private namespace of many typed attributes of objects that you do not own. A pass, a plugin or
/// a debugger creates a namespace, sets attributes of any objects, and finally drops the namespace.
/// Two namespaces are independent, even if they have the same keys.
///
/// Attributes are named by [types](AttributeKey). Threads share the namespace behind `&self`, so
/// objects and values must be `Send` and `Sync`. (For other objects or values, or for one thread,
/// use [`local::Attributes`](crate::local::Attributes).) A namespace is a
/// [`concurrent::WeakMap`](WeakMap) from each object to the set of its attributes, and its methods
/// have the names and results of the map's methods. Reads are lock-free. An object is one entry,
/// however many attributes it has (so `len` counts objects). A lookup is O(attributes of the
/// object), and a change copies the list of these attributes into a new entry.
///
/// The objects may be values with an [`Anchor`](crate::Anchor): `Attributes<Anchor>`.
///
/// No method of `Attributes` makes a value while other threads wait for the value. So a removal
/// here never meets a value [in the making](crate::concurrent#a-value-that-is-being-made); in an
/// [`Attribute`], a removal may.
///
/// The death of an object ends all its attributes: the next change of the namespace destroys the
/// values, in the order of their first insertion. Dropping the namespace destroys everything, in
/// O(objects + attributes).
///
/// ```
/// use weakly::{AttributeId, AttributeKey, Attributes, Strong};
///
/// struct Depth;
/// impl AttributeKey for Depth { type Value = u32; }
/// struct Label;
/// impl AttributeKey for Label { type Value = String; }
///
/// let node = Strong::new("a node");
/// let mine = Attributes::new();
/// let yours = Attributes::new();
/// mine.insert(&node, Depth, 3);
/// mine.insert(&node, Label, "leaf".into());
/// yours.insert(&node, Depth, 7);
///
/// assert_eq!(mine.get(&node, Depth), Some(3)); // and not 7
/// assert_eq!(mine.list(&node), [AttributeId::of::<Depth>(), AttributeId::of::<Label>()]);
/// drop(mine);
/// assert_eq!(yours.get(&node, Depth), Some(7));
/// drop(node);
/// assert_eq!(yours.len(), 0);
/// ```
pub struct Attributes<K: SharedKey> {
    objects: WeakMap<K, AttributeSet>,
}

/// The attributes of an object in a namespace. A set never changes: a new set replaces the old set.
#[derive(Clone, Default)]
struct AttributeSet(Arc<[AttributeValue<Shared>]>);

type Shared = Arc<dyn Any + Send + Sync>;

impl AttributeSet {
    fn find<A: AttributeKey>(&self) -> Option<&A::Value> {
        let at = position(&self.0, AttributeId::of::<A>())?;
        self.0[at].value.as_ref()?.downcast_ref()
    }

    /// Returns the set with the attribute added or replaced, or without the attribute; `None` if
    /// the result is empty.
    fn with(&self, id: AttributeId, value: Option<Shared>) -> Option<Self> {
        let mut all = self.0.to_vec();
        match (position(&all, id), value) {
            (Some(at), Some(value)) => drop(all[at].value.replace(value)),
            (Some(at), None) => drop(all.remove(at)),
            (None, Some(value)) => all.push(AttributeValue::new(id, value)),
            (None, None) => {}
        }
        // (`into` leaks the elements of a vector, if memory is missing and the allocation error
        // unwinds.)
        (!all.is_empty()).then(|| AttributeSet(all.into_iter().collect()))
    }
}

impl<K: SharedKey> Attributes<K> {
    crate::sync::const_fn! {
        /// Creates an empty namespace, also for a `static`. Allocates nothing.
        #[must_use]
        pub fn new() -> Self {
            Attributes {
                objects: WeakMap::new(),
            }
        }
    }

    /// Shows an attribute of an object to a closure. Lock-free.
    #[inline]
    pub fn with<A: AttributeKey, Q: ?Sized + Identify<K>, R>(
        &self,
        object: &Q,
        _: A,
        look: impl FnOnce(&A::Value) -> R,
    ) -> Option<R> {
        self.objects
            .with(object, |set| set.find::<A>().map(look))
            .flatten()
    }

    /// Returns a clone of the value of an attribute of an object. Lock-free.
    #[inline]
    pub fn get<A: AttributeKey, Q: ?Sized + Identify<K>>(
        &self,
        object: &Q,
        key: A,
    ) -> Option<A::Value>
    where
        A::Value: Clone,
    {
        self.with(object, key, A::Value::clone)
    }

    /// Returns whether the object has this attribute. Lock-free.
    #[must_use]
    #[inline]
    pub fn contains_key<A: AttributeKey, Q: ?Sized + Identify<K>>(
        &self,
        object: &Q,
        key: A,
    ) -> bool {
        self.with(object, key, |_| ()).is_some()
    }

    /// Sets an attribute of an object; returns true if the object did not have the attribute.
    /// O(attributes of the object).
    pub fn insert<A: AttributeKey>(&self, object: &K, _: A, value: A::Value) -> bool {
        let value: Shared = Arc::new(value);
        self.change::<A, _>(object, |old| (Some(Arc::clone(&value)), old.is_none()))
    }

    /// Changes an attribute of an object, atomically. The closure gets the value, if any, and
    /// returns the new value, or `None` to remove the attribute. Returns a clone of the new value.
    /// If another thread changes an attribute of the same object meanwhile, the closure is called
    /// again, without a limit on the number of calls. O(attributes of the object) for each call.
    ///
    /// A closure that at each call itself changes an attribute of the same object in the same
    /// namespace is called for ever.
    pub fn compute<A: AttributeKey>(
        &self,
        object: &K,
        _: A,
        mut change: impl FnMut(Option<&A::Value>) -> Option<A::Value>,
    ) -> Option<A::Value>
    where
        A::Value: Clone,
    {
        self.change::<A, _>(object, |old| {
            let new = change(old);
            (new.clone().map(|new| Arc::new(new) as Shared), new)
        })
    }

    /// Removes an attribute of an object, and returns a clone of its value. O(attributes of the
    /// object). If the value cannot be cloned, `remove_if(object, key, |_| true)` removes the
    /// attribute.
    pub fn remove<A: AttributeKey>(&self, object: &K, _: A) -> Option<A::Value>
    where
        A::Value: Clone,
    {
        self.change::<A, _>(object, |old| (None, old.cloned()))
    }

    /// Removes an attribute of an object if the closure returns true for its value; returns whether
    /// the attribute was removed. The closure may be called again, as in
    /// [`compute`](Self::compute). O(attributes of the object) for each call.
    pub fn remove_if<A: AttributeKey>(
        &self,
        object: &K,
        _: A,
        mut wanted: impl FnMut(&A::Value) -> bool,
    ) -> bool {
        let mut removed = false;
        self.change_set(object, &mut |set| {
            removed = set
                .and_then(AttributeSet::find::<A>)
                .is_some_and(&mut wanted);
            match removed {
                true => set?.with(AttributeId::of::<A>(), None),
                false => set.cloned(),
            }
        });
        removed
    }

    #[track_caller]
    fn change<A: AttributeKey, R>(
        &self,
        object: &K,
        mut change: impl FnMut(Option<&A::Value>) -> (Option<Shared>, R),
    ) -> R {
        let mut answer = None;
        self.change_set(object, &mut |set| {
            let (value, returned) = change(set.and_then(AttributeSet::find::<A>));
            answer = Some(returned);
            let id = AttributeId::of::<A>();
            match set {
                Some(set) => set.with(id, value),
                None => AttributeSet::default().with(id, value),
            }
        });
        answer.expect("`compute` calls the closure")
    }

    /// The change of the map is compiled once for all attributes, and not for each key and method.
    #[track_caller]
    fn change_set(
        &self,
        object: &K,
        change: &mut dyn FnMut(Option<&AttributeSet>) -> Option<AttributeSet>,
    ) {
        self.objects.compute(object, change);
    }

    /// Returns the attributes of the object, in the order of their first insertion.
    pub fn list<Q: ?Sized + Identify<K>>(&self, object: &Q) -> Vec<AttributeId> {
        self.objects
            .with(object, |set| ids(&set.0))
            .unwrap_or_default()
    }

    /// Removes all attributes of an object; returns whether the object had any. O(1), plus the
    /// destruction of the attributes.
    pub fn forget<Q: ?Sized + Identify<K>>(&self, object: &Q) -> bool {
        self.objects.remove_if(object, |_| true)
    }

    shared_housekeeping!(objects);

    /// Takes out the attributes of at most `n` dead objects, all attributes of an object as one
    /// item, instead of destroying them. As [`WeakMap::take_dead`], whose rules these are.
    pub fn take_dead(&self, n: usize) -> Vec<impl Sized + use<K>> {
        self.objects.take_dead(n)
    }
}

impl<K: SharedRef> Attributes<K> {
    /// Returns the live objects with attributes in this namespace, as a snapshot. The snapshot
    /// keeps no object alive. O(capacity), and O(1) for each object. See [`WeakMap::keys`].
    pub fn keys(&self) -> impl FusedIterator<Item = K> + fmt::Debug {
        self.objects.keys()
    }
}

impl<K: SharedKey> Default for Attributes<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: SharedKey> fmt::Debug for Attributes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attributes")
            .field("objects", &self.len())
            .finish()
    }
}
