//! Operations with closures, iterators and guards.

use std::borrow::Borrow;
use std::hash::BuildHasher;
use std::mem::take;
use std::sync::Arc;

use weakly::Hashed;
use weakly::concurrent::SharedRef;

use super::{FLYING, FORGETS, LEAKS, user_code, wild, wish};
use crate::common::custom::Custom;
use crate::common::forget;
use crate::common::subject::{Life, Owned, Shared, Single, shared, single};

pub(super) trait Ways: Single<Custom> + 'static {
    const WAYS: &'static [fn(&mut Self, &Self::Life)];
}

pub(super) trait SharedWays: Shared<Custom> + 'static {
    const WAYS: &'static [fn(&Self, &Self::Life)];
}

macro_rules! ways {
    ($trait:ident $mut:tt $lists:ident $bounds:tt $($face:ident: |$all:ident, $key:ident| $ways:tt;)*) => {
        $(ways! { @one $trait $mut $lists $bounds $face |$all, $key| $ways })*
    };
    (@one $trait:ident [$($mut:ident)?] $lists:ident [$($bounds:tt)*] $face:ident
     |$all:ident, $key:ident| [$($way:expr),* $(,)?]) => {
        impl<K: Life<Custom> + $($bounds)*> $trait for $lists::$face<K> {
            const WAYS: &'static [fn(&$($mut)? Self, &K)] = &[$(|$all, $key| {
                _ = $key; // not all use it
                $way;
            }),*];
        }
    };
}

/// What is made for an entry.
fn owned(number: usize) -> Owned<single::Ends, Custom> {
    user_code();
    Owned::new(wild(number), &single::quietly())
}

fn object<K: From<Custom>>(number: usize) -> K {
    user_code();
    wild(number).into()
}

/// An iterator after its first item is forgotten, and with it perhaps what it has taken out.
pub(super) fn abandon<I: Iterator>(mut iter: I) {
    iter.next();
    lose(iter);
}

/// Forgets something, if the script forgets.
pub(super) fn lose<T>(value: T) {
    if FORGETS.get() {
        LEAKS.set(true);
        forget(value);
    }
}

/// Whether a value may move from the one to the other, whose number it has: preferably not the same object.
fn equals<K: Life<Custom>>(one: &K, other: &K) -> bool {
    one.number == other.number && (!one.is(other) || wish())
}

/// A hash made beforehand.
fn hashed<T: Borrow<Custom>>(hash: u64, number: usize) -> Hashed<impl Fn(&T) -> bool> {
    Hashed(hash, move |there: &T| {
        user_code();
        there.borrow().number == number
    })
}

