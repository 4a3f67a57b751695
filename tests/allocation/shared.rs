//! What collections that threads share have besides: values that are made, iterators, limits, cycles.

use weakly::concurrent::{KeepAlive, WeakMap, WeakPairMap, WeakValueMap};
use weakly::keep::Limit;
use weakly::{Strong, keep};

use crate::single::{Objects, entries};
use crate::turns::{Entry, Script, World, each_fails_once};

type Object = Strong<usize>;

#[derive(Default)]
struct All {
    objects: Objects,
    map: WeakMap<Object, Box<usize>>,
    values: WeakValueMap<usize, Object>,
    pairs: WeakPairMap<Object, Object>,
}

impl World for All {
    fn shows(&self) -> Vec<Entry> {
        let map = self.map.iter().map(|(key, value)| {
            assert!(self.map.get(&key).as_ref() == Some(&value));
            (*key, *value)
        });
        let mut all = Vec::from_iter(entries(0, map));
        assert_eq!(self.map.len(), all.len());
        let values = self.values.iter().map(|(key, value)| (key, *value));
        all.extend(entries(1, values));
        let pairs = self.pairs.iter().map(|(key, value)| (*key, *value));
        all.extend(entries(2, pairs));
        all
    }
}

/// 593: Single steps, and those that concern several entries.
#[test]
fn whatever_changes_them() {
    let mut script = Script::<All>::new();
    script
        .runs(|it| {
            for key in &it.objects.0 {
                it.map.get_or_insert_with(key, |_| Box::new(**key));
                _ = it.values.get_or_insert_with(**key, |_| key.clone());
            }
        })
        .runs(|it| {
            for key in &it.objects.0 {
                let value = &it.objects.0[**key % 3];
                _ = it.pairs.get_or_insert_with(key, |_| value.clone());
            }
        })
        .runs(|it| assert_eq!(it.map.iter_weak().count(), it.map.len()))
        .runs(|it| assert!(it.pairs.keys_of(&it.objects.0[1]).count() > 1))
        .runs(|it| _ = it.map.swap(&it.objects.0[0], Box::new(100)))
        .runs(|it| _ = it.map.compute(&it.objects.0[1], |_| None))
        // While this thread reads, what it removes is left to its end.
        .leaks(|it| {
            it.map.with(&it.objects.0[2], |_| {
                for key in &it.objects.0[3..6] {
                    it.map.remove(key);
                }
            });
        })
        .leaks(|it| {
            it.map.with(&it.objects.0[2], |_| it.map.clear());
            // (If that has failed, the entry may be gone.)
            it.map.clear();
        })
        .runs(|it| {
            it.map.purge();
            assert_eq!(it.map.pending_dead(), 0);
        })
        .runs(|it| _ = it.pairs.remove_value(&it.objects.0[1]))
        .runs(|it| it.values.retain(|key, _| *key % 2 == 0))
        .never(|it| drop((it.objects.0.pop(), it.objects.0.pop())))
        .runs(|it| it.values.shrink_to_fit())
        .never(|it| it.objects.0.clear());
    each_fails_once(&script);
}

struct Limited {
    objects: Objects,
    floored: WeakValueMap<usize, Object>,
    /// Without destructors: a thread gathers more of them.
    ceiled: WeakMap<Object, usize>,
    budget: KeepAlive<Object>,
    owned: keep::KeepAlive<Object>,
}

impl Default for Limited {
    fn default() -> Self {
        Limited {
            objects: Objects::default(),
            floored: WeakValueMap::new(),
            ceiled: WeakMap::new(),
            budget: KeepAlive::new(Limit::entries(3)),
            owned: keep::KeepAlive::new(Limit::entries(3)),
        }
    }
}

impl World for Limited {
    fn shows(&self) -> Vec<Entry> {
        let floored = self.floored.iter().map(|(key, value)| (key, *value));
        let mut all = Vec::from_iter(entries(0, floored));
        all.extend(entries(
            1,
            self.ceiled.iter().map(|(key, value)| (*key, value)),
        ));
        // Nothing else keeps them alive in the end.
        assert!(self.ceiled.len() <= self.objects.0.len());
        assert!(self.budget.len() <= 3 && self.owned.len() <= 3);
        assert_eq!(self.budget.retained_weight(), self.budget.len());
        let kept = |kept: &dyn Fn(&Object) -> bool| {
            let of = self.objects.0.iter().filter(|it| kept(it));
            Vec::from_iter(of.map(|it| (**it, 0)))
        };
        // What is kept depends on what was before; it is checked, but not shown.
        assert!(kept(&|it| self.budget.contains(it)).len() <= self.budget.len());
        assert!(kept(&|it| self.owned.contains(it)).len() <= self.owned.len());
        all
    }
}

/// 593, 214: Floors and ceilings.
#[test]
fn limits() {
    let mut script = Script::<Limited>::new();
    script
        .runs(|it| {
            for object in &it.objects.0[..5] {
                it.floored.insert(**object, object);
            }
        })
        .runs(|it| {
            for object in &it.objects.0 {
                it.owned.keep(object, 1);
            }
        })
        .runs(|it| it.owned.advance())
        .runs(|it| it.owned.set_limit(Limit::entries(2)))
        .runs(|it| {
            for object in &it.objects.0 {
                it.budget.keep(object, 1);
            }
        })
        .runs(|it| it.budget.advance())
        .runs(|it| {
            for object in &it.objects.0[5..] {
                _ = it.floored.get_or_insert_with(**object, |_| object.clone());
            }
        })
        .runs(|it| it.budget.clear())
        .runs(|it| it.owned.clear())
        .never(|it| it.objects.0.truncate(4))
        .runs(|it| {
            for object in &it.objects.0 {
                it.ceiled.insert(object, **object);
            }
        })
        .never(|it| it.objects.0.clear());
    each_fails_once(&script);
}
