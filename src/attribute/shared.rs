//! Attributes that threads share.

use core::any::Any;
use core::fmt;
use core::iter::FusedIterator;
use std::sync::Arc;
use std::vec::Vec;

use super::key::{AttributeId, AttributeKey, AttributeValue, Existing, ids, position};
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

/// The value of a copied attribute. Each copy has a pointer of its own, which names the copy: a
/// transfer removes the attributes that it has copied, and no attribute that another transfer has
/// brought back meanwhile.
struct Copied(Shared);

fn copy_of(value: &Shared) -> Shared {
    let original = value.downcast_ref().map_or(value, |Copied(value)| value);
    Arc::new(Copied(Arc::clone(original)))
}

impl AttributeSet {
    /// Returns `None` if there are no attributes.
    fn of(all: Vec<AttributeValue<Shared>>) -> Option<Self> {
        // (`into` leaks the elements of a vector, if memory is missing and the allocation error
        // unwinds.)
        (!all.is_empty()).then(|| AttributeSet(all.into_iter().collect()))
    }

    fn find<A: AttributeKey>(&self) -> Option<&A::Value> {
        let at = position(&self.0, AttributeId::of::<A>())?;
        let value = self.0[at].value.as_ref()?;
        let copied = || value.downcast_ref::<Copied>()?.0.downcast_ref();
        value.downcast_ref().or_else(copied)
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
        AttributeSet::of(all)
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
                // `compute` cannot leave an entry: put the same set again.
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

    /// Moves all attributes of `from` to `to`, for an object that takes the place of another, and
    /// returns the number of moved attributes. The moved attributes that `to` did not have come
    /// last in its [list](Self::list), in the order of `from`. `existing` decides about the
    /// attributes that `to` has already. If both are the same object, nothing changes. O(attributes
    /// of `from`), each times a lookup among the attributes of both, and again if another thread
    /// changes an attribute of one of them meanwhile. No value is cloned; a moved value has a
    /// second pointer before it, of 32 bytes.
    ///
    /// `to` gets all moved attributes in one step, before all of them leave `from` in one step: a
    /// thread that asks for an attribute of `from` and then of `to` finds one of them, and for a
    /// moment both have the attribute. An attribute that another thread has set anew at `from`
    /// meanwhile stays there. So beside `transfer(b, a)` and beside an insertion no attribute is
    /// lost. An attribute that another thread removes from `from` meanwhile may still reach `to`.
    ///
    /// ```
    /// use weakly::{AttributeKey, Attributes, Existing, Strong};
    ///
    /// struct Cost;
    /// impl AttributeKey for Cost { type Value = u32; }
    /// struct Note;
    /// impl AttributeKey for Note { type Value = String; }
    ///
    /// let [old, new] = ["x * 2", "x << 1"].map(Strong::new);
    /// let pass = Attributes::new();
    /// pass.insert(&old, Cost, 3);
    /// pass.insert(&old, Note, "in a loop".into());
    /// pass.insert(&new, Cost, 1);
    /// assert_eq!(pass.transfer(&old, &new, Existing::Keep), 1);
    /// assert_eq!(pass.get(&new, Note).as_deref(), Some("in a loop"));
    /// assert_eq!((pass.get(&old, Cost), pass.get(&new, Cost)), (Some(3), Some(1)));
    /// ```
    pub fn transfer(&self, from: &K, to: &K, existing: Existing) -> usize {
        let (moved, replaced) = self.copied(from, to, existing);
        self.change_set(from, &mut |now| {
            let mut left = now?.0.to_vec();
            let is_moved = |value: &Shared| moved.iter().any(|it| Arc::ptr_eq(it, value));
            left.retain(|attribute| !attribute.value.as_ref().is_some_and(is_moved));
            AttributeSet::of(left)
        });
        // The destructors of the replaced values are user code, and may panic.
        drop(replaced);
        moved.len()
    }

    /// Gives `to` all attributes of `from`, in one step, and returns the number of given
    /// attributes. Otherwise as [`transfer`](Self::transfer), but `from` keeps its attributes. An
    /// object that was cloned has no attributes until this call.
    ///
    /// Both objects share the values, which are not cloned: a change of a value with interior
    /// mutability is seen at both. Each object is free to set its attribute anew.
    ///
    /// ```
    /// use weakly::{AttributeKey, Attributes, Existing, Strong};
    ///
    /// struct Cost;
    /// impl AttributeKey for Cost { type Value = u32; }
    ///
    /// let costs = Attributes::new();
    /// let original = Strong::new("x * 2");
    /// costs.insert(&original, Cost, 3);
    /// let clone = Strong::new(*original);
    /// costs.copy(&original, &clone, Existing::Replace);
    /// drop(original);
    /// assert_eq!(costs.get(&clone, Cost), Some(3));
    /// ```
    pub fn copy(&self, from: &K, to: &K, existing: Existing) -> usize {
        self.copied(from, to, existing).0.len()
    }

    /// Copies attributes of an object to another object. Returns the values that were copied, and
    /// the attributes that the other object had.
    fn copied(&self, from: &K, to: &K, how: Existing) -> (Vec<Shared>, Option<AttributeSet>) {
        let (mut copied, mut replaced) = (Vec::new(), None);
        let is_other = K::addr(from) != K::addr(to);
        if let Some(set) = self.objects.get(from).filter(|_| is_other) {
            self.change_set(to, &mut |there| {
                copied.clear();
                replaced = there.cloned();
                let mut all = there.map_or_else(Vec::new, |there| there.0.to_vec());
                for attribute in &*set.0 {
                    let (id, value) = (attribute.id, attribute.value.as_ref().map(copy_of));
                    match position(&all, id) {
                        Some(_) if how == Existing::Keep => continue,
                        Some(at) => all[at].value = value,
                        None => all.push(AttributeValue { id, value }),
                    }
                    copied.extend(attribute.value.clone());
                }
                AttributeSet::of(all)
            });
        }
        (copied, replaced)
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
