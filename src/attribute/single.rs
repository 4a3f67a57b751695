//! Attributes with one owner.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::iter::FusedIterator;

use super::key::local::AttributeKey;
use super::key::{AttributeId, AttributeValue, Existing, ids, position};
use crate::collections::common::{housekeeping, resizing};
use crate::collections::lookup::By;
use crate::collections::store::Store;
use crate::collections::traits::by_identity;
use crate::reference::{Identify, Owned, StrongRef, WeakKey};
use crate::table::{Found, Place};

/// A private namespace of many typed attributes of objects that you do not own. Like
/// [`Attributes`](crate::Attributes), but with one owner, and for objects and values of one thread.
///
/// A namespace is a [`WeakMap`](crate::WeakMap) from each object to the set of its attributes. Its
/// methods have the names and results of the map's methods, and take the name of the attribute
/// after the object. Objects may be in a [`local::Strong`](crate::local::Strong) or an `Rc`, or may
/// have a [`local::Anchor`](crate::local::Anchor); values may be of any type. With `local` handles,
/// no operation is atomic. Reads return references, and changes take `&mut self`. (For a single
/// attribute, use a `WeakMap`.)
///
/// An object is one entry, however many attributes the object has (so [`len`](Self::len) counts
/// objects). A lookup is O(attributes of the object). The death of an object ends all its
/// attributes: the next change of the namespace destroys the values, in the order of their first
/// insertion. Dropping the namespace destroys everything, in O(objects + attributes).
///
/// ```
/// use std::{cell::Cell, rc::Rc};
/// use weakly::{AttributeId, AttributeKey, local::{self, Attributes, Strong}};
///
/// struct Depth;
/// impl AttributeKey for Depth { type Value = u32; }
/// struct Visits;
/// impl local::AttributeKey for Visits { type Value = Rc<Cell<u32>>; } // not `Send`
///
/// let node = Strong::new("a node");
/// let (mut mine, mut yours) = (Attributes::new(), Attributes::new());
/// mine.insert(&node, Depth, 3);
/// mine.get_or_insert_with(&node, Visits, |_| Rc::default()).set(1);
/// *mine.get_mut(&node, Depth).unwrap() += 1;
/// yours.insert(&node, Depth, 7);
///
/// assert_eq!(mine.get(&node, Depth), Some(&4)); // and not 7
/// assert_eq!(mine.list(&node), [AttributeId::of::<Depth>(), AttributeId::of::<Visits>()]);
/// assert_eq!(mine.remove(&node, Visits).map(|visits| visits.get()), Some(1));
/// drop(mine);
/// assert_eq!(yours.get(&node, Depth), Some(&7));
/// drop(node);
/// assert!(yours.is_empty());
/// ```
pub struct Attributes<K: WeakKey> {
    store: Store<K::Watch, Owned<AttributeSet>>,
}

/// The attributes of an object in a namespace: at least one attribute.
struct AttributeSet(Vec<AttributeValue<Box<dyn Any>>>);

impl AttributeSet {
    fn of<A: AttributeKey>(value: A::Value) -> Self {
        let mut set = AttributeSet(Vec::new());
        set.push::<A>(value);
        set
    }

    fn push<A: AttributeKey>(&mut self, value: A::Value) {
        let value = AttributeValue::new(AttributeId::of::<A>(), Box::new(value) as Box<dyn Any>);
        self.0.push(value);
    }

    fn position<A: AttributeKey>(&self) -> Option<usize> {
        position(&self.0, AttributeId::of::<A>())
    }

    fn find<A: AttributeKey>(&self) -> Option<&A::Value> {
        let at = self.position::<A>()?;
        self.0[at].value.as_ref()?.downcast_ref()
    }

    fn find_mut<A: AttributeKey>(&mut self) -> Option<&mut A::Value> {
        let at = self.position::<A>()?;
        self.0[at].value.as_mut()?.downcast_mut()
    }

    /// Adds or replaces an attribute, and returns the old value.
    fn insert<A: AttributeKey>(&mut self, value: A::Value) -> Option<A::Value> {
        if let Some(there) = self.find_mut::<A>() {
            return Some(core::mem::replace(there, value));
        }
        self.push::<A>(value);
        None
    }

