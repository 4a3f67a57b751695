//! Maps as private attributes: static, read by the methods and destructors of the objects, and several about the same
//! objects.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use weakly::concurrent::WeakMap;
use weakly::{Addr, Strong, reference::Identify};

use crate::common::pointers::{Pointer, for_each_pointer};
use crate::common::scaled;
use crate::common::subject::shared::Maps;
use crate::faces::{Count, Owned};

/// Reports its note, once more when it is dropped.
struct Node {
    report: Mutex<Sender<Option<String>>>,
}

static NOTES: WeakMap<Strong<Node>, String> = WeakMap::new();
static ARC_NOTES: WeakMap<Arc<Node>, String> = WeakMap::new();

impl Node {
    fn new(report: &Sender<Option<String>>) -> Self {
        let report = Mutex::new(report.clone());
        Node { report }
    }

    fn note(&self) -> Option<String> {
        NOTES.get(self).or_else(|| ARC_NOTES.get(self))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let note = self.note();
        let there = NOTES.contains_key(self) || ARC_NOTES.contains_key(self);
        assert_eq!(there, note.is_some());
        // It may be removed for the last time.
        let removed = NOTES.remove(self).or_else(|| ARC_NOTES.remove(self));
        assert_eq!((&removed, self.note()), (&note, None));
        self.report.lock().unwrap().send(note).unwrap();
    }
}

macro_rules! of {
    ($name:ident: $pointer:ident, $notes:ident) => {
        /// 47: By reference, in methods and in the destructor, on this thread and another.
        #[test]
        fn $name() {
            let (words, last) = channel();
            for elsewhere in [false, true] {
                let node = $pointer::new(Node::new(&words));
                assert_eq!(node.note(), None);
                $notes.insert(&node, "note".into());
                assert_eq!(node.note().as_deref(), Some("note"));
                if elsewhere {
                    thread::spawn(move || drop(node)).join().unwrap();
                } else {
                    drop(node);
                }
                assert_eq!(last.recv().unwrap().as_deref(), Some("note"));
                let node = $pointer::new(Node::new(&words));
                assert_eq!(node.note(), None, "a new one has none");
                drop(node);
                assert_eq!(last.recv().unwrap(), None);
            }
        }
    };
}

of!(an_object_finds_its_note: Strong, NOTES);
of!(an_object_of_an_arc_finds_its_note: Arc, ARC_NOTES);

/// 47: While many others die, are set, and are purged.
#[test]
fn destructors_among_many() {
    thread::scope(|scope| {
        for thread in 0..scaled(4, 2) {
            scope.spawn(move || {
                let (words, last) = channel();
                for number in 0..scaled(2_000, 10) {
                    let node = Strong::new(Node::new(&words));
                    let note = format!("{thread} {number}");
                    assert!(NOTES.insert(&node, note.clone()));
                    assert_eq!(node.note().as_ref(), Some(&note));
                    if number % 8 == 0 {
                        NOTES.purge();
                    }
                    drop(node);
                    assert_eq!(last.recv().unwrap(), Some(note));
                }
            });
        }
    });
}

for_each_pointer!(
    any_pointer_reads_and_removes,
    maps_of_the_same_objects,
    clear_against_insertions
);

/// 166: By its handle, weakly, by reference, or by address.
fn any_pointer_reads_and_removes<P: Pointer>()
where
    usize: Identify<P>,
{
    fn by<P: Pointer, Q: ?Sized + Identify<P>>(object: &P, name: &Q) {
        let map = WeakMap::<P, usize>::new();
        assert!(map.insert(object, 7));
        assert_eq!((map.get(name), map.contains_key(name)), (Some(7), true));
        assert_eq!(map.with(name, |value| value + 1), Some(8));
        assert_eq!((map.remove(name), map.remove(name)), (Some(7), None));
        assert_eq!((map.get(name), map.contains_key(name)), (None, false));
        assert!(map.insert(object, 8));
        assert!(!map.remove_if(name, |value| *value == 7));
        assert!(map.remove_if(name, |value| *value == 8) && map.is_empty());
    }
    let object = P::from(1);
    by(&object, &object);
    by(&object, &P::downgrade(&object));
    by::<P, usize>(&object, &object);
    by(&object, &Addr::of(&*object));
}

/// 166, 167: What one map has of them, another has not; nor does the other's end, or its `clear`, take it away.
fn maps_of_the_same_objects<P: Pointer>() {
    type Values<P> = Maps<P>;
    let ends: [fn(Values<P>) -> Option<Values<P>>; 2] = [
        |map| {
            drop(map);
            None
        },
        |map| {
            map.clear();
            Some(map)
        },
    ];
    for end in ends {
        let objects: Vec<P> = (0..100).map(P::from).collect();
        let (gone, kept) = (Count::default(), Count::default());
        let [mine, yours] = [&gone, &kept].map(|count| {
            let map = WeakMap::new();
            objects
                .iter()
                .for_each(|object| assert!(map.insert(object, owned(count))));
            map
        });
        let _cleared = end(mine);
        assert_eq!((gone.get(), kept.get()), (100, 0));
        assert!(objects.iter().all(|object| yours.contains_key(object)));
        drop(objects);
        yours.purge();
        assert_eq!((gone.get(), kept.get()), (100, 100));
    }
}

/// 167: A value that was there before `clear` is gone; in the end each has been dropped once.
fn clear_against_insertions<P: Pointer>() {
    const STEPS: usize = scaled(2_000, 30);
    let (map, destroyed) = (Maps::<P>::new(), Count::default());
    let common: Vec<P> = (0..8).map(P::from).collect();
    thread::scope(|scope| {
        let inserters = [1, 2, 3].map(|_| {
            scope.spawn(|| {
                for step in 0..STEPS {
                    let own = P::from(step);
                    map.insert(&common[step % 8], owned(&destroyed));
                    map.insert(&own, owned(&destroyed));
                }
            })
        });
        while !inserters.iter().all(|it| it.is_finished()) {
            map.clear();
        }
    });
    assert!(destroyed.get() <= 6 * STEPS);
    map.clear();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
    assert_eq!(destroyed.get(), 6 * STEPS);
}

/// A value whose drop counts.
fn owned(count: &Count) -> Arc<Owned> {
    Arc::new(Owned::new(0, &count.ends()))
}
