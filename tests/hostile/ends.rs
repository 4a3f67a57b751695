//! 182: The end of a collection where everything panics that it owns: the first panic goes on, the others are dropped, and the
//! process is not aborted.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Wake, Waker};

use weakly::keep::{self, Limit};
use weakly::memo::Value;
use weakly::{AttributeKey, Attributes, Memo, Reclaim, ReferenceQueue, Strong, concurrent};

use crate::common::custom::{self, Custom, customs};
use crate::common::subject::{Owned, Shared, Single, Subject, Upkeep, shared, single};

type Kept = Arc<Owned<shared::Ends, Custom>>;

/// Each of its parts panics when it is dropped, with its number.
#[derive(Default)]
struct Bombs {
    exploded: Arc<AtomicUsize>,
    made: Cell<usize>,
}

struct Bomb(Arc<AtomicUsize>);

impl Bombs {
    fn part(&self) -> Arc<AtomicUsize> {
        self.made.set(self.made.get() + 1);
        self.exploded.clone()
    }

    fn bomb(&self) -> Bomb {
        Bomb(self.part())
    }

    /// Of what a collection of one owner has: they panic when that is dropped.
    fn single(&self) -> single::Ends {
        let exploded = self.part();
        Rc::new(move |_| explode(&exploded))
    }

    fn shared(&self) -> shared::Ends {
        let exploded = self.part();
        Arc::new(move |_| explode(&exploded))
    }

    /// What threads share, and drop.
    fn kept(&self, number: usize) -> Kept {
        Arc::new(custom::owned(number, &self.shared()))
    }

    /// An object.
    fn object(&self) -> Strong<Custom> {
        let bomb = self.bomb();
        Strong::new(Custom::ending(0, move |_| _ = &bomb))
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

    /// Ends something: the first panic goes on, and each part has been dropped, and has panicked.
    #[track_caller]
    fn ends(&self, end: impl FnOnce()) {
        let first = self.exploded.load(SeqCst);
        let panic = catch_unwind(AssertUnwindSafe(end)).expect_err("it panics");
        assert_eq!(panic.downcast_ref(), Some(&first));
        assert_eq!(Arc::strong_count(&self.exploded), 1);
        assert_eq!(self.exploded.load(SeqCst), self.made.get());
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        explode(&self.0);
    }
}

fn explode(exploded: &AtomicUsize) {
    resume_unwind(Box::new(exploded.fetch_add(1, SeqCst)));
}

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {}
}

/// Ends a collection with six entries, of which three are dead, and kept if that is asked for; and with a waker.
fn ends<F: Upkeep + Default>(enter: impl Fn(&mut F, &Strong<Custom>, &Bombs), more: &[fn(F)]) {
    for (way, kept) in (0..6_usize).flat_map(|way| [(way, false), (way, true)]) {
        let bombs = Bombs::default();
        let mut keys = customs(0..6);
        let mut all = F::default();
        keys.iter().for_each(|key| enter(&mut all, key, &bombs));
        all.set_waker(Some(bombs.waker()));
        if kept {
            all.set_reclaim(Reclaim::OnRequest);
        }
        keys.truncate(3);
        if kept {
            all.shrink_to_fit();
        }
        bombs.ends(|| match way {
            1 => all.clear(),
            2 => all.set_reclaim(Reclaim::OnUse),
            3 => _ = all.purge(),
            _ => {
                let end = way.checked_sub(4).and_then(|at| more.get(at));
                end.unwrap_or(&(drop as fn(F)))(all);
            }
        });
    }
}

macro_rules! each_ends {
    ($lists:ident $($name:ident: $all:ident [$($more:expr),*];)*) => {$(
        #[test]
        fn $name() {
            type All = $lists::$all<Strong<Custom>>;
            let ends_of = |bombs: &Bombs| if All::OWNS { bombs.$lists() } else { $lists::quietly() };
            ends::<All>(|all, key, bombs| _ = all.enter(key, &ends_of(bombs)), &[$($more),*]);
        }
    )*};
}

