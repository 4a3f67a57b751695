//! When, how often and where a collection drops what it owns, and which lookups find it until then.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use weakly::concurrent::{WeakMap, WeakPairMap, WeakValueMap};
use weakly::reference::{WeakKey, WeakRef};
use weakly::{Reclaim, Strong};

use crate::faces::*;
use crate::for_each_pointer;

for_each_owning!(
    kit: a_removed_entry_is_dropped_by_the_remover,
    small_an_entry_being_read_is_dropped_by_its_reader,
);

for_each_pointer!(a_value_does_not_die_unnoticed_while_it_is_changed,);

/// Records the threads that drop.
fn recorded_threads() -> (Ends, Arc<Mutex<Vec<ThreadId>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let ends = {
        let seen = seen.clone();
        Arc::new(move |_| seen.lock().unwrap().push(thread::current().id()))
    };
    (ends, seen)
}

/// C41: No thread reads: each is dropped before the call returns, by the thread that makes it. Few threads, because
/// each may have a number of its own, and from eight threads on a bag keeps what is removed.
fn a_removed_entry_is_dropped_by_the_remover(kit: Kit<dyn Changing>) {
    let (ends, seen) = recorded_threads();
    let lives = kit.lives(40);
    let all = kit.of(&lives, &ends);
    let remove = |lives: &[Handle]| {
        for life in lives {
            let before = seen.lock().unwrap().len();
            assert!(all.leave(life));
            let seen = seen.lock().unwrap();
            assert_eq!(
                (seen.len(), seen[before]),
                (before + 1, thread::current().id())
            );
        }
    };
    for lives in lives.chunks(10) {
        thread::scope(|scope| _ = scope.spawn(|| remove(lives)));
    }
}

/// Lets another thread read the entry of `life`, and acts meanwhile; returns what was dropped of `number` before
/// it left and after, and the thread.
fn while_another_reads(
    all: &dyn Changing,
    life: &Handle,
    act: impl FnOnce(),
    look: impl Fn() -> usize,
) -> (usize, usize, ThreadId) {
    let (entered, enters) = channel();
    let (leave, left) = channel();
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            all.leave_if(life, &mut || {
                entered.send(()).unwrap();
                left.recv().unwrap();
                false
            });
            thread::current().id()
        });
        enters.recv().unwrap();
        act();
        let before = look();
        leave.send(()).unwrap();
        let id = reader.join().unwrap();
        (before, look(), id)
    })
}

/// C39, L160: A thread that reads an entry while it is removed drops it.
fn small_an_entry_being_read_is_dropped_by_its_reader(kit: Kit<dyn Changing>) {
    let (ends, seen) = recorded_threads();
    let lives = kit.lives(2);
    let all = kit.of(&lives, &ends);
    let count = || seen.lock().unwrap().len();
    let act = || assert!(all.leave(&lives[0]) && !all.has(&lives[0]));
    let (before, after, reader) = while_another_reads(&*all, &lives[0], act, count);
    assert_eq!((before, after), (0, 1));
    assert_eq!(*seen.lock().unwrap(), [reader]);
    assert_eq!(all.counts(), (1, 1, 0));
}

/// 116: The value that a change is shown dies before its end: the closure is called again, or, where nobody tells of the death,
/// the value lives until then.
fn a_value_does_not_die_unnoticed_while_it_is_changed<P: Kind>() {
    type Change<L> = fn(&L, L, &mut dyn FnMut(Option<L>) -> Option<L>);
    let changes: [Change<Life<P>>; 2] = [
        |_, old, change| {
            let map = WeakValueMap::new();
            map.insert(0_usize, &old);
            drop(old);
            _ = map.compute(0, change);
        },
        |key, old, change| {
            let map = WeakPairMap::new();
            map.insert(key, &old);
            drop(old);
            _ = map.compute(key, change);
        },
    ];
    for change in changes {
        let [key, old, new] = [0, 1, 2].map(Life::<P>::from);
        let (weak, mut last) = (WeakKey::downgrade(&old), Some(old.clone()));
        let mut shown = Vec::new();
        change(&key, old, &mut |old| {
            shown.push(old.is_some());
            drop((old, last.take()));
            assert_eq!(weak.upgrade().is_some(), !P::NOTIFIES);
            Some(new.clone())
        });
        assert!(weak.upgrade().is_none());
        assert_eq!(shown, [true, false][..1 + usize::from(P::NOTIFIES)]);
    }
}

/// 369: Of one table each: values that borrow and have a destructor, keys that do; some die, are kept, and are taken.
#[test]
fn what_borrows_is_destroyed_while_it_borrows() {
    #[derive(Clone)]
    struct Borrows<'a>(&'a str, &'a AtomicUsize);
    impl Drop for Borrows<'_> {
        fn drop(&mut self) {
            assert_eq!(self.0, "text");
            self.1.fetch_add(1, Relaxed);
        }
    }
    #[derive(Clone)]
    struct Key<'a>(usize, Borrows<'a>);
    impl PartialEq for Key<'_> {
        fn eq(&self, other: &Self) -> bool {
            (self.0, self.1.0) == (other.0, other.1.0)
        }
    }
    impl Eq for Key<'_> {}
    impl Hash for Key<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    let (text, ends) = (String::from("text"), AtomicUsize::new(0));
    let borrows = || Borrows(&text, &ends);
    let [living, dying] = [1, 2].map(Strong::<usize>::new);
    let map = WeakMap::new();
    map.set_reclaim(Reclaim::OnRequest);
    for object in [&living, &dying] {
        map.insert(object, borrows());
    }
    let values = WeakValueMap::new();
    values.set_reclaim(Reclaim::OnRequest);
    for (number, object) in [&living, &dying].into_iter().enumerate() {
        values.insert(Key(number, borrows()), object);
    }
    drop(dying);
    // These changes take out the dead entries, whose keys and values the collections keep.
    let another = Strong::new(3);
    map.insert(&another, borrows());
    values.insert(Key(3, borrows()), &another);
    assert_eq!((map.pending_dead(), values.pending_dead()), (1, 1));
    assert_eq!(map.take_dead(1).len(), 1);
    assert_eq!(ends.load(Relaxed), 1);
    drop((map, values));
    assert_eq!(ends.load(Relaxed), 6);
}
