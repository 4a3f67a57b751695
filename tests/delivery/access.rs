//! Which methods drain notices, or remove the dead entries of handles that do not notify.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use weakly::local::{AttributeKey, Attributes, Strong};
use weakly::{
    Interner, Reclaim, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakValueMap, concurrent,
};

const DEAD: usize = 40;
/// What is left after a bounded drain.
const LESS: usize = DEAD - 16;

/// The names of the methods with `&mut self` of the collections of one owner, by the list of the public API.
fn listed() -> BTreeSet<&'static str> {
    const ROOTS: [&str; 2] = ["pub fn weakly::local::Attributes<", "pub fn weakly::"];
    let of_collection = |line: &'static str| {
        let of = ROOTS.iter().find_map(|root| line.strip_prefix(root))?;
        let is_one =
            line.starts_with(ROOTS[0]) || of.starts_with("Weak") || of.starts_with("Interner<");
        let (before, _) = line.split_once("(&mut self").filter(|_| is_one)?;
        // The last name outside of all parameters.
        let mut depth = 0;
        let outside = before.char_indices().filter(|&(_, c)| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0 && c == ':'
        });
        let name = &before[outside.last()?.0 + 1..];
        name.split('<').next()
    };
    include_str!("../../docs/public-api.txt")
        .lines()
        .filter_map(of_collection)
        .collect()
}

/// D440: Access to values drains nothing, nor do `set_waker`, `poll_pending` and `set_reclaim`. Each other method that takes
/// `&mut self` drains.
#[test]
fn only_access_to_values_drains_nothing() {
    let mut tested = BTreeSet::new();
    macro_rules! leave {
        ($new:ident: $($name:ident $arguments:tt $left:expr;)*) => {$(
            let mut all = $new();
            assert_eq!(all.pending_dead(), DEAD);
            let _ = all.$name $arguments;
            assert_eq!(all.pending_dead(), $left, stringify!($new, $name));
            tested.insert(stringify!($name));
        )*};
    }
    let live = Strong::new(0);
    let dying = || (1..=DEAD).map(Strong::new).collect::<Vec<_>>();
    let map = || {
        let lives = dying();
        let mut all: WeakMap<_, _> = lives.iter().map(|life| (life, 1)).collect();
        all.insert(&live, 1);
        all
    };
    leave! { map:
        get_mut(&live) DEAD;
        get_disjoint_mut([&live]) DEAD;
        iter_mut() DEAD;
        values_mut() DEAD;
        set_waker(None) DEAD;
        poll_pending(&mut Context::from_waker(Waker::noop())) DEAD;
        set_reclaim(Reclaim::OnRequest) DEAD;
        insert(&live, 2) LESS;
        try_insert(&live, 2) LESS;
        get_or_insert(&live, 2) LESS;
        get_or_insert_with(&live, |_| 2) LESS;
        try_get_or_insert_with(&live, |_| Ok::<_, ()>(2)) LESS;
        entry(&live) LESS;
        extend([(&live, 2)]) LESS;
        remove(&live) LESS;
        remove_entry(&live) LESS;
        remove_if(&live, |_| false) LESS;
        // A removal and an insertion; the new key dies at once.
        transfer(&live, &Strong::new(0)) LESS - 16 + 1;
        pop() LESS;
        retain(|_, _| true) LESS;
        retain_values(|_| true) LESS;
        extract_if(|_, _| true) LESS;
        reserve(0) LESS;
        try_reserve(0) LESS;
        shrink_to(0) 0;
        shrink_to_fit() 0;
        clear() 0;
        drain() 0;
        purge() 0;
        purge_cycles() 0;
        drain_cycles() 0;
        purge_some(5) DEAD - 5;
    }
    let mut some = map();
    some.drain_dead().next();
    assert_eq!(some.pending_dead(), DEAD - 1);
    tested.insert("drain_dead");

    let values = || {
        let lives = dying();
        let mut all: WeakValueMap<_, _> = lives.iter().map(|life| (**life, life)).collect();
        all.insert(0, &live);
        all
    };
    leave! { values:
        get_disjoint_mut([&0]) DEAD;
        remove_value(&live) LESS;
        get_or_insert(0, live.clone()) LESS;
        entry(0) LESS;
    }
    let pairs = || {
        let lives = dying();
        lives
            .iter()
            .map(|life| (life, &live))
            .collect::<WeakPairMap<_, _>>()
    };
    leave! { pairs:
        get_disjoint_mut([&live]) DEAD;
        entry(&live) LESS;
    }
    let contents = || {
        let lives = dying();
        lives.iter().collect::<WeakHashSet<_>>()
    };
    leave! { contents:
        replace(&live) LESS;
        take(&0) LESS;
        insert_hashed(7, &live) LESS;
    }
    let counts = || {
        let lives = dying();
        let entries = lives.iter().map(|life| (life, 1));
        entries.collect::<WeakHashMap<_, _>>()
    };
    leave! { counts:
        entry_hashed(7, &live) LESS;
    }
    let names = || {
        let mut all = Interner::<Strong<str>>::new();
        let lives: Vec<_> = dying()
            .iter()
            .map(|life| all.intern(life.to_string()))
            .collect();
        drop(lives);
        all
    };
    // The new name dies at once.
    leave! { names:
        intern("a") LESS + 1;
        intern_ref("a") LESS + 1;
        intern_with("a", |_| Strong::from("a")) LESS + 1;
        intern_or_make(7, "a", |_, _| false, Strong::<str>::from) LESS + 1;
    }
    struct Size;
    impl AttributeKey for Size {
        type Value = usize;
    }
    let attributes = || {
        let (mut all, lives) = (Attributes::new(), dying());
        lives.iter().for_each(|life| _ = all.insert(life, Size, 1));
        all.insert(&live, Size, 1);
        all
    };
    leave! { attributes:
        get_mut(&live, Size) DEAD;
        insert(&live, Size, 2) LESS;
        get_or_insert_with(&live, Size, |_| 2) LESS;
        remove(&live, Size) LESS;
        forget(&live) LESS;
        purge() 0;
    }
    let missing: Vec<_> = listed().difference(&tested).copied().collect();
    assert!(missing.is_empty(), "does it drain? {missing:?}");
}

