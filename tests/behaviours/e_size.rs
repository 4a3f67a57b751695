//! E. Size (items 76–83). The cheap count is `len`: exact for this crate's own pointers, an upper
//! bound for the standard library's.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use weakly::{WeakPairMap, local};

use crate::collections::*;
use crate::common::{Counter, OnDrop, place_of_panic};

for_each_collection!(
    kit: shrinking_drops_the_dead_first,
    reserving_drops_the_dead_first,
    a_size_that_no_memory_has_is_refused_at_the_caller,
);

/// E83: Shrinking first reclaims the dead, and then returns their memory.
fn shrinking_drops_the_dead_first(kit: Kit) {
    let counter = Counter::default();
    let mut lives = kit.lives(200);
    let mut all = kit.of(&lives, &counted(&counter));
    assert!(all.capacity() >= 200);
    lives.truncate(10);
    all.shrink_to(50);
    assert_eq!((all.len(), counter.get()), (10, kit.owned(190)));
    assert!((50..200).contains(&all.capacity()));
    all.shrink_to_fit();
    assert!((10..50).contains(&all.capacity()));
    assert!(lives.iter().all(|life| all.contains(life)));
}

/// E83: So does reserving, if it needs more memory; more than the address space cannot be reserved.
fn reserving_drops_the_dead_first(kit: Kit) {
    let mut all = kit.with_capacity(100);
    let capacity = all.capacity();
    assert!(capacity >= 100);
    let lives = kit.lives(capacity);
    all.enter_all(&lives, &quietly());
    assert_eq!((all.len(), all.capacity()), (capacity, capacity));
    drop(lives);
    all.reserve(capacity);
    assert_eq!((all.len(), all.pending_dead()), (0, 0));
    assert!(all.try_reserve(usize::MAX).is_err());
    assert!(all.try_reserve(2 * capacity).is_ok());
    assert!(all.capacity() >= 2 * capacity);
}

/// 432: The panic names the line that asked for the room.
fn a_size_that_no_memory_has_is_refused_at_the_caller(kit: Kit) {
    let mut all = kit.empty();
    let lives = kit.lives(3);
    all.enter_all(&lives, &quietly());
    for many in [usize::MAX, usize::MAX / 8, isize::MAX as usize / 16] {
        let reserves = place_of_panic(|| all.reserve(many));
        let makes = place_of_panic(|| drop(kit.with_capacity(many)));
        for (file, _) in [reserves, makes] {
            assert!(file.contains("subject"), "{file}"); // the tests call each collection there
        }
    }
    assert_eq!(all.len_live(), 3);
}

/// E82: Also in a destructor, beside pairs of which both objects have died, so that there are more notices than dead entries.
#[test]
fn is_empty_agrees_with_len_in_a_destructor() {
    type Key = local::Strong<OnDrop>;
    let map = Rc::new(RefCell::new(WeakPairMap::<Key, local::Strong<usize>>::new()));
    let seen = Rc::new(Cell::new(None));
    let look = {
        let (map, seen) = (Rc::downgrade(&map), seen.clone());
        move || {
            let map = map.upgrade().unwrap();
            let map = map.borrow();
            seen.set(Some((map.len(), map.is_empty())));
        }
    };
    let (dying, key) = (Key::new(OnDrop::new(look)), Key::new(OnDrop::new(|| ())));
    let [value, other] = [1, 2].map(local::Strong::<usize>::new);
    map.borrow_mut().insert(&key, &value);
    map.borrow_mut().insert(&dying, &other);
    drop((key, value));
    drop(dying);
    let (len, is_empty) = seen.get().unwrap();
    assert_eq!(is_empty, len == 0, "{len}");
}
