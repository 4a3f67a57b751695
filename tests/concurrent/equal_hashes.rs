//! A thousand contents with equal hash, and one content that comes and goes: neither hangs, and the dead do
//! not accumulate.

use std::ops::Deref;
use std::sync::{Arc, Barrier};
use std::thread;

use weakly::concurrent::{
    Interner, SharedRef, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::{AttributeKey, Attributes, Memo, Strong};

use crate::common::custom::Custom;
use crate::common::lease::Lease;
use crate::common::subject::{Life, Upkeep};
use crate::common::{in_time, scaled, sized};
use crate::dynamic::*;
use crate::faces::{self, Kind};
use crate::for_each_pointer;

const MANY: usize = sized(1_200, 600, 40);
const THREADS: usize = 4;

/// A collection that is keyed by content. All contents have the same hash.
trait Contents: Send + Sync {
    /// The one live object of this content; made if there is none.
    fn ask(&self, content: usize) -> Pointer;
    fn get(&self, content: usize) -> Option<Pointer>;
    fn counts(&self) -> (usize, usize, usize);
    fn purge(&self);
}

type Pointer = Box<dyn Deref<Target = Custom> + Send + Sync>;
type New = fn() -> Box<dyn Contents>;

struct Names<K: SharedRef>(Interner<K>);
struct Values<K: SharedRef>(WeakValueMap<Custom, K>);
/// The same, with `insert` instead of `get_or_insert_with`.
struct SetValues<K: SharedRef>(WeakValueMap<Custom, K>);
struct Facts<K: SharedRef>(WeakHashMap<K, Custom>);
struct SetFacts<K: SharedRef>(WeakHashMap<K, Custom>);
struct ComputedFacts<K: SharedRef>(WeakHashMap<K, Custom>);
struct Words<K: SharedRef>(WeakHashSet<K>);

macro_rules! contents {
    ($($name:ident: |$this:ident, $content:ident| $ask:expr, $get:expr;)*) => {$(
        impl<K: SharedRef> Default for $name<K> {
            fn default() -> Self {
                $name(Default::default())
            }
        }

        impl<K: Life<Custom> + SharedRef<Target = Custom>> Contents for $name<K> {
            fn ask(&self, $content: usize) -> Pointer {
                let ($this, $content) = (&self.0, Custom::from($content));
                let object: K = $ask;
                Box::new(object)
            }
            fn get(&self, $content: usize) -> Option<Pointer> {
                let ($this, $content) = (&self.0, &Custom::from($content));
                let object: K = $get?;
                Some(Box::new(object))
            }
            fn counts(&self) -> (usize, usize, usize) {
                self.0.counts()
            }
            fn purge(&self) {
                self.0.purge();
            }
        }
    )*};
}

contents! {
    Names: |names, content| names.intern(content), names.get(content);
    Values: |map, content| map.get_or_insert_with(content, |content| content.clone().into()),
        map.get(content);
    SetValues: |map, content| map.get(&content).unwrap_or_else(|| {
        let value = content.clone().into();
        map.insert(content, &value);
        value
    }), map.get(content);
    // The same content in other objects, of which one has the entry.
    Facts: |map, content| {
        let key = content.into();
        map.get_or_insert_dyn(&key, &mut || 0.into());
        key
    }, map.get_key_value(content).map(|(key, _)| key);
    SetFacts: |map, content| {
        let key = content.into();
        map.insert(&key, 0.into());
        key
    }, map.get_key_value(content).map(|(key, _)| key);
    ComputedFacts: |map, content| {
        let key = content.into();
        map.compute_dyn(&key, &mut |_| Some(0.into()));
        key
    }, map.get_key_value(content).map(|(key, _)| key);
    Words: |words, content| {
        let key = content.into();
        words.insert(&key);
        key
    }, words.get(content);
}

macro_rules! for_each_contents {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            for_each_contents! { @ $test names: Names, values: Values, set_values: SetValues, facts: Facts,
                set_facts: SetFacts, computed_facts: ComputedFacts, words: Words }
        }
    )*};
    (@ $test:ident $($name:ident: $contents:ident),*) => {$(
        mod $name {
            use super::super::*;

            #[test]
            fn strong() {
                $test(|| Box::<$contents<Strong<Custom>>>::default());
            }
            #[test]
            fn arc() {
                $test(|| Box::<$contents<Lease>>::default());
            }
        }
    )*};
}

