//! Memos: maps whose values are computed, and which do not show their entries. So what has been asked is noted beside
//! them. A result needs two objects: both are its key, or one is, and the other is declared.

use std::cell::Cell;
use std::slice;
use std::task::{Context, Poll, Waker};

use super::super::entry::Entry;
use super::super::routes::{Change, Find, Insert, Keep, List, Over, Remove, Take};
use super::super::subject::{Found, Inserted, New, Pin, Shape, Subject};
use super::super::world::{Item, Key, SharedValue, Value};
use super::snapshots::{Row, Snapshots, by_snapshots, listed};
use crate::common::subject::Upkeep;
use crate::common::{Kind, downgrade, is_alive, new, panics, quiet_panic};
use weakly::concurrent::SharedRef;
use weakly::memo::{Computation, Many, MemoKey, MemoQuery, Value as Parameter, untracked};
use weakly::{
    Memo, Reclaim,
    reference::{WeakKey, WeakRef},
};

/// How a result needs its two objects.
pub trait Inputs<P: Kind, V: Kind>: 'static {
    type Key: MemoKey;
    /// `None` if there is no such key without the second.
    fn key<'a>(first: &'a Key<P>, second: Option<&'a Key<V>>) -> Option<impl MemoQuery<Self::Key>>;
    fn declare(_: &Computation<'_>, _second: &Key<V>) {}
}

/// The key is the first; the second is declared.
pub enum Declared {}

impl<P: Kind, V: Kind> Inputs<P, V> for Declared
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
{
    type Key = Key<P>;

    fn key<'a>(first: &'a Key<P>, _: Option<&'a Key<V>>) -> Option<impl MemoQuery<Self::Key>> {
        Some(first)
    }

    fn declare(computation: &Computation<'_>, second: &Key<V>) {
        computation.depends_on(second);
    }
}

/// The key is both.
pub enum Both {}

impl<P: Kind, V: Kind> Inputs<P, V> for Both
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
{
    type Key = (Key<P>, Key<V>);

    fn key<'a>(first: &'a Key<P>, second: Option<&'a Key<V>>) -> Option<impl MemoQuery<Self::Key>> {
        Some((first, second?))
    }
}

/// The key is a list of the first alone, and a plain value; the second is declared.
pub enum Parts {}

impl<P: Kind, V: Kind> Inputs<P, V> for Parts
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
{
    type Key = (Many<Key<P>>, Parameter<String>);

    fn key<'a>(first: &'a Key<P>, _: Option<&'a Key<V>>) -> Option<impl MemoQuery<Self::Key>> {
        Some((slice::from_ref(first), ["a", "b", "c"][first.id % 3]))
    }

    fn declare(computation: &Computation<'_>, second: &Key<V>) {
        computation.depends_on(second);
    }
}

type WeakTo<P> = <Key<P> as WeakKey>::Weak;

/// A memo, and what it was asked for: one pair of objects for each of the first.
pub struct Asked<I: Inputs<P, V>, P: Kind, V: Kind> {
    memo: Memo<I::Key, SharedValue>,
    asked: Vec<(WeakTo<P>, WeakTo<V>)>,
    /// How many computations failed.
    failed: Cell<u64>,
}

/// Whether it is a weak handle to this object.
fn is<W: WeakRef>(weak: &W, object: &W::Strong) -> bool {
    let upgraded = weak.upgrade();
    upgraded.is_some_and(|upgraded| WeakKey::addr(&upgraded) == WeakKey::addr(object))
}

impl<I: Inputs<P, V>, P: Kind, V: Kind> Default for Asked<I, P, V> {
    fn default() -> Self {
        Asked {
            memo: Memo::new(),
            asked: Vec::new(),
            failed: Cell::default(),
        }
    }
}

impl<I: Inputs<P, V>, P: Kind, V: Kind> Asked<I, P, V> {
    /// The second object with which the first was asked for.
    fn second(&self, first: &Key<P>) -> Option<Key<V>> {
        let asked = self.asked.iter().find(|(asked, _)| is(asked, first));
        asked?.1.upgrade()
    }

    /// The same, if there is a result.
    fn there(&self, first: &Key<P>) -> Option<Key<V>> {
        let second = self.second(first);
        second.filter(|second| self.get(first, Some(second)).is_some())
    }

