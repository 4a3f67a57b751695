//! What the parameters of a type have to be. Most of it is shown by compiling: of a type that is not `Trace` where no bound is
//! needed, of a parameter without bounds where the derive adds them.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, RandomState};
use std::marker::PhantomData;
use std::rc::{self, Rc};
use std::sync::Arc;

use weakly::{ByIdentity, DefaultHashBuilder, cycles::Trace, local};

use crate::{Key, goes, is_trace};

/// Not `Trace`.
struct Foreign;

fn other() -> Key {
    local::Strong::new(2)
}

/// 673: A parameter of which no shown field owns a value need not be `Trace`.
#[test]
fn parameters_without_bound() {
    #[derive(Trace)]
    #[allow(clippy::type_complexity)]
    struct Free<'a, T> {
        marker: PhantomData<T>,
        weak: (local::Weak<T>, rc::Weak<Vec<T>>),
        function: fn(T, Vec<T>) -> T,
        reference: &'a T,
        pointer: *const T,
        pair: ([&'a [T]; 2], (*mut T, PhantomData<Vec<T>>)),
        #[trace(skip)]
        skipped: Option<T>,
        key: Key,
    }
    #[derive(Trace)]
    enum Variants<T> {
        Marker(PhantomData<T>),
        #[trace(skip)]
        Skipped(T),
    }
    #[derive(Trace)]
    struct Callback<#[trace(skip)] T: ?Sized>(Box<PhantomData<T>>, Key);
    is_trace::<Free<'_, Foreign>>();
    is_trace::<Variants<Foreign>>();
    is_trace::<Callback<dyn Fn(Foreign)>>();
    assert!(goes(|key| Callback::<str>(Box::default(), key)));
    assert!(goes(|key| Free {
        marker: PhantomData,
        weak: (local::Weak::new(), rc::Weak::new()),
        function: |first, _| first,
        reference: &Foreign,
        pointer: std::ptr::null(),
        pair: ([&[], &[]], (std::ptr::null_mut(), PhantomData)),
        skipped: None,
        key,
    }));
    _ = [Variants::Marker(PhantomData), Variants::Skipped(Foreign)];
}

/// 673: A parameter without bounds has to be `Trace` if a field owns a value of it, and `'static` behind a handle.
#[test]
fn parameters_of_fields() {
    #[derive(Trace)]
    struct Pair<A, B>(A, Vec<Option<B>>);
    #[derive(Trace)]
    struct Mixed<A, B>(Result<&'static str, A>, (fn(u8) -> u8, B));
    #[derive(Trace)]
    struct Behind<A, B, C, D: ?Sized> {
        strong: Option<local::Strong<A>>,
        rc: std::rc::Rc<RefCell<B>>,
        arc: (u8, Arc<[C]>),
        each: HashSet<ByIdentity<Rc<D>>>,
    }
    assert!(goes(|key| Pair(key.clone(), vec![Some(key)])));
    assert!(goes(|key| Mixed(Ok::<_, u8>("text"), (|it| it, key))));
    assert!(goes(|key| Behind {
        strong: Some(local::Strong::new(key.clone())),
        rc: Rc::new(RefCell::new(key)),
        arc: (0, Arc::new([0_u8])),
        each: HashSet::<_>::from([ByIdentity(Rc::<str>::from("text"))]),
    }));
    // Not `'static`, which is required of handles alone.
    fn borrows<'a>(_: &'a u8) {
        is_trace::<Pair<&'a u8, &'a str>>();
    }
    borrows(&1);
}

/// 673: So does a type within a parameter.
#[test]
fn associated_types() {
    trait Lend {
        type Of<'a>
        where
            Self: 'a;
    }
    impl Lend for Foreign {
        type Of<'a> = (&'a u8, Key);
    }
    #[derive(Trace)]
    struct Held<'a, I: Iterator, L: Lend + 'a> {
        next: Option<I::Item>,
        all: Vec<<I as Iterator>::Item>,
        lent: L::Of<'a>,
        shared: Option<Rc<<Vec<I::Item> as IntoIterator>::Item>>,
        #[trace(skip)]
        iter: I,
    }
    struct Keys(Foreign);
    impl Iterator for Keys {
        type Item = Key;
        fn next(&mut self) -> Option<Key> {
            None
        }
    }
    assert!(goes(|key| Held::<'static, Keys, Foreign> {
        next: Some(key.clone()),
        all: vec![key.clone()],
        lent: (&1, key.clone()),
        shared: Some(Rc::new(key)),
        iter: Keys(Foreign),
    }));
    let mut keys = Keys(Foreign);
    let Foreign = keys.0;
    assert!(keys.next().is_none());
}

