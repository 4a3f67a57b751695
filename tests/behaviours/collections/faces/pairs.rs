//! The maps whose two sides are both weak.

use super::*;

impl<P: Kind> PairsByValue<P> {
    /// The key of a number, which may be in no entry.
    fn other(&self, number: usize) -> Key<P> {
        let kept = self.others.get(&number).cloned();
        kept.unwrap_or_else(|| number.into())
    }
}

macro_rules! pairs {
    ($name:ident($inner:ident), $by_content:expr, $lone:expr, $watches:expr, |$others:ident, $life:ident| $pair:expr,
     |$this:ident, $ghost:ident| $name_of:expr, |$item:pat_param| $its:expr,
     $weak:ident, |$one:ident, $other:ident| $extend:expr) => {
        impl<P: Kind> Collection for $name<P> {
            const BY_CONTENT: bool = $by_content;
            const LONE: bool = $lone;
            const WATCHES: usize = $watches;
            housekeeping!($inner);

            fn enter(&mut self, $life: &Key<P>, _: &Ends) {
                let $others = &mut self.others;
                let (key, value) = $pair;
                self.inner.insert(key, value);
            }
            fn has(&self, $ghost: &Ghost<P>) -> bool {
                let $this = self;
                let key = $name_of;
                let found = self.inner.contains_key(&key);
                assert_eq!(self.inner.get(&key).is_some(), found);
                found
            }
            fn iter(&self) -> impl Iterator<Item = Key<P>> + Clone {
                self.inner.iter().map(|$item| $its)
            }
        }

        impl<P: Kind> Changing for $name<P>
        where
            Key<P>: PartialEq,
        {
            taking!(|$item| $its, |key, value| {
                let $item = (key, value);
                **$its
            });

            fn leave(&mut self, $ghost: &Ghost<P>) -> bool {
                let $this = &*self;
                let key = $name_of;
                self.inner.remove(&key).is_some()
            }
            fn extend_from(&mut self, $other: Self) {
                let $one = self;
                $extend;
            }
            fn extend<'a>(&mut self, lives: impl IntoIterator<Item = &'a Key<P>>, _: &Ends) {
                let $others = &mut self.others;
                self.inner.extend(lives.into_iter().map(|$life| {
                    let (key, value) = $pair;
                    (key.clone(), value.clone())
                }));
            }
            fn weak(&self) -> impl Iterator<Item = <Key<P> as StrongRef>::Weak> {
                self.inner.$weak()
            }
            fn views(self) -> Vec<Vec<usize>> {
                // Of both sides: where the life's number is, and where it may be.
                let number = |$item: (Key<P>, Key<P>)| *$its;
                let inner = &self.inner;
                let other_views = [
                    (inner.keys().count(), inner.values().count()),
                    (inner.weak_keys().count(), inner.weak_values().count()),
                    (
                        inner.clone().into_keys().count(),
                        inner.clone().into_values().count(),
                    ),
                ];
                let live = inner.iter().count();
                assert_eq!(other_views, [(live, live); 3]);
                vec![
                    sorted(inner.into_iter().map(number)),
                    sorted(inner.$weak().map(payload)),
                    sorted(inner.keys().zip(inner.values()).map(number)),
                    sorted(
                        inner
                            .clone()
                            .into_keys()
                            .zip(inner.clone().into_values())
                            .map(number),
                    ),
                    sorted(self.inner.clone().extract_if(|_, _| true).map(number)),
                    sorted(self.inner.clone().drain().map(number)),
                    sorted(self.inner.into_iter().map(number)),
                ]
            }
        }
    };
}

// One value for all.
pairs!(
    PairsByKey(WeakPairMap),
    false,
    false,
    1,
    |others, life| (life, &*others.entry(0).or_insert_with(|| usize::MAX.into())),
    |_this, ghost| ghost.weak.clone(),
    |(life, _)| life,
    weak_keys,
    |one, other| {
        one.inner.extend(other.inner);
        let more = (one.others.len()..).zip(other.others.into_values());
        one.others.extend(more);
    }
);
// A key for each number.
pairs!(
    PairsByValue(WeakPairMap),
    true,
    true,
    1,
    |others, life| (
        &*others.entry(**life).or_insert_with(|| (**life).into()),
        life
    ),
    |this, ghost| this.other(ghost.number),
    |(_, life)| life,
    weak_values,
    // Each has its own key for a number.
    |one, other| other.iter().for_each(|life| one.enter(&life, &quietly()))
);
// An entry whose sides both die at once.
pairs!(
    PairsTwice(WeakPairMap),
    false,
    false,
    2,
    |_others, life| (life, life),
    |_this, ghost| ghost.weak.clone(),
    |(life, _)| life,
    weak_keys,
    |one, other| one.inner.extend(other.inner)
);

// === By content ===

// One value for all.
pairs!(
    HashPairsByKey(WeakHashPairMap),
    true,
    false,
    1,
    |others, life| (life, &*others.entry(0).or_insert_with(|| usize::MAX.into())),
    |_this, ghost| ghost.number,
    |(life, _)| life,
    weak_keys,
    |one, other| {
        one.inner.extend(other.inner);
        let more = (one.others.len()..).zip(other.others.into_values());
        one.others.extend(more);
    }
);
// A key for each number.
pairs!(
    HashPairsByValue(WeakHashPairMap),
    true,
    false,
    1,
    |others, life| (
        &*others.entry(**life).or_insert_with(|| (**life).into()),
        life
    ),
    |_this, ghost| ghost.number,
    |(_, life)| life,
    weak_values,
    // Each has its own key for a number.
    |one, other| other.iter().for_each(|life| one.enter(&life, &quietly()))
);
// An entry whose sides both die at once.
pairs!(
    HashPairsTwice(WeakHashPairMap),
    true,
    false,
    2,
    |_others, life| (life, life),
    |_this, ghost| ghost.number,
    |(life, _)| life,
    weak_keys,
    |one, other| one.inner.extend(other.inner)
);
