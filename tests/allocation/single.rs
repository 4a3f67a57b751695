//! What collections of one owner have besides: entries, iterators that make handles, removals of several, sets.

use std::cell::RefCell;
use std::rc::Rc;

use weakly::cycles::Cycles;
use weakly::{Interner, Reclaim, Strong, WeakMap, WeakPairMap, WeakSet, WeakValueMap};

use crate::asking;
use crate::common::scaled;
use crate::turns::{Entry, Script, World, each_fails_once};

type Object = Strong<usize>;

/// The objects `0..n`, of which every other one has a weak handle.
pub(crate) struct Objects(
    pub(crate) Vec<Object>,
    #[expect(dead_code)] Vec<weakly::Weak<usize>>,
);

impl Default for Objects {
    fn default() -> Self {
        let all: Vec<Object> = (0..scaled(12, 8)).map(Strong::new).collect();
        let weak = all.iter().step_by(2).map(Object::downgrade).collect();
        Objects(all, weak)
    }
}

/// Entries of the n-th collection.
pub(crate) fn entries(
    nth: usize,
    all: impl IntoIterator<Item = (usize, usize)>,
) -> impl Iterator<Item = Entry> {
    all.into_iter().map(move |(key, value)| (nth, key, value))
}

#[derive(Default)]
struct All {
    objects: Objects,
    map: WeakMap<Object, Box<usize>>,
    values: WeakValueMap<usize, Object>,
    pairs: WeakPairMap<Object, Object>,
    set: WeakSet<Object>,
    words: Interner<Strong<str>>,
    word: Option<Strong<str>>,
    copy: Option<WeakMap<Object, Box<usize>>>,
}

impl World for All {
    fn shows(&self) -> Vec<Entry> {
        let mut all = Vec::new();
        for (nth, map) in [Some(&self.map), self.copy.as_ref()]
            .into_iter()
            .enumerate()
        {
            let Some(map) = map else { continue };
            assert!(map.iter().all(|(key, value)| map.get(&key) == Some(value)));
            assert_eq!(map.len(), map.iter().count());
            all.extend(entries(nth, map.iter().map(|(key, value)| (*key, **value))));
        }
        let values = self.values.iter().map(|(key, value)| (*key, *value));
        all.extend(entries(2, values));
        let pairs = self.pairs.iter().map(|(key, value)| (*key, *value));
        all.extend(entries(3, pairs));
        all.extend(entries(4, self.set.iter().map(|it| (*it, 0))));
        all.extend(entries(5, self.words.iter().map(|word| (word.len(), 0))));
        all
    }
}

/// 593: Single steps, and those that concern several entries.
#[test]
fn whatever_changes_them() {
    let mut script = Script::<All>::new();
    script
        .runs(|it| {
            let boxed = it.objects.0.iter().map(|key| (key, Box::new(**key)));
            it.map.extend(boxed);
        })
        .runs(|it| {
            let named = it.objects.0.iter().map(|value| (**value, value));
            it.values.extend(named);
        })
        .runs(|it| {
            let objects = it.objects.0.iter();
            it.pairs
                .extend(objects.map(|key| (key, &it.objects.0[**key % 3])));
        })
        .runs(|it| assert_eq!(it.map.iter_weak().count(), it.map.len()))
        .runs(|it| assert!(it.pairs.keys_of(&it.objects.0[1]).count() > 1))
        .runs(|it| it.copy = Some(it.map.clone()))
        .runs(|it| it.set = it.objects.0[..5].iter().collect())
        .runs(|it| drop(&it.set | &it.objects.0[3..7].iter().collect()))
        .runs(|it| {
            let word = it.words.intern_ref("word");
            it.word = Some(word);
        })
        .runs(|it| {
            let entry = it.map.entry(&it.objects.0[0]);
            **entry.or_insert_with(|| Box::new(0)) = 100;
        })
        .runs(|it| _ = it.map.remove(&it.objects.0[1]))
        .runs(|it| _ = it.pairs.remove_value(&it.objects.0[1]))
        .runs(|it| it.map.retain(|key, _| **key % 3 != 2))
        .runs(|it| it.map.set_reclaim(Reclaim::OnRequest))
        .never(|it| drop((it.objects.0.pop(), it.objects.0.pop())))
        .runs(|it| _ = it.map.drain_dead().count())
        .runs(|it| it.map.drain().for_each(drop))
        .runs(|it| _ = it.copy.take().map(|copy| copy.into_values().count()))
        .runs(|it| it.values.shrink_to_fit())
        .never(|it| it.word = None)
        .runs(|it| _ = it.words.intern_ref("another"))
        .never(|it| it.objects.0.clear());
    each_fails_once(&script);
}

#[derive(Default)]
struct Cyclic {
    keys: Objects,
    map: WeakMap<Object, Vec<Object>>,
    other: WeakMap<Object, Vec<Object>>,
}

impl World for Cyclic {
    fn shows(&self) -> Vec<Entry> {
        let map = self.map.iter().map(|(key, value)| (*key, *value[0]));
        let other = self.other.iter().map(|(key, value)| (*key, value.len()));
        entries(0, map).chain(entries(1, other)).collect()
    }
}

/// K146, 593: Entries that keep themselves alive go, or stay, but none that an object needs which lives on.
#[test]
fn cycles() {
    let mut script = Script::<Cyclic>::new();
    script
        .runs(|it| {
            for key in &it.keys.0 {
                let next = it.keys.0[(**key + 1) % it.keys.0.len()].clone();
                it.map.insert(key, vec![next]);
                it.other.insert(key, vec![key.clone()]);
            }
        })
        .runs(|it| _ = it.map.purge_cycles())
        .runs(|it| {
            _ = Cycles::new()
                .with(&mut it.map)
                .with(&mut it.other)
                .holders(&it.keys.0[0])
        })
        .never(|it| it.keys.0.truncate(1))
        .runs(|it| _ = Cycles::new().with(&mut it.map).with(&mut it.other).purge())
        .never(|it| it.keys.0.clear())
        .runs(|it| _ = Cycles::new().with(&mut it.map).with(&mut it.other).purge());
    each_fails_once(&script);
}

/// 593: An object has room for two registrations. A third allocates; if the first ends meanwhile, it takes that place.
#[test]
fn a_place_that_comes_free_meanwhile() {
    let (object, other) = (Strong::new(1_usize), Strong::new(2));
    let [first, second] = [1_usize, 2].map(|value| WeakMap::from([(&object, Box::new(value))]));
    let mut third = WeakMap::with_capacity(8);
    third.insert(&other, Box::new(3));
    let mut new = Some(Box::new(3));
    let first = Rc::new(RefCell::new(Some(first)));
    let ends = {
        let first = first.clone();
        move || {
            drop(first.take());
            false
        }
    };
    asking(ends, || _ = third.insert(&object, new.take().unwrap()));
    assert!(first.borrow().is_none(), "it has allocated");
    assert_eq!(Strong::weak_count(&object), 2);
    drop(object);
    assert_eq!((second.pending_dead(), third.pending_dead()), (1, 1));
    assert_eq!((second.len_live(), third.len_live()), (0, 1));
    third.purge();
    assert_eq!((third.len(), third.get(&other)), (1, Some(&Box::new(3))));
}
