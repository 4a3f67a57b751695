//! One face for the maps that compute a value for a key.

use std::any::Any;

pub(crate) use std::sync::Arc;

use weakly::concurrent::{SharedRef, WeakValueMap};
use weakly::reference::WeakRef;

use crate::common::subject::{Answer, new_lives};
use crate::faces::{self, Handle, Known, Owned, owned, quietly};

/// The error of any closure, and the closure: the library is compiled once for all of them.
type Failure = Box<dyn Any>;
type Making<'m> = &'m mut dyn FnMut() -> Result<usize, Failure>;

/// An error that threads share: the same object.
pub(crate) type Shared = Arc<&'static str>;

const ONCE: &str = "a closure is called once";

fn erased<V, E: 'static>(
    make: impl FnOnce() -> Result<usize, E>,
    ask: impl FnOnce(Making<'_>) -> Result<V, Failure>,
) -> Result<V, E> {
    let mut make = Some(make);
    let asked = ask(&mut || {
        let made = make.take().expect(ONCE)();
        made.map_err(|error| Box::new(error) as Failure)
    });
    asked.map_err(|error| *error.downcast().expect("it is the closure's"))
}

/// A value of any of these maps.
#[derive(Clone)]
pub(crate) enum Value {
    Owned(Arc<Owned>),
    /// Of a map with weak values.
    Weak(Handle),
}

impl Value {
    pub(crate) fn number(&self) -> usize {
        match self {
            Value::Owned(owned) => owned.number,
            Value::Weak(handle) => **handle,
        }
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Owned(one), Value::Owned(other)) => Arc::ptr_eq(one, other),
            (Value::Weak(one), Value::Weak(other)) => one.is(other),
            _ => false,
        }
    }

    fn owned(&self) -> Arc<Owned> {
        match self {
            Value::Owned(owned) => owned.clone(),
            Value::Weak(_) => unreachable!("of another map"),
        }
    }

    fn handle<K: Known>(&self) -> &K {
        match self {
            Value::Weak(handle) => K::known(handle),
            Value::Owned(_) => unreachable!("of another map"),
        }
    }
}

/// A map that computes values for the keys 0 to 7.
pub(crate) trait GetOrInsert: Sync {
    fn ask_for(&self, key: usize, make: &mut dyn FnMut() -> usize) -> Value;
    /// The same, where threads do not wait for each other.
    fn race_for(&self, key: usize, make: Making<'_>) -> Result<Value, Failure>;
    /// The same, where the threads that wait share the error.
    fn share_for(
        &self,
        key: usize,
        make: &mut dyn FnMut() -> Result<usize, Shared>,
    ) -> Result<Value, Shared>;
    fn get(&self, key: usize) -> Option<Value>;
    /// Sets it; returns whether there was none.
    fn set(&self, key: usize, value: &Value) -> bool;
    fn remove(&self, key: usize) -> bool;
    /// Removes it, if the closure says so of a value.
    fn remove_if(&self, key: usize, wanted: &mut dyn FnMut() -> bool) -> bool;
    fn clear(&self);
    fn retain(&self, keep: bool);
    fn len(&self) -> usize;
    fn value(&self, number: usize) -> Value;
}

impl dyn GetOrInsert + '_ {
    #[track_caller]
    pub(crate) fn ask(&self, key: usize, make: impl FnOnce() -> usize) -> Value {
        let mut make = Some(make);
        self.ask_for(key, &mut || make.take().expect(ONCE)())
    }
    pub(crate) fn race<E: 'static>(
        &self,
        key: usize,
        make: impl FnOnce() -> Result<usize, E>,
    ) -> Result<Value, E> {
        erased(make, |make| self.race_for(key, make))
    }
}

/// What makes the map of a test.
pub(crate) type New = fn() -> Box<dyn GetOrInsert>;

pub(crate) fn new<M: GetOrInsert + Default + 'static>() -> Box<dyn GetOrInsert> {
    Box::<M>::default()
}

