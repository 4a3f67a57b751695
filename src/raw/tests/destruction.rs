//! When and where unlinked objects are destroyed.

use core::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::vec::Vec;

use super::*;
use crate::panics::FirstPanic;

fn ends() -> Arc<AtomicUsize> {
    Arc::default()
}

/// At once, if no other thread is inside.
#[test]
fn at_once() {
    let ends = ends();
    let table = RawTable::<Node>::new();
    table.insert(Node::counted(1, 1, &ends));
    table.insert(Node::counted(1, 1, &ends));
    assert_eq!(ends.load(Relaxed), 1, "replaced");
    table.take(1, 1);
    assert_eq!(ends.load(Relaxed), 2, "removed");
    table.insert(Node::counted(1, 1, &ends));
    table.insert(Node::counted(2, 2, &ends));
    drop(table);
    assert_eq!(ends.load(Relaxed), 4, "with the table");
}

/// When the outer guard is dropped, if the same thread is inside twice.
#[test]
fn when_the_outer_leaves() {
    let ends = ends();
    let table = RawTable::<Node>::new();
    table.insert(Node::counted(1, 1, &ends));
    let outer = table.read();
    let inner = table.read();
    table.take(1, 1);
    drop(inner);
    assert_eq!(ends.load(Relaxed), 0);
    drop(outer);
    assert_eq!(ends.load(Relaxed), 1);
}

/// Runs a thread that is inside the table until it receives the message to leave.
fn guest<'s>(
    scope: &'s thread::Scope<'s, '_>,
    table: &'s RawTable<Node>,
) -> impl FnOnce() + use<'s> {
    let (entered, is_inside) = mpsc::channel();
    let (leave, signal) = mpsc::channel::<()>();
    let thread = scope.spawn(move || {
        let reader = table.read();
        entered.send(()).expect("they wait");
        signal.recv().expect("the signal comes");
        drop(reader);
    });
    is_inside.recv().expect("it enters");
    move || {
        leave.send(()).expect("it waits");
        thread.join().expect("it leaves");
    }
}

/// Other threads are inside: the entry is destroyed by the last of the earlier threads, when the
/// thread leaves. A later thread does not delay the destruction. (The last thread leaves without a
/// barrier, and might miss its name. Here the received message acts as a barrier.)
#[test]
fn by_the_last_that_leaves() {
    let ends = ends();
    let table = RawTable::<Node>::new();
    table.insert(Node::counted(1, 1, &ends));
    thread::scope(|scope| {
        let first = guest(scope, &table);
        let second = guest(scope, &table);
        table.take(1, 1);
        let late = guest(scope, &table);
        assert_eq!(ends.load(Relaxed), 0);
        second();
        assert_eq!(ends.load(Relaxed), 0);
        // A thread that enters and leaves in between does not destroy the entry.
        assert_eq!(table.value(1, 1), None);
        assert_eq!(ends.load(Relaxed), 0);
        first();
        assert_eq!(ends.load(Relaxed), 1);
        late();
    });
    assert_eq!(ends.load(Relaxed), 1);
}

/// The same without user destructors.
#[test]
fn without_destructors() {
    let ends = ends();
    let table = RawTable::<Node<false>>::new();
    table.insert(Node::counted(1, 1, &ends));
    let outer = table.read();
    table.take(1, 1);
    assert_eq!(ends.load(Relaxed), 0);
    drop(outer);
    table.value(1, 1);
    assert_eq!(ends.load(Relaxed), 1);
    // A lone thread destroys at once here, too.
    table.insert(Node::counted(1, 1, &ends));
    table.take(1, 1);
    assert_eq!(ends.load(Relaxed), 2);
}

/// So many threads that the directory has been replaced several times.
#[test]
fn many_threads_inside() {
    let many = if cfg!(miri) { 20 } else { 100 };
    let ends = ends();
    let table = RawTable::<Node>::new();
    table.insert(Node::counted(1, 1, &ends));
    thread::scope(|scope| {
        let mut guests: Vec<_> = (0..many).map(|_| guest(scope, &table)).collect();
        table.take(1, 1);
        // With so many threads a thread gathers, so the entry is in a bag.
        table.empty_bags(true, usize::MAX, &mut FirstPanic::default());
        let last = guests.swap_remove(many / 2);
        for leave in guests {
            leave();
            assert_eq!(ends.load(Relaxed), 0);
        }
        last();
    });
    assert_eq!(ends.load(Relaxed), 1);
}

fn panicking(key: u64, ends: &Arc<AtomicUsize>) -> Box<Node> {
    let mut node = Node::counted(key, key, ends);
    node.panics = true;
    node
}

fn panicked_with(run: impl FnOnce()) -> u64 {
    let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
    *payload.downcast().expect("a key")
}

/// All destructors run, even if one panics. The first panic is resumed.
#[test]
fn destructors_that_panic() {
    let ends = ends();
    let table = RawTable::<Node>::new();
    let fill = || {
        for key in 0..10 {
            table.insert(panicking(key, &ends));
        }
    };
    let clear = || {
        let writer = table.write();
        for key in 0..10 {
            assert!(writer.remove_if(key, |_| true, |_| true).is_some());
        }
    };
    fill();
    assert_eq!(panicked_with(clear), 0);
    assert_eq!(ends.swap(0, Relaxed), 10, "at once");

    fill();
    let outer = table.read();
    clear();
    assert_eq!(panicked_with(|| drop(outer)), 0);
    assert_eq!(ends.swap(0, Relaxed), 10, "from deferred");

    // Two panics at once would abort the process.
    fill();
    let payload = catch_unwind(AssertUnwindSafe(|| {
        let _writer = table.write();
        clear();
        std::panic::resume_unwind(Box::new(77_u64));
    }));
    assert_eq!(payload.unwrap_err().downcast_ref(), Some(&77_u64));
    assert_eq!(ends.swap(0, Relaxed), 10, "while the thread panics");

    fill();
    assert!(panicked_with(|| drop(table)) < 10);
    assert_eq!(ends.load(Relaxed), 10, "with the table");
}

