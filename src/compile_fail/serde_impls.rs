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