for_each_contents!(
    thousands_of_equal_hashes,
    small_threads_meet_at_equal_hashes,
    one_content_comes_and_goes,
    small_one_content_comes_and_goes_on_threads,
);

for_each_pointer!(objects_come_and_go);

/// E79: Slower, but it terminates, and finds each.
fn thousands_of_equal_hashes(new: New) {
    in_time(move || {
        let all = new();
        let objects: Vec<_> = (0..MANY).map(|n| all.ask(n)).collect();
        assert_eq!(all.counts(), (MANY, MANY, 0));
        for n in (0..MANY).step_by(7) {
            assert_eq!(all.get(n).map(|found| found.number), Some(n));
        }
        assert!(all.get(MANY).is_none());
        drop(objects);
        all.purge();
        assert_eq!(all.counts(), (0, 0, 0));
        let object = all.ask(1);
        assert_eq!((all.counts(), object.number), ((1, 1, 0), 1));
    });
}

/// L157: Four threads ask for the same contents, each in another order.
fn small_threads_meet_at_equal_hashes(new: New) {
    in_time(move || {
        let many = sized(1_000, 400, 6);
        let (all, barrier) = (new(), Barrier::new(THREADS));
        let objects: Vec<Vec<Pointer>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let (all, barrier) = (&all, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        let own = thread * many / THREADS;
                        (0..many).map(|n| all.ask((n + own) % many)).collect()
                    })
                })
                .collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        // What the threads have unlinked may wait in their bags.
        all.purge();
        assert_eq!(all.counts(), (many, many, 0));
        for n in 0..many {
            assert!(all.get(n).is_some_and(|found| found.number == n));
        }
        drop(objects);
        all.purge();
        assert_eq!(all.counts(), (0, 0, 0));
    });
}

/// How many are dead and not yet reclaimed.
fn dead(all: &dyn Contents) -> usize {
    let (len, live, pending) = all.counts();
    len.saturating_sub(live) + pending
}

/// H117: Each dead object makes room for the next.
fn one_content_comes_and_goes(new: New) {
    in_time(move || {
        for others in [0, 20, scaled(100, 21)] {
            let all = new();
            let kept: Vec<_> = (1..=others).map(|n| all.ask(n)).collect();
            for _ in 0..MANY {
                assert_eq!(all.ask(0).number, 0);
                assert!(dead(&*all) <= 1, "{:?}", all.counts());
            }
            assert_eq!(all.counts().1, kept.len());
        }
    });
}

/// H117, L157: On four threads.
fn small_one_content_comes_and_goes_on_threads(new: New) {
    in_time(move || {
        let (all, barrier) = (new(), Barrier::new(THREADS));
        let kept: Vec<_> = (1..=scaled(20, 2)).map(|n| all.ask(n)).collect();
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..scaled(1_000, 4) {
                        assert_eq!(all.ask(0).number, 0);
                    }
                });
            }
        });
        // Those of the last few operations: a thread gathers two for each thread there is.
        drop(all.ask(0));
        let most = THREADS * 2 * (THREADS + 1);
        assert!(dead(&*all) <= most, "{:?}", all.counts());
        all.purge();
        assert_eq!(all.counts(), (kept.len(), kept.len(), 0));
    });
}

