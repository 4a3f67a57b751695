//! Attributes that threads share.

use core::any::Any;
use core::fmt;
use core::iter::FusedIterator;
use std::sync::Arc;
use std::vec::Vec;

use super::key::{AttributeId, AttributeKey, AttributeValue, ids, position};
use crate::concurrent::{SharedKey, SharedRef, WeakMap, shared_housekeeping};
use crate::reference::Identify;

/// One private attribute, of one type, of objects that you do not own: on any thread, and usable as
/// a `static`. No other code sees it. It goes with its object, or all at once, with the map or by
/// `clear`.
///
/// This is a [`concurrent::WeakMap`](WeakMap) under the name of what it is used for, with its
/// methods and its rules: objects and values have to be `Send` and `Sync`. On one thread, a field
/// of the type [`WeakMap`](crate::WeakMap) is the same. The guide has [a
/// chapter](crate::guide::attributes) about it.
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
/// a debugger has one, sets attributes in it on any objects, and drops it when it is done. Two
/// namespaces are independent, even if they have the same keys.
///
/// Attributes are named by [types](AttributeKey). The namespace is shared between threads behind
/// `&self`, so objects and values have to be `Send` and `Sync`. (Where they are not, or one thread
/// has the namespace, use [`local::Attributes`](crate::local::Attributes).) It is a
/// [`concurrent::WeakMap`](WeakMap) from each object to the set of its attributes here, and its
/// methods have the names and results of the map's. Reads are lock-free. An object is one entry,
/// however many attributes it has (so `len` counts objects); a lookup is O(attributes of the
/// object), and a change copies their list into another entry.
///
/// The objects may be values with an [`Anchor`](crate::Anchor): `Attributes<Anchor>`.
///
/// No method here makes a value for which other threads wait, so no removal meets a value that is
/// [being made](crate::concurrent#a-value-that-is-being-made). (In an [`Attribute`] it may.)
///
/// All attributes of an object go with it: the next change of the namespace destroys them, in the
/// order in which they were first set. Dropping the namespace destroys everything, in O(objects +
/// attributes).
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

/// The attributes of one object in one namespace. A set does not change: another one replaces it.
#[derive(Clone, Default)]
struct AttributeSet(Arc<[AttributeValue<Shared>]>);

type Shared = Arc<dyn Any + Send + Sync>;

impl AttributeSet {
    fn find<A: AttributeKey>(&self) -> Option<&A::Value> {
        let at = position(&self.0, AttributeId::of::<A>())?;
        self.0[at].value.as_ref()?.downcast_ref()
    }

    /// The set with this attribute added or replaced, or without it; `None` if that is empty.
    fn with(&self, id: AttributeId, value: Option<Shared>) -> Option<Self> {
        let mut all = self.0.to_vec();
        match (position(&all, id), value) {
            (Some(at), Some(value)) => drop(all[at].value.replace(value)),
            (Some(at), None) => drop(all.remove(at)),
            (None, Some(value)) => all.push(AttributeValue::new(id, value)),
            (None, None) => {}
        }
        // (Of a vector, `into` leaks what is in it, if memory is missing and that unwinds.)
        (!all.is_empty()).then(|| AttributeSet(all.into_iter().collect()))
    }
}

impl<K: SharedKey> Attributes<K> {
    crate::sync::const_fn! {
        /// Creates an empty namespace, also for a `static`. Allocates nothing before the first
        /// attribute is set.
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

    /// Sets an attribute of an object; returns true if it had none. O(attributes of the object).
    pub fn insert<A: AttributeKey>(&self, object: &K, _: A, value: A::Value) -> bool {
        let value: Shared = Arc::new(value);
        self.change::<A, _>(object, |old| (Some(Arc::clone(&value)), old.is_none()))
    }

    /// Changes an attribute of an object, atomically: the closure is shown its value, if any, and
    /// returns the new one, `None` to remove it. Returns a clone of the new value. The closure is
    /// called again when other threads have changed attributes of the same object: as often as they
    /// are faster. O(attributes of the object) for each call.
    ///
    /// # Panics
    /// If the closure itself changes an attribute of this object in this namespace, even another
    /// one, every time it is called: it would be called again for ever.
    #[track_caller]
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
    /// object). Of a value that cannot be cloned, `remove_if(object, key, |_| true)` removes the
    /// attribute.
    pub fn remove<A: AttributeKey>(&self, object: &K, _: A) -> Option<A::Value>
    where
        A::Value: Clone,
    {
        self.change::<A, _>(object, |old| (None, old.cloned()))
    }

    /// Removes an attribute of an object if the closure, shown the value, returns true; returns
    /// whether it did. O(attributes of the object) for each call of the closure, which is called
    /// again as that of [`compute`](Self::compute) is.
    ///
    /// # Panics
    /// As `compute`.
    #[track_caller]
    pub fn remove_if<A: AttributeKey>(
        &self,
        object: &K,
        _: A,
        mut wanted: impl FnMut(&A::Value) -> bool,
    ) -> bool {
        let mut removed = false;
        self.objects.compute(object, |set| {
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
        self.objects.compute(object, |set| {
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

    /// Returns the attributes of the object, in the order in which they were first set.
    pub fn list<Q: ?Sized + Identify<K>>(&self, object: &Q) -> Vec<AttributeId> {
        self.objects
            .with(object, |set| ids(&set.0))
            .unwrap_or_default()
    }

    /// Removes all attributes of an object; returns whether it had any. O(1), plus the destruction
    /// of the attributes.
    pub fn forget<Q: ?Sized + Identify<K>>(&self, object: &Q) -> bool {
        self.objects.remove_if(object, |_| true)
    }

    shared_housekeeping!(objects);
}

impl<K: SharedRef> Attributes<K> {
    /// Returns the live objects that have attributes here, as a snapshot that keeps none of them
    /// alive. O(capacity), and O(1) for each. See [`WeakMap::keys`].
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
