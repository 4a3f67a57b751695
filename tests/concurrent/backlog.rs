//! How many dead entries wait, at most, for each number of threads: the bound of the guide's chapter `shared`.
//!
//! All threads in all scenes, and on one core: `WEAKLY_BACKLOG=1 taskset -c 0 cargo test --release --test concurrent backlog`.

use std::sync::Barrier;
use std::thread;

use weakly::Strong;
use weakly::concurrent::WeakMap;

use crate::common::scaled;
use crate::faces::token;

type Key = Strong<usize>;

/// The most threads that use a collection.
const THREADS: usize = scaled(70, 10);
/// How many objects die in a scene.
const DEATHS: usize = scaled(4_800, 96);

/// A change takes so many dead entries, a bag has room for so many objects, and a list of so many is full.
const TAKEN: usize = 16;

/// How many dead entries wait at most, besides the excess of deaths over 16 for each change.
fn most(threads: usize) -> usize {
    let stripes = if threads > 8 { usize::BITS as usize } else { 8 };
    (TAKEN - 1) * stripes + (TAKEN + TAKEN) * threads
}

/// How many dead entries wait. (Threads that leave at once may miss each other: then the next thread destroys what waits for
/// them.)
fn waiting<V: Send + Sync>(map: &WeakMap<Key, V>) -> usize {
    map.with(&Strong::new(0), |_| ());
    map.pending_dead()
}

fn is_thorough() -> bool {
    std::env::var_os("WEAKLY_BACKLOG").is_some()
}

/// Some threads have used a collection, and live on; the last is this thread. In each round first the droppers drop handles, and
/// then each changer makes a change: eight deaths for each change, so there is no excess after a round.
fn lockstep<V: Send + Sync>(
    users: usize,
    [droppers, changers]: [usize; 2],
    value: impl Fn() -> V + Sync,
) {
    let scene = format!("{users} threads, {droppers} droppers, {changers} changers");
    let map = &WeakMap::<Key, V>::new();
    let deaths = (8 * changers / droppers).max(1);
    let rounds = (DEATHS / droppers).div_ceil(deaths);
    let mut keys: Vec<Vec<Key>> = Vec::new();
    for _ in 0..droppers {
        keys.push((0..rounds * deaths).map(Strong::new).collect());
        keys.last()
            .unwrap()
            .iter()
            .for_each(|key| _ = map.insert(key, value()));
    }
    let active = droppers + changers;
    let [step, end] = [
        Barrier::new(active + 1),
        Barrier::new(users.max(active + 1)),
    ];
    let visit = || _ = map.remove_if(&Strong::new(0), |_| true);
    thread::scope(|scope| {
        for _ in active + 1..users {
            scope.spawn(|| {
                visit();
                end.wait();
            });
        }
        for mut keys in keys {
            let [step, end] = [&step, &end];
            scope.spawn(move || {
                visit();
                for _ in 0..rounds {
                    step.wait();
                    keys.truncate(keys.len() - deaths);
                    step.wait();
                    step.wait();
                }
                end.wait();
            });
        }
        for _ in 0..changers {
            scope.spawn(|| {
                visit();
                for _ in 0..rounds {
                    step.wait();
                    step.wait();
                    visit();
                    step.wait();
                }
                end.wait();
            });
        }
        let after_rounds = (0..rounds).map(|_| {
            (0..3).for_each(|_| _ = step.wait());
            waiting(map)
        });
        let (worst, most) = (after_rounds.max().unwrap(), most(users.max(active + 1)));
        end.wait();
        assert!(worst <= most, "{scene}: {worst} wait, not {most}");
    });
}

/// 400: Whatever the number of threads that use a collection, and whoever of them drops and changes: at most so many dead entries
/// wait.
#[test]
fn the_dead_that_wait_are_bounded() {
    let token = token();
    let roles = [[1, 1], [1, 3], [3, 1], [2, 2], [8, 1], [1, 8]];
    for users in 1..=THREADS {
        for (at, roles) in (0..).zip(roles) {
            if is_thorough() || users % roles.len() == at {
                lockstep(users, roles, || users);
                lockstep(users, roles, || token.clone());
            }
        }
    }
    lockstep(THREADS, [THREADS / 2, THREADS / 2], || 0);
    lockstep(THREADS, [THREADS / 2, THREADS / 2], || token.clone());
}
