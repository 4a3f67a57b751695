//! 182: The end of a collection where everything panics that it owns: the first panic goes on, the others are dropped, and the
//! process is not aborted.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Wake, Waker};

use weakly::keep::{self, Limit};
use weakly::{
    AttributeKey, Attributes, Interner, Memo, Reclaim, ReferenceQueue, Strong, WeakHashMap,
    WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap, concurrent,
};

/// Each of its parts panics when it is dropped, with its number.
#[derive(Clone, Default)]
struct Bombs(Arc<AtomicUsize>);

#[derive(Debug)]
struct Bomb(Arc<AtomicUsize>);

impl Bombs {
    fn bomb(&self) -> Bomb {
        Bomb(self.0.clone())
    }

    fn waker(&self) -> Waker {
        Waker::from(Arc::new(self.bomb()))
    }

    /// A weight of one, which owns a bomb.
    fn weight<T>(&self) -> impl Fn(&T) -> usize + Send + Sync + 'static {
        let bomb = self.bomb();
        move |_| {
            _ = &bomb;
            1
        }
    }

    /// Ends something: the first panic goes on, and none is left that has not been dropped.
    #[track_caller]
    fn ends(&self, end: impl FnOnce()) {
        let first = self.0.load(SeqCst);
        let panic = catch_unwind(AssertUnwindSafe(end)).expect_err("it panics");
        assert_eq!(panic.downcast_ref(), Some(&first));
        assert_eq!(Arc::strong_count(&self.0), 1);
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new(self.0.fetch_add(1, SeqCst)));
    }
}

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {}
}

