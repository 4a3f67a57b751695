//! Operations on a whole collection of pointers without notices, while others insert what dies at once: they end, and
//! look at each entry a few times.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use weakly::Reclaim;
use weakly::concurrent::{Interner, WeakHashMap, WeakMap};

use crate::common::custom::{Custom, On, with_callback};
use crate::common::lease::Lease;
use crate::common::scaled;

/// All have the same hash.
fn lease(number: usize) -> Lease {
    Custom::from(number).into()
}

/// How often an operation asks whether an object is dead, while at each eighth time `insert` inserts an object, which lives
/// until others have been inserted: it stands for another thread. If it asks too often, that ends.
fn asked(insert: impl Fn(&Lease) + 'static, operation: impl FnOnce()) -> usize {
    let times = Rc::new(Cell::new(0));
    let (counted, mut last) = (
        times.clone(),
        VecDeque::from_iter((0..LIVING / 10).map(lease)),
    );
    // What is asked for meanwhile is not counted, and nothing happens meanwhile.
    let meanwhile = move |on, _: *const ()| {
        let asked = counted.get() + usize::from(on == On::Asked);
        counted.set(asked);
        if on == On::Asked && asked % 8 == 0 && asked < 50 * LIVING {
            let key = lease(asked);
            insert(&key);
            last.push_back(key);
            last.pop_front();
        }
    };
    with_callback(meanwhile, operation);
    times.get()
}

const LIVING: usize = scaled(400, 50);
/// Those that are there, at most three times, and those that were inserted by then, which are an eighth of them each
/// time; and again when each is unlinked.
const MOST: usize = 6 * LIVING;

fn living() -> Vec<Lease> {
    (0..LIVING).map(lease).collect()
}

/// 187, L159: It ends.
fn ends<V: Send + Sync + 'static>(value: fn() -> V) {
    type Operation<V> = fn(&WeakMap<Lease, V>);
    let operations: [Operation<V>; 4] = [
        |map| _ = map.purge(),
        |map| map.shrink_to_fit(),
        |map| map.clear(),
        |map| map.retain_values(|_| true),
    ];
    for operation in operations {
        for reclaim in [Reclaim::OnUse, Reclaim::OnRequest] {
            let living = living();
            let map = Arc::new(WeakMap::new());
            map.set_reclaim(reclaim);
            living.iter().for_each(|key| _ = map.insert(key, value()));
            map.insert(&lease(0), value());
            let insert = {
                let map = map.clone();
                move |key: &_| _ = map.insert(key, value())
            };
            let asked = asked(insert, || operation(&map));
            assert!((1..=MOST).contains(&asked), "{asked}");
            map.purge();
            assert!([0, LIVING].contains(&map.len()));
        }
    }
}

/// 159, 187
#[test]
fn an_operation_on_all_entries_ends() {
    ends(|| ());
}

/// 159, 187
#[test]
fn an_operation_on_all_entries_ends_where_values_have_destructors() {
    ends(|| Custom::from(1));
}

/// 178: An insertion by content first unlinks the dead of its hash. It asks each entry of that hash a few times.
#[test]
fn an_insertion_among_the_dead_of_its_hash_is_linear() {
    let set = Interner::<Lease>::new();
    let map = WeakHashMap::<Lease, Custom>::new();
    let living = living();
    let mut dead: Vec<_> = (LIVING..2 * LIVING).map(lease).collect();
    for key in living.iter().chain(&dead) {
        _ = set.intern(key.clone());
        map.insert(key, key.number.into());
    }
    dead.clear();
    let new = lease(2 * LIVING);
    let asked_by_set = asked(|_| (), || _ = set.intern(new.clone()));
    let asked_by_map = asked(|_| (), || _ = map.insert(&new, 1.into()));
    assert!(asked_by_set <= 4 * 2 * LIVING, "{asked_by_set}");
    assert!(asked_by_map <= 4 * 2 * LIVING, "{asked_by_map}");
    assert_eq!((set.len(), map.len()), (LIVING + 1, LIVING + 1));
}
