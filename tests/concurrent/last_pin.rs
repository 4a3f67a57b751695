//! What was unlinked while many threads were inside: the last of them who leaves destroys it.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread;

use weakly::Strong;
use weakly::concurrent::WeakMap;

use crate::common::{explode, panics, scaled};
use crate::faces::{Count, Ends, Owned};

/// D65: If its destructor panics then, that comes out there, and all else is destroyed; at the end of a map
/// likewise.
#[test]
fn small_a_destructor_panics_when_the_last_leaves() {
    let threads = scaled(80, 12);
    let ended = Count::default();
    let ends: Ends = {
        let ended = ended.clone();
        Arc::new(move |number| {
            ended.add();
            if number % 2 == 1 {
                explode();
            }
        })
    };
    let keys: Vec<_> = (0..8).map(Strong::new).collect();
    let map = WeakMap::new();
    for key in &keys {
        map.insert(key, Arc::new(Owned::new(**key, &ends)));
    }
    let inside = Barrier::new(threads + 1);
    let panicked = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let has = panics(|| {
                    map.with(&keys[0], |_| {
                        inside.wait();
                        inside.wait();
                    });
                });
                panicked.fetch_add(usize::from(has), Relaxed);
            });
        }
        inside.wait();
        for key in &keys[1..5] {
            assert!(map.remove_if(key, |_| true));
        }
        assert_eq!(ended.get(), 0, "they are inside");
        inside.wait();
    });
    assert_eq!((ended.get(), panicked.load(Relaxed)), (4, 1));
    assert!(panics(|| drop(map)));
    assert_eq!(ended.get(), 8);
}