ways! {
    Ways [mut] single []
    Maps: |all, key| [
        _ = all.get_or_insert_with(key, |_| owned(key.number)).number.number,
        _ = all.entry(key).and_modify(|_| user_code()).or_insert_with(|| owned(key.number)).number.number,
        _ = all.entry(key).insert_entry(owned(key.number)).remove(),
        _ = all.remove_if(key, |_| wish()),
        all.retain(|_, _| wish()),
        all.extract_if(|_, _| wish()).for_each(drop),
        _ = all.extract_if(|_, _| wish()).next(),
        all.drain().for_each(drop),
        all.drain_dead().for_each(drop),
        _ = all.clone(),
        all.extend(all.clone()),
        abandon(all.drain()),
        abandon(all.extract_if(|_, _| wish())),
        abandon(all.drain_dead()),
        abandon(all.iter_mut()),
        {
            let from = all.iter().map(|(from, _)| from).find(|from| equals(from, key));
            drop(from.and_then(|from| all.transfer(&from, key)));
        },
        lose(all.entry(key)),
        abandon(take(all).into_iter()),
    ];
    Sets: |all, key| [
        all.retain(|_| wish()),
        all.extract_if(|_| wish()).for_each(drop),
        all.drain().for_each(drop),
        *all = &*all ^ &[key].into_iter().collect(),
        *all = &*all - &[key].into_iter().collect(),
        abandon(all.drain()),
        abandon(all.extract_if(|_| wish())),
    ];
    HashMaps: |all, key| [
        _ = all.get_or_insert_with(key, |_| owned(key.number)).number.number,
        _ = all.entry(key).and_modify(|_| user_code()).or_insert_with(|| owned(key.number)).number.number,
        _ = all.get(&hashed(all.hasher().hash_one(key.number), key.number)).is_some(),
        _ = all.remove(&hashed(all.hasher().hash_one(key.number), key.number)),
        _ = all.entry_hashed(all.hasher().hash_one(key.number), key).or_insert(owned(key.number)).number.number,
        _ = all.remove_if(&**key, |_| wish()),
        all.retain(|_, _| wish()),
        all.extract_if(|_, _| wish()).for_each(drop),
        all.drain().for_each(drop),
        all.drain_dead().for_each(drop),
        _ = *all == all.clone(),
        all.extend(all.clone()),
        abandon(all.drain()),
        abandon(all.extract_if(|_, _| wish())),
        abandon(all.drain_dead()),
        lose(all.entry(key)),
        {
            let from = all.iter().map(|(from, _)| from).find(|from| equals(from, key));
            drop(from.and_then(|from| all.transfer(&*from, key)));
        },
    ];
    HashSets: |all, key| [
        _ = all.replace(key),
        _ = all.take(&hashed(all.hasher().hash_one(key.number), key.number)),
        _ = all.insert_hashed(all.hasher().hash_one(key.number), key),
        all.retain(|_| wish()),
        all.extract_if(|_| wish()).for_each(drop),
        all.drain().for_each(drop),
        *all = &*all ^ &[key].into_iter().collect(),
        *all = &*all & &[key].into_iter().collect(),
        *all = &*all | &[object::<K>(key.number + 1)].iter().collect(),
        _ = *all == all.clone(),
        abandon(all.drain()),
        abandon(all.extract_if(|_| wish())),
    ];
    ValueMaps: |all, key| [
        _ = all.get_or_insert_with(owned(key.number), |_| object(key.number)),
        _ = all.entry(owned(key.number)).or_insert_with(|| object(key.number)),
        _ = all.get(&hashed(all.hasher().hash_one(key.number), key.number)),
        _ = all.remove_if(&**key, |_| wish()),
        all.retain(|_, _| wish()),
        all.extract_if(|_, _| wish()).for_each(drop),
        all.drain().for_each(drop),
        all.drain_dead().for_each(drop),
        _ = *all == all.clone(),
        abandon(all.drain()),
        abandon(all.extract_if(|_, _| wish())),
        abandon(all.drain_dead()),
        lose(all.entry(owned(key.number))),
        abandon(take(all).into_values()),
        _ = all.remove_value(key),
    ];
    PairsTwice: |all, key| [
        _ = all.get_or_insert_with(key, |_| object(key.number)),
        _ = all.entry(key).or_insert_with(|| object(key.number)),
        _ = all.remove_if(key, |_| wish()),
        all.retain(|_, _| wish()),
        all.extract_if(|_, _| wish()).for_each(drop),
        all.drain().for_each(drop),
        abandon(all.drain()),
        abandon(take(all).into_keys()),
        _ = all.remove_value(key),
    ];
    HashPairsTwice: |all, key| [
        _ = all.get_or_insert_with(key, |_| object(key.number)),
        _ = all.remove(&hashed(all.hasher().hash_one(key.number), key.number)),
        _ = all.remove_if(&**key, |_| wish()),
        all.retain(|_, _| wish()),
        all.drain().for_each(drop),
        abandon(all.extract_if(|_, _| wish())),
    ];
    Interners: |all, key| [
        _ = all.intern_with(&**key, |_| object::<K>(key.number)),
        _ = all.intern_with(&hashed(all.hasher().hash_one(key.number), key.number), |_| object::<K>(key.number)),
        _ = all.intern(object::<K>(key.number)),
        _ = all.get(&hashed(all.hasher().hash_one(key.number), key.number)),
        abandon(all.iter()),
    ];
}

