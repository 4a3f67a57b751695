//! Newtypes whose implementations lie, panic, and use the collection that is being used. No collection trusts them.

use std::borrow::{Borrow, Cow};
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::{self, Arc};

use weakly::concurrent::{self, SharedRef};
use weakly::{
    Interner, Memo, Strong, Weak, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap,
    WeakValueMap, impl_handle,
    reference::{Content, WeakKey},
};

/// An object that is counted, and has a text as its content.
pub(crate) struct Item(Cow<'static, str>);

impl Item {
    fn new(number: usize) -> Self {
        // Few texts, and so equal ones.
        Item::from(&*(number % 8).to_string())
    }
}

impl From<&str> for Item {
    fn from(text: &str) -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Item(Cow::Owned(text.to_owned()))
    }
}

impl Borrow<str> for Item {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Item {}

impl Hash for Item {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// What the next calls do that do not do what they should.
#[derive(Clone, Copy, PartialEq)]
enum Odd {
    Nothing,
    Lies,
    Panics,
}

type Change = Rc<dyn Fn(usize)>;

thread_local! {
    /// The live objects.
    static ALIVE: Cell<isize> = const { Cell::new(0) };
    static ODD: Cell<Odd> = const { Cell::new(Odd::Nothing) };
    static RANDOM: Cell<usize> = const { Cell::new(1) };
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Changes what is being changed.
    static REENTER: RefCell<Option<Change>> = const { RefCell::new(None) };
}

fn random(below: usize) -> usize {
    let next = RANDOM
        .get()
        .wrapping_mul(0x5851_F42D_4C95_7F2D_u64 as usize)
        .wrapping_add(0x1405_7B7F);
    RANDOM.set(next);
    (next >> (usize::BITS / 2)) % below
}

/// Whether a call lies; if not, it may panic, or use a collection that is being used.
fn is_odd() -> bool {
    if std::thread::panicking() {
        return false; // a second panic would abort
    }
    match ODD.get() {
        Odd::Panics if random(16) == 0 => resume_unwind(Box::new(())),
        Odd::Nothing | Odd::Panics => false,
        Odd::Lies => {
            if random(4) == 0 && !INSIDE.replace(true) {
                let reenter = REENTER.with_borrow(Clone::clone);
                reenter.inspect(|change| change(random(32)));
                INSIDE.set(false);
            }
            random(4) == 0
        }
    }
}

macro_rules! liars {
    ($($name:ident($inner:ident), $weak:ident($inner_weak:path), $others:ident;)*) => {$(
        /// Honest, where nothing is to be odd.
        pub(crate) struct $name($inner<Item>);
        pub(crate) struct $weak($inner_weak);

        impl_handle!($name($inner<Item>), $weak($inner_weak));

        thread_local!(static $others: RefCell<Vec<$inner<Item>>> = const { RefCell::new(Vec::new()) });

        impl From<usize> for $name {
            fn from(number: usize) -> Self {
                let inner = $inner::new(Item::new(number));
                $others.with_borrow_mut(|others| others.push(inner.clone()));
                $name(inner)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                $name($inner::new(Item::from(text)))
            }
        }

        impl $name {
            /// Any object.
            fn other() -> Option<Self> {
                $others.with_borrow(|others| Some($name(others.get(random(others.len().max(1)))?.clone())))
            }
        }

        impl Lying for $name {
            fn forget_others() {
                drop($others.take());
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                let other = if is_odd() { Self::other() } else { None };
                other.unwrap_or_else(|| $name(self.0.clone()))
            }
        }

        impl Clone for $weak {
            fn clone(&self) -> Self {
                let other = if is_odd() { $name::other() } else { None };
                other.map_or_else(|| $weak(self.0.clone()), |other| $name::downgrade(&other))
            }
        }

        impl Deref for $name {
            type Target = Item;
            fn deref(&self) -> &Item {
                static ELSEWHERE: [Item; 2] = [Item(Cow::Borrowed("3")), Item(Cow::Borrowed("4"))];
                if is_odd() { &ELSEWHERE[random(2)] } else { &self.0 }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                is_odd();
            }
        }

        impl Drop for $weak {
            fn drop(&mut self) {
                is_odd();
            }
        }
    )*};
}

liars! {
    Name(Strong), WeakName(Weak<Item>), NAMES;
    ArcName(Arc), WeakArcName(sync::Weak<Item>), ARC_NAMES;
}

/// What a test of liars requires.
trait Lying: Content<Target = Item> + Clone + From<usize> + 'static {
    fn forget_others();
}

/// Some changes and questions, chosen at random. One of one owner does nothing while it is used.
trait Subject<K> {
    fn change(&self, key: &K, other: &K);
    fn ask(&self, key: &K);
    fn purge(&self);
    fn len(&self) -> usize;
}

struct Owned<K: Lying> {
    by_identity: WeakMap<K, usize>,
    by_content: WeakHashMap<K, usize>,
    set: WeakHashSet<K>,
    values: WeakValueMap<usize, K>,
    pairs: WeakPairMap<K, K>,
    hash_pairs: WeakHashPairMap<K, K>,
    items: Interner<K>,
}

impl<K: Lying> Owned<K> {
    fn new() -> RefCell<Self> {
        RefCell::new(Owned {
            by_identity: WeakMap::new(),
            by_content: WeakHashMap::new(),
            set: WeakHashSet::new(),
            values: WeakValueMap::new(),
            pairs: WeakPairMap::new(),
            hash_pairs: WeakHashPairMap::new(),
            items: Interner::new(),
        })
    }

