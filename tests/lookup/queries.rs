//! H117: What finds a key by its content. These are tests that it compiles, with the types inferred, as much as
//! that it is found.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use weakly::{
    Equivalent, Interner, Query, Strong, WeakHashMap, WeakHashSet, concurrent, local,
    reference::{Content, StrongRef, WeakKey},
};

use crate::counted::Counted;

fn is_same<K: WeakKey>(one: &K, other: &K) -> bool {
    K::addr(one) == K::addr(other)
}

fn interner_of<K: StrongRef>(_: &K) -> Interner<K> {
    Interner::new()
}

fn shared_interner_of<K>(_: &K) -> concurrent::Interner<K>
where
    K: Content<Target: Eq + Hash> + concurrent::SharedRef,
{
    concurrent::Interner::new()
}

/// All lookups of the collections of one owner find a key, by a query that is written out at each.
macro_rules! is_found {
    ($key:expr, $($query:expr),+ $(,)?) => {{
        let key = &$key;
        let mut map = WeakHashMap::new();
        let mut set = WeakHashSet::new();
        let mut names = interner_of(key);
        assert!(is_same(&names.intern_with(key, |key| key.clone()), key));
        $(
            assert!(map.insert(key, 1).is_none() && set.insert(key));
            assert!(map.contains_key($query) && set.contains($query));
            assert_eq!(map.get($query), Some(&1));
            *map.get_mut($query).unwrap() = 2;
            assert!(map.get_key_value($query).is_some_and(|(found, value)| is_same(&found, key) && *value == 2));
            assert_eq!(map.remove($query), Some(2));
            map.insert(key, 3);
            assert!(map.remove_entry($query).is_some_and(|(found, value)| is_same(&found, key) && value == 3));
            assert!(set.get($query).is_some_and(|found| is_same(&found, key)));
            assert!(set.remove($query) && set.insert(key));
            assert!(set.take($query).is_some_and(|found| is_same(&found, key)));
            assert!(names.get($query).is_some_and(|found| is_same(&found, key)));
            assert!(is_same(&names.intern_with($query, |_| key.clone()), key));
        )+
    }};
}

/// The same for those that threads share.
macro_rules! is_found_by_threads {
    ($key:expr, $($query:expr),+ $(,)?) => {{
        let key = &$key;
        let map = concurrent::WeakHashMap::new();
        let set = concurrent::WeakHashSet::new();
        let names = shared_interner_of(key);
        assert!(is_same(&names.intern_with(key, |key| key.clone()), key));
        $(
            assert_eq!(map.swap(key, 1), None);
            assert!(set.insert(key));
            assert!(map.contains_key($query) && set.contains($query));
            assert_eq!((map.get($query), map.with($query, |value| *value)), (Some(1), Some(1)));
            assert!(map.get_key_value($query).is_some_and(|(found, value)| is_same(&found, key) && value == 1));
            _ = map.remove_if($query, |value| *value == 2);
            assert_eq!(map.remove($query), Some(1));
            map.swap(key, 3);
            assert!(map.remove_entry($query).is_some_and(|(found, value)| is_same(&found, key) && value == 3));
            assert!(set.get($query).is_some_and(|found| is_same(&found, key)));
            assert!(set.remove($query) && set.insert(key));
            assert!(set.take($query).is_some_and(|found| is_same(&found, key)));
            assert!(names.get($query).is_some_and(|found| is_same(&found, key)));
            assert!(is_same(&names.intern_with($query, |_| key.clone()), key));
        )+
    }};
}

/// A further content. All lookups of a query are alike, and some contents show that each finds what it should: here the
/// compiler checks each (nothing calls the closure, so no code is made of it), and a set shows that the query finds the key.
/// `.ci/handles` runs all of them.
macro_rules! compiles_and_is_found {
    ($key:expr, $($query:expr),+ $(,)?) => {{
        let it = &$key;
        let _compiles = || is_found!(*it, $($query),+);
        #[cfg(weakly_other_handles)]
        _compiles();
        let set = WeakHashSet::from([it]);
        $(assert!(set.contains($query));)+
    }};
}

/// The same for those that threads share.
macro_rules! compiles_and_is_found_by_threads {
    ($key:expr, $($query:expr),+ $(,)?) => {{
        let it = &$key;
        compiles_by_threads!(*it, $($query),+);
        let set: concurrent::WeakHashSet<_> = [it].into_iter().collect();
        $(assert!(set.contains($query));)+
    }};
}

/// Of a content that the same queries find in a set of one owner.
macro_rules! compiles_by_threads {
    ($key:expr, $($query:expr),+ $(,)?) => {{
        let it = &$key;
        let _compiles = || is_found_by_threads!(*it, $($query),+);
        #[cfg(weakly_other_handles)]
        _compiles();
    }};
}

