//! Handles of users that [`weakly::impl_handle!`] makes, in a crate that may not contain `unsafe` (H110, H114, H117): what
//! they are good for, and what those can do that lie (`handle/liars.rs`), which are honest in the other tests.

#![forbid(unsafe_code)]
#![allow(missing_docs)]

#[path = "handle/liars.rs"]
mod liars;

use liars::{ArcName, Name};
use std::any::TypeId;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Deref;
use std::rc::{self, Rc};
use std::sync::{Arc, Mutex};

use weakly::concurrent::{self, SharedRef};
use weakly::{
    Addr, ByIdentity, Interner, Memo, Strong, Weak, WeakHashMap, WeakMap, WeakPairMap,
    cycles::{Purged, Trace},
    impl_handle, impl_trace,
    leaks::LeakWatch,
    local,
    ptr::Local,
    reference::{Content, Notified, Notify, StrongRef, Swept, WeakKey, WeakRef},
};

/// Newtypes around handles of a text, which show it.
macro_rules! names {
    ($($name:ident($inner:ty), $weak:ident($inner_weak:ty);)*) => {$(
        #[derive(Clone)]
        struct $name($inner);
        #[derive(Clone)]
        struct $weak($inner_weak);

        impl_handle!($name($inner), $weak($inner_weak));

        impl Deref for $name {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                self
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                $name(text.into())
            }
        }
    )*};
}

names! {
    Text(Strong<str>), WeakText(Weak<str>);
    LocalName(local::Strong<str>), WeakLocalName(local::Weak<str>);
    RcName(Rc<str>), WeakRcName(rc::Weak<str>);
    Title(Text), WeakTitle(WeakText);
    LocalTitle(RcName), WeakLocalTitle(WeakRcName);
}

/// What a test of names requires.
trait Named:
    Content<Target: Hash + Eq + Borrow<str>> + Clone + for<'q> From<&'q str> + 'static
{
}
impl<K> Named for K where
    K: Content<Target: Hash + Eq + Borrow<str>> + Clone + for<'q> From<&'q str> + 'static
{
}

fn same<K: WeakKey>(left: &K, right: &K) -> bool {
    K::addr(left) == K::addr(right)
}

/// Of one owner: by identity, by content, on both sides, and on request.
fn is_owned<K: Named>(notifies: bool) {
    let mut words = Interner::<K>::new();
    let [one, other] = [K::from("one"), words.intern_ref("other")];
    assert!(same(&words.intern_ref("other"), &other));
    let mut by_name = WeakHashMap::from([(&one, 1_usize), (&other, 2)]);
    let mut by_identity = WeakMap::from([(&one, 1_usize), (&other, 2)]);
    let mut pairs = WeakPairMap::from([(&one, &other), (&other, &one)]);

    let weak = K::downgrade(&one);
    let by_object = HashMap::from([&one, &other].map(|key| (ByIdentity(K::downgrade(key)), 1)));
    assert_eq!((by_name["one"], by_name[K::content(&other)]), (1, 2));
    assert_eq!((by_identity[&one], by_identity[&weak]), (1, 1));
    assert_eq!(by_identity.get(&Addr::of(K::content(&one))), Some(&1));
    assert_eq!(by_identity.get(&ByIdentity(one.clone())), Some(&1));
    assert!(!by_identity.contains_key(&K::from("one")));
    assert!(same(&pairs.get(&other).unwrap(), &one));
    let ours = |key: &K::Weak| key.upgrade().is_some_and(|key| same(&key, &one));
    assert!(by_identity.iter_weak().any(|(key, _)| ours(&key)));

    drop(one);
    assert!(weak.is_expired() && weak.upgrade().is_none() && by_identity.get(&weak).is_none());
    let later = ByIdentity(K::downgrade(&K::from("one")));
    assert!(by_object.contains_key(&ByIdentity(weak.clone())) && !by_object.contains_key(&later));
    assert!(by_object.len() == 2 && later != ByIdentity(weak.clone()));
    assert!(pairs.get(&other).is_none() && by_name.get("one").is_none());
    if !notifies {
        by_name.purge();
        by_identity.purge();
        pairs.purge();
    }
    assert_eq!([by_name.len(), by_identity.len(), pairs.len()], [1, 1, 0]);
}

#[test]
fn every_collection_takes_them() {
    is_owned::<Name>(true);
    is_owned::<LocalName>(true);
    is_owned::<ArcName>(false);
    // All collections see these as they see those above. The compiler checks them, and `.ci/handles` runs them.
    let others = || {
        is_owned::<RcName>(false);
        is_owned::<Text>(true);
        is_owned::<Title>(true);
        is_owned::<LocalTitle>(false);
    };
    #[cfg(weakly_other_handles)]
    others();
    _ = others;
}

