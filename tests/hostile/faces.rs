//! The collections as hostile tests see them: entries that live as long as objects. A test is written once, over
//! `F: Face<P, T>`, and run for each collection over each kind of pointer by [`for_each_face!`].

use std::hash::Hash;

use crate::common::Kind;
use weakly::{
    Interner, Strong, StrongRef, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakKey, WeakMap,
    WeakPairMap, WeakSet, WeakValueMap, local,
};

/// The content of an object.
pub(crate) trait Content: Clone + Eq + Hash + 'static {}

impl<T: Clone + Eq + Hash + 'static> Content for T {}

pub(crate) type Object<P, T> = <P as Kind>::Strong<T>;

/// A collection whose entries live as long as objects.
pub(crate) trait Face<P: Kind, T: Content>: Default {
    /// Adds an entry that lives as long as this object; returns whether it is new.
    fn add(&mut self, object: &Object<P, T>) -> bool;
    fn has(&self, object: &Object<P, T>) -> bool;
    /// Returns whether it was there.
    fn remove(&mut self, object: &Object<P, T>) -> bool;
    fn len(&self) -> usize;
    fn len_live(&self) -> usize;
    fn pending_dead(&self) -> usize;
    fn purge(&mut self);
    fn clear(&mut self);
    fn reserve(&mut self, additional: usize);
    fn shrink_to_fit(&mut self);

    /// A collection with an entry for each of these.
    fn of<'a>(objects: impl IntoIterator<Item = &'a Object<P, T>>) -> Self {
        let mut face = Self::default();
        for object in objects {
            assert!(face.add(object));
        }
        face
    }

    /// Reclaims the dead, and returns what is left: `(len, len_live, pending_dead)`.
    fn rest(&mut self) -> (usize, usize, usize) {
        self.purge();
        (self.len(), self.len_live(), self.pending_dead())
    }
}

pub(crate) type Map<P, T> = WeakMap<Object<P, T>, Box<u8>>;
pub(crate) type Set<P, T> = WeakSet<Object<P, T>>;
pub(crate) type Values<P, T> = WeakValueMap<T, Object<P, T>>;
/// Each object with itself: both sides of an entry die at once.
pub(crate) type Pairs<P, T> = WeakPairMap<Object<P, T>, Object<P, T>>;
/// The same, by content.
pub(crate) type HashPairs<P, T> = WeakHashPairMap<Object<P, T>, Object<P, T>>;
pub(crate) type HashMap<P, T> = WeakHashMap<Object<P, T>, Box<u8>>;
pub(crate) type HashSet<P, T> = WeakHashSet<Object<P, T>>;
pub(crate) type Names<P, T> = Interner<Object<P, T>>;

/// Objects as the keys of pairs whose value, of another kind, stays alive.
pub(crate) struct PairKeys<P: Kind, T: Content> {
    map: WeakPairMap<Object<P, T>, local::Strong<u8>>,
    value: local::Strong<u8>,
}

/// Objects as the values of pairs whose keys, of another kind, stay alive.
pub(crate) struct PairValues<P: Kind, T: Content> {
    map: WeakPairMap<Strong<u8>, Object<P, T>>,
    keys: Vec<Strong<u8>>,
}

/// All the maps of pairs.
pub(crate) trait AsMap {
    type Map;
    fn as_map(&mut self) -> &mut Self::Map;
}

impl<K: StrongRef, V: StrongRef> AsMap for WeakPairMap<K, V> {
    type Map = Self;

    fn as_map(&mut self) -> &mut Self {
        self
    }
}

macro_rules! owners {
    ($($name:ident: $key:ty, $value:ty, $partner:ident = $new:expr;)*) => {$(
        impl<P: Kind, T: Content> Default for $name<P, T> {
            fn default() -> Self {
                let map = WeakPairMap::new();
                $name { map, $partner: $new }
            }
        }

        impl<P: Kind, T: Content> AsMap for $name<P, T> {
            type Map = WeakPairMap<$key, $value>;

            fn as_map(&mut self) -> &mut Self::Map {
                &mut self.map
            }
        }
    )*};
}

owners! {
    PairKeys: Object<P, T>, local::Strong<u8>, value = 0.into();
    PairValues: Strong<u8>, Object<P, T>, keys = Vec::new();
}

/// The key of the pair in which this object is the value.
fn key_of<P: Kind, T: Content>(
    face: &PairValues<P, T>,
    object: &Object<P, T>,
) -> Option<Strong<u8>> {
    let addr = <Object<P, T> as WeakKey>::addr;
    let mut pairs = face.map.iter();
    let found = pairs.find(|(_, value)| addr(value) == addr(object));
    found.map(|(key, _)| key)
}

