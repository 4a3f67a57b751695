//! 421: Destructors, panics, threads, the end of a thread. Nothing may deadlock: no lock is held while user code runs.

use std::alloc::Layout;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::{env, thread};

use super::common::heap::Watcher;
use super::common::scaled;
use weakly::leaks::Snapshot;
use weakly::{
    Strong,
    ptr::{self, Flavour},
};

use crate::for_each_flavour;

for_each_flavour! {
    a_destructor_may_use_all_of_it,
    a_panic_leaves_the_list_right,
}

/// The variable that asks for backtraces.
const ASKED: &str = "WEAKLY_BACKTRACE";
const CHILD: &str = "HOLDERS_CHILD";

/// Another process that runs one of these tests.
fn child(test: &str) -> Command {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args([test, "--exact", "--nocapture"]);
    child.env(CHILD, "1").env_remove(ASKED);
    child
}

fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// Runs a closure when dropped.
struct OnDrop<C: FnMut()>(C);

impl<C: FnMut()> Drop for OnDrop<C> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn a_destructor_may_use_all_of_it<F: Flavour>() {
    let before = Snapshot::new();
    let other = ptr::Strong::<_, F>::new(5);
    let seen = RefCell::new(Vec::new());
    let object = ptr::Strong::<_, F>::new(OnDrop(|| {
        let more = ptr::Strong::<_, F>::new(other.clone());
        // The dying object is none of the living.
        seen.borrow_mut().push((
            before.leaks_of_this_thread().len(),
            ptr::Strong::holders(&other).len(),
            ptr::Strong::holders(&more).len(),
        ));
    }));
    assert_eq!(before.leaks_of_this_thread().len(), 2);
    drop(object);
    assert_eq!(seen.take(), [(2, 2, 1)]);
    drop(other);
    assert!(before.leaks_of_this_thread().is_empty());
}

fn a_panic_leaves_the_list_right<F: Flavour>() {
    let caught = |f: &dyn Fn()| assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
    let before = Snapshot::new();
    // In a destructor.
    caught(&|| {
        drop(ptr::Strong::<_, F>::new(OnDrop(|| {
            resume_unwind(Box::new("hostile"))
        })))
    });
    // In the making of a cyclic object.
    caught(&|| _ = ptr::Strong::<i32, F>::new_cyclic(|_| resume_unwind(Box::new("unborn"))));
    // In the clone that `make_mut` makes.
    struct Hostile;
    impl Clone for Hostile {
        fn clone(&self) -> Self {
            resume_unwind(Box::new("hostile"))
        }
    }
    let strong = ptr::Strong::<_, F>::new(Hostile);
    caught(&|| {
        let mut other = strong.clone();
        ptr::Strong::make_mut(&mut other);
    });
    assert_eq!(ptr::Strong::holders(&strong).len(), 1);
    drop(strong);
    // While handles unwind.
    caught(&|| {
        let strong = ptr::Strong::<_, F>::new(5);
        let _other = strong.clone();
        resume_unwind(Box::new("hostile"));
    });
    assert_eq!(before.leaks_of_this_thread().len(), 0);
}

#[test]
fn many_threads_lose_no_entry() {
    let threads = 4;
    let before = Snapshot::new();
    let object = Strong::new(5);
    let weak = Strong::downgrade(&object);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (object, weak) = (object.clone(), &weak);
            scope.spawn(move || {
                let mut own = Some(object);
                for turn in 0..scaled(2000, 20) {
                    // At times it has only the weak handle, so that all the counts may come from upgrades.
                    let upgraded = weak.upgrade().expect("the main thread keeps it");
                    let listed = Strong::holders(&upgraded);
                    assert!(!listed.is_empty() && listed.len() <= 1 + 2 * threads);
                    own = (turn % 2 == 0).then_some(upgraded);
                }
                drop(own);
            });
        }
    });
    let leaks = before.leaks_of_this_thread();
    assert_eq!((leaks.len(), leaks.groups[0].holders.len()), (1, 1));
    drop(object);
    assert!(weak.is_expired() && before.leaks_of_this_thread().is_empty());
}

/// Stops a thread where it allocates next, in the middle of an upgrade.
pub(super) struct Pausing;

