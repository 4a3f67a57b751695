//! Lookups. If code of a computation makes a lookup, the lookup runs [apart](Scope::apart), and
//! then adds the dependency on the found entry to the inputs of the computation (I1, I2 of
//! [`Inputs`]).

use super::cache::Memo;
use super::key::{MemoKey, MemoQuery};
use super::watches::{EntryWatches, Results};
use crate::concurrent::{Absent, Dependency, Inputs, Watches};
use crate::hash::HashValue;
use crate::thread::Scope;

/// A result, and the dependency on its entry: `None` if no code of a computation asks for the
/// result, or if the result has no entry.
pub(super) type WithDependency<V> = (V, Option<Dependency>);

impl<K: MemoKey, V> Memo<K, V> {
    /// Passes the entry of a key to a closure.
    #[inline]
    #[track_caller]
    pub(super) fn look_up<R>(
        &self,
        key: &impl MemoQuery<K>,
        read: impl FnMut(&K::Stored, &EntryWatches<K::Watches>, &V) -> Option<R>,
    ) -> Option<R> {
        match Inputs::is_in_computation() {
            true => self.look_up_tracked(key, read),
            false => self.look_up_apart(key, read),
        }
    }

    /// As [`look_up`](Self::look_up), for code of a computation.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn look_up_tracked<R>(
        &self,
        key: &impl MemoQuery<K>,
        mut read: impl FnMut(&K::Stored, &EntryWatches<K::Watches>, &V) -> Option<R>,
    ) -> Option<R> {
        let read = |stored: &_, watches: &EntryWatches<_>, value: &_| {
            Some((
                read(stored, watches, value)?,
                watches.as_dependency_of_caller::<K>()?,
            ))
        };
        let (result, dependency) = Inputs::apart(|| self.look_up_apart(key, read))?;
        Inputs::add_dependency(Some(dependency));
        Some(result)
    }

    #[inline]
    #[track_caller]
    fn look_up_apart<R>(
        &self,
        key: &impl MemoQuery<K>,
        read: impl FnMut(&K::Stored, &EntryWatches<K::Watches>, &V) -> Option<R>,
    ) -> Option<R> {
        let hash = self.hash_if_any(key)?;
        let show = |read, _: &_, _: &_| read;
        (self.table).read_where(
            hash,
            |node| key.is(node.key()),
            read,
            Watches::is_stale,
            show,
        )
    }
}

impl<K: MemoKey, V: Clone> Memo<K, V> {
    /// Returns a clone of the result of an entry, unless the entry is dead.
    #[inline]
    pub(super) fn read(watches: &EntryWatches<K::Watches>, value: &V) -> Option<V> {
        (!watches.is_found_dead()).then(|| value.clone())
    }

    /// As [`read`](Self::read), in an operation that runs [apart](Scope::apart). If code of a
    /// computation has called the operation, the result comes with the dependency on the entry.
    pub(super) fn read_with_dependency(
        watches: &EntryWatches<K::Watches>,
        value: &V,
    ) -> Option<WithDependency<V>> {
        Self::read_as(Inputs::is_called_by_computation(), watches, value)
    }

    /// As [`read_with_dependency`](Self::read_with_dependency). `by_computation`: whether code of a
    /// computation has called the operation.
    pub(super) fn read_as(
        by_computation: bool,
        watches: &EntryWatches<K::Watches>,
        value: &V,
    ) -> Option<WithDependency<V>> {
        let value = Self::read(watches, value)?;
        Some(match by_computation {
            true => (value, Some(watches.as_dependency::<K>()?)),
            false => (value, None),
        })
    }

    /// Sets the dependency on a computed result, after the entry of the result, with these watches,
    /// was linked.
    pub(super) fn landed_as(
        by_computation: bool,
        watches: &EntryWatches<K::Watches>,
        (_, dependency): &mut WithDependency<V>,
    ) {
        if by_computation {
            *dependency = watches.as_dependency::<K>().or(Some(Dependency::Ended));
        }
    }

    /// Returns a clone of the result of a key, and makes the entry an input of the computation that
    /// asks, if there is one.
    // Always inlined into the one call of a hit, which is not inlined into a user's frame.
    #[inline(always)]
    #[track_caller]
    pub(super) fn find(
        &self,
        key: &impl MemoQuery<K>,
    ) -> Result<V, (HashValue, Absent<'_, Results<K, V>>)> {
        if Scope::is_any() {
            return self.find_in_scope(key);
        }
        self.find_apart(key, Self::read)
    }

    /// As [`find`](Self::find), where code of a computation may call.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn find_in_scope(
        &self,
        key: &impl MemoQuery<K>,
    ) -> Result<V, (HashValue, Absent<'_, Results<K, V>>)> {
        let asks = Inputs::is_in_computation();
        let read = |watches: &EntryWatches<_>, value: &_| {
            let value = Self::read(watches, value)?;
            Some(match asks {
                true => (value, Some(watches.as_dependency_of_caller::<K>()?)),
                false => (value, None),
            })
        };
        let (value, dependency) = Inputs::apart(|| self.find_apart(key, read))?;
        Inputs::add_dependency(dependency);
        Ok(value)
    }

    /// Finds the result of a key, without a look at the scope of the thread. `read` returns `None`
    /// for a dead entry.
    #[inline(always)]
    #[track_caller]
    fn find_apart<R>(
        &self,
        key: &impl MemoQuery<K>,
        read: impl FnOnce(&EntryWatches<K::Watches>, &V) -> Option<R>,
    ) -> Result<R, (HashValue, Absent<'_, Results<K, V>>)> {
        let hash = self.hash(key);
        let found = self.table.find_where(hash, |node| key.is(node.key()), read);
        found.map_err(|absent| (hash, absent))
    }
}