macro_rules! faces {
    ($($face:ident: |$this:ident, $object:ident| $place:expr, $add:expr, $has:expr, $remove:expr;)*) => {$(
        impl<P: Kind, T: Content> Face<P, T> for $face<P, T> {
            fn add(&mut self, $object: &Object<P, T>) -> bool {
                let $this = self;
                $add
            }
            fn has(&self, $object: &Object<P, T>) -> bool {
                let $this = self;
                $has
            }
            fn remove(&mut self, $object: &Object<P, T>) -> bool {
                let $this = self;
                $remove
            }
            fn len(&self) -> usize {
                let $this = self;
                $place.len()
            }
            fn len_live(&self) -> usize {
                let $this = self;
                $place.len_live()
            }
            fn pending_dead(&self) -> usize {
                let $this = self;
                $place.pending_dead()
            }
            fn purge(&mut self) {
                let $this = self;
                $place.purge();
            }
            fn clear(&mut self) {
                let $this = self;
                $place.clear();
            }
            fn reserve(&mut self, additional: usize) {
                let $this = self;
                $place.reserve(additional);
            }
            fn shrink_to_fit(&mut self) {
                let $this = self;
                $place.shrink_to_fit();
            }
        }
    )*};
}

faces! {
    Map: |map, object| map,
        map.insert(object, Box::new(1)).is_none(), map.contains_key(object), map.remove(object).is_some();
    Set: |set, object| set,
        set.insert(object), set.contains(object), set.remove(object);
    Values: |map, object| map,
        map.insert((**object).clone(), object).is_none(),
        map.get(&**object).is_some(),
        map.remove(&**object).is_some();
    Pairs: |map, object| map,
        map.insert(object, object).is_none(), map.get(object).is_some(), map.remove(object).is_some();
    PairKeys: |face, object| face.map,
        face.map.insert(object, &face.value).is_none(),
        face.map.contains_key(object),
        face.map.remove(object).is_some();
    PairValues: |face, object| face.map,
        match key_of(face, object) {
            Some(_) => false,
            None => {
                face.keys.push(0.into());
                face.map.insert(&face.keys[face.keys.len() - 1], object).is_none()
            }
        },
        key_of(face, object).is_some(),
        key_of(face, object).is_some_and(|key| face.map.remove(&key).is_some());
    HashPairs: |map, object| map,
        map.insert(object, object).is_none(), map.get(&**object).is_some(), map.remove(&**object).is_some();
    HashMap: |map, object| map,
        map.insert(object, Box::new(1)).is_none(), map.contains_key(&**object), map.remove(&**object).is_some();
    HashSet: |set, object| set,
        set.insert(object), set.contains(&**object), set.remove(&**object);
    Names: |names, object| names,
        {
            let one = names.intern(object.clone());
            <Object<P, T> as WeakKey>::addr(&one) == <Object<P, T> as WeakKey>::addr(object)
        },
        names.get(&**object).is_some(),
        // An interner has no `remove`: an object is not found any more once it is dead.
        { let there = names.get(&**object).is_some(); names.clear(); there };
}

/// Makes a `#[test]` for each collection and each kind of pointer from functions that are generic over them:
/// `for_each_face!(all<usize>: drain);` gives `drain::map::atomic`, … `by_content` are those that call `Hash`
/// and `Eq` of the contents. (A path to a type of the test's own begins at `super`.)
#[macro_export]
macro_rules! for_each_face {
    (all<$content:ty>: $($test:ident),* $(,)?) => {$(
        mod $test {
            $crate::face_tests!($test<$content>: map: Map, set: Set, values: Values, pairs: Pairs,
                pair_keys: PairKeys, pair_values: PairValues, hash_pairs: HashPairs, hash_map: HashMap, hash_set: HashSet,
                names: Names);
        }
    )*};
    (by_content<$content:ty>: $($test:ident),* $(,)?) => {$(
        mod $test {
            $crate::face_tests!($test<$content>: values: Values, hash_pairs: HashPairs, hash_map: HashMap, hash_set: HashSet,
                names: Names);
        }
    )*};
}

/// The tests of one function; see [`for_each_face!`].
#[macro_export]
macro_rules! face_tests {
    ($test:ident<$content:ty>: $($name:ident: $face:ident),*) => {
        $(fn $name<P: $crate::common::Kind>() {
            super::$test::<P, $crate::faces::$face<P, $content>>();
        })*
        $crate::for_each_kind!($($name),*);
    };
}
