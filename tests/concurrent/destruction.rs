//! When, how often and where what a collection owns is destroyed, and who finds it until then.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use weakly::WeakKey;
use weakly::concurrent::{WeakMap, WeakSet};

use crate::common::scaled;
use crate::faces::*;
use crate::{for_each_changing, for_each_collection, for_each_owning, for_each_pointer};

for_each_owning!(
    what_is_removed_is_destroyed_by_the_remover,
    small_what_is_looked_at_is_destroyed_by_who_looks,
    small_what_is_drained_while_somebody_looks_is_destroyed_after_that,
    a_look_inside_a_look_is_one_look,
);

for_each_changing!(what_is_removed_while_it_is_looked_at_is_not_found);

for_each_collection!(growth_loses_nothing);

for_each_pointer!(
    the_object_finds_its_own_entry_in_its_destructor,
    a_new_object_does_not_inherit,
    small_nor_while_others_drain,
    an_element_of_a_set_is_new_where_a_dead_one_was,
);

/// Tells the threads that destroy.
fn witnessed() -> (Ends, Arc<Mutex<Vec<ThreadId>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let ends = {
        let seen = seen.clone();
        Arc::new(move |_| seen.lock().unwrap().push(thread::current().id()))
    };
    (ends, seen)
}

/// C41: Nobody looks: each is destroyed before the call is over, by the thread that makes it.
fn what_is_removed_is_destroyed_by_the_remover<C: Changing>() {
    let (ends, seen) = witnessed();
    let lives = lives::<C::Kind>(40);
    let all = C::of(&lives, &ends);
    for (n, life) in lives.iter().enumerate() {
        let there = thread::scope(|scope| {
            let remove = || (all.leave(life), thread::current().id());
            scope.spawn(remove).join().unwrap()
        });
        assert!(there.0);
        let seen = seen.lock().unwrap();
        assert_eq!((seen.len(), seen[n]), (n + 1, there.1));
    }
}