fn owning(number: usize) -> Arc<Owned> {
    owned(number, &quietly())
}

fn weak<K: Known>(handle: K) -> Value {
    Value::Weak(handle.handle())
}

/// `at` is a key and `by` what finds it, `new` makes a value from a number, and `shown` makes it a [`Value`].
macro_rules! maps {
    ($($map:ident: |$all:ident, $key:ident| $at:expr, by $by:expr; new $new:expr, shown $shown:expr;
       asked |$asked:pat_param| $check:expr; insert $inserted:ident $taken:expr;)*) => {$(
        impl<K: Known + SharedRef> GetOrInsert for $map<K> {
            #[track_caller]
            fn ask_for(&self, $key: usize, make: &mut dyn FnMut() -> usize) -> Value {
                let $all = self;
                $shown($all.map.get_or_insert_with($at, |$asked| {
                    $check;
                    $new(make())
                }))
            }
            fn race_for(&self, $key: usize, make: Making<'_>) -> Result<Value, Failure> {
                let $all = self;
                let made = $all.map.try_get_or_insert_racing($at, |_: &_| make().map($new));
                made.map($shown)
            }
            fn share_for(
                &self,
                $key: usize,
                make: &mut dyn FnMut() -> Result<usize, Shared>,
            ) -> Result<Value, Shared> {
                let $all = self;
                let made = $all.map.try_get_or_insert_shared($at, |_: &_| make().map($new));
                made.map($shown)
            }
            fn get(&self, $key: usize) -> Option<Value> {
                let $all = self;
                $all.map.get($by).map($shown)
            }
            fn set(&self, $key: usize, $inserted: &Value) -> bool {
                let $all = self;
                $all.map.insert($at, $taken).is_new()
            }
            fn remove(&self, $key: usize) -> bool {
                let $all = self;
                $all.map.remove($by).is_some()
            }
            fn remove_if(&self, $key: usize, wanted: &mut dyn FnMut() -> bool) -> bool {
                let $all = self;
                $all.map.remove_if($by, |_| wanted()).was_there()
            }
            fn clear(&self) {
                self.map.clear();
            }
            fn retain(&self, keep: bool) {
                self.map.retain(|_, _| keep);
            }
            fn len(&self) -> usize {
                self.map.len()
            }
            fn value(&self, number: usize) -> Value {
                $shown($new(number))
            }
        }
    )*};
}

/// Weak keys, by identity.
pub(crate) struct Maps<K: Known + SharedRef> {
    map: faces::Maps<K>,
    keys: Vec<K>,
}

/// Weak values, which the test keeps alive.
#[derive(Default)]
pub(crate) struct Values<K: Known + SharedRef> {
    map: WeakValueMap<usize, K>,
}

impl<K: Known + SharedRef> Default for Maps<K> {
    fn default() -> Self {
        let (map, keys) = (Default::default(), new_lives(8));
        Maps { map, keys }
    }
}

maps! {
    Maps: |all, key| &all.keys[key], by &all.keys[key]; new owning, shown Value::Owned;
        asked |asked| assert!(asked.upgrade().is_some_and(|asked| *asked == key)); insert value value.owned();
    Values: |all, key| key, by &key; new K::from, shown weak;
        asked |asked| assert_eq!(*asked, key); insert value value.handle();
}

/// Makes a `#[test]` of each function, for the maps whose parts in it differ. (The scripts of `linear` have them all.)
macro_rules! for_each_making {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            use crate::get_or_insert::*;
            #[test]
            fn weak_map() {
                super::$test(new::<Maps<weakly::Strong<usize>>>);
            }
            #[test]
            fn weak_value_map() {
                super::$test(new::<Values<weakly::Strong<usize>>>);
            }
            #[test]
            fn arc_value_map() {
                super::$test(new::<Values<Arc<usize>>>);
            }
        }
    )*};
}
pub(crate) use for_each_making;
