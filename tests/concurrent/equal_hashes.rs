//! A thousand contents with equal hash, and one content that comes and goes: neither hangs, and the dead do
//! not accumulate.

use std::ops::Deref;
use std::sync::Barrier;
use std::thread;

use weakly::Strong;
use weakly::concurrent::{Interner, SharedRef, WeakHashMap, WeakHashSet, WeakValueMap};

use crate::common::custom::Custom;
use crate::common::lease::Lease;
use crate::common::subject::{Life, Upkeep};
use crate::common::{in_time, scaled, sized};
use crate::dynamic::*;

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
struct Facts<K: SharedRef>(WeakHashMap<K, Custom>);
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
    // The same content in other objects, of which one has the entry.
    Facts: |map, content| {
        let key = content.into();
        map.get_or_insert_dyn(&key, &mut || 0.into());
        key
    }, map.get_key_value(content).map(|(key, _)| key);
    Words: |words, content| {
        let key = content.into();
        words.insert(&key);
        key
    }, words.get(content);
}

fn new<C: Contents + Default + 'static>() -> Box<dyn Contents> {
    Box::<C>::default()
}

/// Each collection; the notified and the swept handles meet in the interner.
macro_rules! for_each_contents {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            for_each_contents! { @ $test names: Names, Strong<Custom>; swept_names: Names, Lease; values: Values, Lease;
                facts: Facts, Strong<Custom>; swept_facts: Facts, Lease; words: Words, Lease; }
        }
    )*};
    (@ $test:ident $($name:ident: $contents:ident, $handle:ty;)*) => {$(
        #[test]
        fn $name() {
            use super::*;
            $test(new::<$contents<$handle>>);
        }
    )*};
}

for_each_contents!(
    thousands_of_equal_hashes,
    one_content_comes_and_goes,
    small_one_content_comes_and_goes_on_threads,
);

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