thread_local! {
    static PAUSES: Cell<bool> = const { Cell::new(false) };
}
static PAUSED: AtomicBool = AtomicBool::new(false);
static GO_ON: AtomicBool = AtomicBool::new(false);

impl Watcher for Pausing {
    fn allocates(&self, _: Layout) -> bool {
        if PAUSES.replace(false) {
            PAUSED.store(true, SeqCst);
            while !GO_ON.load(SeqCst) {
                thread::yield_now();
            }
        }
        true
    }
}

/// While one thread upgrades and another drops the last other handle, the object stays listed, with its birth. In a
/// process that takes backtraces: that allocates after the upgrade has counted its handle, and before the handle is
/// listed.
#[test]
#[cfg_attr(miri, ignore = "it starts a process")]
fn an_upgrade_that_meets_the_last_drop_finds_the_object_listed() {
    let name = "hostile::an_upgrade_that_meets_the_last_drop_finds_the_object_listed";
    if !is_child() {
        let output = child(name).env(ASKED, "1").output().unwrap();
        return assert!(output.status.success(), "{output:?}");
    }
    let before = Snapshot::new();
    let object = Strong::new(5_u8);
    let born = line!() - 1;
    let weak = Strong::downgrade(&object);
    let upgraded = thread::scope(|scope| {
        let upgrader = scope.spawn(|| {
            PAUSES.set(true);
            let upgraded = weak.upgrade();
            assert!(!PAUSES.replace(false), "it allocates in between");
            upgraded.expect("counted before the other handle was dropped")
        });
        while !PAUSED.load(SeqCst) && !upgrader.is_finished() {
            thread::yield_now();
        }
        let counted = weak.strong_count();
        drop(object);
        GO_ON.store(true, SeqCst);
        assert_eq!(counted, 2);
        upgrader.join().unwrap()
    });
    let leaks = before.leaks_of_this_thread();
    assert_eq!((leaks.len(), leaks.groups[0].holders.len()), (1, 1));
    assert_eq!(
        leaks.groups[0].birth.as_ref().unwrap().location().line(),
        born
    );
    drop(upgraded);
    assert!(before.leaks_of_this_thread().is_empty());
}

#[test]
fn thread_locals_use_handles_while_their_thread_ends() {
    /// Uses handles when it is dropped, which may be the first time on its thread.
    struct Late(Option<Strong<u8>>);
    impl Drop for Late {
        fn drop(&mut self) {
            let own = Strong::new(6_u8);
            let more = own.clone();
            let of_own = Strong::holders(&more).len();
            let kept = self.0.take();
            let of_kept = kept.as_ref().map_or(0, |kept| Strong::holders(kept).len());
            SEEN.lock().unwrap().push((of_own, of_kept));
        }
    }
    static SEEN: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
    thread_local! {
        static EARLY: RefCell<Late> = const { RefCell::new(Late(None)) };
        static LATER: RefCell<Late> = const { RefCell::new(Late(None)) };
    }
    // The one has used handles before, the other not.
    thread::spawn(|| {
        EARLY.with_borrow(|_| ());
        let strong = Strong::new(5);
        LATER.with_borrow_mut(|later| later.0 = Some(strong.clone()));
        EARLY.with_borrow_mut(|early| early.0 = Some(strong));
    })
    .join()
    .unwrap();
    thread::spawn(|| EARLY.with_borrow(|_| ())).join().unwrap();
    let mut seen = SEEN.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, [(2, 0), (2, 1), (2, 2)]);
}

#[test]
#[cfg_attr(miri, ignore = "it starts a process")]
fn backtraces_are_taken_if_asked_for() {
    fn maker_of_the_backtrace() -> Strong<i32> {
        Strong::new(5)
    }
    if is_child() {
        let origin = &Strong::holders(&maker_of_the_backtrace())[0];
        println!("{origin}");
        return;
    }
    let name = "hostile::backtraces_are_taken_if_asked_for";
    for (value, expected) in [(None, false), (Some("1"), true), (Some("0"), false)] {
        let mut child = child(name);
        if let Some(value) = value {
            child.env(ASKED, value);
        }
        let output = child.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(file!()), "{text}");
        let taken = text.contains("maker_of_the_backtrace");
        assert_eq!(taken, expected, "{value:?}: {text}");
    }
}
