//! Memos: maps whose values are computed, and which do not show their entries. So what has been asked is noted beside
//! them. A result needs two objects: one is its key, and the other is declared. (Keys of several parts, ceilings and weights have
//! scripts of their own: `tests/memo/script.rs`.)

use std::cell::Cell;
use std::task::{Context, Poll, Waker};

use super::super::entry::Entry;
use super::super::routes::{Change, Find, Insert, Keep, List, Over, Remove, Take};
use super::super::subject::{Found, Inserted, New, Pin, Shape, Subject};
use super::super::world::{Item, Key, SharedValue, Value};
use super::snapshots::{Row, Snapshots, by_snapshots, listed};
use crate::common::subject::Upkeep;
use crate::common::{Kind, downgrade, is_alive, new, panics, quiet_panic};
use weakly::concurrent::SharedRef;
use weakly::memo::{Computation, untracked};
use weakly::{
    Memo, Reclaim,
    reference::{WeakKey, WeakRef},
};

type WeakTo<P> = <Key<P> as WeakKey>::Weak;

/// A memo, and what it was asked for: one pair of objects for each of the first.
pub struct Asked<P: Kind, V: Kind>
where
    Key<P>: SharedRef,
{
    memo: Memo<Key<P>, SharedValue>,
    asked: Vec<(WeakTo<P>, WeakTo<V>)>,
    /// How many computations failed.
    failed: Cell<u64>,
}

/// Whether it is a weak handle to this object.
fn is<W: WeakRef>(weak: &W, object: &W::Strong) -> bool {
    let upgraded = weak.upgrade();
    upgraded.is_some_and(|upgraded| WeakKey::addr(&upgraded) == WeakKey::addr(object))
}

impl<P: Kind, V: Kind> Default for Asked<P, V>
where
    Key<P>: SharedRef,
{
    fn default() -> Self {
        Asked {
            memo: Memo::new(),
            asked: Vec::new(),
            failed: Cell::default(),
        }
    }
}

impl<P: Kind, V: Kind> Asked<P, V>
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
{
    /// The second object with which the first was asked for.
    fn second(&self, first: &Key<P>) -> Option<Key<V>> {
        let asked = self.asked.iter().find(|(asked, _)| is(asked, first));
        asked?.1.upgrade()
    }

    /// The same, if there is a result.
    fn there(&self, first: &Key<P>) -> Option<Key<V>> {
        let second = self.second(first);
        second.filter(|_| self.get(first).is_some())
    }

    fn get(&self, first: &Key<P>) -> Option<SharedValue> {
        self.memo.get(first)
    }

    fn remove(&self, first: &Key<P>) -> bool {
        self.memo.remove(first).is_some()
    }

    /// Asks, and declares.
    fn compute<E>(
        &self,
        first: &Key<P>,
        second: &Key<V>,
        make: impl FnOnce(&Computation<'_>) -> Result<SharedValue, E>,
    ) -> Result<SharedValue, E> {
        self.memo.try_get_or_compute(first, |computation| {
            computation.depends_on(second);
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
            match self.get(&key) {
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
                    assert!(self.remove(&key));
                }
            }
        }
    }
}

impl<P: Kind, V: Kind> Shape for Asked<P, V>
where
    Key<P>: SharedRef,
{
    const BY_CONTENT: bool = false;
    const WEAK_VALUES: bool = true;
    const OWNS: bool = true;
    const SHARED: bool = true;
    const COUNTS_DEAD: bool = true;
}

impl<P: Kind, V: Kind> Upkeep for Asked<P, V>
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
        Memo<Key<P>, SharedValue>, self, self.memo;
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

impl<P: Kind, V: Kind> Subject<P, V> for Asked<P, V>
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
        let mut computed = false;
        if how == Insert::AndModify {
            let failing = || drop(self.compute::<()>(key, second, |_| quiet_panic()));
            assert_eq!(panics(failing), self.get(key).is_none());
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
        let value = self.get(key);
        let removed = if let Remove::Entry(_) = how {
            // An object has one result at most.
            self.memo.invalidate(key) == 1
        } else {
            Asked::remove(self, key)
        };
        assert_eq!(removed, value.is_some());
        value.map(|value| Some(value.id))
    }

    fn find(&self, _: Find, key: &Key<P>) -> Option<Found> {
        let found = self.get(key)?;
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

impl<P: Kind, V: Kind> Snapshots<P, V> for Asked<P, V>
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
{
    fn rows(&self) -> Vec<Row<P, V>> {
        let row = |(key, value): Pin<P, V>| {
            let owned = self.get(key.as_ref()?)?;
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
                assert!(Asked::remove(self, first));
            }
        }
    }
}
