//! The keys of a lookup by content.

use alloc::string::String;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

use super::strong::Content;
use crate::hash::HashValue;

/// A key in a lookup by content: the lookups of [`WeakHashMap`](crate::WeakHashMap),
/// [`WeakHashSet`](crate::WeakHashSet), [`WeakValueMap`](crate::WeakValueMap),
/// [`Interner`](crate::Interner) and their shared versions take a `Query`. For keys whose content
/// has the type `T`, a query is one of:
///
/// * a content, or a value that is [`Equivalent`] to the content and hashes equally: `str` for
///   `Strong<String>`, or a type of your own;
/// * a handle to a content, of any kind: a key, or a `Strong`,
///   [`local::Strong`](crate::local::Strong), [`Arc`](alloc::sync::Arc), [`Rc`](alloc::rc::Rc) or
///   your own handle ([`Content`]) with the same target;
/// * the owned form of a content: a `String` for a `str`, a `Vec` for a slice, a `PathBuf` for a
///   `Path`, an `OsString` for an `OsStr`. So `names.intern_with(&format!("{n}"), String::clone)`
///   compiles where keys are `Strong<str>`;
/// * a precomputed hash, with a closure that recognises the content: [`Hashed`].
///
/// The content of a weak handle cannot be read: upgrade the weak handle first. With the operator
/// `map[…]`, write `map[&*key]`: the operator takes no handles.
///
/// Implement `Hash` and [`Equivalent`] for a query type of your own; then the type is a `Query`.
/// `M` tells contents, handles and owned forms apart, and is inferred. A function that passes a
/// query on has `M` as a type parameter, too:
///
/// ```
/// use std::rc::Rc;
/// use weakly::{Query, Strong, WeakHashMap};
///
/// fn uses<Q: ?Sized + Query<str, M>, M>(map: &WeakHashMap<Strong<str>, u32>, word: &Q) -> u32 {
///     map.get(word).copied().unwrap_or(0)
/// }
///
/// let word: Strong<str> = "word".into();
/// let map = WeakHashMap::from([(&word, 7)]);
/// let twin: Rc<str> = "word".into();
/// assert_eq!((uses(&map, "word"), uses(&map, &word), uses(&map, &twin)), (7, 7, 7));
/// assert_eq!(map[&*word], 7);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no query for keys whose content is a `{T}`",
    label = "this lookup does not take it",
    note = "pass the content itself (`&*key`; the operator `map[..]` takes no handle), a strong handle to it, or a type \
            that implements `Hash` and `weakly::Equivalent` of the content",
    note = "with a hash made beforehand, write the type of the closure's parameter: `Hashed(hash, |there: &{T}| ..)`",
    note = "a weak handle has no content to compare: upgrade it first, or use a map by identity, such as `WeakMap`"
)]
pub trait Query<T: ?Sized, M> {
    /// The type that is compared with the contents of keys.
    type Content: ?Sized + Sought<T>;
    /// Returns the content. A lookup calls this method once.
    fn content(query: &Self) -> &Self::Content;
}

/// A sought content, or a [`Hashed`] description of a content: every [`Query`] contains one.
pub trait Sought<T: ?Sized> {
    /// Returns the hash of the content, made with the hasher of a collection. A lookup calls this
    /// method once.
    fn hash_with<S: BuildHasher>(sought: &Self, hasher: &S) -> u64;
    /// Returns whether a key's content is the sought content.
    fn is(sought: &Self, content: &T) -> bool;
}

