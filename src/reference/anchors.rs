//! Anchors, as keys.

use super::key::{Identify, Identity, WeakKey};
use super::notified::{Notified, Registrable};
use super::permit::Permit;
use crate::ptr::{Anchor, AnchorRef, Flavour, ObjectRef, Weak};

// SAFETY: the address is the address of the object behind the anchor. The object does not move, and
// no other object gets the address while a watch or a weak handle has a share in the object. An
// anchor without an object has no entry.
unsafe impl<F: Flavour> WeakKey for Anchor<F> {
    type Watch = Notified<Self>;
    type Weak = AnchorRef<F>;

    #[inline]
    fn addr(this: &Self) -> *const () {
        Registrable::object(this).place().as_ptr()
    }

    #[inline]
    fn known_addr(this: &Self) -> *const () {
        Anchor::known_addr(this)
    }

    #[inline]
    fn downgrade(this: &Self) -> AnchorRef<F> {
        Anchor::downgrade(this)
    }
}

impl<F: Flavour> Registrable for Anchor<F> {
    type Target = ();
    type Kind = F;

    #[inline]
    fn object(this: &Self) -> ObjectRef<'_, (), F> {
        Anchor::object(this)
    }

    #[inline]
    fn weak(weak: Weak<(), F>, _: Permit<Self>) -> AnchorRef<F> {
        AnchorRef::new(weak)
    }
}

impl<F: Flavour> Identity for AnchorRef<F> {
    #[inline]
    fn identity(this: &Self) -> *const () {
        this.identity()
    }
}

impl<F: Flavour> Identify<Anchor<F>> for AnchorRef<F> {
    #[inline]
    fn addr(this: &Self) -> *const () {
        this.addr_if_live()
    }
}
