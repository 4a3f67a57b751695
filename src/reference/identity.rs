//! Handles by identity, and payloads that contain handles: equality, and drop without recursion.

use alloc::vec::Vec;
use core::cmp;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use super::key::{Identify, Identity, WeakKey};

/// A handle, strong or weak, that compares and hashes by identity: it equals only handles to the
/// same object. The order is the order of the addresses, as with plain pointers: for a `BTreeMap`,
/// or to remove duplicates.
///
/// `ByIdentity` of strong handles is for the children of an interned term. Where equal children are
/// the same object, comparing the addresses compares the children, however deep they are.
///
/// ```
/// use weakly::{ByIdentity, Interner, Strong};
///
/// #[derive(PartialEq, Eq, Hash)]
/// enum Term {
///     Variable(&'static str),
///     Apply(ByIdentity<Strong<Term>>, ByIdentity<Strong<Term>>),
/// }
///
/// let mut terms = Interner::new();
/// let f = terms.intern(Term::Variable("f"));
/// let x = terms.intern(Term::Variable("x"));
/// let apply = |f: &Strong<Term>, x: &Strong<Term>| {
///     Term::Apply(ByIdentity(f.clone()), ByIdentity(x.clone()))
/// };
/// let one = terms.intern(apply(&f, &x));
/// let other = terms.intern(apply(&f, &x));
/// assert!(Strong::ptr_eq(&one, &other));
///
/// let Term::Apply(function, _) = &*one else { unreachable!() };
/// let arity = weakly::WeakMap::from([(&f, 1)]);
/// assert_eq!(arity.get(function), Some(&1)); // as by the handle
/// ```
///
/// A weak handle of a dead object stays equal to the other handles of the object, and unequal to
/// all handles of other objects. The same is true of the weak handles of the standard library:
///
/// ```
/// use std::collections::HashSet;
/// use std::sync::{Arc, Weak};
/// use weakly::ByIdentity;
///
/// let [one, other] = [1, 1].map(Arc::new);
/// let [first, second] = [&one, &other].map(Arc::downgrade);
/// let mut seen = HashSet::from([ByIdentity(first.clone())]);
/// drop((one, other));
/// assert!(seen.contains(&ByIdentity(first)));
/// assert!(seen.insert(ByIdentity(second)));
/// assert!(seen.insert(ByIdentity(Weak::new()))); // all that never had an object are equal
/// assert!(!seen.insert(ByIdentity(Weak::new())));
/// ```
#[derive(Clone, Copy, Default)]
pub struct ByIdentity<K>(pub K);

impl<K: Identity> PartialEq for ByIdentity<K> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        K::identity(&self.0) == K::identity(&other.0)
    }
}

impl<K: Identity> Eq for ByIdentity<K> {}

/// Orders by the address that [`Identity`] returns: an arbitrary order, which stays the same while
/// the handles exist.
impl<K: Identity> Ord for ByIdentity<K> {
    #[inline]
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        K::identity(&self.0).cmp(&K::identity(&other.0))
    }
}

impl<K: Identity> PartialOrd for ByIdentity<K> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Identity> Hash for ByIdentity<K> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        K::identity(&self.0).hash(state);
    }
}

impl<K: WeakKey> Identify<K> for ByIdentity<K> {
    #[inline]
    fn addr(this: &Self) -> *const () {
        K::known_addr(&this.0)
    }
}

impl<K> Deref for ByIdentity<K> {
    type Target = K;

    #[inline]
    fn deref(&self) -> &K {
        &self.0
    }
}

impl<K: fmt::Debug> fmt::Debug for ByIdentity<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Drops handles, and all objects that only these handles keep alive, without recursion: a term of
/// depth one million is dropped on a stack of a few frames. Use `dismantle` in the `Drop` of a
/// payload that owns handles of its own kind, whose drop glue would recurse.
///
/// Pass the handle's own `into_inner` (`Strong::into_inner`, `Arc::into_inner`, …): if several
/// threads drop the last handles at once, exactly one thread gets the payload. `children` moves the
/// handles out of a payload that no handle keeps alive any more. O(payloads dropped); allocates
/// memory for the handles still to be dropped.
///
/// ```
/// use weakly::{Strong, dismantle};
///
/// struct List(u32, Option<Strong<List>>);
///
/// impl Drop for List {
///     fn drop(&mut self) {
///         dismantle(self.1.take(), Strong::into_inner, |list| list.1.take());
///     }
/// }
///
/// let mut list = None;
/// for n in 0..1_000_000 {
///     list = Some(Strong::new(List(n, list)));
/// }
/// drop(list); // would overflow the stack
/// ```
pub fn dismantle<K, T, Children>(
    handles: impl IntoIterator<Item = K>,
    into_inner: impl Fn(K) -> Option<T>,
    mut children: impl FnMut(&mut T) -> Children,
) where
    Children: IntoIterator<Item = K>,
{
    let mut waiting = Vec::from_iter(handles);
    while let Some(handle) = waiting.pop() {
        if let Some(mut payload) = into_inner(handle) {
            waiting.extend(children(&mut payload));
            // The payload's own `Drop` finds no children left, and does not recurse.
        }
    }
}
