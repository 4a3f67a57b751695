//! Operations whose closures are objects: the library is compiled once for all of them, and not for each closure.

#![allow(dead_code)] // each map has both methods

use std::hash::{BuildHasher, Hash};

use weakly::concurrent::{SharedRef, WeakHashMap, WeakMap, WeakValueMap};
use weakly::reference::Content;

macro_rules! dynamic {
    ($($trait:ident $names:tt for $map:ty [$($generics:tt)*] key $key:ty, value $value:ty, old $old:ty;)*) => {$(
        dynamic! { @ $trait $names $map, [$($generics)*] $key, $value, $old }
    )*};
    (@ $trait:ident [$($name:ident),*] $map:ty, [$($generics:tt)*] $key:ty, $value:ty, $old:ty) => {
        pub(crate) trait $trait<$($name),*> {
            fn get_or_insert_dyn(&self, key: $key, make: &mut dyn FnMut() -> $value) -> $value;
            fn compute_dyn(
                &self,
                key: $key,
                change: &mut dyn FnMut(Option<$old>) -> Option<$value>,
            ) -> Option<$value>;
        }

        impl<$($generics)*> $trait<$($name),*> for $map {
            #[track_caller]
            fn get_or_insert_dyn(&self, key: $key, make: &mut dyn FnMut() -> $value) -> $value {
                self.get_or_insert_with(key, |_| make())
            }
            #[track_caller]
            fn compute_dyn(
                &self,
                key: $key,
                change: &mut dyn FnMut(Option<$old>) -> Option<$value>,
            ) -> Option<$value> {
                self.compute(key, change)
            }
        }
    };
}

dynamic! {
    DynMap [K, V] for WeakMap<K, V> [K: SharedRef, V: Clone] key &K, value V, old &V;
    DynHashMap [K, V] for WeakHashMap<K, V, S>
        [K: SharedRef + Content<Target: Eq + Hash>, V: Clone, S: BuildHasher] key &K, value V, old &V;
    DynValueMap [K, V] for WeakValueMap<K, V, S>
        [K: Clone + Eq + Hash, V: SharedRef + Clone, S: BuildHasher] key K, value V, old V;
}
