//! Shared collections in the destructors of thread-locals, which run when a thread is at its very end.

use std::cell::RefCell;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use weakly::concurrent::{Interner, WeakMap};
use weakly::{Memo, Strong};

type Last = Box<dyn FnOnce() + Send>;

struct AtTheEnd(Option<Last>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if let Some(last) = self.0.take() {
            last();
        }
    }
}

thread_local! {
    static LAST: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd(None)) };
}

/// Runs on a thread of its own: first `before`, and `last` when all thread-locals but this one have been
/// destroyed, among them those that `before` has made use of.
fn at_the_end<R: Send + 'static>(
    before: impl FnOnce() + Send + 'static,
    last: impl FnOnce() -> R + Send + 'static,
) -> R {
    let (sender, receiver): (Sender<R>, Receiver<R>) = channel();
    let thread = thread::spawn(move || {
        // Destroyed in the reverse order of their first use.
        LAST.with_borrow_mut(|own| {
            own.0 = Some(Box::new(move || sender.send(last()).expect("they wait")));
        });
        before();
    });
    thread.join().expect("it ends well");
    receiver.recv().expect("it was run")
}

#[test]
fn small_a_map_in_the_destructor_of_a_thread_local() {
    let map: &'static WeakMap<Strong<u32>, String> = Box::leak(Box::default());
    let key = Strong::new(1);
    let found = at_the_end(
        {
            let key = key.clone();
            move || {
                map.insert(&key, "early".into());
            }
        },
        {
            let key = key.clone();
            move || {
                let early = map.get(&key);
                map.insert(&key, "late".into());
                let other = Strong::new(2);
                let made = map.get_or_insert_with(&other, || {
                    map.with(&key, String::clone).expect("it is there")
                });
                drop(other);
                map.purge();
                (early, made, map.len(), map.remove(&key))
            }
        },
    );
    let [early, late] = ["early", "late"].map(String::from);
    assert_eq!(found, (Some(early), late.clone(), 1, Some(late)));
    assert!(map.is_empty());
}

#[test]
fn small_a_thread_that_has_used_nothing_before() {
    let words: &'static Interner<Strong<str>> = Box::leak(Box::default());
    let word = words.intern_ref("word");
    let same = at_the_end(|| (), || words.intern_ref("word"));
    assert!(Strong::ptr_eq(&word, &same));
}

#[test]
fn small_a_memo_in_the_destructor_of_a_thread_local() {
    let memo: &'static Memo<Strong<u32>, u32> = Box::leak(Box::default());
    let key = Strong::new(20);
    let (early, late) = (key.clone(), key.clone());
    let made = at_the_end(
        move || {
            memo.get_or_compute(&early, |_| *early + 1);
        },
        move || {
            let other = Strong::new(1);
            let two = memo.get_or_compute(&other, |_| *other + 1);
            memo.get_or_compute(&late, |_| unreachable!("it was made")) + two
        },
    );
    assert_eq!(made, 23);
}
