//! Serialisation, with the feature `serde`: a handle is written as its content, and read through an
//! interner.
//!
//! * [`Strong`] and [`local::Strong`](crate::local::Strong) implement `Serialize` and `Deserialize`
//!   as their content does, sized or not. Each deserialised handle belongs to a new object: the
//!   output does not say whether two handles belong to one object.
//! * [`ByIdentity`] implements `Serialize`: a term is written as a tree. `ByIdentity` does not
//!   implement `Deserialize`, because two new objects are never identical: read its handle through
//!   an interner.
//! * A weak handle implements neither. Its object is serialised by the object's owner, and a
//!   deserialised weak handle would be dead at once, because nobody would own its object.
//! * An [`Anchor`](crate::Anchor) implements neither, because an identity is not written: with
//!   `#[serde(skip)]`, a deserialised value gets a new anchor.
//!
//! # Equal contents, one handle
//!
//! `&mut Interner` and `&concurrent::Interner` are seeds (`DeserializeSeed`): a deserialised
//! content becomes the interner's handle for this content, old or new. O(size of the content). A
//! text that is interned already is not allocated, if the format keeps the text in one piece. (A
//! slice is first read into a `Vec`.) [`Each`] does the same for a sequence.
//!
//! ```
//! use serde::de::{DeserializeSeed, IntoDeserializer, value::Error};
//! use weakly::{Interner, Strong, serde_impls::Each};
//!
//! // A format's, in real life.
//! let text = IntoDeserializer::<Error>::into_deserializer("word");
//! let texts = IntoDeserializer::<Error>::into_deserializer(vec!["word", "other", "word"]);
//!
//! let mut words = Interner::<Strong<str>>::new();
//! let word = words.deserialize(text)?;
//! let list = Each(&mut words).deserialize(texts)?;
//! assert_eq!(list.iter().map(|word| &**word).collect::<String>(), "wordotherword");
//! assert!(Strong::ptr_eq(&list[0], &word) && Strong::ptr_eq(&list[2], &word));
//! assert_eq!(words.len(), 2);
//! # Ok::<(), Error>(())
//! ```
//!
//! A derived `Deserialize` has no place for a seed. There, let a function use a shared interner,
//! and name the function at the field: `#[serde(deserialize_with = "name")]`.
//!
#![cfg_attr(feature = "std", doc = "```")]
#![cfg_attr(not(feature = "std"), doc = "```ignore")]
//! use std::sync::LazyLock;
//! use serde::de::{DeserializeSeed, Deserializer};
//! use weakly::{Strong, concurrent::Interner};
//!
//! static NAMES: LazyLock<Interner<Strong<str>>> = LazyLock::new(Interner::new);
//!
//! fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Strong<str>, D::Error> {
//!     NAMES.deserialize(deserializer)
//! }
//! # use serde::de::{IntoDeserializer, value::{Error, StrDeserializer}};
//! # let read = |text: &'static str| name::<StrDeserializer<'_, Error>>(text.into_deserializer());
//! # assert!(Strong::ptr_eq(&read("a")?, &read("a")?));
//! # Ok::<(), Error>(())
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::str;

use equivalent::Equivalent;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, SeqAccess, Unexpected, Visitor,
};
use serde::ser::{Serialize, Serializer};

use crate::collections::interning::Interner;
#[cfg(feature = "std")]
use crate::concurrent;
use crate::ptr::{Flavour, Strong};
use crate::reference::{ByIdentity, Content};

// === Handles ===

/// Serialises the content.
impl<T: ?Sized + Serialize, F: Flavour> Serialize for Strong<T, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

/// Creates a new object. The content is read into a box, and moved.
impl<'de, T: ?Sized, F: Flavour> Deserialize<'de> for Strong<T, F>
where
    Box<T>: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::deserialize(deserializer).map(|content: Box<T>| Strong::from(content))
    }
}

/// Serialises the handle, which serialises its content.
impl<K: Serialize> Serialize for ByIdentity<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

// === Seeds ===

/// A seed for a sequence of contents, which are interned: `Each(&mut interner)`, or
/// `Each(&interner)` for a [`concurrent::Interner`]. The result is a `Vec` of handles. See [the
/// module](self).
#[derive(Debug, Clone, Copy)]
pub struct Each<I>(pub I);

/// A reference through which an interner can be changed. Sealed.
pub trait Intern: Sealed {
    /// The interner's handles.
    #[doc(hidden)]
    type Handle: Content;
    #[doc(hidden)]
    fn intern<T>(&mut self, content: T) -> Self::Handle
    where
        T: Borrow<Target<Self>> + Into<Self::Handle>,
        Target<Self>: Eq + Hash;
    #[doc(hidden)]
    fn intern_ref<Q>(&mut self, content: &Q) -> Self::Handle
    where
        Q: ?Sized + Hash + Equivalent<Target<Self>>,
        Target<Self>: Eq + Hash,
        Self::Handle: for<'q> From<&'q Q>;
}

type Target<I> = <<I as Intern>::Handle as crate::reference::StrongRef>::Target;

impl<K: Content, S> Sealed for &mut Interner<K, S> {}

impl<K: Content, S: BuildHasher> Intern for &mut Interner<K, S> {
    type Handle = K;