/// Where threads share them.
fn is_shared<K: Named + SharedRef<Weak: 'static>>() {
    let words = concurrent::Interner::<K>::new();
    let [one, other] = [words.intern_ref("one"), words.intern_ref("other")];
    assert!(same(&words.intern_ref("one"), &one));
    let by_name = concurrent::WeakHashMap::<K, usize>::new();
    let pairs = concurrent::WeakPairMap::<K, K>::new();
    let memo = Memo::<(K, K), usize>::new();
    std::thread::scope(|scope| {
        for (key, number, other) in [(&one, 1, &other), (&other, 2, &one)] {
            let (by_name, pairs, memo) = (&by_name, &pairs, &memo);
            scope.spawn(move || {
                by_name.insert(key, number);
                pairs.insert(key, other);
                memo.get_or_compute((key, other), |_| number);
            });
        }
    });
    assert_eq!(
        [by_name.get("one"), by_name.get(&other)],
        [Some(1), Some(2)]
    );
    assert!(same(&pairs.get(&other).unwrap(), &one));
    assert_eq!(memo.get_or_compute((&one, &other), |_| unreachable!()), 1);
    drop(one);
    assert!(by_name.get("one").is_none() && pairs.get(&other).is_none());
    assert!(words.get("one").is_none() && words.get("other").is_some());
    by_name.purge();
    pairs.purge();
    memo.purge();
    assert_eq!([by_name.len(), pairs.len(), memo.len()], [1, 0, 0]);
}

#[test]
fn threads_share_them_if_they_share_what_is_inside() {
    is_shared::<Name>();
    is_shared::<ArcName>();
    // As above.
    let others = || {
        is_shared::<Text>();
        is_shared::<Title>();
    };
    #[cfg(weakly_other_handles)]
    others();
    _ = others;
}

#[test]
fn their_watch_is_of_the_same_kind_and_nothing_is_added() {
    fn is<K: StrongRef<Watch: 'static>, W: 'static>() -> bool {
        TypeId::of::<K::Watch>() == TypeId::of::<W>()
    }
    assert!(is::<Name, Notified<Name>>() && is::<LocalName, Notified<LocalName>>());
    assert!(is::<Title, Notified<Title>>() && is::<LocalTitle, Swept<LocalTitle, Local>>());
    assert!(is::<ArcName, Swept<ArcName>>() && is::<RcName, Swept<RcName, Local>>());
    fn handle_of<K: Notify>(key: &K) -> usize {
        weakly::ptr::Strong::strong_count(Notify::handle(key))
    }
    let title = Title(Text("text".into()));
    assert_eq!(handle_of(&title), 1);
    assert_eq!(size_of::<Option<Title>>(), size_of::<Strong<str>>());
    assert_eq!(size_of::<Option<WeakTitle>>(), size_of::<Weak<str>>());

    let watch = LeakWatch::new();
    watch.expect_dead(&title, "title");
    let alive = watch.alive();
    let group = &alive.groups[0];
    // What the handle inside knows, all know around it.
    assert_eq!(
        (group.type_name, group.strong_count, group.bytes),
        ("str", Some(1), 4)
    );
}

// === Generic ones ===

/// Around any handle, with lifetimes and constants.
struct Row<'a, K: StrongRef, const N: usize>(K)
where
    K: StrongRef<Target = [&'a str; N]>;
struct WeakRow<'a, K: StrongRef<Target = [&'a str; N]>, const N: usize>(K::Weak);

impl<'a, K: StrongRef<Target = [&'a str; N]>, const N: usize> Clone for WeakRow<'a, K, N> {
    fn clone(&self) -> Self {
        WeakRow(self.0.clone())
    }
}

impl_handle!(
    ['a, K: StrongRef<Target = [&'a str; N]>, const N: usize]
    Row<'a, K, N>(K),
    WeakRow<'a, K, N>(K::Weak),
);

/// With types for its parameters, which have parameters of their own.
struct Table<T, const N: usize = 1>(Strong<Vec<T>>);
struct WeakTable<T, const N: usize = 1>(Weak<Vec<T>>);

impl<T, const N: usize> Clone for WeakTable<T, N> {
    fn clone(&self) -> Self {
        WeakTable(self.0.clone())
    }
}

type Cell<T> = Option<Vec<T>>;

