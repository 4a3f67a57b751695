//! How collections are described: what both families have is written once, in [`family!`].

/// A collection as a subject: how a life enters and leaves, and is looked up. `named` is what a lookup takes, where the
/// life is there, and where only its content and a weak handle are; `get` what it finds, and whether that is right.
macro_rules! describe {
    (@more Single $($_:tt)*) => {};
    (@more Shared $all:ident $place:expr) => {
        fn set_reclaim(&self, reclaim: Reclaim) {
            let $all = self;
            $place.set_reclaim(reclaim);
        }
        fn purge(&self) -> bool {
            let $all = self;
            $place.purge()
        }
        fn purge_some(&self, n: usize) -> usize {
            let $all = self;
            $place.purge_some(n)
        }
        fn clear(&self) {
            let $all = self;
            $place.clear();
        }
    };
    ($name:ident $mut:tt $bound:tt $iterators:ident $({$($one:tt)*})*) => {
        $(describe! { @one $name $mut $bound $iterators $($one)* })*
    };
    (@one $name:ident($($mut:ident)?) ([$($of_content:tt)*] [$($of_life:tt)*]) $iterators:ident
     [$($generics:tt)*] $subject:ty: $new:expr, $owns:expr, $by_content:expr $(, $counted:expr)?;
        |$all:ident, $life:ident, $owned:ident, $key:ident| $place:expr;
        named $strong:expr, |$content:ident, $weak:ident| $dead:expr;
        enter $enter:expr;
        leave $leave:expr;
        get $get:expr, |$found:pat_param| $is:expr;
        has $has:expr;
        iter $iter:expr;
    ) => {
        impl<T: Content + $($of_content)*, K: Life<T> + $($of_life)*, $($generics)*> Subject<T> for $subject {
            type Life = K;
            const OWNS: bool = $owns;
            const BY_CONTENT: bool = $by_content;
            $(const COUNTED: usize = $counted;)?

            fn with_capacity(capacity: usize) -> Self {
                $new(capacity).into()
            }
            fn counted(lives: &[K], ends: &Count) -> Self {
                $name::of(lives, &counting(ends))
            }
            fn has(&self, $life: &K) -> bool {
                let $all = self;
                let $key = $strong;
                $get.is_some_and(|$found| $is)
            }
            fn finds(&self, $content: &T, $weak: &K::Weak) -> bool {
                let $all = self;
                let $key = $dead;
                let found = $get.is_some();
                assert_eq!($has, found);
                found
            }
        }

        impl<T: Content + $($of_content)*, K: Life<T> + $($of_life)*, $($generics)*> $name<T> for $subject {
            fn enter(&$($mut)? self, $life: &K, ends: &Ends) -> bool {
                let $all = self;
                let $owned = || -> Kept<T> { Owned::new((**$life).clone(), ends).into() };
                $enter
            }
            fn leave(&$($mut)? self, $life: &K) -> bool {
                let $all = self;
                let $key = $strong;
                $leave.was_there()
            }
            fn leaves(&$($mut)? self, $content: &T, $weak: &K::Weak) -> bool {
                let $all = self;
                let $key = $dead;
                $leave.was_there()
            }
            fn iter(&self) -> impl Iterator<Item = K> + $iterators {
                let $all = self;
                $iter
            }
            describe! { @more $name $all $place }
        }
    };
}

/// How often an instalment counts an entry of one object on both sides: of one owner, once for each notice.
macro_rules! twice {
    (Single) => {
        if K::NOTIFIES { 2 } else { 1 }
    };
    (Shared) => {
        1
    };
}

