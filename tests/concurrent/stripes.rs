//! L. Deaths of what one thread has put in, which another drains.

use std::sync::Arc;
use std::thread;

use weakly::Strong;
use weakly::concurrent::WeakMap;

type Map = WeakMap<Strong<usize>, Arc<()>>;

/// What another thread has put into the map, each with a clone of a token.
fn put_in_elsewhere(map: &Map, token: &Arc<()>, number: usize) -> Vec<Strong<usize>> {
    let put_in = || {
        let objects: Vec<_> = (0..number).map(Strong::new).collect();
        for object in &objects {
            map.insert(object, token.clone());
        }
        objects
    };
    thread::scope(|scope| scope.spawn(put_in).join().unwrap())
}

/// L159: Who has nothing of its own to drain drains what others have put in, at its next operation.
#[test]
fn small_a_thread_drains_what_another_has_put_in() {
    let (map, token) = (Map::new(), Arc::new(()));
    drop(put_in_elsewhere(&map, &token, 10));
    assert_eq!((map.len(), map.pending_dead()), (0, 10));
    assert_eq!(Arc::strong_count(&token), 11, "nobody has changed the map");
    map.remove(&Strong::new(0));
    assert_eq!(Arc::strong_count(&token), 1);
    assert_eq!(map.pending_dead(), 0);
}

/// L159: Who always has something of its own drains that of each other all the same.
#[test]
fn small_a_thread_with_deaths_of_its_own_drains_those_of_others() {
    let (map, token) = (Map::new(), Arc::new(()));
    let others: Vec<_> = (0..3).map(|_| put_in_elsewhere(&map, &token, 5)).collect();
    drop(others);
    let own = Arc::new(());
    for number in 0..16 * 8 {
        let object = Strong::new(number);
        map.insert(&object, own.clone());
    }
    assert_eq!(Arc::strong_count(&token), 1);
    // One is still to be drained, or several, if its turn came to others.
    assert!(Arc::strong_count(&own) <= 4);
    map.purge();
    assert_eq!((Arc::strong_count(&own), map.pending_dead()), (1, 0));
}