    /// Removes an attribute, and returns its value. The set may be empty afterwards: then the
    /// caller removes the entry.
    fn remove<A: AttributeKey>(&mut self) -> Option<A::Value> {
        let at = self.position::<A>()?;
        // `AttributeValue` has a destructor, so its value is taken, not moved out.
        let value = self.0.remove(at).value.take()?;
        // The downcast succeeds: an attribute with the id of `A` has a value of the type
        // `A::Value`.
        value.downcast().ok().map(|value| *value)
    }
}

by_identity!([K: WeakKey] Attributes<K>);

impl<K: WeakKey> Attributes<K> {
    housekeeping!();
    resizing!();

    /// Returns the value of an attribute of an object.
    #[inline]
    pub fn get<A: AttributeKey, Q: ?Sized + Identify<K>>(
        &self,
        object: &Q,
        _: A,
    ) -> Option<&A::Value> {
        self.store.get(By(Q::addr(object)))?.find::<A>()
    }

    /// Returns the value of an attribute of an object, mutably. Drains no notices, so no value of a
    /// dead object is destroyed.
    #[inline]
    pub fn get_mut<A: AttributeKey, Q: ?Sized + Identify<K>>(
        &mut self,
        object: &Q,
        _: A,
    ) -> Option<&mut A::Value> {
        let set = self.store.get_mut(By(Q::addr(object)))?;
        set.find_mut::<A>()
    }

    /// Returns whether the object has this attribute.
    #[must_use]
    #[inline]
    pub fn contains_key<A: AttributeKey, Q: ?Sized + Identify<K>>(
        &self,
        object: &Q,
        key: A,
    ) -> bool {
        self.get(object, key).is_some()
    }

    /// Sets an attribute of an object, and returns the old value.
    pub fn insert<A: AttributeKey>(
        &mut self,
        object: &K,
        _: A,
        value: A::Value,
    ) -> Option<A::Value> {
        match self.store.place(By(K::addr(object)), |_| Some(())) {
            Place::Found(mut found, ()) => found.get_mut().value.0.insert::<A>(value),
            Place::Vacant(vacant) => {
                vacant.set_owned(object, AttributeSet::of::<A>(value));
                None
            }
        }
    }

    /// Returns the value of an attribute of an object. If the object does not have the attribute,
    /// `make` is called, and its result becomes the value. `make` gets a weak handle to the object,
    /// so the value can refer to the object without keeping the object alive.
    ///
    /// # Panics
    /// If `make` panics. The namespace is then unchanged.
    pub fn get_or_insert_with<A: AttributeKey>(
        &mut self,
        object: &K,
        _: A,
        make: impl FnOnce(&K::Weak) -> A::Value,
    ) -> &mut A::Value {
        let make = || make(&K::downgrade(object));
        let found = match self.store.place(By(K::addr(object)), |_| Some(())) {
            Place::Found(mut found, ()) => {
                let set = &mut found.get_mut().value.0;
                if set.position::<A>().is_none() {
                    set.push::<A>(make());
                }
                found
            }
            Place::Vacant(vacant) => vacant.set_owned(object, AttributeSet::of::<A>(make())),
        };
        let set = &mut found.into_mut().value.0;
        set.find_mut::<A>().expect("it is there")
    }

    /// Removes an attribute of an object, and returns its value.
    pub fn remove<A: AttributeKey, Q: ?Sized + Identify<K>>(
        &mut self,
        object: &Q,
        _: A,
    ) -> Option<A::Value> {
        self.store.table.tidy();
        let mut found = self.store.find_entry(By(Q::addr(object)), &mut ())?;
        let set = &mut found.get_mut().value.0;
        let value = set.remove::<A>();
        if set.0.is_empty() {
            drop(found.remove());
        }
        value
    }

    /// Returns the attributes of the object, in the order of their first insertion.
    pub fn list<Q: ?Sized + Identify<K>>(&self, object: &Q) -> Vec<AttributeId> {
        let set = self.store.get(By(Q::addr(object)));
        set.map_or_else(Vec::new, |set| ids(&set.0))
    }

    /// Removes all attributes of an object; returns whether the object had any. O(1), plus the
    /// destruction of the attributes.
    pub fn forget<Q: ?Sized + Identify<K>>(&mut self, object: &Q) -> bool {
        self.store.remove(By(Q::addr(object))).is_some()
    }

