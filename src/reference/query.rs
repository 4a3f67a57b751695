//! What a lookup by content takes.

use core::cell::RefCell;
use core::hash::Hash;
use equivalent::Equivalent;

use super::by_content::Content;
use super::strong::StrongRef;

/// Finds keys of type `K` by their content: what the lookups of [`WeakHashMap`](crate::WeakHashMap),
/// [`WeakHashSet`](crate::WeakHashSet) and [`Interner`](crate::Interner) take. That is
///
/// * a content: the target of a key, or whatever is [`Equivalent`] to it and hashes equally: `str` for
///   `Strong<String>`, or a type of your own;
/// * a pointer to a content, of any kind: a key, or a `Strong`, [`local::Strong`](crate::local::Strong),
///   [`Arc`](alloc::sync::Arc), [`Rc`](alloc::rc::Rc) or pointer of your own ([`Content`]) with the same target.
///
/// A weak pointer has no content that could be read: upgrade it first. For the operator `map[…]`, write `map[&*key]`: it
/// takes contents only.
///
/// You need not implement this trait: implement `Hash` and [`Equivalent`] for a query of your own. `M` tells the two
/// kinds apart, and is inferred. A function that passes a query on has it as a type parameter too:
///
/// ```
/// use std::rc::Rc;
/// use weakly::{Query, Strong, WeakHashMap};
///
/// fn uses<Q: ?Sized + Query<Strong<str>, M>, M>(map: &WeakHashMap<Strong<str>, u32>, word: &Q) -> u32 {
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
    message = "`{Self}` is no query for keys of type `{K}`, which are found by their content",
    label = "this lookup does not take it",
    note = "pass the content itself (`&*key`; the operator `map[..]` takes nothing else), a strong pointer to it, or a \
            type that implements `Hash` and `weakly::Equivalent` of the content",
    note = "a weak pointer has no content to compare: upgrade it first, or use a map by identity, such as `WeakMap`"
)]
pub trait Query<K: StrongRef, M> {
    /// What is compared with the contents of keys.
    type Content: ?Sized + Hash + Equivalent<K::Target>;
    /// Returns it. A lookup calls this once.
    fn content(&self) -> &Self::Content;
}

/// Marks a [`Query`] that is a content.
pub enum AsContent {}

/// Marks a [`Query`] that is a pointer to a content.
pub enum AsPointer {}

// Without the attribute, `map[&key]` would be told that the target does not implement `Borrow`.
#[diagnostic::do_not_recommend]
impl<K, Q> Query<K, AsContent> for Q
where
    K: StrongRef,
    Q: ?Sized + Hash + Equivalent<K::Target>,
{
    type Content = Q;

    #[inline(always)]
    fn content(&self) -> &Q {
        self
    }
}

// Not for all that implements `Deref`: a `String`, which is a content for keys of type `Strong<String>`, would be a
// pointer as well.
impl<K, P> Query<K, AsPointer> for P
where
    K: StrongRef<Target: Hash + Eq>,
    P: Content<Target = <K as StrongRef>::Target>,
{
    type Content = K::Target;

    #[inline(always)]
    fn content(&self) -> &K::Target {
        <P as Content>::content(self)
    }
}

/// A closure that says whether a content is the one that is looked for.
pub(crate) struct Matching<F>(RefCell<F>);

impl<F> Matching<F> {
    #[inline]
    pub(crate) fn new(is_match: F) -> Self {
        Matching(RefCell::new(is_match))
    }
}

impl<F: FnMut(&T) -> bool, T: ?Sized> Equivalent<T> for Matching<F> {
    #[inline]
    fn equivalent(&self, there: &T) -> bool {
        // Borrowed by this call only: the closure cannot be called from inside itself.
        (self.0.borrow_mut())(there)
    }
}