/// D442: A value that is the only owner of its own collection stays after the death of its key, until an operation of the
/// collection.
#[test]
fn a_value_that_owns_its_collection_stays() {
    struct Own(#[allow(dead_code, reason = "it owns")] Rc<RefCell<WeakMap<Strong<u8>, Own>>>);
    let (map, key) = (Rc::new(RefCell::new(WeakMap::new())), Strong::new(1));
    map.borrow_mut().insert(&key, Own(map.clone()));
    let weak = Rc::downgrade(&map);
    drop((map, key));
    assert_eq!(weak.strong_count(), 1);
    let map = weak.upgrade().unwrap();
    let dead: Vec<_> = map.borrow_mut().drain_dead().collect();
    drop((map, dead));
    assert_eq!(weak.strong_count(), 0);

    #[derive(Clone)]
    struct Shared(#[allow(dead_code, reason = "it owns")] Arc<Map>);
    type Map = concurrent::WeakMap<weakly::Strong<u8>, Shared>;
    let (map, key) = (Arc::<Map>::default(), weakly::Strong::new(1));
    map.insert(&key, Shared(map.clone()));
    let weak = Arc::downgrade(&map);
    drop((map, key));
    assert_eq!(weak.strong_count(), 1);
    weak.upgrade().unwrap().purge();
    assert_eq!(weak.strong_count(), 0);
}

/// D444: Of `Arc`s that threads share, a lookup by content, or of the living key of a dead value, removes the dead entry. A
/// lookup of a dead key by identity leaves the entry to a sweep.
#[test]
fn a_lookup_removes_a_dead_entry_by_content() {
    let (key, dead) = (Arc::new(1), Arc::new(2));
    let by_content = concurrent::WeakHashMap::from([(&dead, 1)]);
    let contents = concurrent::WeakHashSet::from([&dead]);
    let names = concurrent::Interner::new();
    assert!(Arc::ptr_eq(&names.intern(dead.clone()), &dead));
    let by_name = concurrent::WeakValueMap::from([(1, &dead)]);
    let of_the_living = concurrent::WeakPairMap::from([(&key, &dead)]);
    let of_the_dead = concurrent::WeakPairMap::from([(&dead, &key)]);
    let by_identity = concurrent::WeakMap::from([(&dead, 1)]);
    let weak = Arc::downgrade(&dead);
    drop(dead);
    assert_eq!((by_content.get(&2), contents.get(&2)), (None, None));
    assert_eq!((names.get(&2), by_name.get(&1)), (None, None));
    assert_eq!(of_the_living.get(&key), None);
    let lengths = [
        by_content.len(),
        contents.len(),
        names.len(),
        by_name.len(),
        of_the_living.len(),
    ];
    assert_eq!(lengths, [0; 5]);
    assert_eq!(
        (of_the_dead.get(&weak), by_identity.get(&weak)),
        (None, None)
    );
    assert_eq!((of_the_dead.len(), by_identity.len()), (1, 1));
}