    /// Moves all attributes of `from` to `to`, for an object that takes the place of another, and
    /// returns the number of moved attributes. The moved attributes that `to` did not have come
    /// last in its [list](Self::list), in the order of `from`. `existing` decides about the
    /// attributes that `to` has already. If both are the same object, nothing changes. O(attributes
    /// of `from`), each times a lookup among the attributes of `to`.
    ///
    /// The transfer of a single attribute is [`remove`](Self::remove), and then
    /// [`insert`](Self::insert).
    ///
    /// ```
    /// use weakly::{AttributeKey, Existing, local::{Attributes, Strong}};
    ///
    /// struct Cost;
    /// impl AttributeKey for Cost { type Value = u32; }
    /// struct Note;
    /// impl AttributeKey for Note { type Value = String; }
    ///
    /// let [old, new] = ["x * 2", "x << 1"].map(Strong::new);
    /// let mut pass = Attributes::new();
    /// pass.insert(&old, Cost, 3);
    /// pass.insert(&old, Note, "in a loop".into());
    /// pass.insert(&new, Cost, 1);
    /// assert_eq!(pass.transfer(&old, &new, Existing::Keep), 1);
    /// assert_eq!(pass.get(&new, Note).map(String::as_str), Some("in a loop"));
    /// assert_eq!((pass.get(&old, Cost), pass.get(&new, Cost)), (Some(&3), Some(&1)));
    /// ```
    pub fn transfer(&mut self, from: &K, to: &K, existing: Existing) -> usize {
        let (old, new) = (K::addr(from), K::addr(to));
        let count = self.store.get(By(old)).map_or(0, |set| set.0.len());
        if count == 0 || old == new {
            return 0;
        }
        // First all memory: if an allocation fails and unwinds, nothing has changed.
        let mut replaced = Vec::with_capacity(count);
        if let Place::Vacant(vacant) = self.store.place(By(new), |_| Some(())) {
            vacant.set_owned(to, AttributeSet(Vec::with_capacity(count)));
        }
        let [Some(source), Some(there)] = self.store.get_disjoint_mut([By(old), By(new)]) else {
            return 0;
        };
        there.0.reserve(count);
        let mut left = 0;
        while let Some(attribute) = source.0.get_mut(left) {
            match position(&there.0, attribute.id) {
                None => there.0.push(source.0.remove(left)),
                Some(at) if existing == Existing::Replace => {
                    core::mem::swap(attribute, &mut there.0[at]);
                    replaced.push(source.0.remove(left));
                }
                Some(_) => left += 1,
            }
        }
        if left == 0 {
            // Not `remove`, which destroys dead entries: a destructor may panic, and the empty set
            // would stay.
            drop(self.store.find_entry(By(old), &mut ()).map(Found::remove));
        }
        drop(replaced);
        count - left
    }

    /// Removes dead objects, and returns the attributes of each object as one item, instead of
    /// destroying them. For a namespace in a `RefCell`, if destructors of values use the same
    /// namespace: end the borrow, and then drop the items. The rules are those of
    /// [`WeakMap::drain_dead`](crate::WeakMap::drain_dead).
    ///
    /// ```
    /// use std::cell::RefCell;
    /// use weakly::{Reclaim, local::{AttributeKey, Attributes, Strong}};
    ///
    /// struct Texture;
    /// impl AttributeKey for Texture { type Value = Vec<u8>; }
    ///
    /// let all = RefCell::new(Attributes::new());
    /// all.borrow_mut().set_reclaim(Reclaim::OnRequest);
    /// let window = Strong::new("window");
    /// all.borrow_mut().insert(&window, Texture, vec![0; 100]);
    /// drop(window);
    /// let dead: Vec<_> = all.borrow_mut().drain_dead().collect();
    /// assert_eq!(dead.len(), 1);
    /// drop(dead); // the namespace is not borrowed
    /// ```
    pub fn drain_dead(&mut self) -> impl FusedIterator<Item = impl Sized + use<K>> + fmt::Debug {
        self.store.drain_dead()
    }
}

impl<K: StrongRef> Attributes<K> {
    /// Iterates over the live objects with attributes in this namespace, as strong handles, in
    /// arbitrary order. O(capacity).
    pub fn keys(&self) -> impl FusedIterator<Item = K> + fmt::Debug {
        self.store.keys()
    }
}

impl<K: WeakKey> fmt::Debug for Attributes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attributes")
            .field("objects", &self.len())
            .finish()
    }
}
