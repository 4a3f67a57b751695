//! Maps with weak values, as they are asked by those: alike in both families.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::time::Duration;

use weakly::{WeakHashPairMap, WeakPairMap, WeakValueMap};
#[cfg(feature = "std")]
use weakly::{concurrent, concurrent::SharedRef};

use super::random::random;
use super::subject::{Content, Life, sorted};
use super::watchdog::{assert_at_most, processor_time};
use super::{scaled, sized};

/// A map of objects to objects.
pub trait OfValues {
    type Life: Life;
    /// Whether it owns its keys, which are the numbers of objects then.
    fn owns(&self) -> bool;
    fn set(&mut self, key: &Self::Life, value: &Self::Life);
    fn get(&self, key: &Self::Life) -> Option<Self::Life>;
    /// In order.
    fn keys_of(&self, value: &Self::Life) -> Vec<usize>;
    fn remove_value(&mut self, value: &Self::Life) -> usize;
}

macro_rules! of_values {
    ($([$($generics:tt)*] $map:ty, $owns:expr, |$key:ident| $given:expr, $sought:expr;)*) => {$(
        impl<$($generics)*> OfValues for $map {
            type Life = L;
            fn owns(&self) -> bool {
                $owns
            }
            fn set(&mut self, $key: &L, value: &L) {
                self.insert($given, value);
            }
            fn get(&self, $key: &L) -> Option<L> {
                self.get($sought)
            }
            fn keys_of(&self, value: &L) -> Vec<usize> {
                sorted(self.keys_of(value).map(|key| key.number()))
            }
            fn remove_value(&mut self, value: &L) -> usize {
                Self::remove_value(self, value)
            }
        }
    )*};
}

of_values! {
    [L: Life, S: BuildHasher + Default] WeakValueMap<usize, L, S>, true, |key| **key, &**key;
    [L: Life] WeakPairMap<L, L>, false, |key| key, key;
    [L: Life, S: BuildHasher + Default] WeakHashPairMap<L, L, S>, false, |key| key, &**key;
}

#[cfg(feature = "std")]
of_values! {
    [L: Life + SharedRef, S: BuildHasher + Default] concurrent::WeakValueMap<usize, L, S>, true, |key| **key, &**key;
    [L: Life + SharedRef] concurrent::WeakPairMap<L, L>, false, |key| key, key;
}

/// The hash is the number: the entries of several have the same tag, and are near each other.
pub type Near = BuildHasherDefault<NearHasher>;

#[derive(Default)]
pub struct NearHasher(u64);

impl Hasher for NearHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("numbers are hashed")
    }
    fn write_usize(&mut self, number: usize) {
        self.0 = number as u64;
    }
}

/// A random script of two maps over the same objects, each of which may be a key and a value of both, and die.
pub fn check_script<C: OfValues + Default + 'static>() {
    check_script_of(&|| Box::new(C::default()) as Box<dyn OfValues<Life = C::Life>>);
}

fn check_script_of<L: Life>(new: &dyn Fn() -> Box<dyn OfValues<Life = L>>) {
    for seed in 0..sized(15, 5, 1) as u64 {
        let mut random = random(seed);
        let mut pick = |n: usize| random.next().unwrap() % n;
        const OBJECTS: usize = 12;
        let mut objects: Vec<Option<L>> = (0..OBJECTS).map(|n| Some(n.into())).collect();
        let mut maps = [(); 2].map(|()| (new(), BTreeMap::<usize, usize>::new()));
        for _ in 0..scaled(300, 15) {
            let (key, value) = (pick(OBJECTS), pick(OBJECTS / 2));
            let (map, model) = &mut maps[pick(2)];
            match (pick(8), &objects[key], &objects[value]) {
                (0, ..) => {
                    objects[key] = None;
                    for (map, model) in &mut maps {
                        model.retain(|at, value| (map.owns() || *at != key) && *value != key);
                    }
                }
                (1, _, Some(value_object)) => {
                    let before = model.len();
                    model.retain(|_, at| *at != value);
                    assert_eq!(map.remove_value(value_object), before - model.len());
                }
                (_, Some(key_object), Some(value_object)) => {
                    map.set(key_object, value_object);
                    model.insert(key, value);
                }
                (_, None, _) => objects[key] = Some(key.into()),
                _ => {}
            }
            for (map, model) in &maps {
                for (number, object) in objects.iter().enumerate() {
                    let Some(object) = object else { continue };
                    let keys = model.iter().filter(|(_, value)| **value == number);
                    assert_eq!(
                        map.keys_of(object),
                        Vec::from_iter(keys.map(|(key, _)| *key))
                    );
                    let value = model
                        .get(&number)
                        .map(|value| objects[*value].as_ref().unwrap());
                    assert!(value.is_none_or(|value| map.get(object).unwrap().is(value)));
                    assert!(value.is_some() || map.get(object).is_none());
                }
            }
        }
    }
}

/// Asks for the keys of a value with ten, in a map with that many more entries: so often, or until that has taken some time.
/// Returns how often, and how long it took.
fn time_among<C: OfValues + Default>(others: usize, times: Option<usize>) -> (usize, Duration) {
    let (value, other) = (C::Life::from(0), C::Life::from(1));
    let keys: Vec<C::Life> = (0..others + 10).map(C::Life::from).collect();
    let mut map = C::default();
    for (number, key) in keys.iter().enumerate() {
        let is_its = number % (others / 10 + 1) == 0;
        map.set(key, if is_its { &value } else { &other });
    }
    let its = map.keys_of(&value);
    assert!((10..=20).contains(&its.len()), "{its:?}");
    let (mut asked, began) = (0, processor_time());
    loop {
        for _ in 0..scaled(100, 1) {
            assert_eq!(map.keys_of(&value), its);
            asked += 1;
        }
        let took = processor_time() - began;
        let is_enough = times.map_or(took > Duration::from_millis(20), |times| asked >= times);
        if is_enough || cfg!(miri) {
            return (asked, took);
        }
    }
}

/// What it costs does not depend on the size of the map.
pub fn check_time<C: OfValues + Default>() {
    let (times, few) = time_among::<C>(100, None);
    let (_, many) = time_among::<C>(scaled(100_000, 100), Some(times));
    assert_at_most(30, few, many);
}
