//! A private namespace of many attributes.

use core::any::{Any, TypeId, type_name};
use core::fmt;
use core::hash::{Hash, Hasher};
use std::sync::Arc;
use std::vec::Vec;

use crate::concurrent::{Keys, SharedRef, WeakMap};
use crate::reference::Identify;
use crate::table::Reclaim;

/// What names an attribute of a namespace, and says of what type its values are: a type of yours, usually
/// without content. So a misspelt attribute, or one of the wrong type, does not compile, and two that are
/// declared in different places are never the same.
///
/// ```
/// # use core::ops::Range;
/// /// Where a node stands in the text.
/// struct Span;
/// impl weakly::AttributeKey for Span {
///     type Value = Range<u32>;
/// }
/// ```
pub trait AttributeKey: 'static {
    /// What an object is given under this key.
    type Value: Send + Sync + 'static;
}

/// Which attribute, where attributes are listed.
#[derive(Clone, Copy)]
pub struct AttributeId {
    id: TypeId,
    name: &'static str,
}

impl AttributeId {
    /// That of a key.
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

/// A private namespace of many typed attributes of objects that one does not own: a pass, a plugin, a
/// debugger has one, says in it what it likes about anybody's objects, and drops it when it is done. Two
/// namespaces never meet, though they have the same keys.
///
/// Attributes are named by [types](AttributeKey). Shared between threads behind `&self`; reads are
/// lock-free, as in a [`concurrent::WeakMap`](crate::concurrent::WeakMap), which this is: from objects to
/// all that this namespace says of them. So an object costs one entry here, whatever the number of its
/// attributes; a lookup is O(attributes of the object), and a change copies that list.
///
/// With its object go all its attributes, by the next change of the namespace, in the order in which they
/// were set first. Dropping the namespace discards everything, in O(objects + attributes).
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
pub struct Attributes<K: SharedRef> {
    objects: WeakMap<K, Bag>,
}

/// What one namespace says of one object. It does not change: another takes its place.
#[derive(Clone, Default)]
struct Bag(Arc<[Value]>);

#[derive(Clone)]
struct Value {
    id: AttributeId,
    value: Arc<dyn Any + Send + Sync>,
}

impl Bag {
    fn find<A: AttributeKey>(&self) -> Option<&A::Value> {
        let id = AttributeId::of::<A>();
        let said = self.0.iter().find(|said| said.id == id)?;
        said.value.downcast_ref()
    }

    /// With this attribute, in the place of the one that was there; none without any.
    fn with<A: AttributeKey>(&self, value: Option<Arc<A::Value>>) -> Option<Self> {
        let id = AttributeId::of::<A>();
        let mut all: Vec<Value> = self.0.to_vec();
        let at = all.iter().position(|said| said.id == id);
        match (at, value) {
            (Some(at), Some(value)) => all[at].value = value,
            (Some(at), None) => drop(all.remove(at)),
            (None, Some(value)) => all.push(Value { id, value }),
            (None, None) => {}
        }
        (!all.is_empty()).then(|| Bag(all.into()))
    }
}

impl<K: SharedRef> Attributes<K> {
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
            .with(object, |bag| bag.find::<A>().map(look))
            .flatten()
    }

    /// The value of an attribute of an object: a clone. Lock-free.
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

    /// Whether the object has this attribute. Lock-free.
    #[inline]
    pub fn has<A: AttributeKey, Q: ?Sized + Identify<K>>(&self, object: &Q, key: A) -> bool {
        self.with(object, key, |_| ()).is_some()
    }

    /// Sets an attribute of an object; says whether it had none. O(attributes of the object).
    pub fn set<A: AttributeKey>(&self, object: &K, _: A, value: A::Value) -> bool {
        let value = Arc::new(value);
        self.change::<A, _>(object, |old| (Some(Arc::clone(&value)), old.is_none()))
    }

