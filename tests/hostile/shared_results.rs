//! What an operation of what threads share returns when a destructor panics at its end: it is dropped, not leaked.

use std::borrow::Borrow;
use std::ops::Deref;
use std::sync::Arc;

use weakly::{Memo, Strong as Shared, Weak, WeakMap, concurrent};

use crate::common::{panics, quiet_panic};

/// A value whose clones and destructor count, and whose destructor panics if it is armed.
struct Counted(Arc<()>, bool);

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted(self.0.clone(), false)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.1 {
            quiet_panic();
        }
    }
}

/// 182: The value that has won a race, when the value of the loser panics.
#[test]
fn winners_of_races() {
    let token = Arc::new(());
    let [winner, loser] =
        [false, true].map(|armed| move |token: &Arc<()>| Counted(token.clone(), armed));
    let check = |name, act: &dyn Fn()| {
        assert!(panics(act), "{name}");
        assert_eq!(Arc::strong_count(&token), 1, "{name}");
    };
    check("WeakValueMap", &|| {
        let map = concurrent::WeakValueMap::new();
        let there = Shared::new(winner(&token));
        drop(map.get_or_insert_racing(1, |_| {
            map.insert(1, &there);
            Shared::new(loser(&token))
        }));
    });
    check("WeakMap", &|| {
        let (map, key) = (concurrent::WeakMap::new(), Shared::new(1));
        drop(map.get_or_insert_racing(&key, |_| {
            map.insert(&key, winner(&token));
            loser(&token)
        }));
    });
    check("Memo", &|| {
        let (memo, key) = (Memo::<Shared<i32>, Counted>::new(), Shared::new(1));
        drop(memo.get_or_compute_racing(&key, |_| {
            memo.insert(&key, winner(&token));
            loser(&token)
        }));
    });
}

/// A handle whose weak handle panics when it is dropped.
#[derive(Clone)]
struct Handle(Shared<i32>);
#[derive(Clone)]
struct WeakHandle(Weak<i32>);

impl Deref for Handle {
    type Target = i32;
    fn deref(&self) -> &i32 {
        &self.0
    }
}

impl Borrow<i32> for Handle {
    fn borrow(&self) -> &i32 {
        self
    }
}

weakly::impl_handle!(Handle(Shared<i32>), WeakHandle(Weak<i32>));

impl Drop for WeakHandle {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            quiet_panic();
        }
    }
}

/// 182: The value that is made, when the weak handle panics that the maker gets.
#[test]
fn values_of_makers_with_weak_handles() {
    let token = Arc::new(());
    let key = Handle(Shared::new(1));
    let make = |_: &WeakHandle| Counted(token.clone(), false);
    let check = |name, act: &dyn Fn()| {
        assert!(panics(act), "{name}");
        assert_eq!(Arc::strong_count(&token), 1, "{name}");
    };
    check("WeakMap", &|| {
        drop(WeakMap::new().get_or_insert_with(&key, make).clone())
    });
    let shared = || concurrent::WeakMap::<Handle, Counted>::new();
    check("with", &|| drop(shared().get_or_insert_with(&key, make)));
    check("racing", &|| {
        drop(shared().get_or_insert_racing(&key, make))
    });
    let shared = || concurrent::WeakHashMap::<Handle, Counted>::new();
    check("by content, with", &|| {
        drop(shared().get_or_insert_with(&key, make))
    });
    check("by content, racing", &|| {
        drop(shared().get_or_insert_racing(&key, make))
    });
    check("by content, compute", &|| {
        let made = || Counted(token.clone(), false);
        drop(shared().compute(&key, |_| Some(made())))
    });
}