each_ends! {
    single
    map: Maps [|all| drop(all.into_iter()), |mut all| drop(all.drain())];
    hash_map: HashMaps [|all| drop(all.into_iter()), |mut all| drop(all.drain())];
    value_map: ValueMaps [|all| drop(all.into_iter()), |mut all| drop(all.drain())];
    set: Sets [];
    hash_set: HashSets [];
    pair_map: PairsTwice [];
    hash_pair_map: HashPairsTwice [];
    interner: Interners [];
}

each_ends! {
    shared
    shared_map: Maps [];
    shared_hash_map: HashMaps [];
    shared_value_map: ValueMaps [];
    shared_set: Sets [];
    shared_hash_set: HashSets [];
    shared_pair_map: PairsTwice [];
    shared_interner: Interners [];
}

#[test]
fn keep_alive() {
    type Kept = keep::KeepAlive<Strong<Custom>>;
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
        let mut kept = Kept::new(Limit::none().generations(0));
        (0..6).for_each(|_| assert!(kept.keep(&bombs.object(), 1)));
        bombs.ends(|| way(kept));
    }
}

#[test]
fn shared_keep_alive() {
    let bombs = Bombs::default();
    let kept = concurrent::KeepAlive::weighing(Limit::none(), bombs.weight());
    let bomb = bombs.bomb();
    kept.set_listener(move |_, _| _ = &bomb);
    (0..6).for_each(|_| assert!(kept.keep(&bombs.object(), 1)));
    bombs.ends(|| drop(kept));
}

#[test]
fn floor() {
    let bombs = Bombs::default();
    let map = shared::ValueMaps::new();
    let kept = map.set_keep_alive(Limit::none(), bombs.weight());
    let bomb = bombs.bomb();
    kept.set_listener(move |_, _| _ = &bomb);
    (0..6).for_each(|n| drop(map.insert(bombs.kept(n), &bombs.object())));
    map.set_waker(Some(bombs.waker()));
    drop(kept);
    bombs.ends(|| drop(map));
}

#[test]
fn ceiling() {
    let bombs = Bombs::default();
    let map = shared::Maps::new();
    let keys = customs::<Strong<Custom>>(0..6);
    map.set_ceiling(Limit::none(), bombs.weight());
    let bomb = bombs.bomb();
    map.set_listener(move |_: &_, _: &_, _| _ = &bomb);
    keys.iter()
        .for_each(|key| assert!(map.insert(key, bombs.kept(0))));
    map.set_waker(Some(bombs.waker()));
    bombs.ends(|| drop(map));
}

#[test]
fn memo() {
    let bombs = Bombs::default();
    let memo = Memo::<(Strong<Custom>, Value<Custom>), Kept>::new();
    let keys = customs::<Strong<Custom>>(0..6);
    memo.set_ceiling(Limit::none(), bombs.weight());
    let bomb = bombs.bomb();
    memo.set_listener(move |_: &_, _: &_, _| _ = &bomb);
    keys.iter()
        .for_each(|key| drop(memo.insert((key, &Custom::new(0)), bombs.kept(0))));
    memo.set_waker(Some(bombs.waker()));
    bombs.ends(|| drop(memo));
}

#[test]
fn attributes() {
    struct One;
    struct Other;
    impl AttributeKey for One {
        type Value = Kept;
    }
    impl AttributeKey for Other {
        type Value = Kept;
    }
    let bombs = Bombs::default();
    let all = Attributes::new();
    let keys = customs::<Strong<Custom>>(0..6);
    for key in &keys {
        all.insert(key, One, bombs.kept(0));
        all.insert(key, Other, bombs.kept(0));
    }
    all.set_waker(Some(bombs.waker()));
    bombs.ends(|| drop(all));
}

#[test]
fn queue() {
    let bombs = Bombs::default();
    let queue = ReferenceQueue::new();
    let keys = customs::<Strong<Custom>>(0..6);
    keys.iter()
        .for_each(|key| drop(queue.register(key, bombs.bomb())));
    drop(keys);
    bombs.ends(|| drop(queue));
}
