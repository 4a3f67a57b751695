//! Attributes of objects that you do not own: one, or a namespace of many.

use core::any::{Any, TypeId, type_name};
use core::fmt;
use core::hash::{Hash, Hasher};
use core::iter::FusedIterator;
use std::sync::Arc;
use std::vec::Vec;

use crate::concurrent::{SharedKey, SharedRef, WeakMap, shared_housekeeping};
use crate::panics::FirstPanic;
use crate::reference::Identify;

/// One private attribute, of one type, of objects that you do not own: on any thread, and usable as a `static`. No
/// other code sees it. It goes with its object, or all at once, with the map or by `clear`.
///
/// This is a [`concurrent::WeakMap`](WeakMap) under the name of what it is used for, with its methods and its rules.
/// The guide has [a chapter](crate::guide::attributes) about it.
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

/// Names an attribute of a namespace, and gives the type of its values: a type of yours, usually empty. So a
/// misspelt attribute, or a value of the wrong type, does not compile, and two attributes that are declared in
/// different places are never the same.
///
/// ```
/// # use core::ops::Range;
/// /// Where a node stands in the text.
/// struct Span;
/// impl weakly::AttributeKey for Span {
///     type Value = Range<u32>;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name an attribute",
    label = "this has to implement `AttributeKey`",
    note = "declare the attribute and the type of its values: `impl AttributeKey for {Self} {{ type Value = …; }}`"
)]
pub trait AttributeKey: 'static {
    /// The type of the attribute's values.
    type Value: Send + Sync + 'static;
}

/// Identifies an attribute where attributes are listed.
#[derive(Clone, Copy)]
pub struct AttributeId {
    id: TypeId,
    name: &'static str,
}

impl AttributeId {
    /// Returns the identifier of a key.
    #[must_use]
    pub fn of<A: AttributeKey>() -> Self {
        AttributeId {
            id: TypeId::of::<A>(),
            name: type_name::<A>(),
        }
    }

    /// Returns the name of the key's type: for people, as [`type_name`] is.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl PartialEq for AttributeId {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for AttributeId {}

impl Hash for AttributeId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Debug for AttributeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A private namespace of many typed attributes of objects that you do not own. A pass, a plugin or a debugger has
/// one, sets attributes in it on any objects, and drops it when it is done. Two namespaces are independent, even
/// if they have the same keys.
///
/// Attributes are named by [types](AttributeKey). The namespace is shared between threads behind `&self`. It is a
/// [`concurrent::WeakMap`](WeakMap) from each object to the set of its attributes here, and its methods have the
/// names and results of the map's. Reads are lock-free. An object is one entry, however many attributes it has (so `len`
/// counts objects); a lookup is O(attributes of the object), and a change copies their list into another entry.
///
/// The objects may be values with an [`Anchor`](crate::Anchor): `Attributes<Anchor>`.
///
/// No method here makes a value for which other threads wait, so no removal meets a value that is [being
/// made](crate::concurrent#a-value-that-is-being-made). (In an [`Attribute`] it may.)
///
/// All attributes of an object go with it: the next change of the namespace destroys them, in the order in which
/// they were first set. Dropping the namespace destroys everything, in O(objects + attributes).
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
struct AttributeSet(Arc<[AttributeValue]>);

#[derive(Clone)]
struct AttributeValue {
    id: AttributeId,
    /// Until it is dropped.
    value: Option<Arc<dyn Any + Send + Sync>>,
}

impl Drop for AttributeValue {
    /// One of several: if it panics while another one does, that one goes on.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.value = None);
        panics.resume();
    }
}

impl AttributeSet {
    fn find<A: AttributeKey>(&self) -> Option<&A::Value> {
        let id = AttributeId::of::<A>();
        let attribute = self.0.iter().find(|attribute| attribute.id == id)?;
        attribute.value.as_ref()?.downcast_ref()
    }

    /// The set with this attribute added or replaced, or without it; `None` if that is empty.
    fn with<A: AttributeKey>(&self, value: Option<Arc<A::Value>>) -> Option<Self> {
        let id = AttributeId::of::<A>();
        let mut all: Vec<AttributeValue> = self.0.to_vec();
        let at = all.iter().position(|attribute| attribute.id == id);
        match (at, value) {
            (Some(at), Some(value)) => drop(all[at].value.replace(value)),
            (Some(at), None) => drop(all.remove(at)),
            (None, Some(value)) => all.push(AttributeValue {
                id,
                value: Some(value),
            }),
            (None, None) => {}
        }
        // (Of a vector, `into` leaks what is in it, if memory is missing and that unwinds.)
        (!all.is_empty()).then(|| AttributeSet(all.into_iter().collect()))
    }
}

impl<K: SharedKey> Attributes<K> {
    crate::sync::const_fn! {
        /// Creates an empty namespace, also for a `static`. Allocates nothing before the first attribute is set.
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
        let value = Arc::new(value);
        self.change::<A, _>(object, |old| (Some(Arc::clone(&value)), old.is_none()))
    }

    /// Changes an attribute of an object, atomically: the closure is shown its value, if any, and returns the new
    /// one, `None` to remove it. Returns a clone of the new value. The closure is called again when other threads have
    /// changed attributes of the same object: as often as they are faster. O(attributes of the object) for each call.
    ///
    /// # Panics
    /// If the closure itself changes an attribute of this object in this namespace, even another one, every time
    /// it is called: it would be called again for ever.
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
            (new.clone().map(Arc::new), new)
        })
    }

    /// Removes an attribute of an object, and returns a clone of its value. O(attributes of the object). Of a value that
    /// cannot be cloned, `remove_if(object, key, |_| true)` removes the attribute.
    pub fn remove<A: AttributeKey>(&self, object: &K, _: A) -> Option<A::Value>
    where
        A::Value: Clone,
    {
        self.change::<A, _>(object, |old| (None, old.cloned()))
    }

    /// Removes an attribute of an object if the closure, shown the value, returns true; returns whether it did.
    /// O(attributes of the object) for each call of the closure, which is called again as that of
    /// [`compute`](Self::compute) is.
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
                true => set?.with::<A>(None),
                false => set.cloned(),
            }
        });
        removed
    }

    #[track_caller]
    fn change<A: AttributeKey, R>(
        &self,
        object: &K,
        mut change: impl FnMut(Option<&A::Value>) -> (Option<Arc<A::Value>>, R),
    ) -> R {
        let mut answer = None;
        self.objects.compute(object, |set| {
            let (value, returned) = change(set.and_then(AttributeSet::find::<A>));
            answer = Some(returned);
            match set {
                Some(set) => set.with::<A>(value),
                None => AttributeSet::default().with::<A>(value),
            }
        });
        answer.expect("`compute` calls the closure")
    }

    /// Returns the attributes of the object, in the order in which they were first set.
    pub fn list<Q: ?Sized + Identify<K>>(&self, object: &Q) -> Vec<AttributeId> {
        let ids = |set: &AttributeSet| set.0.iter().map(|attribute| attribute.id).collect();
        self.objects.with(object, ids).unwrap_or_default()
    }

    /// Removes all attributes of an object; returns whether it had any. O(1), plus the destruction of the
    /// attributes.
    pub fn forget<Q: ?Sized + Identify<K>>(&self, object: &Q) -> bool {
        self.objects.remove_if(object, |_| true)
    }

    shared_housekeeping!(objects);
}

impl<K: SharedRef> Attributes<K> {
    /// Returns the live objects that have attributes here, as a snapshot that keeps none of them alive. O(capacity),
    /// and O(1) for each. See [`WeakMap::keys`].
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
