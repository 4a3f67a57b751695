//! A private namespace of many attributes.

use core::any::{Any, TypeId, type_name};
use core::fmt;
use core::hash::{Hash, Hasher};
use core::iter::FusedIterator;
use core::task::Waker;
use std::sync::Arc;
use std::vec::Vec;

use crate::concurrent::{SharedKey, SharedRef, WeakMap};
use crate::holders::Caller;
use crate::reference::Identify;
use crate::table::Reclaim;

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
    /// The identifier of a key.
    #[must_use]
    pub fn of<A: AttributeKey>() -> Self {
        AttributeId {
            id: TypeId::of::<A>(),
            name: type_name::<A>(),
        }
    }

    /// The name of the key's type: for people, as [`type_name`] is.
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
/// [`concurrent::WeakMap`](crate::concurrent::WeakMap) from each object to the set of its attributes here, so
/// reads are lock-free. An object costs one entry, however many attributes it has; a lookup is O(attributes of the
/// object), and a change copies their list.
///
/// The objects may be values with an [`Anchor`](crate::Anchor): `Attributes<Anchor>`.
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
/// mine.set(&node, Depth, 3);
/// mine.set(&node, Label, "leaf".into());
/// yours.set(&node, Depth, 7);
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
    value: Arc<dyn Any + Send + Sync>,
}

impl AttributeSet {
    fn find<A: AttributeKey>(&self) -> Option<&A::Value> {
        let id = AttributeId::of::<A>();
        let attribute = self.0.iter().find(|attribute| attribute.id == id)?;
        attribute.value.downcast_ref()
    }

    /// The set with this attribute added or replaced, or without it; `None` if that is empty.
    fn with<A: AttributeKey>(&self, value: Option<Arc<A::Value>>) -> Option<Self> {
        let id = AttributeId::of::<A>();
        let mut all: Vec<AttributeValue> = self.0.to_vec();
        let at = all.iter().position(|attribute| attribute.id == id);
        match (at, value) {
            (Some(at), Some(value)) => all[at].value = value,
            (Some(at), None) => drop(all.remove(at)),
            (None, Some(value)) => all.push(AttributeValue { id, value }),
            (None, None) => {}
        }
        (!all.is_empty()).then(|| AttributeSet(all.into()))
    }
}

impl<K: SharedKey> Attributes<K> {
    /// An empty namespace, also for a `static`. Allocates nothing before the first attribute is set.
    #[must_use]
    pub const fn new() -> Self {
        Attributes {
            objects: WeakMap::new(),
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

    /// A clone of the value of an attribute of an object. Lock-free.
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn get<A: AttributeKey, Q: ?Sized + Identify<K>>(
        &self,
        object: &Q,
        key: A,
    ) -> Option<A::Value>
    where
        A::Value: Clone,
    {
        let _caller = Caller::enter();
        self.with(object, key, A::Value::clone)
    }

    /// Whether the object has this attribute. Lock-free.
    #[must_use]
    #[inline]
    pub fn has<A: AttributeKey, Q: ?Sized + Identify<K>>(&self, object: &Q, key: A) -> bool {
        self.with(object, key, |_| ()).is_some()
    }

    /// Sets an attribute of an object; returns true if it had none. O(attributes of the object).
    pub fn set<A: AttributeKey>(&self, object: &K, _: A, value: A::Value) -> bool {
        let value = Arc::new(value);
        self.change::<A, _>(object, |old| (Some(Arc::clone(&value)), old.is_none()))
    }

    /// Changes an attribute of an object, atomically: the closure is shown its value, if any, and returns the new
    /// one, `None` to remove it. It is called again when other threads have changed attributes of the same object: as
    /// often as they are faster. O(attributes of the object) for each call.
    ///
    /// # Panics
    /// If the closure itself changes an attribute of this object in this namespace, even another one, every time
    /// it is called: it would be called again for ever.
    #[track_caller]
    pub fn update<A: AttributeKey>(
        &self,
        object: &K,
        _: A,
        mut change: impl FnMut(Option<&A::Value>) -> Option<A::Value>,
    ) {
        let _caller = Caller::enter();
        self.change::<A, _>(object, |old| (change(old).map(Arc::new), ()));
    }

    /// Removes an attribute of an object; returns whether the object had it. O(attributes of the object).
    pub fn remove<A: AttributeKey>(&self, object: &K, _: A) -> bool {
        self.change::<A, _>(object, |old| (None, old.is_some()))
    }

    /// Removes an attribute of an object, and returns a clone of its value. O(attributes of the object).
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn take<A: AttributeKey>(&self, object: &K, _: A) -> Option<A::Value>
    where
        A::Value: Clone,
    {
        let _caller = Caller::enter();
        self.change::<A, _>(object, |old| (None, old.cloned()))
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

    /// The attributes of the object, in the order in which they were first set.
    pub fn list<Q: ?Sized + Identify<K>>(&self, object: &Q) -> Vec<AttributeId> {
        let ids = |set: &AttributeSet| set.0.iter().map(|attribute| attribute.id).collect();
        self.objects.with(object, ids).unwrap_or_default()
    }

    /// Removes all attributes of an object; returns whether it had any. O(1), plus the destruction of the
    /// attributes.
    pub fn forget<Q: ?Sized + Identify<K>>(&self, object: &Q) -> bool {
        self.objects.remove_if(object, |_| true)
    }

    /// The number of objects that have attributes here. See [`WeakMap::len`](crate::concurrent::WeakMap::len).
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether no object has attributes here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of sets of attributes that wait to be destroyed: their objects are dead, or they were changed while a
    /// thread was looking. O(1). See [`WeakMap::pending_dead`](crate::concurrent::WeakMap::pending_dead).
    #[must_use]
    pub fn pending_dead(&self) -> usize {
        self.objects.pending_dead()
    }

    /// Removes all attributes of all objects. O(capacity).
    pub fn clear(&self) {
        self.objects.clear();
    }

    /// When it destroys the attributes of dead objects. See [`set_reclaim`](Self::set_reclaim).
    #[must_use]
    pub fn reclaim(&self) -> Reclaim {
        self.objects.reclaim()
    }

    /// Chooses when it destroys the attributes of dead objects. See
    /// [`WeakMap::set_reclaim`](crate::concurrent::WeakMap::set_reclaim).
    pub fn set_reclaim(&self, reclaim: Reclaim) {
        self.objects.set_reclaim(reclaim);
    }

    /// Gives back memory that is not needed. See
    /// [`WeakMap::shrink_to_fit`](crate::concurrent::WeakMap::shrink_to_fit).
    pub fn shrink_to_fit(&self) {
        self.objects.shrink_to_fit();
    }

    /// Destroys the attributes of all dead objects. See [`WeakMap::purge`](crate::concurrent::WeakMap::purge).
    pub fn purge(&self) {
        self.objects.purge();
    }

    /// Sets what is called when an object has died and there is something to [purge](Self::purge), or removes it. See
    /// [`WeakMap::set_waker`](crate::concurrent::WeakMap::set_waker).
    pub fn set_waker(&self, waker: Option<Waker>) {
        self.objects.set_waker(waker);
    }
}

impl<K: SharedRef> Attributes<K> {
    /// The live objects that have attributes here, as a snapshot that keeps none of them alive. O(capacity), and O(1) for
    /// each. See [`WeakMap::keys`](crate::concurrent::WeakMap::keys).
    pub fn objects(&self) -> impl FusedIterator<Item = K> + fmt::Debug {
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