/// L157: Whatever `Eq` returns, as long as it is consistent.
#[test]
fn an_invalid_equality_does_not_hang() {
    for eq in [usize::lt, usize::gt, usize::le, usize::ge, usize::ne] {
        in_time(move || {
            let keys = Vec::from([1, 0, 2, 1].map(|n| Lease::from(Custom::from(n).equal(eq))));
            let (facts, words) = (WeakHashMap::<_, Custom>::new(), WeakHashSet::new());
            let (values, names) = (WeakValueMap::<Custom, _>::new(), Interner::<Lease>::new());
            for key in keys.iter().chain(&keys) {
                facts.compute_dyn(key, &mut |_| Some(1.into()));
                facts.get_or_insert_dyn(key, &mut || 2.into());
                facts.compute_dyn(key, &mut |_| Some(3.into()));
                _ = values.compute_dyn((**key).clone(), &mut |_| Some(key.clone()));
                _ = values.get_or_insert_dyn((**key).clone(), &mut || key.clone());
                words.insert(key);
                _ = names.intern(key.clone());
                facts.compute_dyn(key, &mut |_| None);
                _ = values.compute_dyn((**key).clone(), &mut |_| None);
                words.remove(&**key);
            }
            drop(keys);
            facts.purge();
            values.purge();
            words.purge();
            names.purge();
            let lens = [facts.len(), values.len(), words.len(), names.len()];
            assert_eq!(lens, [0; 4]);
        });
    }
}

/// The case of the issue, with a good hasher.
#[test]
fn a_word_is_interned_again_and_again() {
    in_time(|| {
        let words = Interner::<Arc<usize>>::new();
        let kept: Vec<_> = (0..100).map(|n| words.intern(n)).collect();
        for _ in 0..MANY {
            drop(words.intern(100));
            assert!(words.len() <= kept.len() + 1, "{}", words.len());
        }
    });
}

struct Note;

impl AttributeKey for Note {
    type Value = usize;
}

/// C57: Keyed by identity, on one thread and on four: where deaths are notified, the next change reclaims them;
/// else there are never more dead than live ones, plus a few.
fn objects_come_and_go<P: Kind>()
where
    faces::Life<P>: SharedRef,
{
    type Act<P> = fn(&All<P>, &faces::Life<P>);
    struct All<P: Kind> {
        map: WeakMap<faces::Life<P>, usize>,
        set: WeakSet<faces::Life<P>>,
        facts: WeakHashMap<faces::Life<P>, usize>,
        words: WeakHashSet<faces::Life<P>>,
        pairs: WeakPairMap<faces::Life<P>, faces::Life<P>>,
        attributes: Attributes<faces::Life<P>>,
        memo: Memo<faces::Life<P>, usize>,
    }
    impl<P: Kind> All<P> {
        fn most(&self) -> usize {
            let lens = [
                self.map.len(),
                self.set.len(),
                self.facts.len(),
                self.words.len(),
                self.pairs.len(),
                self.attributes.len(),
            ];
            let pending = [
                self.map.pending_dead(),
                self.set.pending_dead(),
                self.facts.pending_dead(),
                self.words.pending_dead(),
                self.pairs.pending_dead(),
                self.attributes.pending_dead(),
            ];
            let most = lens
                .into_iter()
                .zip(pending)
                .map(|(len, pending)| len + pending)
                .max();
            most.unwrap().max(self.memo.len())
        }
    }
    let acts: [Act<P>; 7] = [
        |all, life| _ = all.map.insert(life, 1),
        |all, life| _ = all.set.insert(life),
        |all, life| _ = all.facts.insert(life, 1),
        |all, life| _ = all.words.insert(life),
        |all, life| _ = all.pairs.insert(life, life),
        |all, life| _ = all.attributes.insert(life, Note, 1),
        |all, life| _ = all.memo.get_or_compute(life, |_| 1),
    ];
    in_time(move || {
        for threads in [1, THREADS] {
            let all = All::<P> {
                map: WeakMap::new(),
                set: WeakSet::new(),
                facts: WeakHashMap::new(),
                words: WeakHashSet::new(),
                pairs: WeakPairMap::new(),
                attributes: Attributes::new(),
                memo: Memo::new(),
            };
            let all = &all;
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(move || {
                        for n in 0..MANY / 4 {
                            let life = faces::Life::<P>::from(n);
                            for act in acts {
                                act(all, &life);
                            }
                        }
                    });
                }
            });
            // Objects that arrived during the last sweep count for the next.
            for n in 0..MANY {
                let life = faces::Life::<P>::from(n);
                for act in acts {
                    act(all, &life);
                }
            }
            let most = all.most();
            // One turn takes 16, and a sweep is due after 16 insertions.
            assert!(most <= 32, "{most}");
        }
    });
}
