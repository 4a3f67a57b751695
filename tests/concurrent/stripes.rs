//! L. Deaths of objects that one thread has inserted and another drains.

use std::sync::{Arc, Barrier};
use std::thread;

use crate::common::scaled;
use crate::faces::{Maps, Owned, token};
use weakly::Strong;

type Map = Maps<Strong<usize>>;

/// Objects that another thread has inserted into the map, each with a clone of a token.
fn insert_elsewhere(map: &Map, token: &Arc<Owned>, number: usize) -> Vec<Strong<usize>> {
    let put_in = || {
        let objects: Vec<_> = (0..number).map(Strong::new).collect();
        for object in &objects {
            map.insert(object, token.clone());
        }
        objects
    };
    thread::scope(|scope| scope.spawn(put_in).join().unwrap())
}

/// L159: A thread that always has notices of its own still drains those of every other thread.
#[test]
fn small_a_thread_with_deaths_of_its_own_drains_those_of_others() {
    let (map, token) = (Map::new(), token());
    let others: Vec<_> = (0..3).map(|_| insert_elsewhere(&map, &token, 5)).collect();
    drop(others);
    let own = crate::faces::token();
    for number in 0..16 * 8 {
        let object = Strong::new(number);
        map.insert(&object, own.clone());
    }
    assert_eq!(Arc::strong_count(&token), 1);
    // One notice is not yet drained, or several, if its turn went to others.
    assert!(Arc::strong_count(&own) <= 4);
    map.purge();
    assert_eq!((Arc::strong_count(&own), map.pending_dead()), (1, 0));
}

/// L159: Beside more threads than a core has stripes at first (C5 of `ptr::shared`), the deaths on each thread are
/// found, and the collection ends beside them.
#[test]
fn small_many_threads_let_objects_die_at_once() {
    let threads = scaled(24, 10);
    for ends in [false, true] {
        let (mut map, token) = (Some(Arc::new(Map::new())), token());
        let each_inserts = |_| insert_elsewhere(map.as_ref().unwrap(), &token, 40);
        let all: Vec<_> = (0..threads).map(each_inserts).collect();
        let go = Barrier::new(threads + 1);
        thread::scope(|scope| {
            for objects in all {
                let (map, token, go) = (map.clone().unwrap(), &token, &go);
                scope.spawn(move || {
                    assert_eq!(map.get(&objects[0]).map(|it| it.number), Some(token.number));
                    (0..16).for_each(|_| _ = map.remove(&objects[1]));
                    drop(map);
                    go.wait();
                    drop(objects);
                });
            }
            go.wait();
            if ends {
                drop(map.take());
            } else {
                _ = map.as_ref().unwrap().purge();
            }
        });
        // Those that a purge beside the deaths has missed.
        drop(map.take());
        assert_eq!(Arc::strong_count(&token), 1);
    }
}
