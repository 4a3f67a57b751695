//! A map and a set keyed by content: several objects have equal content, and one of them has the entry.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use weakly::Strong;
use weakly::concurrent::{WeakHashMap, WeakHashSet};

use crate::common::custom::{Custom, On, with_callback};
use crate::faces::{Count, HashMaps, Kind, Life, owned};
use crate::for_each_pointer;

for_each_pointer!(a_lookup_may_own_the_last_handle,);

/// C39: The key lives while its value is read, and dies when the lookup is over.
fn a_lookup_may_own_the_last_handle<P: Kind>() {
    let map = HashMaps::<Life<P>>::new();
    let looks: [&dyn Fn(&dyn Fn()); 2] = [
        &|during| assert!(map.with(&1, |_| during()).is_some()),
        &|during| {
            let asked = map.remove_if(&1, |_| {
                during();
                false
            });
            assert!(!asked);
        },
    ];
    for look in looks {
        let (count, key) = (Count::default(), Life::<P>::from(1));
        map.insert(&key, owned(1, &count.ends()));
        let last = Mutex::new(Some(key));
        look(&|| {
            drop(last.lock().unwrap().take());
            map.purge();
            assert_eq!((map.len_live(), count.get()), (1, 0), "it is kept alive");
        });
        assert_eq!((map.len_live(), map.get(&1).is_some()), (0, false));
        map.purge();
        assert_eq!((map.len(), map.pending_dead(), count.get()), (0, 0, 1));
    }
}

/// C47: Inside a key's own destructor its content finds nothing, and may be inserted with another object.
#[test]
fn a_dying_key_is_not_found_by_its_content() {
    let map = Arc::new(WeakHashMap::<Strong<Custom>, Custom>::new());
    let dying = |next: Option<Strong<Custom>>| {
        let map = map.clone();
        let object = Custom::from(1).on(On::Drop, move |this| {
            assert_eq!(map.get(this), None);
            if let Some(next) = &next {
                assert!(map.insert(next, 2.into()));
                assert_eq!(map.get(this), Some(2.into()), "the entry of the next key");
            }
        });
        Strong::new(object)
    };
    let next = dying(None);
    let key = dying(Some(next.clone()));
    map.insert(&key, 1.into());
    drop(key);
    map.purge();
    assert_eq!((map.len(), map.get(&*next)), (1, Some(2.into())));
    drop(next);
    assert!(map.is_empty());
}

/// H117, L157: The same content is inserted through another object between the lookup and the insertion.
#[test]
fn one_of_two_inserts_a_new_content() {
    let mut came_in_between = 0;
    for at in 0..6_usize {
        let set = Rc::new(WeakHashSet::new());
        let words = [0, 1, 1].map(|n| Strong::new(Custom::from(n)));
        assert!(set.insert(&words[0]));
        let (mut left, was_done) = (Some(at), Rc::new(Cell::new(false)));
        let nested = {
            let (set, word, was_done) = (set.clone(), words[1].clone(), was_done.clone());
            move |_: On, _: *const ()| {
                if left == Some(0) {
                    assert!(set.insert(&word));
                    was_done.set(true);
                }
                left = left.and_then(|left| left.checked_sub(1));
            }
        };
        let is_new = with_callback(nested, || set.insert(&words[2]));
        assert!(is_new != was_done.get(), "at comparison {at}");
        came_in_between += usize::from(was_done.get());
        let there = set.get(&*words[2]).expect("one of them");
        assert!(Strong::ptr_eq(&there, &words[1 + usize::from(is_new)]));
        assert_eq!((set.len(), set.len_live()), (2, 2));
    }
    assert!(came_in_between >= 2);
}