pub(super) type Kept = Arc<Owned<shared::Ends, Custom>>;

/// What is made for an entry that threads share.
pub(super) fn kept(number: usize) -> Kept {
    user_code();
    Arc::new(Owned::new(wild(number), &shared::quietly()))
}

/// Makes something for which others would wait, unless that is being made.
pub(super) fn fly(number: usize, make: impl FnOnce()) {
    struct Landing;
    impl Drop for Landing {
        fn drop(&mut self) {
            FLYING.with_borrow_mut(Vec::pop);
        }
    }
    if !FLYING.with_borrow(|flying| flying.contains(&number)) {
        FLYING.with_borrow_mut(|flying| flying.push(number));
        let _landing = Landing;
        make();
    }
}

ways! {
    SharedWays [] shared [SharedRef]
    Maps: |all, key| [
        fly(key.number, || drop(all.get_or_insert_with(key, |_| kept(key.number)))),
        _ = all.compute(key, |_| wish().then(|| kept(key.number))),
        _ = all.swap(key, kept(key.number)),
        _ = all.remove_if(key, |_| wish()),
        _ = all.with(key, |_| user_code()),
        all.retain(|_, _| wish()),
        abandon(all.iter()),
        _ = all.get_or_insert_racing(key, |_| kept(key.number)),
        {
            let from = all.iter().map(|(from, _)| from).find(|from| equals(from, key));
            drop(from.and_then(|from| all.transfer(&from, key)));
        },
    ];
    Sets: |all, key| [
        all.retain(|_| wish()),
        _ = all.take(key),
        abandon(all.iter()),
    ];
    HashMaps: |all, key| [
        fly(key.number, || drop(all.get_or_insert_with(key, |_| kept(key.number)))),
        _ = all.compute(key, |_| wish().then(|| kept(key.number))),
        _ = all.remove_if(&**key, |_| wish()),
        _ = all.get(&hashed(all.hasher().hash_one(key.number), key.number)),
        _ = all.with(&hashed(all.hasher().hash_one(key.number), key.number), |_| user_code()),
        _ = all.insert_hashed(all.hasher().hash_one(key.number), key, kept(key.number)),
        all.retain(|_, _| wish()),
        abandon(all.iter()),
        {
            let from = all.iter().map(|(from, _)| from).find(|from| equals(from, key));
            drop(from.and_then(|from| all.transfer(&*from, key)));
        },
    ];
    HashSets: |all, key| [
        _ = all.replace(key),
        _ = all.take(&hashed(all.hasher().hash_one(key.number), key.number)),
        all.retain(|_| wish()),
        abandon(all.iter()),
    ];
    ValueMaps: |all, key| [
        fly(key.number, || drop(all.get_or_insert_with(kept(key.number), |_| object(key.number)))),
        _ = all.compute(kept(key.number), |_| wish().then(|| object(key.number))),
        all.retain(|_, _| wish()),
        _ = all.remove_value(key),
        all.retain_values(|_| wish()),
        abandon(all.iter()),
        _ = all.get_or_insert_racing(kept(key.number), |_| object(key.number)),
    ];
    PairsTwice: |all, key| [
        fly(key.number, || drop(all.get_or_insert_with(key, |_| object(key.number)))),
        _ = all.compute(key, |_| wish().then(|| object(key.number))),
        _ = all.remove_if(key, |_| wish()),
        _ = all.remove_value(key),
        all.retain(|_, _| wish()),
        abandon(all.iter()),
    ];
    Interners: |all, key| [
        fly(key.number, || drop(all.intern_with(&**key, |_| object::<K>(key.number)))),
        fly(key.number, || drop(all.intern_with(&hashed(all.hasher().hash_one(key.number), key.number), |_| object::<K>(key.number)))),
        _ = all.get(&hashed(all.hasher().hash_one(key.number), key.number)),
        abandon(all.iter()),
    ];
}
