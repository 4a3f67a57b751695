//! What identifies a key in a lookup.

use super::key::WeakKey;

/// Identifies a key of type `K` in a lookup: a strong pointer, a weak pointer (an expired one finds nothing), a
/// plain reference to the target, or an [`Addr`](crate::Addr); an [`Anchor`](crate::Anchor) or
/// [`AnchorRef`](crate::AnchorRef), where the keys are anchors.
///
/// A plain reference is accepted only if its target is sized and not zero-sized. Two different objects can
/// share a thin address when one is a field of the other, or when one is zero-sized. So `&str`, `&dyn Trait`
/// and references to zero-sized values are rejected. Where you know that the reference is to the key itself,
/// use [`Addr::of`](crate::Addr::of).
///
/// ```
/// use weakly::{Addr, Strong, WeakMap};
///
/// struct Node { name: &'static str }
/// let node = Strong::new(Node { name: "a" });
/// let mut seen = WeakMap::new();
/// seen.insert(&node, true);
/// let plain: &Node = &node;
/// assert!(seen.contains_key(&node));
/// assert!(seen.contains_key(&Strong::downgrade(&node)));
/// assert!(seen.contains_key(plain));
///
/// let text: Strong<str> = "unsized".into();
/// let mut length = WeakMap::new();
/// length.insert(&text, 7);
/// assert_eq!(length.get(&Addr::of(&*text)), Some(&7));
/// # assert_eq!(plain.name, "a");
/// ```
///
/// A zero-sized target is rejected at compile time:
///
/// ```compile_fail
/// # use weakly::{Strong, WeakMap};
/// # let mut map = WeakMap::<Strong<()>, i32>::new();
/// map.get(&());
/// ```
#[diagnostic::on_unimplemented(
    message = "`&{Self}` does not identify a key of type `{K}`",
    label = "pass the pointer or anchor, a weak one, or a reference to the pointer's target, if that is sized",
    note = "for a reference to the whole target of a key, pass `&Addr::of(reference)`",
    note = "keys of this collection are found by identity; `WeakHashMap`, `WeakHashSet` and `Interner` find them by content"
)]
pub trait Identify<K: WeakKey> {
    /// Returns the address of the key, or null if it cannot be in any map. The address is that of a live object, or of
    /// one whose destructor is running: one remembered from before may find the entry of a dead object that is not yet
    /// reclaimed, or that of another object.
    fn addr(&self) -> *const ();
}

impl<K: WeakKey> Identify<K> for K {
    #[inline]
    fn addr(&self) -> *const () {
        WeakKey::known_addr(self)
    }
}
