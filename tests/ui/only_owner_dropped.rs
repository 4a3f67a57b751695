// Each statement here drops a handle that may be the only owner of its object.
//~ aborting due to 26 previous errors
//~ the returned handle may be the only owner: when it is dropped, the object dies
//~ the returned entry may be the only owner: when it is dropped, the object dies
//~ unused return value of `weakly::Interner::<K, S>::intern` that must be used
//~ unused return value of `weakly::Interner::<K, S>::intern_ref` that must be used
//~ unused return value of `weakly::Interner::<K, S>::intern_with` that must be used
//~ unused return value of `weakly::Interner::<K, S>::intern_or_make` that must be used
//~ unused return value of `weakly::concurrent::Interner::<K, S>::intern` that must be used
//~ unused return value of `weakly::concurrent::Interner::<K, S>::intern_ref` that must be used
//~ unused return value of `weakly::concurrent::Interner::<K, S>::intern_with` that must be used
//~ unused return value of `weakly::concurrent::Interner::<K, S>::intern_or_make` that must be used
//~ unused return value of `weakly::WeakValueMap::<K, V, S>::get_or_insert` that must be used
//~ unused return value of `weakly::WeakValueMap::<K, V, S>::get_or_insert_with` that must be used
//~ unused return value of `WeakEntry::<'a, G, K, V>::or_insert` that must be used
//~ unused return value of `WeakEntry::<'a, G, K, V>::or_insert_with` that must be used
//~ unused return value of `WeakEntry::<'a, G, K, V>::or_insert_with_key` that must be used
//~ unused return value of `WeakEntry::<'a, G, K, V>::or_default` that must be used
//~ unused return value of `WeakEntry::<'a, G, K, V>::insert_entry` that must be used
//~ unused return value of `WeakVacantEntry::<'a, G, K, V>::insert_entry` that must be used
//~ unused return value of `weakly::concurrent::WeakValueMap::<K, V, S>::get_or_insert_with` that must be used
//~ unused return value of `weakly::concurrent::WeakValueMap::<K, V, S>::get_or_insert_racing` that must be used
//~ unused return value of `weakly::concurrent::WeakValueMap::<K, V, S>::compute` that must be used
//~ unused return value of `weakly::WeakPairMap::<K, V>::get_or_insert` that must be used
//~ unused return value of `weakly::WeakPairMap::<K, V>::get_or_insert_with` that must be used
//~ unused return value of `WeakHashPairMap::<K, V, S>::get_or_insert` that must be used
//~ unused return value of `WeakHashPairMap::<K, V, S>::get_or_insert_with` that must be used
//~ unused return value of `weakly::concurrent::WeakPairMap::<K, V>::get_or_insert_with` that must be used
//~ unused return value of `weakly::concurrent::WeakPairMap::<K, V>::get_or_insert_racing` that must be used
//~ unused return value of `weakly::concurrent::WeakPairMap::<K, V>::compute` that must be used
#![deny(unused_must_use)]
use weakly::collections::weak_value_map::VacantEntry;
use weakly::{Interner, Strong, WeakHashPairMap, WeakPairMap, WeakValueMap, concurrent};

pub fn words(words: &mut Interner<Strong<str>>) {
    words.intern("a");
    words.intern_ref("a");
    words.intern_with("a", String::from);
    words.intern_or_make(1, "a", |text, there| *text == there, |text| text);
}

pub fn shared_words(words: &concurrent::Interner<Strong<str>>) {
    words.intern("a");
    words.intern_ref("a");
    words.intern_with("a", String::from);
    words.intern_or_make(1, "a", |text, there| *text == there, |text| text);
}

pub fn names(names: &mut WeakValueMap<u32, Strong<str>>) {
    names.get_or_insert(1, "one".into());
    names.get_or_insert_with(1, |_| "one".into());
    names.entry(1).or_insert("one".into());
    names.entry(1).or_insert_with(|| "one".into());
    names.entry(1).or_insert_with_key(|_| "one".into());
    names.entry(1).or_default();
    names.entry(1).insert_entry("one".into());
}

pub fn vacant(entry: VacantEntry<'_, u32, Strong<str>>) {
    entry.insert_entry("one".into());
}

pub fn shared_names(names: &concurrent::WeakValueMap<u32, Strong<str>>) {
    names.get_or_insert_with(1, |_| "one".into());
    names.get_or_insert_racing(1, |_| "one".into());
    names.compute(1, |_| Some("one".into()));
}

type Key = Strong<u32>;

pub fn pairs(pairs: &mut WeakPairMap<Key, Strong<str>>, key: &Key) {
    pairs.get_or_insert(key, "one".into());
    pairs.get_or_insert_with(key, |_| "one".into());
}

pub fn pairs_by_content(pairs: &mut WeakHashPairMap<Key, Strong<str>>, key: &Key) {
    pairs.get_or_insert(key, "one".into());
    pairs.get_or_insert_with(key, |_| "one".into());
}

pub fn shared_pairs(pairs: &concurrent::WeakPairMap<Key, Strong<str>>, key: &Key) {
    pairs.get_or_insert_with(key, |_| "one".into());
    pairs.get_or_insert_racing(key, |_| "one".into());
    pairs.compute(key, |_| Some("one".into()));
}
