//! The collections, as the actors see them: a place in which an object has an entry from when it enters until it leaves or
//! dies. Those that `tests/common/subject` describes need no further words.

use std::cell::RefCell;
use std::sync::Arc;

use weakly::concurrent::SharedRef;
use weakly::memo::Value;
use weakly::reference::WeakKey;
use weakly::{AttributeKey, Attributes, Memo};

use super::body::{Body, linger};
use crate::common::owned::Content;
use crate::common::subject::{self, Shared, Single, Subject, shared, single};

pub(crate) trait Life: subject::Life<Body> + SharedRef {}
impl<K: subject::Life<Body> + SharedRef> Life for K {}

pub(crate) type Partner = weakly::Strong<usize>;
type Weak<L> = <L as WeakKey>::Weak;

pub(crate) trait Place<L: Life> {
    fn enter(&self, life: &L);
    fn leave(&self, life: &L) -> bool;
    /// Whether the object has an entry, which is its own.
    fn has(&self, life: &L) -> bool;
    /// Whether anything is found for an object that has no entry.
    fn has_any(&self, life: &L) -> bool;
    /// The same for a dead one, where that can be asked: a memo is asked with strong handles only.
    fn has_dead(&self, _content: &Body, _weak: &Weak<L>) -> Option<bool> {
        None
    }
    /// Shows all entries, where it can inside the table; those go for which it returns false.
    fn sift(&self, stays: &mut dyn FnMut(&Body) -> bool);
    fn purge(&self);
    fn purge_some(&self);
    fn shrink(&self);
    /// How many entries there are, and how many dead.
    fn counts(&self) -> (usize, usize);
    /// Whether an entry can be removed.
    fn lets_go(&self) -> bool {
        true
    }
    /// Whether it shows its entries.
    fn shows(&self) -> bool {
        true
    }
}

/// A collection of one owner.
#[derive(Default)]
struct Mine<S>(RefCell<S>);

macro_rules! tended {
    ($get:ident, $set:ident, |$all:ident| $place:expr) => {
        fn purge(&self) {
            let $all = $set!(self);
            $place.purge();
        }
        fn purge_some(&self) {
            let $all = $set!(self);
            $place.purge_some(20);
        }
        fn shrink(&self) {
            let $all = $set!(self);
            $place.shrink_to_fit();
        }
        fn counts(&self) -> (usize, usize) {
            let $all = $get!(self);
            ($place.len(), $place.pending_dead())
        }
    };
}

macro_rules! places {
    ($family:ident: $Family:ident by $get:ident, $set:ident;
     $($subject:ident$(<$partner:ty>)?, $lets_go:literal: |$all:ident, $stays:ident| $place:expr, $sift:expr;)*) => {$(
        impl<L: Life> Place<L> for places!(@$family $family::$subject<L $(, $partner)?>) {
            fn enter(&self, life: &L) {
                $Family::enter($set!(self), life, &$family::quietly());
            }
            fn leave(&self, life: &L) -> bool {
                $Family::leave($set!(self), life)
            }
            fn has(&self, life: &L) -> bool {
                Subject::has($get!(self), life)
            }
            fn has_any(&self, life: &L) -> bool {
                $get!(self).contains(life)
            }
            fn has_dead(&self, content: &Body, weak: &Weak<L>) -> Option<bool> {
                Some($get!(self).finds(content, weak))
            }
            fn sift(&self, $stays: &mut dyn FnMut(&Body) -> bool) {
                let $all = $set!(self);
                $sift;
            }
            tended!($get, $set, |$all| $place);
            fn lets_go(&self) -> bool {
                $lets_go
            }
        }
    )*};
    (@shared $subject:ty) => { $subject };
    (@single $subject:ty) => { Mine<$subject> };
}

macro_rules! by_all {
    ($this:ident) => {
        $this
    };
}
macro_rules! read {
    ($this:ident) => {
        &*$this.0.borrow()
    };
}
macro_rules! change {
    ($this:ident) => {
        &mut *$this.0.borrow_mut()
    };
}

places! {
    shared: Shared by by_all, by_all;
    Maps, true: |all, stays| all, all.retain(|life, _| stays(life));
    Sets, true: |all, stays| all, all.retain(|life| stays(life));
    ValueMaps, true: |all, stays| all, all.retain(|_, life| stays(life));
    HashMaps, true: |all, stays| all, all.retain(|life, _| stays(life));
    HashSets, true: |all, stays| all, all.retain(|life| stays(life));
    Interners, false: |all, stays| all, all.iter().for_each(|life| _ = stays(&life));
    PairsTwice, true: |all, stays| all, all.retain(|life, _| stays(life));
    PairsByKey<Partner>, true: |all, stays| all.all, all.all.retain(|life, _| stays(life));
}