/// Lets another thread look at the entry of `life`, and acts while it does; what of `number` was seen
/// before it left and after, and the thread.
fn while_another_looks<C: Changing>(
    all: &C,
    life: &Life<C::Kind>,
    act: impl FnOnce(),
    look: impl Fn() -> usize,
) -> (usize, usize, ThreadId) {
    let (entered, enters) = channel();
    let (leave, left) = channel();
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            all.leave_if(life, || {
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

/// C39, L160: Who looks at an entry that is removed meanwhile destroys it.
fn small_what_is_looked_at_is_destroyed_by_who_looks<C: Changing>() {
    let (ends, seen) = witnessed();
    let lives = lives::<C::Kind>(2);
    let all = C::of(&lives, &ends);
    let count = || seen.lock().unwrap().len();
    let act = || assert!(all.leave(&lives[0]) && !all.has(&lives[0]));
    let (before, after, reader) = while_another_looks(&all, &lives[0], act, count);
    assert_eq!((before, after), (0, 1));
    assert_eq!(*seen.lock().unwrap(), [reader]);
    assert_eq!(all.counts(), (1, 1, 0));
}

/// C39, L160: So does who looks at another entry when the dead are buried.
fn small_what_is_drained_while_somebody_looks_is_destroyed_after_that<C: Changing>() {
    let (ends, seen) = witnessed();
    let mut lives = lives::<C::Kind>(24);
    let all = C::of(&lives, &ends);
    let looked_at = lives.pop().unwrap();
    let count = || seen.lock().unwrap().len();
    let act = || {
        lives.clear();
        all.purge();
        assert_eq!(all.counts(), (1, 1, 0));
    };
    let (before, after, reader) = while_another_looks(&all, &looked_at, act, count);
    assert_eq!((before, after), (0, 23));
    assert!(seen.lock().unwrap().iter().all(|id| *id == reader));
}

/// C39: What a thread removes while it looks is destroyed when it does not any more.
fn a_look_inside_a_look_is_one_look<C: Changing>() {
    let count = Count::default();
    let mut lives = lives::<C::Kind>(3);
    let all = C::of(&lives, &count.ends());
    let looked_at = lives.pop().unwrap();
    let went = all.leave_if(&looked_at, || {
        assert!(all.leave(&lives[0]));
        lives.clear();
        all.purge();
        assert_eq!((all.counts(), count.get()), ((1, 1, 0), 0));
        true
    });
    assert_eq!((went, all.counts(), count.get()), (true, (0, 0, 0), 3));
}

/// L157
fn what_is_removed_while_it_is_looked_at_is_not_found<C: Changing>() {
    let life = Life::<C::Kind>::from(1);
    let all = C::of([&life], &quietly());
    let went = all.leave_if(&life, || {
        // Asked again, it is not there; what was put in meanwhile is.
        all.leave(&life);
        assert!(!all.has(&life));
        true
    });
    assert!(!went || all.is_empty());
    assert!(!all.has(&life));
    all.enter(&life, &quietly());
    assert_eq!(all.counts(), (1, 1, 0));
}

/// C54: Nothing is lost when the table grows, nor destroyed early or twice.
fn growth_loses_nothing<C: Collection>() {
    let count = Count::default();
    let all = C::default();
    let mut live = Vec::new();
    for n in 0..scaled(5_000, 100) {
        let life = Life::<C::Kind>::from(n);
        all.enter(&life, &count.ends());
        if n % 3 > 0 {
            live.push(life);
        }
    }
    assert!(live.iter().all(|life| all.has(life)));
    all.purge();
    assert_eq!(all.counts(), (live.len(), live.len(), 0));
    assert_eq!(count.get(), C::owned(scaled(5_000, 100) - live.len()));
}

/// C47: A plain reference finds the entry until the destructor is over; the collection may be used by it.
fn the_object_finds_its_own_entry_in_its_destructor<P: Kind>() {
    struct Object<P: Kind> {
        map: Arc<OnceMap<P>>,
        found: Arc<Mutex<Vec<Option<usize>>>>,
    }
    struct OnceMap<P: Kind>(WeakMap<P::Strong<Object<P>>, usize>);
    impl<P: Kind> Drop for Object<P> {
        fn drop(&mut self) {
            let map = self.map.clone();
            let look = |object: &Self| map.0.get(&weakly::Addr::of(object));
            let first = look(self);
            map.0.purge();
            map.0.remove_if(&weakly::Addr::of(&*self), |_| false);
            self.found.lock().unwrap().extend([first]);
        }
    }
    let map = Arc::new(OnceMap::<P>(WeakMap::new()));
    let found = Arc::new(Mutex::new(Vec::new()));
    let object = || {
        let (map, found) = (map.clone(), found.clone());
        P::Strong::from(Object { map, found })
    };
    let (one, stranger) = (object(), object());
    map.0.insert(&one, 7);
    drop((one, stranger));
    assert_eq!(*found.lock().unwrap(), [Some(7), None]);
    map.0.purge();
    assert!(map.0.is_empty());
}

/// B28: A new object at a dead one's address finds nothing of it, nor does the dead one's notice find what
/// the new one has put in. (`Arc`s that are in a map keep their addresses, and so do objects of ours whose
/// payload is not so large that it is apart.)
fn a_new_object_does_not_inherit<P: Kind>() {
    type Large<P> = <P as Kind>::Strong<[usize; 61]>;
    let map = WeakMap::<Large<P>, usize>::new();
    let mut recycled = 0;
    let mut last = std::ptr::null();
    for n in 0..scaled(20_000, 200) {
        let key = Large::<P>::from([n; 61]);
        recycled += usize::from(Large::<P>::addr(&key) == last);
        last = Large::<P>::addr(&key);
        assert_eq!(map.get(&key), None);
        assert!(map.remove(&key).is_none());
        assert!(map.insert(&key, n));
        assert_eq!(map.get(&key), Some(n));
        if n % 7 == 0 {
            map.purge();
        }
        assert_eq!(map.get(&key), Some(n));
    }
    // Not every allocator gives addresses out again: those of interpreters and sanitizers do not.
    let boxed = || std::ptr::from_ref(&*Box::new([7_usize; 61])).addr();
    let expected = P::NOTIFIES && (0..100).any(|_| boxed() == boxed());
    assert!(recycled == 0 || P::NOTIFIES, "{recycled}");
    assert!(recycled > 0 || !expected);
}

/// B28, L161: Whoever else drains the same queue.
fn small_nor_while_others_drain<P: Kind>() {
    let map = WeakMap::<Life<P>, (usize, usize)>::new();
    let over = Over::default();
    let churn = |thread: usize| {
        for n in 0..scaled(10_000, 6) {
            let keys = lives::<P>(2);
            for key in &keys {
                assert_eq!(map.get(key), None);
                map.insert(key, (thread, n));
            }
            assert!(keys.iter().all(|key| map.get(key) == Some((thread, n))));
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.is_near() {
                map.purge();
                thread::yield_now();
            }
        });
        let _end = over.at_the_end();
        let churns = [1, 2].map(|thread| scope.spawn(move || churn(thread)));
        churns.into_iter().for_each(|it| it.join().unwrap());
    });
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

/// B28, G100
fn an_element_of_a_set_is_new_where_a_dead_one_was<P: Kind>() {
    let set = WeakSet::<Life<P>>::new();
    for n in 0..scaled(5_000, 100) {
        let life = Life::<P>::from(n);
        assert!(!set.contains(&life));
        assert!(set.insert(&life) && !set.insert(&life));
    }
    set.purge();
    assert!(set.is_empty());
}