/// A case-insensitive name.
struct AnyCase<'a>(&'a str);

impl Hash for AnyCase<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_lowercase().hash(state);
    }
}

impl<T: ?Sized + AsRef<str>> Equivalent<T> for AnyCase<'_> {
    fn equivalent(&self, key: &T) -> bool {
        self.0.eq_ignore_ascii_case(key.as_ref())
    }
}

#[test]
fn pointers_and_contents_find_a_str() {
    let strong = Strong::<str>::from("key");
    let local = local::Strong::<str>::from("key");
    let (arc, rc) = (Arc::<str>::from("key"), Rc::<str>::from("key"));
    let string = "key".to_owned();
    is_found!(
        strong,
        "key",
        &*string,
        string.as_str(),
        &strong,
        &local,
        &arc,
        &rc,
        &strong.clone()
    );
    compiles_and_is_found!(local, "key", &strong, &local, &arc, &rc, &*arc);
    compiles_and_is_found!(arc, "key", &strong, &local, &arc, &rc, &*rc);
    compiles_and_is_found!(rc, "key", &strong, &local, &arc, &rc, &*local);
    is_found_by_threads!(strong, "key", &*string, &strong, &local, &arc, &rc);
    compiles_and_is_found_by_threads!(arc, "key", &*string, &strong, &local, &arc, &rc);
}

/// A `String` is a content here, although it derefs to a `str`.
#[test]
fn pointers_and_contents_find_a_string() {
    let string = "key".to_owned();
    let strong = Strong::new(string.clone());
    let rc = Rc::new(string.clone());
    is_found!(
        strong,
        "key",
        &string,
        &"key".to_owned(),
        &*string,
        &AnyCase("KEY"),
        &strong,
        &rc
    );
    compiles_and_is_found!(rc, "key", &string, &AnyCase("Key"), &strong, &rc, &*rc);
    compiles_and_is_found_by_threads!(strong, "key", &string, &AnyCase("KEY"), &strong, &rc);
}

/// A pointer of the user's is a key, and finds keys of other kinds. Its content is asked for once for each lookup.
#[test]
fn own_pointers_find_and_are_found() {
    /// Each lookup is true, and has asked the pointer for its content once.
    macro_rules! ask_once {
        ($twin:ident: $($lookup:expr),+ $(,)?) => {$(
            $twin.seen();
            assert!($lookup);
            assert_eq!($twin.seen(), 1, stringify!($lookup));
        )+};
    }
    let (key, twin) = (Counted::new(5_i32), Counted::new(5_i32));
    is_found!(key, &5, &key, &twin, &Rc::new(5), &Strong::new(5));
    compiles_and_is_found!(Strong::new(5_i32), &key, &twin);
    is_found_by_threads!(Arc::new(5_i32), &key, &twin);

    let mut map = WeakHashMap::from([(&key, 1)]);
    let mut set = WeakHashSet::from([&key]);
    let mut names = interner_of(&key);
    _ = names.intern_with(&key, Counted::clone);
    ask_once!(twin:
        map.contains_key(&twin),
        map.get(&twin).is_some(),
        map.get_mut(&twin).is_some(),
        map.get_key_value(&twin).is_some(),
        map.remove(&twin).is_some(),
        map.remove_entry(&twin).is_none(),
        set.contains(&twin),
        set.get(&twin).is_some(),
        set.take(&twin).is_some(),
        !set.remove(&twin),
        names.get(&twin).is_some(),
        is_same(&names.intern_with(&twin, |_| key.clone()), &key),
    );
    let arc = Arc::new(5_i32);
    let map = concurrent::WeakHashMap::new();
    let set: concurrent::WeakHashSet<_> = [&arc].into_iter().collect();
    let names = shared_interner_of(&arc);
    map.swap(&arc, 1);
    ask_once!(twin:
        map.contains_key(&twin),
        map.with(&twin, |_| ()).is_some(),
        map.get(&twin).is_some(),
        map.get_key_value(&twin).is_some(),
        map.remove(&twin).is_some(),
        map.remove_entry(&twin).is_none(),
        set.contains(&twin),
        set.get(&twin).is_some(),
        set.take(&twin).is_some(),
        !set.remove(&twin),
        names.get(&twin).is_none(),
        is_same(&names.intern_with(&twin, |_| arc.clone()), &arc),
    );
}