    fn purge(&mut self) {
        self.by_identity.purge();
        self.by_content.purge();
        self.set.purge();
        self.values.purge();
        self.pairs.purge();
        self.hash_pairs.purge();
        self.items.purge();
    }
}

impl<K: Lying> Subject<K> for RefCell<Owned<K>> {
    fn change(&self, key: &K, other: &K) {
        let Ok(mut this) = self.try_borrow_mut() else {
            return;
        };
        let number = random(32);
        match random(20) {
            0 => _ = this.by_identity.insert(key, number),
            1 => _ = this.by_identity.remove(key),
            2 => *this.by_identity.entry(key).or_insert(1) += 1,
            3 => this.by_identity.retain(|_, value| *value > number),
            4 => _ = this.by_content.insert(key, number),
            5 => _ = this.by_content.remove(&Item::new(number)),
            6 => *this.by_content.entry(key).or_insert(1) += 1,
            7 => this.by_content.retain(|_, value| *value > number),
            8 => _ = this.set.insert(key),
            9 => _ = this.set.take(other),
            10 => _ = this.values.insert(number, key),
            11 => _ = this.values.remove(&number),
            12 => _ = this.pairs.insert(key, other),
            13 => _ = this.pairs.remove(key),
            14 => _ = this.hash_pairs.insert(key, other),
            15 => _ = this.hash_pairs.remove(key),
            16 => {
                _ = this
                    .items
                    .intern_with(&Item::new(number), |_| K::from(number))
            }
            17 => this.by_content = this.by_content.clone(),
            18 => this.by_identity = this.by_identity.clone(),
            _ => this.purge(),
        }
    }

    fn ask(&self, key: &K) {
        let Ok(this) = self.try_borrow() else {
            return;
        };
        match random(10) {
            0 => _ = this.by_identity.get(key),
            1 => _ = this.by_identity.iter().count(),
            2 => _ = this.by_identity.iter_weak().collect::<Vec<_>>(),
            3 => _ = this.by_content.get(key),
            4 => _ = this.by_content.iter().count(),
            5 => _ = this.by_content.iter_weak().collect::<Vec<_>>(),
            6 => _ = this.values.iter().count(),
            7 => _ = this.pairs.get(key),
            8 => _ = this.hash_pairs.get(key),
            _ => _ = this.items.get(&Item::new(random(8))),
        }
    }

    fn purge(&self) {
        self.borrow_mut().purge();
    }