/// The descriptions of what both families have.
macro_rules! family {
    ($name:ident $mut:tt $bound:tt $iterators:ident |$content:ident| $kept:expr) => {
        describe! {
            $name $mut $bound $iterators

            {
                [] WeakMap<K, Kept<T>>: WeakMap::with_capacity, true, false;
                |all, life, owned, key| all;
                named life, |_content, weak| weak;
                enter all.insert(life, owned()).is_new();
                leave all.remove(key);
                get all.get(key), |found| found.is(life);
                has all.contains_key(key);
                iter all.iter().map(|(life, owned)| {
                    assert!(owned.is(&life));
                    life
                });
            }

            {
                [] WeakSet<K>: WeakSet::with_capacity, false, false;
                |all, life, _owned, key| all;
                named life, |_content, weak| weak;
                enter all.insert(life);
                leave all.remove(key);
                get all.contains(key).then_some(()), |()| true;
                has all.contains(key);
                iter all.iter();
            }

            {
                [] WeakValueMap<Kept<T>, K>: WeakValueMap::with_capacity, true, true;
                |all, life, owned, key| all;
                named {
                    let $content = &**life;
                    $kept
                }, |$content, _weak| $kept;
                enter all.insert(owned(), life).is_new();
                leave all.remove(key);
                get all.get(key), |found| found.is(life);
                has all.contains_key(key);
                iter all.iter().map(|(owned, life)| {
                    assert!(owned.is(&life));
                    life
                });
            }

            {
                [] WeakHashMap<K, Kept<T>>: WeakHashMap::with_capacity, true, true;
                |all, life, owned, key| all;
                named &**life, |content, _weak| content;
                enter all.insert(life, owned()).is_new();
                leave all.remove(key);
                get all.get_key_value(key), |(found, owned)| found.is(life) && owned.is(life);
                has all.contains_key(key);
                iter all.iter().map(|(life, owned)| {
                    assert!(owned.is(&life));
                    life
                });
            }

            {
                [] WeakHashSet<K>: WeakHashSet::with_capacity, false, true;
                |all, life, _owned, key| all;
                named &**life, |content, _weak| content;
                enter all.insert(life);
                leave all.remove(key);
                get all.get(key), |found| found.is(life);
                has all.contains(key);
                iter all.iter();
            }

            {
                [] Interner<K>: Interner::with_capacity, false, true;
                |all, life, _owned, key| all;
                named &**life, |content, _weak| content;
                enter interns(life, |life| all.intern(life));
                leave {
                    let found = all.get(key);
                    all.clear();
                    found
                };
                get all.get(key), |found| found.is(life);
                has all.get(key).is_some();
                iter all.iter();
            }

            {
                [] WeakPairMap<K, K>: WeakPairMap::with_capacity, false, false, twice!($name);
                |all, life, _owned, key| all;
                named life, |_content, weak| weak;
                enter all.insert(life, life).is_new();
                leave all.remove(key);
                get all.get_key_value(key), |(one, other)| one.is(life) && other.is(life);
                has all.contains_key(key);
                iter all.iter().map(|(life, _)| life);
            }

            {
                [O: Life + Partner] Paired<ByKey, WeakPairMap<K, O>, O>: WeakPairMap::with_capacity, false, false;
                |all, life, _owned, key| all.all;
                named life, |_content, weak| weak;
                enter all.all.insert(life, &all.partners.of(0)).is_new();
                leave all.all.remove(key);
                get all.all.get_key_value(key), |(found, other)| found.is(life) && other.is(&all.partners.of(0));
                has all.all.contains_key(key);
                iter all.all.iter().map(|(life, _)| life);
            }

            {
                [O: Life + Partner, const FRESH: bool] Paired<ByValue<FRESH>, WeakPairMap<O, K>, O>:
                    WeakPairMap::with_capacity, false, true;
                |all, life, _owned, key| all.all;
                named &all.partners.of(life.number()), |content, _weak| &all.partners.of(content.number());
                enter {
                    let number = life.number();
                    let is_fresh = FRESH && !all.has(life);
                    let key = if is_fresh { all.partners.renew(number) } else { all.partners.of(number) };
                    all.all.insert(&key, life).is_new()
                };
                leave all.all.remove(key);
                get all.all.get(key), |found| found.is(life);
                has all.all.contains_key(key);
                iter all.all.iter().map(|(key, life)| {
                    assert_eq!(*key, life.number());
                    life
                });
            }
        }
    };
}
