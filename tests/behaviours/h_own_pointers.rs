//! H. Users' own pointers, as keys by identity and by content, as values, and interned (items 110, 114, 117).

use std::rc::Rc;

use weakly::{
    Identify, Interner, Notified, Notify, Strong, StrongRef, Swept, Weak, WeakHashMap, WeakHashSet,
    WeakKey, WeakMap, WeakPairMap, WeakRef, WeakValueMap, local,
};

use crate::common::is_alive;

/// Wraps each kind of pointer in one of the user's own.
macro_rules! own_pointers {
    ($($strong:ident($inner:ty), $weak:ident($inner_weak:ty), $watch:ident;)*) => {$(
        #[derive(Clone, Debug, PartialEq)]
        struct $strong($inner);
        #[derive(Clone)]
        struct $weak($inner_weak);

        // SAFETY: everything is passed on to the wrapped pointer.
        #[allow(unsafe_code)]
        unsafe impl WeakKey for $strong {
            type Watch = $watch<Self>;
            fn addr(this: &Self) -> *const () {
                WeakKey::addr(&this.0)
            }
        }

        // SAFETY: likewise.
        #[allow(unsafe_code)]
        unsafe impl StrongRef for $strong {
            type Target = str;
            type Weak = $weak;
            fn downgrade(this: &Self) -> $weak {
                $weak(StrongRef::downgrade(&this.0))
            }
        }

        // SAFETY: likewise.
        #[allow(unsafe_code)]
        unsafe impl WeakRef for $weak {
            type Strong = $strong;
            fn upgrade(&self) -> Option<$strong> {
                self.0.upgrade().map($strong)
            }
            fn addr(&self) -> *const () {
                WeakRef::addr(&self.0)
            }
        }

        impl Identify<$strong> for $weak {
            fn addr(&self) -> *const () {
                Identify::<$inner>::addr(&self.0)
            }
        }

        impl std::ops::Deref for $strong {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $strong {
            fn from(text: &str) -> Self {
                $strong(text.into())
            }
        }
    )*};
}

own_pointers! {
    Name(Strong<str>), WeakName(Weak<str>), Notified;
    LocalName(local::Strong<str>), WeakLocalName(local::Weak<str>), Notified;
    RcName(Rc<str>), WeakRcName(std::rc::Weak<str>), Swept;
}

macro_rules! announcing {
    ($($strong:ident, $weak:ident, $flavour:ident;)*) => {$(
        // SAFETY: the handle is the one whose address `addr` returns.
        #[allow(unsafe_code)]
        unsafe impl Notify for $strong {
            type Pointee = str;
            type Flavour = weakly::$flavour;
            fn handle(this: &Self) -> &weakly::ptr::Strong<str, weakly::$flavour> {
                &this.0
            }
            fn from_handle(handle: weakly::ptr::Strong<str, weakly::$flavour>) -> Self {
                $strong(handle)
            }
            fn from_weak(weak: weakly::ptr::Weak<str, weakly::$flavour>) -> $weak {
                $weak(weak)
            }
        }
    )*};
}

announcing! {
    Name, WeakName, Atomic;
    LocalName, WeakLocalName, Local;
}

fn check_own_pointer<K>(exact: bool)
where
    K: StrongRef<Target = str> + Clone + std::ops::Deref<Target = str> + for<'q> From<&'q str>,
{
    let mut words = Interner::<K>::new();
    let [one, other] = [K::from("one"), words.intern_ref("other")];
    assert_eq!(K::addr(&words.intern_ref("other")), K::addr(&other));
    let mut by_name = WeakHashMap::from([(&one, 1), (&other, 2)]);
    let mut by_identity = WeakMap::from([(&one, 1), (&other, 2)]);
    let mut seen = WeakHashSet::from([&one, &other]);
    let mut values = WeakValueMap::from([("a", &one), ("b", &other)]);
    let mut pairs = WeakPairMap::from([(&one, &other), (&other, &one)]);
    assert_eq!((by_name["one"], by_identity[&one]), (1, 1));
    assert_eq!(K::addr(&values.expect("a")), K::addr(&one));
    assert_eq!(K::addr(&pairs.expect(&other)), K::addr(&one));
    let weak = K::downgrade(&one);
    drop(one);
    assert!(!is_alive(&weak) && pairs.get(&other).is_none() && values.get("a").is_none());
    assert!(by_name.get("one").is_none() && by_identity.get(&weak).is_none());
    assert!(seen.get("one").is_none() && seen.contains("other"));
    let mut check = |purge| {
        if purge {
            by_name.purge();
            by_identity.purge();
            seen.purge();
            values.purge();
            pairs.purge();
        }
        let lens = [
            by_name.len(),
            by_identity.len(),
            seen.len(),
            values.len(),
            pairs.len(),
        ];
        assert_eq!(lens, [1, 1, 1, 1, 0]);
    };
    if exact {
        check(false);
    }
    check(true);
}

/// H110, H114, H117: A user's own pointer is a value, a key by content, an element, and interned, and counts
/// exactly if the wrapped pointer does.
#[test]
fn pointers_of_ones_own_will_do_everywhere() {
    check_own_pointer::<Name>(true);
    check_own_pointer::<LocalName>(true);
    check_own_pointer::<RcName>(false);
}
