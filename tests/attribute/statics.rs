//! A static attribute, which the objects' own methods and destructors read.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use weakly::{Attribute, Strong};

use crate::common::scaled;

/// Reports its attribute, once more when it is dropped.
struct Node {
    report: Mutex<Sender<Option<String>>>,
}

static NOTES: Attribute<Strong<Node>, String> = Attribute::new();
static ARC_NOTES: Attribute<Arc<Node>, String> = Attribute::new();

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
        assert_eq!(NOTES.has(self) || ARC_NOTES.has(self), note.is_some());
        // It may be removed for the last time.
        let taken = NOTES.take(self).or_else(|| ARC_NOTES.take(self));
        assert_eq!((&taken, self.note()), (&note, None));
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
                $notes.set(&node, "note".into());
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

of!(strong: Strong, NOTES);
of!(arc: Arc, ARC_NOTES);

/// 47: While many others die, are set, and are purged.
#[test]
fn destructors_among_many() {
    let threads = scaled(4, 2);
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let (words, last) = channel();
                for number in 0..scaled(2_000, 10) {
                    let node = Strong::new(Node::new(&words));
                    let note = format!("{thread} {number}");
                    assert!(NOTES.set(&node, note.clone()));
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