    /// Changes an attribute of an object, atomically: the closure is shown its value, if it has one, and says
    /// what is to be; none takes the attribute away. It may be asked again when others change the attributes
    /// of the same object. O(attributes of the object).
    ///
    /// # Panics
    /// If the closure itself changes an attribute that this namespace has of this object, be it another one,
    /// whenever it is asked: it would be asked again for ever.
    #[track_caller]
    pub fn update<A: AttributeKey>(
        &self,
        object: &K,
        _: A,
        mut change: impl FnMut(Option<&A::Value>) -> Option<A::Value>,
    ) {
        self.change::<A, _>(object, |old| (change(old).map(Arc::new), ()));
    }

    /// Takes an attribute away from an object; says whether it had it. O(attributes of the object).
    pub fn remove<A: AttributeKey>(&self, object: &K, _: A) -> bool {
        self.change::<A, _>(object, |old| (None, old.is_some()))
    }

    /// Takes an attribute away from an object, and gives out a clone of its value. O(attributes of the
    /// object).
    pub fn take<A: AttributeKey>(&self, object: &K, _: A) -> Option<A::Value>
    where
        A::Value: Clone,
    {
        self.change::<A, _>(object, |old| (None, old.cloned()))
    }

    #[track_caller]
    fn change<A: AttributeKey, R>(
        &self,
        object: &K,
        mut change: impl FnMut(Option<&A::Value>) -> (Option<Arc<A::Value>>, R),
    ) -> R {
        let mut answer = None;
        self.objects.compute(object, |bag| {
            let (value, said) = change(bag.and_then(Bag::find::<A>));
            answer = Some(said);
            match bag {
                Some(bag) => bag.with::<A>(value),
                None => Bag::default().with::<A>(value),
            }
        });
        answer.expect("the closure has been asked")
    }

    /// The attributes that the object has here, in the order in which they were set first.
    pub fn list<Q: ?Sized + Identify<K>>(&self, object: &Q) -> Vec<AttributeId> {
        let ids = |bag: &Bag| bag.0.iter().map(|said| said.id).collect();
        self.objects.with(object, ids).unwrap_or_default()
    }

    /// Takes all attributes away from an object; says whether it had any. O(1) and the attributes.
    pub fn forget<Q: ?Sized + Identify<K>>(&self, object: &Q) -> bool {
        self.objects.remove_if(object, |_| true)
    }

    /// The number of objects that have attributes here. See
    /// [`WeakMap::len`](crate::concurrent::WeakMap::len).
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether no object has any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The live objects that have attributes here now, as a snapshot that holds none of them. O(capacity).
    pub fn objects(&self) -> Keys<K> {
        self.objects.keys()
    }

    /// The number of objects that have died with attributes here, which wait to be destroyed. O(1).
    #[must_use]
    pub fn pending_dead(&self) -> usize {
        self.objects.pending_dead()
    }

    /// Takes all attributes away from all objects. O(capacity).
    pub fn clear(&self) {
        self.objects.clear();
    }

    /// When it destroys what the dead have left. See [`set_reclaim`](Self::set_reclaim).
    #[must_use]
    pub fn reclaim(&self) -> Reclaim {
        self.objects.reclaim()
    }

    /// Chooses when it destroys the attributes of objects that are dead.
    /// See [`WeakMap::set_reclaim`](crate::concurrent::WeakMap::set_reclaim).
    pub fn set_reclaim(&self, reclaim: Reclaim) {
        self.objects.set_reclaim(reclaim);
    }

    /// Gives back memory that is not needed. See
    /// [`WeakMap::shrink_to_fit`](crate::concurrent::WeakMap::shrink_to_fit).
    pub fn shrink_to_fit(&self) {
        self.objects.shrink_to_fit();
    }

    /// Destroys the attributes of all objects that are dead. See
    /// [`WeakMap::purge`](crate::concurrent::WeakMap::purge).
    pub fn purge(&self) {
        self.objects.purge();
    }
}

impl<K: SharedRef> Default for Attributes<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: SharedRef> fmt::Debug for Attributes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attributes")
            .field("objects", &self.len())
            .finish()
    }
}
