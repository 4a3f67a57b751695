//! Contents deserialised through an interner.

/// A foreign interner is no seed.
///
/// ```
/// # use weakly::{Interner, Strong, serde_impls::{Each, Intern}};
/// fn seed<I: Intern>(interner: I) -> Each<I> { Each(interner) }
/// seed(&mut Interner::<Strong<str>>::new());
/// ```
/// ```compile_fail,E0277
/// # use std::{borrow::Borrow, hash::Hash};
/// # use weakly::{Equivalent, Strong, serde_impls::Intern};
/// struct Mine;
/// impl Intern for Mine {
///     type Handle = Strong<str>;
///     fn intern<T: Borrow<str> + Into<Strong<str>>>(&mut self, content: T) -> Strong<str> {
///         content.into()
///     }
///     fn intern_ref<Q>(&mut self, content: &Q) -> Strong<str>
///     where
///         Q: ?Sized + Hash + Equivalent<str>,
///         Strong<str>: for<'q> From<&'q Q>,
///     {
///         content.into()
///     }
/// }
/// ```
struct Interners;

/// A content is read by its own `Deserialize`.
///
/// ```
/// # use weakly::{Strong, serde_impls::ReadContent};
/// fn content<T: ?Sized + ReadContent<'static, K>, K>() {}
/// content::<str, Strong<str>>();
/// content::<[u8], Strong<[u8]>>();
/// content::<u8, Strong<u8>>();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, serde_impls::{Intern, ReadContent}};
/// # use serde::Deserializer;
/// #[derive(PartialEq, Eq, Hash)]
/// struct Mine;
/// impl<'de> ReadContent<'de, Strong<Mine>> for Mine {
///     fn read<I, D>(interner: &mut I, _: D) -> Result<Strong<Mine>, D::Error>
///     where
///         I: Intern<Handle = Strong<Mine>>,
///         D: Deserializer<'de>,
///     {
///         Ok(interner.intern(Mine))
///     }
/// }
/// ```
struct Contents;