/// A destructor may use the table, and unlink more entries.
#[test]
fn destructors_that_use_the_table() {
    struct Chain {
        table: &'static RawTable<Chain>,
        key: u64,
    }
    impl Entry for Chain {
        const PROMPT: bool = true;
        type Context = ();
        type Watch = ();

        fn hash(&self) -> u64 {
            self.key
        }
    }
    impl Drop for Chain {
        fn drop(&mut self) {
            let writer = self.table.write();
            writer.remove_if(self.key + 1, |_| true, |_| true);
        }
    }
    static TABLE: OnceLock<RawTable<Chain>> = OnceLock::new();
    let table = TABLE.get_or_init(RawTable::new);
    for key in 0..20 {
        let chain = Box::new(Chain { table, key });
        let mut chain = table.entry(|| *chain);
        table.write().put(&mut chain, |_, _| false, |_| true);
    }
    table.write().remove_if(0, |_| true, |_| true);
    assert_eq!(table.len(), 0);
}

/// Each entry is ended once, with the context of the table: an entry that was never inserted, was
/// replaced, was removed while a thread looked at it, or was still in the table at the end.
#[test]
fn ends_have_the_context() {
    struct Recorded(u64);
    impl Entry for Recorded {
        const PROMPT: bool = true;
        type Context = Arc<Mutex<Vec<u64>>>;
        type Watch = ();

        fn hash(&self) -> u64 {
            0
        }

        fn end(self, _: *const Self, ended: &Self::Context) {
            ended.lock().unwrap().push(self.0);
        }
    }
    let table = RawTable::<Recorded>::new();
    let ended = Arc::clone(table.context());
    let now = || core::mem::take(&mut *ended.lock().unwrap());
    let put = |number, same, expected| {
        let mut entry = table.entry(|| Recorded(number));
        _ = table.write().put(&mut entry, |_, _| same, |_| expected);
    };
    drop(table.entry(|| Recorded(0)));
    put(1, false, false);
    assert_eq!(now(), [0, 1], "never in");
    put(2, false, true);
    put(3, true, true);
    assert_eq!(now(), [2], "replaced");
    let reader = table.read();
    table.write().remove_if(0, |_| true, |_| true);
    assert_eq!(now(), [], "looked at");
    drop(reader);
    assert_eq!(now(), [3], "removed");
    put(4, false, true);
    drop(table);
    assert_eq!(now(), [4], "with the table");
    assert_eq!(Arc::strong_count(&ended), 1);
}

/// The destructors of thread-locals may use a table, even destructors that run after the library's
/// own.
#[test]
fn in_the_destructor_of_a_thread_local() {
    static TABLE: RawTable<Node> = RawTable::new();
    struct Last(mpsc::Sender<Option<u64>>);
    impl Drop for Last {
        fn drop(&mut self) {
            let outer = TABLE.read();
            let before = TABLE.value(1, 1);
            assert_eq!(TABLE.insert(Node::new(1, 1, 11)), Some(10));
            assert_eq!(TABLE.take(1, 1), Some(11));
            drop(outer);
            let _ = self.0.send(before);
        }
    }
    std::thread_local! {
        static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
    }
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Initialised before the thread has a number, so its destructor runs after the destructor
        // that gives the number back.
        LAST.set(Some(Last(sender)));
        TABLE.insert(Node::new(1, 1, 10));
    })
    .join()
    .expect("it ends well");
    assert_eq!(receiver.recv(), Ok(Some(10)));
    assert_eq!(TABLE.len(), 0);
    // A thread that has no number until its destructors run.
    let (sender, receiver) = mpsc::channel();
    TABLE.insert(Node::new(1, 1, 10));
    thread::spawn(move || LAST.set(Some(Last(sender))))
        .join()
        .expect("it ends well");
    assert_eq!(receiver.recv(), Ok(Some(10)));
}

/// Numbers are given back when threads end: a table has no more participants than threads at the
/// same time.
#[test]
fn numbers_are_given_back() {
    use crate::thread::ThreadNumber;
    let own = ThreadNumber::current().get();
    assert_eq!(ThreadNumber::current().get(), own);
    let many = if cfg!(miri) { 10 } else { 300 };
    let highest = (0..many)
        .map(|_| {
            let number = thread::spawn(|| ThreadNumber::current().get());
            number.join().expect("it has one")
        })
        .max();
    // Other tests run at the same time, but with fewer threads.
    assert!(highest < Some(many.max(250)));
}

/// An array may still be deferred when the table is dropped: a forgotten guard stays inside for
/// ever.
#[test]
fn an_old_array_goes_with_the_table() {
    let table = RawTable::<Node>::new();
    table.insert(Node::new(spread(0), 0, 0));
    core::mem::forget(table.read());
    for key in 1..100 {
        table.insert(Node::new(spread(key), key, 0));
    }
    drop(table);
}
