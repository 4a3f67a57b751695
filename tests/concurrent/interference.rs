//! Operations on a whole collection of pointers without notices, while others insert what dies at once: they end, and
//! look at each entry a few times.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use weakly::concurrent::{Interner, WeakHashMap, WeakMap};
use weakly::{Memo, Reclaim};

use crate::common::lease::{self, Asked};
use crate::common::scaled;

/// All have the same hash.
#[derive(Clone, PartialEq, Eq)]
struct Key(usize);

type Lease = lease::Lease<Key>;

impl Hash for Key {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// What else happens whenever a collection asks whether an object is dead: it stands for another thread.
type Meanwhile = Rc<dyn Fn()>;

thread_local! {
    /// How often collections have asked.
    static ASKED: Cell<usize> = const { Cell::new(0) };
    static MEANWHILE: RefCell<Option<Meanwhile>> = const { RefCell::new(None) };
}

impl Asked for Key {
    fn asked(_: *const Self) {
        ASKED.set(ASKED.get() + 1);
        // What is asked for meanwhile is not counted, and nothing happens meanwhile.
        if let Some(meanwhile) = MEANWHILE.take() {
            let before = ASKED.get();
            meanwhile();
            ASKED.set(before);
            MEANWHILE.set(Some(meanwhile));
        }
    }
}

/// How often an operation asks, while at each eighth time `insert` inserts an object, which lives until others have been
/// inserted. If it asks too often, that ends.
fn asked(insert: impl Fn(&Lease) + 'static, operation: impl FnOnce()) -> usize {
    ASKED.set(0);
    let last = RefCell::new(
        (0..LIVING / 10)
            .map(|n| Lease::from(Key(n)))
            .collect::<VecDeque<_>>(),
    );
    MEANWHILE.set(Some(Rc::new(move || {
        let asked = ASKED.get();
        if asked % 8 == 0 && asked < 50 * LIVING {
            let (key, mut last) = (Key(asked).into(), last.borrow_mut());
            insert(&key);
            last.push_back(key);
            last.pop_front();
        }
    })));
    operation();
    MEANWHILE.set(None);
    ASKED.take()
}

const LIVING: usize = scaled(400, 50);
/// Those that are there, at most three times, and those that were inserted by then, which are an eighth of them each
/// time; and again when each is unlinked.
const MOST: usize = 6 * LIVING;

fn living() -> Vec<Lease> {
    (0..LIVING).map(|number| Key(number).into()).collect()
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
            map.insert(&Key(0).into(), value());
            let insert = {
                let map = map.clone();
                move |key: &_| _ = map.insert(key, value())
            };
            let asked = asked(insert, || operation(&map));
            assert!(asked <= MOST, "{asked}");
            map.purge();
            assert!([0, LIVING].contains(&map.len()));
        }
    }
}

#[test]
fn an_operation_on_all_entries_ends() {
    ends(|| 1);
}

#[test]
fn an_operation_on_all_entries_ends_where_values_have_destructors() {
    ends(|| Box::new(1));
}

#[test]
fn a_purge_of_a_memo_ends() {
    let living = living();
    let memo = Arc::new(Memo::<Lease, Box<usize>>::new());
    for key in &living {
        memo.get_or_compute(key, |_| Box::new(1));
    }
    memo.get_or_compute(&Key(0).into(), |_| Box::new(0));
    let insert = {
        let memo = memo.clone();
        move |key: &_| _ = memo.get_or_compute(key, |_| Box::new(2))
    };
    let asked = asked(insert, || _ = memo.purge());
    assert!(asked <= MOST, "{asked}");
    memo.purge();
    assert_eq!(memo.len(), LIVING);
}

/// 187, C53: What its own destructors kill goes too, under either policy: a chain as deep as there are entries.
#[test]
fn a_purge_follows_its_own_destructors() {
    for reclaim in [Reclaim::OnUse, Reclaim::OnRequest] {
        let map = WeakMap::new();
        map.set_reclaim(reclaim);
        let mut head = None;
        for number in 0..LIVING / 4 {
            let key = Lease::from(Key(number));
            map.insert(&key, Mutex::new(head.replace(key.clone())));
        }
        map.purge();
        assert_eq!(map.len(), LIVING / 4);
        drop(head);
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    }
}

/// 178: An insertion by content first unlinks the dead of its hash. It asks each entry of that hash a few times.
#[test]
fn an_insertion_among_the_dead_of_its_hash_is_linear() {
    let set = Interner::<Lease>::new();
    let map = WeakHashMap::<Lease, usize>::new();
    let living = living();
    let mut dead: Vec<_> = (LIVING..2 * LIVING).map(|n| Lease::from(Key(n))).collect();
    for key in living.iter().chain(&dead) {
        _ = set.intern(key.clone());
        map.insert(key, key.0);
    }
    dead.clear();
    let new = Lease::from(Key(2 * LIVING));
    let asked_by_set = asked(|_| (), || _ = set.intern(new.clone()));
    let asked_by_map = asked(|_| (), || _ = map.insert(&new, 1));
    assert!(asked_by_set <= 4 * 2 * LIVING, "{asked_by_set}");
    assert!(asked_by_map <= 4 * 2 * LIVING, "{asked_by_map}");
    assert_eq!((set.len(), map.len()), (LIVING + 1, LIVING + 1));
}