/// 673: Types that own themselves, by their name, by `Self`, or through each other.
#[test]
fn recursive_types() {
    #[derive(Trace)]
    struct List<T> {
        head: T,
        tail: RefCell<Option<local::Strong<List<T>>>>,
    }
    #[derive(Trace)]
    enum Tree<T> {
        Leaf(T),
        Nodes(Vec<Tree<T>>, Option<Rc<Self>>),
    }
    #[derive(Trace)]
    struct Odd<T>(Option<Box<Even<T>>>);
    #[derive(Trace)]
    struct Even<T>(T, Odd<T>);
    // The recursion requires nothing.
    #[derive(Trace)]
    struct Marked<Unit> {
        own: Option<Rc<Marked<Unit>>>,
        unit: PhantomData<Unit>,
        key: Key,
    }
    assert!(goes(|key| {
        let end = List {
            head: key.clone(),
            tail: RefCell::new(None),
        };
        let tail = RefCell::new(Some(local::Strong::new(end)));
        List { head: key, tail }
    }));
    assert!(goes(|key| {
        let leaf = || Tree::Leaf(key.clone());
        Tree::Nodes(
            vec![leaf(), Tree::Nodes(vec![leaf()], None)],
            Some(Rc::new(leaf())),
        )
    }));
    assert!(goes(|key| Odd(Some(Box::new(Even(key, Odd(None)))))));
    let new = |own, key| Marked::<Foreign> {
        own,
        unit: PhantomData,
        key,
    };
    assert!(goes(|key| new(Some(Rc::new(new(None, key.clone()))), key)));
    // A ring beside the map keeps the entry.
    let list = local::Strong::new(List {
        head: other(),
        tail: RefCell::new(None),
    });
    *list.tail.borrow_mut() = Some(list.clone());
    let mut map = weakly::WeakMap::from([(&list.head, list.clone())]);
    let weak = local::Strong::downgrade(&list);
    drop(list);
    let purged = map.purge_cycles();
    assert_eq!((purged.removed, purged.kept), (0, 1));
    weak.upgrade().unwrap().tail.take();
    assert_eq!(map.purge_cycles().removed, 1);
    assert!(weak.is_expired());
}

/// 673: A hasher shows nothing: those of the standard library and of this crate are `Trace`, others are skipped.
#[test]
fn hashers() {
    #[derive(Trace)]
    struct Names<S>(HashMap<&'static str, Key, S>);
    #[derive(Trace)]
    struct Skipped<#[trace(skip)] S: BuildHasher>(HashMap<&'static str, Key, S>, #[trace(skip)] S);
    #[derive(Clone, Default)]
    struct Hashers(BuildHasherDefault<std::hash::DefaultHasher>);
    impl BuildHasher for Hashers {
        type Hasher = std::hash::DefaultHasher;
        fn build_hasher(&self) -> Self::Hasher {
            self.0.build_hasher()
        }
    }
    fn map<S: BuildHasher + Default>(key: Key) -> HashMap<&'static str, Key, S> {
        [("key", key)].into_iter().collect()
    }
    assert!(goes(|key| Names::<RandomState>(map(key))));
    assert!(goes(|key| Names::<DefaultHashBuilder>(map(key))));
    assert!(goes(|key| Names::<
        BuildHasherDefault<std::hash::DefaultHasher>,
    >(map(key))));
    assert!(goes(|key| Skipped(map(key), Hashers::default())));
}

/// 673: Lifetimes, constants, bounds, defaults and `where` clauses of the type are those of the implementation.
#[test]
fn declared_generics() {
    #[derive(Trace)]
    struct Ordered<
        'a,
        'b: 'a,
        T: Fn(u8) -> Vec<u8> + ?Sized = dyn Fn(u8) -> Vec<u8>,
        const N: usize = { 1 + 2 },
    > {
        keys: [Key; N],
        text: (&'a str, &'b str),
        function: PhantomData<T>,
    }
    #[derive(Trace)]
    struct Where<T, F, const SMALL: bool = { 1 < 2 }>(T, #[trace(skip)] F)
    where
        T: Iterator<Item = u8>,
        for<'a> F: Fn(&'a T) -> Option<&'a u8>,
        [(); 1]: Sized;
    #[derive(Trace)]
    enum Comma<T = Vec<Key>>
    where
        T: Clone,
    {
        One(T),
    }
    #[derive(Trace)]
    struct Nowhere
    where
        u8: Copy;
    #[derive(Trace)]
    struct Bounded<T: Trace + Iterator<Item = Vec<u8>> + 'static>
    where
        Vec<T>: Trace,
    {
        all: Rc<Vec<T>>,
    }
    assert!(goes(|key| Ordered::<
        'static,
        'static,
        dyn Fn(u8) -> Vec<u8>,
    > {
        keys: [key.clone(), key.clone(), key],
        text: ("a", "b"),
        function: PhantomData,
    }));
    assert!(goes(|key| Comma::One(vec![key])));
    is_trace::<Nowhere>();
    struct None;
    impl Trace for None {
        fn trace(&self, _: &mut weakly::cycles::Tracer<'_>) {}
    }
    impl Iterator for None {
        type Item = Vec<u8>;
        fn next(&mut self) -> Option<Self::Item> {
            Option::None
        }
    }
    is_trace::<Bounded<None>>();
}
