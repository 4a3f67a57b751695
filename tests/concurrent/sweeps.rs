//! How the dead without notices are found: by an incremental sweep, a few entries at a time, with each change,
//! and with each 32nd read of a thread.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use weakly::Addr;
use weakly::concurrent::{Interner, WeakMap, WeakValueMap};

use crate::bags::BAG;
use crate::common::custom::{Custom, On, with_callback};
use crate::common::lease::Lease;
use crate::common::{on_a_stack_of, scaled};
use crate::dynamic::*;
use crate::faces::*;

for_each_collection!(
    kit: hits_find_the_dead,
    small_readers_find_each_of_the_dead_once,
    the_dead_are_a_third_of_the_living_at_most,
);

const MANY: usize = scaled(2_000, 60);
/// As many changes as a sweep over so many entries takes, and as many reads.
const ROUND: usize = MANY / 4 + 2;
const READS: usize = 32 * ROUND;

/// A collection whose entries have all died, except one.
fn dying<D: Collection + ?Sized>(kit: Kit<D>, ends: &Ends) -> (Box<D>, Handle) {
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, ends);
    let left = lives.swap_remove(MANY / 2);
    drop(lives);
    (all, left)
}

/// A collection that is only read: reads drop no entry that is notified.
fn reads_find_the_dead(kit: Kit, read: impl Fn(&dyn Collection, &Handle)) {
    let count = Count::default();
    let (all, left) = dying(kit, &count.ends());
    for _ in 0..READS {
        read(&*all, &left);
    }
    let notified = kit.notified(MANY - 1);
    assert_eq!(all.counts(), (1, 1, notified));
    assert_eq!(count.get(), kit.owned(MANY - 1 - notified));
}

/// 187, D61
fn hits_find_the_dead(kit: Kit) {
    reads_find_the_dead(kit, |all, left| assert!(all.has(left)));
}

/// 187: Readers on several threads, each with its own count: together they sweep the table, and each of the dead
/// is dropped once, by one of them.
fn small_readers_find_each_of_the_dead_once(kit: Kit) {
    const THREADS: usize = 3;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let ends: Ends = {
        let seen = seen.clone();
        Arc::new(move |number| seen.lock().unwrap().push((number, thread::current().id())))
    };
    let (all, left) = dying(kit, &ends);
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..READS / THREADS + 32 {
                    assert!(all.has(&left));
                }
            });
        }
    });
    let notified = kit.notified(MANY - 1);
    // Where nothing has a destructor, what the threads have unlinked may wait in their bags.
    let (len, live, pending) = all.counts();
    assert_eq!((len, live), (1, 1));
    assert!((notified..=notified + THREADS * BAG).contains(&pending));
    let seen = seen.lock().unwrap();
    let numbers: HashSet<_> = seen.iter().map(|(number, _)| *number).collect();
    assert_eq!(
        (numbers.len(), seen.len()),
        (seen.len(), kit.owned(MANY - 1 - notified))
    );
    assert!(seen.iter().all(|(_, id)| *id != thread::current().id()));
}

/// 187, C57: When one entry dies for each that is inserted, at most a third as many are dead as alive.
fn the_dead_are_a_third_of_the_living_at_most(kit: Kit) {
    for living in [1, 30, scaled(1_000, 40)] {
        let all = kit.empty();
        let mut lives = std::collections::VecDeque::new();
        for n in 0..living * 10 + 100 {
            if lives.len() == living {
                lives.pop_front();
            }
            let life = kit.life(n);
            all.enter(&life, &quietly());
            lives.push_back(life);
            // (And some, where the table grows.)
            let dead = all.len() - lives.len();
            assert!(dead <= living / 3 + 4 || kit.notifies, "{dead} of {living}");
        }
    }
}

/// How many objects are asked whether they are dead, during `act`.
fn asked(act: impl FnOnce()) -> usize {
    let asked = Rc::new(RefCell::new(HashSet::new()));
    let its = asked.clone();
    let notes = move |on, object: *const ()| {
        if on == On::Asked {
            its.borrow_mut().insert(object);
        }
    };
    with_callback(notes, act);
    asked.borrow().len()
}

/// Passes its input on as the hash.
#[derive(Default)]
struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("it is given numbers")
    }
    fn write_usize(&mut self, number: usize) {
        self.0 = number as u64;
    }
}

