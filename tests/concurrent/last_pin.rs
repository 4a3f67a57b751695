//! Values that were unlinked while many threads had pinned the collection: the last thread that unpins drops these
//! values, or the next operation of any thread does.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread;

use weakly::Strong;

use crate::common::{panics, quiet_panic, scaled};
use crate::faces::{Count, Ends, Maps, owned};

/// D65: If a destructor panics then, the panic surfaces in that operation, and everything else is dropped; at
/// the end of a map likewise. Two threads that unpin at the same moment may miss each other (D3 of the
/// reclamation): then the next lookup drops the values.
#[test]
fn small_a_destructor_panics_when_the_last_leaves() {
    let threads = scaled(80, 12);
    let ended = Count::default();
    let ends: Ends = {
        let ended = ended.clone();
        Arc::new(move |number| {
            ended.add();
            if number % 2 == 1 {
                quiet_panic();
            }
        })
    };
    let keys: Vec<_> = (0..8).map(Strong::new).collect();
    let map = Maps::new();
    for key in &keys {
        map.insert(key, owned(**key, &ends));
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
        // They wait in the bag of this thread otherwise.
        assert!(!map.purge());
        assert_eq!(ended.get(), 0, "they have pinned it");
        inside.wait();
    });
    let next = usize::from(panics(|| _ = map.get(&keys[5])));
    assert_eq!((ended.get(), panicked.load(Relaxed) + next), (4, 1));
    assert!(panics(|| drop(map)));
    assert_eq!(ended.get(), 8);
}
