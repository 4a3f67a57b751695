//! For payloads that contain handles: equality by identity, and an end without recursion.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use super::key::WeakKey;

/// A strong pointer that is equal, and hashes equal, to pointers to the same object only: for the
/// children of an interned term. Where equal children are the same object, comparing their addresses
/// is comparing them, however deep they are.
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
/// ```
#[derive(Clone, Copy, Default)]
pub struct ByIdentity<K>(pub K);

impl<K: WeakKey> PartialEq for ByIdentity<K> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        K::addr(&self.0) == K::addr(&other.0)
    }
}

impl<K: WeakKey> Eq for ByIdentity<K> {}

impl<K: WeakKey> Hash for ByIdentity<K> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        K::addr(&self.0).hash(state);
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

/// Drops handles, and all that only they keep alive, without recursion: a term of depth a million dies
/// on a stack of a few frames. For the `Drop` of payloads that own handles of their own kind, whose
/// drop glue would recurse.
///
/// `into_inner` is the pointer's own (`Strong::into_inner`, `Arc::into_inner`, …): of handles on
/// several threads at once exactly one gets the payload. `children` moves the handles out of a payload
/// that nobody holds any more. O(payloads that die); memory for the handles that wait.
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
            // Its own `Drop` finds nobody left, and does not come here again.
        }
    }
}
