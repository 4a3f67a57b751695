//! What waits for the end of a map, because too many threads were inside when it was unlinked.

use std::sync::{Arc, Barrier};
use std::thread;

use weakly::Strong;
use weakly::concurrent::WeakMap;

use crate::common::{explode, panics, scaled};
use crate::faces::{Count, Ends, Owned};

/// D65: If its destructor panics then, that comes out, and all else is destroyed.
#[test]
fn small_a_destructor_panics_at_the_end_of_the_map() {
    let threads = scaled(80, 12);
    let ended = Count::default();
    let ends: Ends = {
        let ended = ended.clone();
        Arc::new(move |number| {
            ended.add();
            if number == 1 {
                explode();
            }
        })
    };
    let keys: Vec<_> = (0..4).map(Strong::new).collect();
    let map = WeakMap::new();
    for key in &keys {
        map.insert(key, Arc::new(Owned::new(**key, &ends)));
    }
    let inside = Barrier::new(threads + 1);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                map.with(&keys[0], |_| {
                    inside.wait();
                    inside.wait();
                })
            });
        }
        inside.wait();
        assert!(map.remove_if(&keys[1], |_| true));
        assert!(map.remove_if(&keys[2], |_| true));
        inside.wait();
    });
    assert_eq!(ended.get(), 0, "nobody was to destroy it");
    assert!(panics(|| drop(map)));
    assert_eq!(ended.get(), 4);
}