places! {
    single: Single by read, change;
    Maps, true: |all, stays| all, all.retain(|life, _| stays(life));
    Sets, true: |all, stays| all, all.retain(|life| stays(life));
    ValueMaps, true: |all, stays| all, all.retain(|_, life| stays(life));
    HashMaps, true: |all, stays| all, all.retain(|life, _| stays(life));
    HashSets, true: |all, stays| all, all.retain(|life| stays(life));
    Interners, false: |all, stays| all, all.iter().for_each(|life| _ = stays(&life));
    PairsTwice, true: |all, stays| all, all.retain(|life, _| stays(life));
    PairsByKey<Partner>, true: |all, stays| all.all, all.all.retain(|life, _| stays(life));
    HashPairsTwice, true: |all, stays| all, all.retain(|life, _| stays(life));
}

/// What a memo computes of an object, one thread at a time.
pub(crate) type Results<L> = Memo<(L, Value<usize>), Arc<Body>>;

/// The attribute of an object that is a body of its number.
struct Shadow;

impl AttributeKey for Shadow {
    type Value = Arc<Body>;
}

/// A body of the object's number. While it is made, others come to ask for it.
fn shadow<L: Life>(life: &L) -> Arc<Body> {
    linger();
    Arc::new((**life).clone())
}

fn is_shadow<L: Life>(found: Option<Arc<Body>>, life: &L) -> bool {
    found.inspect(|found| found.check(life.number())).is_some()
}

impl<L: Life> Place<L> for Results<L> {
    fn enter(&self, life: &L) {
        self.get_or_compute((life, &life.number()), |_| shadow(life))
            .check(life.number());
    }
    fn leave(&self, life: &L) -> bool {
        self.remove((life, &life.number())).is_some()
    }
    fn has(&self, life: &L) -> bool {
        is_shadow(self.get((life, &life.number())), life)
    }
    fn has_any(&self, life: &L) -> bool {
        self.has(life)
    }
    fn sift(&self, _: &mut dyn FnMut(&Body) -> bool) {}
    fn shows(&self) -> bool {
        false
    }
    tended!(by_all, by_all, |all| all);
}

impl<L: Life> Place<L> for Attributes<L> {
    fn enter(&self, life: &L) {
        self.insert(life, Shadow, shadow(life));
    }
    fn leave(&self, life: &L) -> bool {
        is_shadow(self.remove(life, Shadow), life)
    }
    fn has(&self, life: &L) -> bool {
        is_shadow(self.get(life, Shadow), life)
    }
    fn has_any(&self, life: &L) -> bool {
        self.contains_key(life, Shadow)
    }
    fn has_dead(&self, _: &Body, weak: &Weak<L>) -> Option<bool> {
        Some(self.contains_key(weak, Shadow))
    }
    fn sift(&self, stays: &mut dyn FnMut(&Body) -> bool) {
        for life in self.keys().filter(|life| !stays(life)) {
            self.remove(&life, Shadow);
        }
    }
    tended!(by_all, by_all, |all| all);
}

pub(crate) type Shareable<L> = Box<dyn Place<L> + Send + Sync>;
pub(crate) type Own<L> = Box<dyn Place<L>>;

macro_rules! all_of {
    ($($subject:ty),*) => { vec![$(Box::new(<$subject>::default())),*] };
}

/// One of each kind.
pub(crate) fn shared_places<L: Life>() -> Vec<Shareable<L>> {
    use shared::*;
    all_of!(
        Maps<L>, Sets<L>, ValueMaps<L>, HashMaps<L>, HashSets<L>, Interners<L>, PairsTwice<L>,
        PairsByKey<L, Partner>, Results<L>, Attributes<L>
    )
}

/// One of each kind, for one thread.
pub(crate) fn own_places<L: Life>() -> Vec<Own<L>> {
    use single::*;
    all_of!(
        Mine<Maps<L>>,
        Mine<Sets<L>>,
        Mine<ValueMaps<L>>,
        Mine<HashMaps<L>>,
        Mine<HashSets<L>>,
        Mine<Interners<L>>,
        Mine<PairsTwice<L>>,
        Mine<PairsByKey<L, Partner>>,
        Mine<HashPairsTwice<L>>
    )
}