    fn len(&self) -> usize {
        let this = self.borrow();
        let by_identity = this.by_identity.len() + this.values.len() + this.pairs.len();
        let by_content = this.by_content.len() + this.set.len() + this.hash_pairs.len();
        by_identity + by_content + this.items.len()
    }
}

struct Shared<K: Lying + SharedRef> {
    by_identity: concurrent::WeakMap<K, usize>,
    by_content: concurrent::WeakHashMap<K, usize>,
    set: concurrent::WeakHashSet<K>,
    values: concurrent::WeakValueMap<usize, K>,
    pairs: concurrent::WeakPairMap<K, K>,
    items: concurrent::Interner<K>,
    memo: Memo<(K, K), usize>,
}

impl<K: Lying + SharedRef> Shared<K> {
    fn new() -> Self {
        Shared {
            by_identity: concurrent::WeakMap::new(),
            by_content: concurrent::WeakHashMap::new(),
            set: concurrent::WeakHashSet::new(),
            values: concurrent::WeakValueMap::new(),
            pairs: concurrent::WeakPairMap::new(),
            items: concurrent::Interner::new(),
            memo: Memo::new(),
        }
    }
}

impl<K: Lying + SharedRef> Subject<K> for Shared<K> {
    fn change(&self, key: &K, other: &K) {
        let number = random(32);
        match random(18) {
            0 => _ = self.by_identity.insert(key, number),
            1 => _ = self.by_identity.remove(key),
            2 => _ = self.by_identity.get_or_insert_with(key, |_| number),
            3 => self.by_identity.retain(|_, value| *value > number),
            4 => _ = self.by_content.insert(key, number),
            5 => _ = self.by_content.remove(&Item::new(number)),
            6 => _ = self.by_content.get_or_insert_with(key, |_| number),
            7 => self.by_content.retain(|_, value| *value > number),
            8 => _ = self.set.insert(key),
            9 => _ = self.set.take(other),
            10 => _ = self.values.insert(number, key),
            11 => _ = self.values.remove(&number),
            12 => _ = self.values.get_or_insert_with(number, |_| key.clone()),
            13 => _ = self.pairs.insert(key, other),
            14 => _ = self.pairs.remove(key),
            15 => {
                _ = self
                    .items
                    .intern_with(&Item::new(number), |_| K::from(number))
            }
            16 => _ = self.memo.get_or_compute((key, other), |_| number),
            _ => self.purge(),
        }
    }

    fn ask(&self, key: &K) {
        match random(8) {
            0 => _ = self.by_identity.get(key),
            1 => _ = self.by_identity.iter().count(),
            2 => _ = self.by_content.get(key),
            3 => _ = self.by_content.iter().count(),
            4 => _ = self.values.iter().count(),
            5 => _ = self.pairs.get(key),
            6 => _ = self.set.get(key),
            _ => _ = self.items.get(&Item::new(random(8))),
        }
    }

    fn purge(&self) {
        self.by_identity.purge();
        self.by_content.purge();
        self.set.purge();
        self.values.purge();
        self.pairs.purge();
        self.items.purge();
        self.memo.purge();
    }

    fn len(&self) -> usize {
        let by_identity = self.by_identity.len() + self.values.len() + self.pairs.len();
        by_identity + self.by_content.len() + self.set.len() + self.items.len() + self.memo.len()
    }
}

/// Whatever the newtypes do, no object is dropped twice, and afterwards no entry is left.
fn survives<K: Lying, S: Subject<K> + 'static>(subject: S, odd: Odd) {
    let before = ALIVE.get();
    let subject = Rc::new(subject);
    let inside = subject.clone();
    REENTER.set(Some(Rc::new(move |number| {
        let [key, other] = [number, random(32)].map(K::from);
        inside.change(&key, &other);
        inside.ask(&key);
    })));
    let mut keys: Vec<_> = (0..16).map(|number| Some(K::from(number))).collect();
    ODD.set(odd);
    for step in 0..if cfg!(miri) { 40 } else { 5_000 } {
        INSIDE.set(false);
        // Whether it panics is up to the newtypes.
        _ = catch_unwind(AssertUnwindSafe(|| {
            if step % 8 == 0 {
                K::forget_others();
                let at = random(16);
                drop(keys[at].take());
                keys[at] = Some(K::from(random(32)));
            }
            if let [Some(key), Some(other)] = [0; 2].map(|_| &keys[random(16)]) {
                subject.change(key, other);
                subject.ask(key);
            }
        }));
    }
    ODD.set(Odd::Nothing);
    drop((REENTER.take(), keys));
    K::forget_others();
    subject.purge();
    let left = ALIVE.get() - before;
    // (A destructor that panics may leak what is dropped with it.)
    assert!(left == 0 || (left > 0 && odd == Odd::Panics), "{left}");
    assert_eq!(subject.len(), 0);
}

#[test]
fn no_collection_trusts_what_a_newtype_implements() {
    for odd in [Odd::Lies, Odd::Panics] {
        survives::<Name, _>(Owned::new(), odd);
        survives::<ArcName, _>(Owned::new(), odd);
        survives::<Name, _>(Shared::new(), odd);
        survives::<ArcName, _>(Shared::new(), odd);
    }
}
