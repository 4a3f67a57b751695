//! Under no lock of ours, and while no thread-local of ours is borrowed, anything is allocated or freed, whatever is done
//! with the collections, by one thread or by several.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread;

use weakly::Strong;
use weakly::concurrent::WeakMap;

use super::nothing_found;
use crate::common::{in_time, scaled};

type Map = weakly::WeakMap<Strong<usize>, usize>;

/// 310: What waits for a reader: it is added to what waits already, or apart; and goes with the reader.
#[test]
fn of_what_is_deferred() {
    in_time(|| {
        let keys: Vec<_> = (0..scaled(300, 20)).map(Strong::new).collect();
        let map = WeakMap::<Strong<usize>, Box<usize>>::new();
        for readers in [1, 6] {
            keys.iter().for_each(|key| _ = map.insert(key, Box::new(1)));
            thread::scope(|scope| {
                let readers: Vec<_> = (0..readers)
                    .map(|_| {
                        let ((is_inside, inside), (go, goes)) = (channel(), channel::<()>());
                        let (map, keys) = (&map, &keys);
                        scope.spawn(move || {
                            map.with(&keys[0], |_| {
                                is_inside.send(()).unwrap();
                                _ = goes.recv();
                            })
                        });
                        inside.recv().unwrap();
                        go
                    })
                    .collect();
                keys.iter().for_each(|key| _ = map.remove(key));
                drop(readers);
            });
        }
    });
    nothing_found();
}

/// 310: A death that owes a wake-up to a collection which an outer death on this thread is about to wake.
#[test]
fn of_a_wake_up_that_is_kept_apart() {
    in_time(|| {
        let [first, second] = [1, 2].map(Strong::new);
        let mut maps = [(); 2].map(|()| Map::new());
        maps.iter_mut().for_each(|map| _ = map.insert(&second, 1));
        maps[0].insert(&first, 1);
        maps[0].set_waker(Some(Waker::noop().clone()));
        let maps = Arc::new(Mutex::new(maps));
        let finalizer = {
            let maps = Arc::clone(&maps);
            move || {
                // It owes the wake-up of the first map, and that is armed again.
                maps.lock().unwrap()[0].purge();
                drop(second);
            }
        };
        Strong::finalize(&first, finalizer);
        drop(first);
        assert!(maps.lock().unwrap().iter().all(Map::is_empty));
    });
    nothing_found();
}
