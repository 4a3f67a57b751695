//! What an operation of what threads share returns when a destructor panics at its end: it is dropped, not leaked.

use std::borrow::Borrow;
use std::ops::Deref;
use std::sync::Arc;

use weakly::memo::Value;
use weakly::{Memo, Strong as Shared, Weak, WeakMap, concurrent};

use crate::common::subject::Owned;
use crate::common::subject::shared::{Ends, Maps, ValueMaps};
use crate::common::wild::{self, Wild};
use crate::common::{panics, quiet_panic};

type Kept = Arc<Owned<Ends, Wild>>;

/// A value that owns a token, and panics when it is destroyed if it is armed.
fn kept(token: &Arc<()>, armed: bool) -> Kept {
    let token = token.clone();
    let end: Ends = Arc::new(move |_| {
        _ = &token;
        if armed {
            quiet_panic();
        }
    });
    Arc::new(wild::owned(1, &end))
}

/// 182: The value that has won a race, when the value of the loser panics.
#[test]
fn winners_of_races() {
    let token = Arc::new(());
    let [winner, loser] = [false, true].map(|armed| move |token: &Arc<()>| kept(token, armed));
    let object = |token: &Arc<()>, armed| {
        let token = token.clone();
        let end = move |_: &_| {
            _ = &token;
            if armed {
                quiet_panic();
            }
        };
        Shared::new(Wild::ending(1, end))
    };
    let name = || kept(&Arc::default(), false);
    let check = |name, act: &dyn Fn()| {
        assert!(panics(act), "{name}");
        assert_eq!(Arc::strong_count(&token), 1, "{name}");
    };
    check("WeakValueMap", &|| {
        let map = ValueMaps::new();
        let there = object(&token, false);
        drop(map.get_or_insert_racing(name(), |_| {
            map.insert(name(), &there);
            object(&token, true)
        }));
    });
    check("WeakMap", &|| {
        let (map, key) = (Maps::new(), Shared::new(Wild::new(1)));
        drop(map.get_or_insert_racing(&key, |_| {
            map.insert(&key, winner(&token));
            loser(&token)
        }));
    });
    check("Memo", &|| {
        let memo = Memo::<(Shared<Wild>, Value<Wild>), Kept>::new();
        let (key, plain) = (Shared::new(Wild::new(1)), Wild::new(1));
        drop(memo.get_or_compute_racing((&key, &plain), |_| {
            memo.insert((&key, &plain), winner(&token));
            loser(&token)
        }));
    });
}

/// A handle whose weak handle panics when it is dropped.
#[derive(Clone)]
struct Handle(Shared<usize>);
#[derive(Clone)]
struct WeakHandle(Weak<usize>);

impl Deref for Handle {
    type Target = usize;
    fn deref(&self) -> &usize {
        &self.0
    }
}

impl Borrow<usize> for Handle {
    fn borrow(&self) -> &usize {
        self
    }
}

weakly::impl_handle!(Handle(Shared<usize>), WeakHandle(Weak<usize>));

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
    let make = |_: &WeakHandle| kept(&token, false);
    let check = |name, act: &dyn Fn()| {
        assert!(panics(act), "{name}");
        assert_eq!(Arc::strong_count(&token), 1, "{name}");
    };
    check("WeakMap", &|| {
        drop(WeakMap::new().get_or_insert_with(&key, make).clone())
    });
    let shared = || concurrent::WeakMap::<Handle, Kept>::new();
    check("with", &|| drop(shared().get_or_insert_with(&key, make)));
    check("racing", &|| {
        drop(shared().get_or_insert_racing(&key, make))
    });
    let shared = || concurrent::WeakHashMap::<Handle, Kept>::new();
    check("by content, with", &|| {
        drop(shared().get_or_insert_with(&key, make))
    });
    check("by content, racing", &|| {
        drop(shared().get_or_insert_racing(&key, make))
    });
    check("by content, compute", &|| {
        let made = || kept(&token, false);
        drop(shared().compute(&key, |_| Some(made())))
    });
}