    fn intern<T>(&mut self, content: T) -> K
    where
        T: Borrow<K::Target> + Into<K>,
        K::Target: Eq + Hash,
    {
        Interner::intern(self, content)
    }

    fn intern_ref<Q>(&mut self, content: &Q) -> K
    where
        Q: ?Sized + Hash + Equivalent<K::Target>,
        K::Target: Eq + Hash,
        K: for<'q> From<&'q Q>,
    {
        Interner::intern_ref(self, content)
    }
}

#[cfg(feature = "std")]
impl<K: concurrent::SharedRef, S> Sealed for &concurrent::Interner<K, S> {}

#[cfg(feature = "std")]
impl<K, S: BuildHasher> Intern for &concurrent::Interner<K, S>
where
    K: Content<Target: Eq + Hash> + concurrent::SharedRef,
{
    type Handle = K;

    fn intern<T: Borrow<K::Target> + Into<K>>(&mut self, content: T) -> K {
        concurrent::Interner::intern(self, content)
    }

    fn intern_ref<Q>(&mut self, content: &Q) -> K
    where
        Q: ?Sized + Hash + Equivalent<K::Target>,
        K: for<'q> From<&'q Q>,
    {
        concurrent::Interner::intern_ref(self, content)
    }
}

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A content that can be read and interned as a handle of type `K`: a type that implements
/// `Deserialize`, a slice of this type, or `str`.
pub trait ReadContent<'de, K> {
    #[doc(hidden)]
    fn read<I, D>(interner: &mut I, deserializer: D) -> Result<K, D::Error>
    where
        I: Intern<Handle = K>,
        D: Deserializer<'de>;
}

impl<'de, T, K> ReadContent<'de, K> for T
where
    T: Deserialize<'de> + Eq + Hash,
    K: Content<Target = T> + From<T>,
{
    fn read<I, D>(interner: &mut I, deserializer: D) -> Result<K, D::Error>
    where
        I: Intern<Handle = K>,
        D: Deserializer<'de>,
    {
        T::deserialize(deserializer).map(|content| interner.intern(content))
    }
}

impl<'de, T, K> ReadContent<'de, K> for [T]
where
    T: Deserialize<'de> + Eq + Hash,
    K: Content<Target = [T]> + From<Vec<T>>,
{
    fn read<I, D>(interner: &mut I, deserializer: D) -> Result<K, D::Error>
    where
        I: Intern<Handle = K>,
        D: Deserializer<'de>,
    {
        Vec::deserialize(deserializer).map(|content: Vec<T>| interner.intern(content))
    }
}

impl<'de, K> ReadContent<'de, K> for str
where
    K: Content<Target = str> + for<'t> From<&'t str>,
{
    fn read<I, D>(interner: &mut I, deserializer: D) -> Result<K, D::Error>
    where
        I: Intern<Handle = K>,
        D: Deserializer<'de>,
    {
        deserializer.deserialize_str(Text(interner))
    }
}

/// Interns a text in the deserialiser's buffer: a hit copies nothing.
struct Text<'i, I>(&'i mut I);

impl<I> Visitor<'_> for Text<'_, I>
where
    I: Intern<Handle: Content<Target = str> + for<'t> From<&'t str>>,
{
    type Value = I::Handle;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<I::Handle, E> {
        Ok(self.0.intern_ref(text))
    }

    /// Some formats do not distinguish texts from bytes; `String` also accepts bytes.
    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<I::Handle, E> {
        match str::from_utf8(bytes) {
            Ok(text) => self.visit_str(text),
            Err(_) => Err(E::invalid_value(Unexpected::Bytes(bytes), &self)),
        }
    }
}

impl<'de, K: Content, S: BuildHasher> DeserializeSeed<'de> for &mut Interner<K, S>
where
    K::Target: ReadContent<'de, K>,
{
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K, D::Error> {
        K::Target::read(&mut { self }, deserializer)
    }
}

#[cfg(feature = "std")]
impl<'de, K, S: BuildHasher> DeserializeSeed<'de> for &concurrent::Interner<K, S>
where
    K: Content<Target: Eq + Hash + ReadContent<'de, K>> + concurrent::SharedRef,
{
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K, D::Error> {
        K::Target::read(&mut { self }, deserializer)
    }
}

impl<'de, I: Intern> DeserializeSeed<'de> for Each<I>
where
    Target<I>: ReadContent<'de, I::Handle>,
{
    type Value = Vec<I::Handle>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, I: Intern> Visitor<'de> for Each<I>
where
    Target<I>: ReadContent<'de, I::Handle>,
{
    type Value = Vec<I::Handle>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Self::Value, A::Error> {
        // The length comes from the input, which may be wrong.
        let room = elements.size_hint().unwrap_or(0).min(1024);
        let mut handles = Vec::with_capacity(room);
        while let Some(handle) = elements.next_element_seed(Element(&mut self.0))? {
            handles.push(handle);
        }
        Ok(handles)
    }
}

/// The seed of an element of [`Each`].
struct Element<'i, I>(&'i mut I);

impl<'de, I: Intern> DeserializeSeed<'de> for Element<'_, I>
where
    Target<I>: ReadContent<'de, I::Handle>,
{
    type Value = I::Handle;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<I::Handle, D::Error> {
        Target::<I>::read(self.0, deserializer)
    }
}
