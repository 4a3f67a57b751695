//! Many threads drop, upgrade and take at once.

use std::sync::{Arc, Barrier};
use std::thread;

use weakly::{ReferenceQueue, Strong, Weak, concurrent};

use super::erased;
use crate::common::{Count, in_time, scaled};

const THREADS: usize = 3;
const OBJECTS: usize = scaled(3_000, 12);
const ROUNDS: usize = scaled(20, 1);

#[derive(Clone)]
struct Item {
    number: usize,
    destroyed: Count,
    _size: [usize; 8],
}

impl Drop for Item {
    fn drop(&mut self) {
        self.destroyed.add();
    }
}

/// What a thread does with its handles to one object, as it comes. It may get the payload.
fn end(object: Strong<Item>, weak: Weak<Item>, choice: usize) -> Option<Item> {
    match choice % 6 {
        0 => Strong::into_inner(object),
        1 => Strong::try_unwrap(object).ok(),
        2 => {
            drop(object);
            weak.upgrade().and_then(Strong::into_inner)
        }
        3 => {
            let finalizer = Strong::finalize(&object, || ());
            drop(object);
            finalizer.detach();
            None
        }
        4 => {
            let clone = weak.upgrade();
            drop(object);
            assert!(clone.is_some_and(|clone| clone.number < OBJECTS));
            None
        }
        _ => {
            drop((weak, object));
            None
        }
    }
}

fn round(seed: usize) {
    let (queue, destroyed) = (ReferenceQueue::new(), Count::default());
    let objects: Vec<_> = (0..OBJECTS)
        .map(|number| {
            let item = Item {
                number,
                destroyed: destroyed.clone(),
                _size: [number; 8],
            };
            let mut object = Strong::new_returning(item, &queue);
            if number % 2 == 1 {
                queue.get_mut(&mut object).unwrap()._size[0] += 1;
            }
            object
        })
        .collect();
    let map = Arc::new(concurrent::WeakMap::new());
    for object in objects.iter().step_by(3) {
        map.insert(&erased(object), 1);
    }
    let together = Barrier::new(THREADS);
    let mut numbers: Vec<usize> = thread::scope(|scope| {
        let threads = [1, 5, 7].map(|factor| {
            let handles: Vec<_> = objects
                .iter()
                .map(|object| (object.clone(), Strong::downgrade(object)))
                .collect();
            let (queue, together) = (queue.clone(), &together);
            scope.spawn(move || {
                let mut mine = Vec::new();
                together.wait();
                for (index, (object, weak)) in handles.into_iter().enumerate() {
                    mine.extend(end(object, weak, seed + index * factor));
                    mine.extend(queue.poll());
                }
                mine
            })
        });
        drop(objects);
        let items = threads.map(|thread| thread.join().unwrap());
        assert_eq!(destroyed.get(), 0);
        let items = items.into_iter().flatten().chain(queue.drain());
        items.map(|item| item.number).collect()
    });
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..OBJECTS));
    assert_eq!((destroyed.get(), map.len()), (OBJECTS, 0));
}

/// 235: Each payload returns or is taken, once.
#[test]
fn each_payload_returns_or_is_taken() {
    in_time(|| (0..ROUNDS).for_each(round));
}

/// 235: A queue that goes meanwhile leaves no payload behind, and none is destroyed twice.
#[test]
fn a_queue_goes_while_payloads_return() {
    in_time(|| {
        for _ in 0..scaled(2_000, 4) {
            let (queue, destroyed) = (ReferenceQueue::new(), Count::default());
            let objects = [0; THREADS].map(|number| {
                let item = Item {
                    number,
                    destroyed: destroyed.clone(),
                    _size: [0; 8],
                };
                Strong::new_returning(item, &queue)
            });
            let together = Barrier::new(THREADS + 1);
            thread::scope(|scope| {
                for object in objects {
                    let together = &together;
                    scope.spawn(move || {
                        together.wait();
                        drop(object);
                    });
                }
                together.wait();
                drop(queue);
            });
            assert_eq!(destroyed.get(), THREADS);
        }
    });
}