impl PartialEq for Bomb {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Bomb {}

impl std::hash::Hash for Bomb {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// Of a collection with six entries, of which three are dead, and kept if that is asked for; and with a waker.
macro_rules! ends {
    ($($name:ident: $ways:ident, $all:ident => $new:expr, |$bombs:ident, $key:ident| $insert:expr;)*) => {$(
        #[test]
        fn $name() {
            for (way, kept) in (0..6).flat_map(|way| [(way, false), (way, true)]) {
                let $bombs = Bombs::default();
                let mut keys: Vec<_> = (0..6).map(Strong::new).collect();
                #[allow(unused_mut)]
                let mut $all = $new;
                for $key in &keys {
                    _ = $insert;
                }
                $all.set_waker(Some($bombs.waker()));
                if kept {
                    $all.set_reclaim(Reclaim::OnRequest);
                }
                keys.truncate(3);
                if kept {
                    $all.shrink_to_fit();
                }
                $bombs.ends(|| $ways!($all, way));
            }
        }
    )*};
}

/// The ways in which a collection ends, or all that it has.
macro_rules! shared {
    ($all:ident, $way:ident) => {
        match $way {
            1 => $all.clear(),
            2 => $all.set_reclaim(Reclaim::OnUse),
            3 => _ = $all.purge(),
            _ => drop($all),
        }
    };
}

macro_rules! single {
    ($all:ident, $way:ident) => {
        match $way {
            4 => drop($all.into_iter()),
            5 => drop($all.drain()),
            _ => shared!($all, $way),
        }
    };
}

ends! {
    map: single, all => WeakMap::new(), |bombs, key| all.insert(key, bombs.bomb());
    hash_map: single, all => WeakHashMap::new(), |bombs, key| all.insert(key, bombs.bomb());
    value_map: single, all => WeakValueMap::new(), |bombs, key| all.insert(bombs.bomb(), key);
    set: shared, all => WeakSet::new(), |bombs, key| all.insert(key);
    hash_set: shared, all => WeakHashSet::new(), |bombs, key| all.insert(key);
    pair_map: shared, all => WeakPairMap::new(), |bombs, key| all.insert(key, key);
    hash_pair_map: shared, all => WeakHashPairMap::new(), |bombs, key| all.insert(key, key);
    interner: shared, all => Interner::<Strong<usize>>::new(), |bombs, key| all.intern(**key);
    shared_map: shared, all => concurrent::WeakMap::new(), |bombs, key| all.insert(key, bombs.bomb());
    shared_hash_map: shared, all => concurrent::WeakHashMap::new(), |bombs, key| all.insert(key, bombs.bomb());
    shared_value_map: shared, all => concurrent::WeakValueMap::new(), |bombs, key| all.insert(bombs.bomb(), key);
    shared_set: shared, all => concurrent::WeakSet::new(), |bombs, key| all.insert(key);
    shared_hash_set: shared, all => concurrent::WeakHashSet::new(), |bombs, key| all.insert(key);
    shared_pair_map: shared, all => concurrent::WeakPairMap::new(), |bombs, key| all.insert(key, key);
    shared_interner: shared, all => concurrent::Interner::<Strong<usize>>::new(), |bombs, key| all.intern(**key);
}

#[test]
fn keep_alive() {
    type Kept = keep::KeepAlive<Strong<Bomb>>;
    let ways: [fn(Kept); 6] = [
        drop,
        |mut kept| kept.clear(),
        |mut kept| _ = kept.shrink_to(0),
        |mut kept| kept.set_limit(Limit::entries(0)),
        |mut kept| kept.advance(),
        |mut kept| {
            kept.shrink_to(3);
        },
    ];
    for way in ways {
        let bombs = Bombs::default();
        let mut kept = Kept::new(Limit::none().generations(0).count_live());
        (0..6).for_each(|_| assert!(kept.keep(&Strong::new(bombs.bomb()), 1)));
        bombs.ends(|| way(kept));
    }
}

#[test]
fn shared_keep_alive() {
    let bombs = Bombs::default();
    let kept = concurrent::KeepAlive::weighing(Limit::none().count_live(), bombs.weight());
    let bomb = bombs.bomb();
    kept.set_listener(move |_, _| _ = &bomb);
    (0..6).for_each(|_| assert!(kept.keep(&Strong::new(bombs.bomb()), 1)));
    bombs.ends(|| drop(kept));
}

#[test]
fn floor() {
    let bombs = Bombs::default();
    let map = concurrent::WeakValueMap::new();
    let kept = map.set_keep_alive(Limit::none().count_live(), bombs.weight());
    let bomb = bombs.bomb();
    kept.set_listener(move |_, _| _ = &bomb);
    (0..6).for_each(|_| drop(map.insert(bombs.bomb(), &Strong::new(bombs.bomb()))));
    map.set_waker(Some(bombs.waker()));
    drop(kept);
    bombs.ends(|| drop(map));
}

#[test]
fn ceiling() {
    let bombs = Bombs::default();
    let map = concurrent::WeakMap::new();
    let keys: Vec<_> = (0..6).map(Strong::new).collect();
    map.set_ceiling(Limit::none().count_live(), bombs.weight());
    let bomb = bombs.bomb();
    map.set_listener(move |_: &_, _: &_, _| _ = &bomb);
    keys.iter()
        .for_each(|key| assert!(map.insert(key, bombs.bomb())));
    map.set_waker(Some(bombs.waker()));
    bombs.ends(|| drop(map));
}

#[test]
fn memo() {
    let bombs = Bombs::default();
    let memo = Memo::<Strong<usize>, Arc<Bomb>>::new();
    let keys: Vec<_> = (0..6).map(Strong::new).collect();
    memo.set_ceiling(Limit::none().count_live(), bombs.weight());
    let bomb = bombs.bomb();
    memo.set_listener(move |_: &_, _: &_, _| _ = &bomb);
    keys.iter()
        .for_each(|key| drop(memo.insert(key, Arc::new(bombs.bomb()))));
    memo.set_waker(Some(bombs.waker()));
    bombs.ends(|| drop(memo));
}

#[test]
fn attributes() {
    struct One;
    struct Other;
    impl AttributeKey for One {
        type Value = Arc<Bomb>;
    }
    impl AttributeKey for Other {
        type Value = Arc<Bomb>;
    }
    let bombs = Bombs::default();
    let all = Attributes::new();
    let keys: Vec<_> = (0..6).map(Strong::new).collect();
    for key in &keys {
        all.insert(key, One, Arc::new(bombs.bomb()));
        all.insert(key, Other, Arc::new(bombs.bomb()));
    }
    all.set_waker(Some(bombs.waker()));
    bombs.ends(|| drop(all));
}

#[test]
fn queue() {
    let bombs = Bombs::default();
    let queue = ReferenceQueue::new();
    let keys: Vec<_> = (0..6).map(Strong::new).collect();
    keys.iter()
        .for_each(|key| drop(queue.register(key, bombs.bomb())));
    drop(keys);
    bombs.ends(|| drop(queue));
}