/// A [`Query`] with a precomputed hash, and a closure that recognises the sought content.
///
/// Use `Hashed` for contents whose hash is at hand, or which can be compared before they are made,
/// like hashbrown's `HashTable` and raw entries. The hash has to be equal to
/// `collection.hasher().hash_one(content)`. The closure is called with contents of live keys, at
/// least with the contents that have the hash, until the closure returns true; perhaps twice with
/// the same content. Annotate the type of the closure's parameter: the type is not inferred.
///
/// With a wrong hash, or with a closure that disagrees with the content's `Eq`, lookups may miss,
/// and equal contents may have several entries; nothing worse happens. If the closure panics, the
/// collection is unchanged, except that dead entries may have been reclaimed.
///
/// ```
/// use std::hash::BuildHasher;
/// use weakly::{Hashed, Strong, WeakHashMap};
///
/// let word: Strong<str> = "word".into();
/// let mut uses = WeakHashMap::new();
/// let hash = uses.hasher().hash_one("word");
/// *uses.entry_hashed(hash, &word).or_insert(0) += 1;
/// assert_eq!(uses.get(&Hashed(hash, |there: &str| there == "word")), Some(&1));
/// assert_eq!(uses["word"], 1);
/// ```
///
/// A term whose children are interned can be looked up by its parts, before the term is made:
///
/// ```
/// use std::hash::{BuildHasher, Hash, Hasher};
/// use weakly::{Hashed, Interner, Strong};
///
/// #[derive(PartialEq, Eq)]
/// struct Call { name: String, arguments: Vec<u32> }
/// fn hash_of<H: Hasher>(name: &str, arguments: &[u32], state: &mut H) {
///     (name, arguments).hash(state);
/// }
/// impl Hash for Call {
///     fn hash<H: Hasher>(&self, state: &mut H) {
///         hash_of(&self.name, &self.arguments, state);
///     }
/// }
///
/// let mut calls = Interner::<Strong<Call>>::new();
/// let mut call = |name: &str, arguments: &[u32]| {
///     let mut hasher = calls.hasher().build_hasher();
///     hash_of(name, arguments, &mut hasher);
///     let is_it = |call: &Call| call.name == name && call.arguments == arguments;
///     calls.intern_with(&Hashed(hasher.finish(), is_it), |_| Call {
///         name: name.into(),
///         arguments: arguments.into(),
///     })
/// };
/// let one = call("max", &[1, 2]);
/// let other = call("max", &[1, 2]); // allocates nothing
/// assert!(Strong::ptr_eq(&one, &other));
/// ```
// Neither `Hash` nor `Equivalent`: else a `Hashed` would be a content, and the impls below would
// overlap.
#[doc(alias = "raw_entry")]
#[doc(alias = "find")]
#[derive(Clone, Copy)]
pub struct Hashed<F>(pub u64, pub F);

/// Marks a [`Query`] that is a content.
pub enum AsContent {}

/// Marks a [`Query`] that is a handle to a content.
pub enum AsHandle {}

/// Marks a [`Query`] that is the owned form of a content.
pub enum AsOwned {}

impl<T: ?Sized, Q: ?Sized + Hash + Equivalent<T>> Sought<T> for Q {
    #[inline(always)]
    fn hash_with<S: BuildHasher>(sought: &Q, hasher: &S) -> u64 {
        hasher.hash_one(sought)
    }

    #[inline(always)]
    fn is(sought: &Q, content: &T) -> bool {
        sought.equivalent(content)
    }
}

impl<T: ?Sized, F: Fn(&T) -> bool> Sought<T> for Hashed<F> {
    #[inline(always)]
    fn hash_with<S: BuildHasher>(sought: &Self, _: &S) -> u64 {
        sought.0
    }

    #[inline(always)]
    fn is(sought: &Self, content: &T) -> bool {
        (sought.1)(content)
    }
}

// Without the attribute, the error about `map[&key]` would say that the target does not implement
// `Borrow`.
#[diagnostic::do_not_recommend]
impl<T: ?Sized, Q: ?Sized + Sought<T>> Query<T, AsContent> for Q {
    type Content = Q;

    #[inline(always)]
    fn content(query: &Q) -> &Q {
        query
    }
}

// Not for every type that implements `Deref`: a `String`, which is a content for keys of type
// `Strong<String>`, would be a handle as well.
impl<T: ?Sized + Hash + Eq, P: Content<Target = T>> Query<T, AsHandle> for P {
    type Content = T;

    #[inline(always)]
    fn content(query: &P) -> &T {
        Content::content(query)
    }
}

// One by one: a blanket implementation for `ToOwned` would also hold for each content that is
// `Clone`.
macro_rules! owned {
    ($([$($generics:tt)*] $owned:ty: $content:ty;)*) => {$(
        impl<$($generics)*> Query<$content, AsOwned> for $owned {
            type Content = $content;

            #[inline(always)]
            fn content(query: &Self) -> &$content {
                query
            }
        }
    )*};
}

owned! {
    [] String: str;
    [T: Hash + Eq] Vec<T>: [T];
}

#[cfg(feature = "std")]
owned! {
    [] std::path::PathBuf: std::path::Path;
    [] std::ffi::OsString: std::ffi::OsStr;
}

/// Returns the hash of the sought content.
#[inline]
pub(crate) fn hash_of<T, Q, S>(hasher: &S, sought: &Q) -> HashValue
where
    T: ?Sized,
    Q: ?Sized + Sought<T>,
    S: BuildHasher,
{
    HashValue::fold(Q::hash_with(sought, hasher))
}

/// Panics if the content of a new key is not the sought content.
#[track_caller]
pub(crate) fn assert_same_content(same: bool) {
    assert!(
        same,
        "the value was converted into a handle with other content than it was looked up by"
    );
}
