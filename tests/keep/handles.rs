//! Which object is meant: by any handle to it, and never by the address of a dead one.

use std::rc::Rc;
use std::sync::Arc;

use weakly::keep::{KeepAlive, Limit};
use weakly::reference::{Identify, StrongRef, WeakKey};
use weakly::{Addr, ByIdentity, Strong, local};

use crate::common::{Kind, downgrade, new, scaled};
use crate::for_each_kind;

for_each_kind!(a_new_object_at_the_address_of_one_that_went);

/// 27, 31: A floor knows an object by each of its handles, by its address, and by a reference; not by a handle to a dead one.
#[test]
fn each_handle_names_the_object() {
    fn check<K>(new: fn(i32) -> K)
    where
        K: StrongRef<Target = i32, Weak: Identify<K>> + Clone + std::ops::Deref<Target = i32>,
        i32: Identify<K>,
    {
        let (object, other) = (new(1), new(1));
        let (weak, weak_other) = (downgrade(&object), downgrade(&other));
        let mut kept = KeepAlive::new(Limit::none());
        macro_rules! by {
            ($($name:expr, $other:expr;)*) => {$(
                kept.keep(&object, 1);
                assert!(kept.contains($name) && kept.touch($name));
                assert!(!kept.contains($other) && !kept.touch($other));
                assert!(kept.release($other).is_none());
                let released = kept.release($name).unwrap();
                assert_eq!(K::addr(&released), K::addr(&object));
                assert!(!kept.contains($name) && !kept.touch($name));
            )*};
        }
        by! {
            &object.clone(), &other;
            &weak, &weak_other;
            &Addr::of(&*object), &Addr::of(&*other);
            &*object, &*other;
            &ByIdentity(object.clone()), &ByIdentity(other.clone());
        }
        drop(other);
        assert!(!kept.contains(&weak_other) && !kept.touch(&weak_other));
        kept.keep(&object, 1);
        drop(object);
        assert!(kept.contains(&weak), "it lives here");
        drop(kept.release(&weak));
        assert!(!kept.contains(&weak) && kept.release(&weak).is_none());
    }
    check(Strong::new);
    check(local::Strong::new);
    check(Arc::new);
    check(Rc::new);
}

/// A size that nothing else here has, so that the allocator soon returns the same address again; large enough that a payload
/// of ours has an allocation of its own.
type Payload = [u64; 121];

/// 28: It is not kept until it is, and what the dead one weighed is not counted for it.
fn a_new_object_at_the_address_of_one_that_went<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::entries(2));
    let mut reused = 0;
    for _ in 0..scaled(100, 10) {
        let object = new::<P, Payload>([0; 121]);
        let addr = <P::Strong<Payload> as WeakKey>::addr(&object);
        kept.keep(&object, 50);
        // It goes now: two others come.
        for _ in 0..2 {
            kept.keep(&new::<P, Payload>([0; 121]), 1);
        }
        assert!(!kept.contains(&object));
        drop(object);
        assert_eq!(kept.retained_weight(), 2);
        let next = new::<P, Payload>([1; 121]);
        reused += usize::from(<P::Strong<Payload> as WeakKey>::addr(&next) == addr);
        assert!(!kept.contains(&next) && !kept.touch(&next));
        assert!(kept.release(&next).is_none());
        assert!(kept.keep(&next, 1));
        assert_eq!((kept.len(), kept.retained_weight()), (2, 2));
    }
    assert!(cfg!(miri) || reused > 0);
}
