//! Which object is meant: by any handle to it, and never by the address of a dead one.

use std::sync::Arc;

use weakly::keep::{KeepAlive, Limit};
use weakly::reference::{Identify, StrongRef};
use weakly::{Addr, ByIdentity, Strong};

use crate::common::downgrade;

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
    check(Arc::new);
}
