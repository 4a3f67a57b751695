//! An attribute as a static, which the objects' own methods read, and their destructors.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use weakly::{Attribute, Strong};

use crate::common::scaled;

/// Says what its attribute is, and in its end once more.
struct Node {
    last_words: Mutex<Sender<Option<String>>>,
}

static NOTES: Attribute<Strong<Node>, String> = Attribute::new();
static ARC_NOTES: Attribute<Arc<Node>, String> = Attribute::new();

impl Node {
    fn new(last_words: &Sender<Option<String>>) -> Self {
        let last_words = Mutex::new(last_words.clone());
        Node { last_words }
    }

    fn note(&self) -> Option<String> {
        NOTES.get(self).or_else(|| ARC_NOTES.get(self))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let note = self.note();
        assert_eq!(NOTES.has(self) || ARC_NOTES.has(self), note.is_some());
        // It may be taken away for the last time.
        let taken = NOTES.take(self).or_else(|| ARC_NOTES.take(self));
        assert_eq!((&taken, self.note()), (&note, None));
        self.last_words.lock().unwrap().send(note).unwrap();
    }
}

macro_rules! of {
    ($name:ident: $pointer:ident, $notes:ident) => {
        /// 47: By reference, in methods and in the destructor, here and on another thread.
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

/// 47: While many others die, and set, and purge.
#[test]
fn last_words_among_many() {
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