    fn get(&self, first: &Key<P>, second: Option<&Key<V>>) -> Option<SharedValue> {
        self.memo.get(I::key(first, second)?)
    }

    fn remove(&self, first: &Key<P>, second: Option<&Key<V>>) -> bool {
        I::key(first, second).is_some_and(|key| self.memo.remove(key).is_some())
    }

    /// Asks, and declares.
    fn compute<E>(
        &self,
        first: &Key<P>,
        second: &Key<V>,
        make: impl FnOnce(&Computation<'_>) -> Result<SharedValue, E>,
    ) -> Result<SharedValue, E> {
        let key = I::key(first, Some(second)).expect("it has two");
        self.memo.try_get_or_compute(key, |computation| {
            I::declare(computation, second);
            // Unless it fails or panics.
            self.failed.set(self.failed.get() + 1);
            let made = make(computation)?;
            self.failed.set(self.failed.get() - 1);
            Ok(made)
        })
    }

    fn note(&mut self, first: &Key<P>, second: &Key<V>) {
        self.asked
            .retain(|(asked, _)| is_alive(asked) && !is(asked, first));
        self.asked.push((downgrade(first), downgrade(second)));
    }

    /// What is asked for while another computation is under way: what is there is found; what is not there is computed,
    /// and removed again. Without a dependence, of which the model of an entry does not know.
    fn ask_for_others(&self, first: &Key<P>) {
        untracked(|| self.ask_untracked(first));
    }

    fn ask_untracked(&self, first: &Key<P>) {
        let others = self.asked.iter().filter(|(asked, _)| !is(asked, first));
        let others = others.filter_map(|(key, second)| key.upgrade().zip(second.upgrade()));
        for (key, second) in others.take(2) {
            match self.get(&key, Some(&second)) {
                Some(there) => {
                    let found = self.compute::<()>(&key, &second, |_| unreachable!());
                    assert_eq!(found.map(|found| found.id), Ok(there.id));
                }
                None => {
                    assert!(self.compute(&key, &second, |_| Err(())).is_err());
                    let unlogged = || SharedValue::new(Value::unlogged(0));
                    assert!(
                        self.compute::<()>(&key, &second, |_| Ok(unlogged()))
                            .is_ok()
                    );
                    assert!(self.remove(&key, Some(&second)));
                }
            }
        }
    }
}

impl<I: Inputs<P, V>, P: Kind, V: Kind> Shape for Asked<I, P, V> {
    const BY_CONTENT: bool = false;
    const WEAK_VALUES: bool = true;
    const OWNS: bool = true;
    const SHARED: bool = true;
    const COUNTS_DEAD: bool = true;
}

impl<I: Inputs<P, V>, P: Kind, V: Kind> Upkeep for Asked<I, P, V>
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
{
    fn len(&self) -> usize {
        let statistics = self.memo.statistics();
        assert_eq!(statistics.live, self.memo.len() as u64);
        assert_eq!(statistics.failures, self.failed.get());
        self.memo.len()
    }

    fn len_live(&self) -> usize {
        self.rows().len()
    }

    fn clear(&mut self) {
        // Held until then: the looks at them may sweep, and what goes with that may have owned the last other handle to one.
        let _rows = self.rows();
        self.memo.clear();
    }

    crate::forwards! {
        Memo<I::Key, SharedValue>, self, self.memo;
        & is_empty() -> bool;
        & pending_dead() -> usize;
        & reclaim() -> Reclaim;
        mut set_reclaim(reclaim: Reclaim);
        mut set_waker(waker: Option<Waker>);
        mut poll_pending(context: &mut Context<'_>) -> Poll<()>;
        mut purge() -> bool;
        mut purge_some(n: usize) -> usize;
        mut shrink_to_fit();
    }
}

impl<I: Inputs<P, V>, P: Kind, V: Kind> Subject<P, V> for Asked<I, P, V>
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
{
    fn over(_: Insert) -> Over {
        Over::Stays
    }

    fn fills(how: Insert) -> bool {
        !matches!(how, Insert::Fail | Insert::OrInsert)
    }

    fn insert(&mut self, how: Insert, key: &Key<P>, new_one: New<'_, Key<V>>) -> Inserted<Key<P>> {
        let value = SharedValue::new(new_one.owned.expect("a memo owns its results"));
        let given = new_one.weak.expect("there is a second");
        let second = &self.there(key).unwrap_or_else(|| given.clone());
        // By both, and nothing else has been asked.
        let other = I::key(key, None).is_none() && given.id != second.id;
        assert!(!other || self.get(key, Some(given)).is_none());
        let mut computed = false;
        if how == Insert::AndModify {
            let failing = || drop(self.compute::<()>(key, second, |_| quiet_panic()));
            assert_eq!(panics(failing), self.get(key, Some(second)).is_none());
        }
        let found = self.compute(key, second, |computation| {
            computed = true;
            match how {
                Insert::Fail => return Err(()),
                // Dies before the end: the result is not kept.
                Insert::OrInsert => {
                    let item = Item::new(Value::unlogged(0).content.clone(), None);
                    computation.depends_on(&new::<V, _>(item));
                }
                Insert::OrInsertWith | Insert::OrInsertWithKey => self.ask_for_others(key),
                Insert::ByVariant => {
                    computation.depends_on(second);
                    computation.depends_on(second);
                }
                _ => {}
            }
            Ok(value.clone())
        });
        let kept = found.ok().filter(|_| !computed || Self::fills(how));
        if computed && kept.is_some() {
            self.note(key, second);
        }
        Inserted {
            new: Some(computed),
            value: kept.map(|kept| kept.id),
            handle: None,
        }
    }

    fn remove(&mut self, how: Remove, key: &Key<P>) -> Option<Option<usize>> {
        let second = self.second(key);
        let value = self.get(key, second.as_ref());
        let removed = if let Remove::Entry(_) = how {
            // An object has one result at most.
            self.memo.invalidate(key) == 1
        } else {
            Asked::remove(self, key, second.as_ref())
        };
        assert_eq!(removed, value.is_some());
        value.map(|value| Some(value.id))
    }

    fn find(&self, _: Find, key: &Key<P>) -> Option<Found> {
        let found = self.get(key, self.second(key).as_ref())?;
        Some(Found::value(found.id))
    }

    fn change(&mut self, _: Change, key: &Key<P>, old: usize, new: Value) {
        let second = self.second(key).expect("it is live");
        assert_eq!(
            Subject::remove(self, Remove::Occupied, key),
            Some(Some(old))
        );
        let new = SharedValue::new(new);
        let computed = self.compute::<()>(key, &second, |_| Ok(new.clone()));
        assert_eq!(computed.map(|computed| computed.id), Ok(new.id));
    }

    listed!(V);
    by_snapshots!(V);
}

impl<I: Inputs<P, V>, P: Kind, V: Kind> Snapshots<P, V> for Asked<I, P, V>
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
{
    fn rows(&self) -> Vec<Row<P, V>> {
        let row = |(key, value): Pin<P, V>| {
            let owned = self.get(key.as_ref()?, value.as_ref())?;
            Some(Row {
                key,
                value,
                owned: Some(owned),
            })
        };
        self.pinned().into_iter().filter_map(row).collect()
    }

    /// Also of what is not there: to look is to read.
    fn pinned(&self) -> Vec<Pin<P, V>> {
        let both = |(first, second): &(WeakTo<P>, WeakTo<V>)| {
            Some((Some(first.upgrade()?), Some(second.upgrade()?)))
        };
        self.asked.iter().filter_map(both).collect()
    }

    fn put(&mut self, rows: impl Iterator<Item = Row<P, V>>) {
        for row in rows {
            let (Some(first), Some(second), Some(value)) = (row.key, row.value, row.owned) else {
                unreachable!("it has all three");
            };
            // A result that is there stays.
            let second = self.there(&first).unwrap_or(second);
            _ = self.compute::<()>(&first, &second, |_| Ok(value));
            self.note(&first, &second);
        }
    }

    fn retain_entries(&mut self, mut keep: impl FnMut(Entry) -> bool) {
        for row in self.rows() {
            if !keep(row.entry(false)) {
                let first = row.key.as_ref().expect("it has a key");
                assert!(Asked::remove(self, first, row.value.as_ref()));
            }
        }
    }
}
