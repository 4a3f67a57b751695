//! Maps as private attributes: static, read by the methods and destructors of the objects.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use weakly::concurrent::WeakMap;
use weakly::{Addr, Strong, reference::Identify};

use crate::common::custom::{Custom, On};
use crate::common::pointers::{Pointer, for_each_pointer};

static NOTES: WeakMap<Strong<Custom>, Custom> = WeakMap::new();
static ARC_NOTES: WeakMap<Arc<Custom>, Custom> = WeakMap::new();

/// An object that reports its note when it is dropped.
fn node(report: &Sender<Option<usize>>) -> Custom {
    let report = report.clone();
    Custom::from(0).on(On::Drop, move |node| {
        let found = note(node);
        let there = NOTES.contains_key(node) || ARC_NOTES.contains_key(node);
        assert_eq!(there, found.is_some());
        // It may be removed for the last time.
        let removed = NOTES.remove(node).or_else(|| ARC_NOTES.remove(node));
        assert_eq!((removed.map(|it| it.number), note(node)), (found, None));
        report.send(found).unwrap();
    })
}

fn note(node: &Custom) -> Option<usize> {
    let note = NOTES.get(node).or_else(|| ARC_NOTES.get(node));
    note.map(|note| note.number)
}

macro_rules! of {
    ($name:ident: $pointer:ident, $notes:ident) => {
        /// 47: By reference, in methods and in the destructor, on this thread and another.
        #[test]
        fn $name() {
            let (report, last) = channel();
            for elsewhere in [false, true] {
                let object = $pointer::new(node(&report));
                assert_eq!(note(&object), None);
                $notes.insert(&object, 7.into());
                assert_eq!(note(&object), Some(7));
                if elsewhere {
                    thread::spawn(move || drop(object)).join().unwrap();
                } else {
                    drop(object);
                }
                assert_eq!(last.recv().unwrap(), Some(7));
                let object = $pointer::new(node(&report));
                assert_eq!(note(&object), None, "a new one has none");
                drop(object);
                assert_eq!(last.recv().unwrap(), None);
            }
        }
    };
}

of!(an_object_finds_its_note: Strong, NOTES);
of!(an_object_of_an_arc_finds_its_note: Arc, ARC_NOTES);

for_each_pointer!(any_pointer_reads_and_removes,);

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