/// The most entries that a sweep visits in one operation.
const MOST: usize = 24;

/// 187: No operation visits more entries than documented (and its own), whatever comes before it: so no
/// operation pays for all.
#[test]
fn no_operation_visits_all() {
    let many = scaled(10_000, 100);
    let map = WeakMap::<Lease, Custom>::new();
    let mut most = 0;
    let mut check = |act: &mut dyn FnMut()| {
        let now = asked(act);
        assert!(now <= MOST + 1, "{now}");
        most = most.max(now);
    };
    let mut keys: Vec<Lease> = Vec::new();
    for number in 0..many {
        keys.push(Custom::from(number).into());
        check(&mut || assert!(map.insert(&keys[number], number.into())));
    }
    let few = keys.split_off(many - many / 10);
    drop(keys);
    for key in &few {
        check(&mut || assert!(map.contains_key(key)));
        check(&mut || assert!(map.contains_key(&Addr::of(&**key))));
        check(&mut || _ = map.get_or_insert_dyn(key, &mut || 1.into()));
        check(&mut || assert!(!map.insert(key, 2.into())));
        check(&mut || _ = map.compute_dyn(key, &mut |_| Some(3.into())));
    }
    for key in &few {
        check(&mut || assert!(map.remove(key).is_some()));
    }
    for _ in 0..many {
        check(&mut || assert!(!map.contains_key(&few[0])));
        check(&mut || assert!(map.remove(&few[0]).is_none()));
    }
    assert_eq!(map.len(), 0);
    assert!(most > 4, "{most}: some are looked at");
}

/// 187, 178: Also where thousands have the same hash, and the operation another.
#[test]
fn no_operation_visits_all_of_equal_hash() {
    type Values = WeakValueMap<Custom, Lease, BuildHasherDefault<Plain>>;
    type Names = Interner<Lease, BuildHasherDefault<Plain>>;
    let many = scaled(600, 60);
    let (values, names) = (Values::default(), Names::default());
    let lease = |number, hash| Lease::from(Custom::from(number).hashed(hash));
    let leases: Vec<_> = (0..many).map(|number| lease(number, 64)).collect();
    for lease in &leases {
        values.insert((**lease).clone(), lease);
        _ = names.intern(lease.clone());
    }
    drop(leases);
    let other = lease(0, 3);
    // They may have filled as many arrays as with distinct hashes.
    for _ in 0..many {
        let now = asked(|| _ = values.insert((*other).clone(), &other));
        assert!(now <= MOST + 1, "{now}");
        let now = asked(|| _ = values.get(&*other));
        assert!(now <= MOST + 1, "{now}");
        let now = asked(|| _ = names.intern(lease(1, 3)));
        // It starts with a lookup, which is a read.
        assert!(now <= 2 * MOST + 2, "{now}");
    }
    assert_eq!(values.len(), 1);
    assert!(names.len() <= 2, "{}", names.len());
}

/// 187, C53, D65: A destructor that a read runs reads in its turn, so often that it finds others of the dead,
/// and changes the map: this terminates, on a small stack, and no dead entry is left.
#[test]
fn a_destructor_that_a_read_runs_reads() {
    const DEAD: usize = scaled(5_000, 40);
    let test = || {
        let map = Arc::new(Maps::<Arc<usize>>::new());
        let (count, left) = (Count::default(), Arc::new(DEAD));
        let ends: Ends = {
            let (map, count, left) = (Arc::downgrade(&map), count.clone(), left.clone());
            Arc::new(move |_| {
                count.add();
                let Some(map) = map.upgrade() else { return };
                for _ in 0..64 {
                    assert!(map.contains_key(&left));
                }
                map.remove_if(&Arc::new(0), |_| unreachable!("it is absent"));
            })
        };
        map.insert(&left, token());
        let keys: Vec<Arc<usize>> = (0..DEAD).map(Arc::new).collect();
        keys.iter()
            .for_each(|key| _ = map.insert(key, owned(0, &ends)));
        drop(keys);
        for _ in 0..32 * (DEAD / 4 + 2) {
            assert!(map.contains_key(&left));
        }
        assert_eq!((map.len(), count.get()), (1, DEAD));
    };
    on_a_stack_of(512 << 10, test);
}