/// An owned form finds what it borrows as; the type of a literal is that of the contents; a content that is a pointer is found as a content, and what points to
/// it as a pointer.
#[test]
fn queries_of_other_contents_find_their_like() {
    let path = PathBuf::from("a/b");
    compiles_and_is_found!(Arc::<Path>::from(&*path), &path, &Path::new("a").join("b"));
    compiles_and_is_found!(Strong::<str>::from("key"), &"key".to_owned());
    let strong = Strong::new(5_u16);
    compiles_and_is_found!(strong, &5, &(2 + 3), &strong, &Rc::new(5));
    compiles_and_is_found!(Arc::new((-1_i8, 'x')), &(-1, 'x'), &Strong::new((-1, 'x')));
    let slice = Strong::<[u32]>::from(&[1, 2, 3][..]);
    compiles_and_is_found!(slice, &[1, 2, 3][..], &*vec![1, 2, 3], &slice);
    compiles_and_is_found!(
        Strong::new(vec![1_u64]),
        &[1][..],
        &vec![1],
        &Arc::new(vec![1])
    );
    compiles_and_is_found!(Strong::new([1_u8; 3]), &[1, 1, 1], &[1; 3][..]);
    let inner = Rc::<str>::from("key");
    compiles_and_is_found!(
        Strong::new(inner.clone()),
        "key",
        &inner,
        &Rc::new(inner.clone())
    );
    let handle = Strong::new(Strong::new(7_i32));
    compiles_and_is_found!(handle, &7, &Strong::new(7), &*handle, &handle);
}

/// The type of the key may become known after the lookup; the operator takes contents; a key of another content is not
/// found, nor one that is dead.
#[test]
fn keys_may_be_inferred_later() {
    let mut map = WeakHashMap::new();
    assert!(map.get("key").is_none());
    let [key, other] = ["key", "other"].map(Strong::<str>::from);
    map.insert(&key, 1);
    assert_eq!((map["key"], map[&*key]), (1, 1));
    assert_eq!((map.get(&other), map.get("other")), (None, None));
    drop(key);
    assert_eq!(
        (map.get("key"), map.get(&Rc::<str>::from("key"))),
        (None, None)
    );
}

fn by_equivalent<Q: ?Sized + Hash + Equivalent<str>>(
    map: &WeakHashMap<Strong<str>, i32>,
    word: &Q,
) -> Option<i32> {
    map.get(word).copied()
}

fn by_index<Q: ?Sized + Hash + Equivalent<str>>(
    map: &WeakHashMap<Strong<str>, i32>,
    word: &Q,
) -> i32 {
    map[word]
}

fn by_borrow<Q: ?Sized + Hash + Eq>(set: &WeakHashSet<Rc<String>>, word: &Q) -> bool
where
    String: Borrow<Q>,
{
    set.contains(word)
}

fn by_query<K, Q, M>(names: &Interner<K>, query: &Q) -> Option<K>
where
    K: Content<Target: Hash + Eq>,
    Q: ?Sized + Query<K::Target, M>,
{
    names.get(query)
}

fn by_pointer<K, P>(map: &WeakHashMap<K, i32>, pointer: &P) -> [Option<i32>; 2]
where
    K: Content<Target: Hash + Eq>,
    P: Content<Target = K::Target>,
{
    [
        map.get(pointer).copied(),
        map.get(P::content(pointer)).copied(),
    ]
}

fn by_key<K: Content<Target: Hash + Eq>>(map: &WeakHashMap<K, i32>, key: &K) -> [Option<i32>; 2] {
    [map.get(key).copied(), map.get(K::content(key)).copied()]
}

fn by_any<K, Q>(map: &concurrent::WeakHashMap<K, i32>, query: &Q) -> Option<i32>
where
    K: Content<Target: Hash + Eq> + concurrent::SharedRef,
    Q: ?Sized + Hash + Equivalent<<K as StrongRef>::Target>,
{
    map.get(query)
}

#[test]
fn generic_callers_compile() {
    let (word, rc) = (Strong::<str>::from("word"), Rc::new("word".to_owned()));
    let map = WeakHashMap::from([(&word, 1)]);
    assert_eq!(
        (
            by_equivalent(&map, "word"),
            by_equivalent(&map, &AnyCase("WORD"))
        ),
        (Some(1), Some(1))
    );
    assert_eq!(
        (by_index(&map, "word"), by_index(&map, &AnyCase("wOrd"))),
        (1, 1)
    );
    let set = WeakHashSet::from([&rc]);
    assert!(by_borrow(&set, "word") && by_borrow(&set, &"word".to_owned()));
    let mut names = Interner::<Strong<str>>::new();
    let name = names.intern_ref("word");
    assert!(by_query(&names, "word").is_some() && by_query(&names, &word).is_some());
    assert!(by_query(&names, &name).is_some_and(|found| Strong::ptr_eq(&found, &name)));
    assert_eq!(by_pointer(&map, &Arc::<str>::from("word")), [Some(1); 2]);
    assert_eq!(by_key(&map, &word), [Some(1); 2]);
    let shared = concurrent::WeakHashMap::new();
    shared.swap(&word, 1);
    assert_eq!(
        (by_any(&shared, "word"), by_any(&shared, &AnyCase("WORD"))),
        (Some(1), Some(1))
    );
}