impl_handle!(Table<Cell<u8>>(Strong<Vec<Cell<u8>>>), WeakTable<Cell<u8>>(Weak<Vec<Cell<u8>>>));
impl_handle!(
    [T: IntoIterator<Item: Copy>]
    self::Table<fn(T) -> (Vec<<T as IntoIterator>::Item>, T), { 1 + 1 }>(
        Strong<Vec<fn(T) -> (Vec<<T as IntoIterator>::Item>, T)>>
    ),
    WeakTable<fn(T) -> (Vec<<T as IntoIterator>::Item>, T), 2>(
        Weak<Vec<fn(T) -> (Vec<<T as IntoIterator>::Item>, T)>>
    ),
);
impl_handle!(
    Table<<Cell<char> as IntoIterator>::Item, 3>(Strong<Vec<Vec<char>>>),
    WeakTable<<Cell<char> as IntoIterator>::Item, 3>(Weak<Vec<Vec<char>>>)
);

#[test]
fn a_newtype_may_have_types_as_its_arguments() {
    fn check<K: StrongRef>(key: K) {
        let mut map = WeakMap::from([(&key, 7)]);
        assert_eq!(map.get(&key), Some(&7));
        drop(key);
        map.purge();
        assert!(map.is_empty());
    }
    check(Table::<_>(Strong::new(vec![Some(vec![1_u8])])));
    check(Table::<_, 3>(Strong::new(vec![vec!['a']])));
    check(Table::<fn(Vec<u8>) -> (Vec<u8>, Vec<u8>), 2>(Strong::new(
        vec![|it| (it.clone(), it)],
    )));
}

#[test]
fn a_newtype_may_be_generic() {
    fn check<'a, K: StrongRef<Target = [&'a str; 2]>>(key: K) {
        let key = Row(key);
        let mut map = WeakMap::from([(&key, 7)]);
        let weak = Row::downgrade(&key);
        assert_eq!((map.get(&key), map.get(&weak)), (Some(&7), Some(&7)));
        drop(key);
        assert!(ByIdentity(weak.clone()) == ByIdentity(weak.clone()));
        assert!(map.get(&weak).is_none());
        map.purge();
        assert!(map.is_empty());
    }
    let text = String::from("borrowed");
    check(Strong::new([&*text, "b"]));
    check(local::Strong::new([&*text, "b"]));
    check(Arc::new([&*text, "b"]));
    check(Rc::new([&*text, "b"]));
}

/// Objects that own collections of their own handles, and handles that lead back to them.
#[derive(Clone)]
struct Node<T: Send + Sync>(Strong<Data<T>>);
struct WeakNode<T: Send + Sync>(Weak<Data<T>>);

struct Data<T: Send + Sync> {
    item: T,
    next: Mutex<Option<Node<T>>>,
    labels: Mutex<WeakMap<Node<T>, T>>,
    shared: concurrent::WeakMap<Node<T>, T>,
}

impl<T: Send + Sync> Clone for WeakNode<T> {
    fn clone(&self) -> Self {
        WeakNode(self.0.clone())
    }
}

impl_handle!([T: Send + Sync] Node<T>(Strong<Data<T>>), WeakNode<T>(Weak<Data<T>>));
impl_trace!([T: Trace + Send + Sync + 'static] Node<T>: 0);
impl_trace!([T: Trace + Send + Sync + 'static] Data<T>: next);

impl<T: Send + Sync> Node<T> {
    fn new(item: T) -> Self {
        Node(Strong::new(Data {
            item,
            next: Mutex::default(),
            labels: Mutex::default(),
            shared: concurrent::WeakMap::new(),
        }))
    }
}

#[test]
fn an_object_may_own_collections_of_its_own_handles() {
    let (node, other) = (Node::new(1), Node::new(2));
    for key in [&node, &other] {
        node.0.labels.lock().unwrap().insert(key, key.0.item);
        node.0.shared.insert(key, key.0.item);
    }
    assert_eq!(node.0.labels.lock().unwrap().values().sum::<i32>(), 3);
    assert_eq!(node.0.shared.get(&other), Some(2));
    drop(other);
    assert_eq!(
        (node.0.labels.lock().unwrap().len(), node.0.shared.len()),
        (1, 1)
    );
}

#[test]
fn cycles_are_found_through_them() {
    let mut next = WeakMap::new();
    let [one, other, third] = [1, 2, 3].map(Node::new);
    let (weak, kept) = (Node::downgrade(&other), Node::downgrade(&third));
    *one.0.next.lock().unwrap() = Some(third.clone());
    next.insert(&one, other.clone());
    next.insert(&other, one.clone());
    next.insert(&third, third.clone());
    drop((one, other));
    let Purged { removed, .. } = next.purge_cycles();
    assert_eq!(removed, 2);
    assert!(weak.is_expired() && !kept.is_expired());
    drop(third);
    assert_eq!(next.purge_cycles().removed, 1);
    assert!(kept.is_expired());
}
