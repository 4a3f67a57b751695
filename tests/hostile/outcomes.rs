//! What has happened when code of users panics, as the table in the guide's chapter `destruction` says: what other tests do not
//! show.

use std::borrow::Borrow;
use std::cell::Cell;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use weakly::keep::{self, Limit};
use weakly::memo::Value;
use weakly::reference::{Identify, Identity, StrongRef, Swept, WeakKey, WeakRef};
use weakly::{
    AttributeKey, Attributes, Existing, Interner, Memo, Strong, WeakHashMap, WeakHashPairMap,
    WeakMap, WeakPairMap, WeakValueMap, concurrent,
};

use crate::common::custom::{self, Code, Custom, customs};
use crate::common::subject::{Owned, shared, single};
use crate::common::{panics, quiet_panic};

type Kept = Arc<Owned<shared::Ends, Custom>>;

thread_local! {
    /// How many calls are left before one panics, if one is to.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    /// What this call does, in the place of a panic.
    static ACTS: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
}

/// A call of users' code.
fn call() {
    match LEFT.take() {
        Some(0) => ACTS.take().map_or_else(|| quiet_panic(), |acts| acts()),
        left => LEFT.set(left.map(|left| left - 1)),
    }
}

/// Runs this once for each call that it makes of users' code, which panics, and then without a panic.
fn at_each_call(mut run: impl FnMut(&dyn Fn(&mut dyn FnMut()) -> bool)) {
    for at in 0..1_000 {
        let panicked = Cell::new(false);
        run(&|act| {
            LEFT.set(Some(at));
            let caught = panics(act);
            LEFT.set(None);
            panicked.set(caught);
            caught
        });
        if !panicked.get() {
            assert!(at > 0, "no code of users runs");
            return;
        }
    }
    panic!("it makes calls without end");
}

/// 181: A condition of `retain`: what came before is as it has said, and what it was asked about stays, as do the others.
#[test]
fn a_condition_about_all() {
    let keys = customs::<Strong<Custom>>(0..6);
    let plain = Custom::new(0);
    at_each_call(|attempt| {
        let (mut own, shared) = (single::Maps::new(), shared::Maps::new());
        let memo = Memo::<(Strong<Custom>, Value<Custom>), Kept>::new();
        for key in &keys {
            own.insert(key, custom::owned(0, &single::quietly()));
            let kept: Kept = Arc::new(custom::owned(0, &shared::quietly()));
            shared.insert(key, kept.clone());
            memo.insert((key, &plain), kept);
        }
        let seen = Cell::new(0);
        let wanted = || {
            call();
            seen.set(seen.get() + 1);
            false
        };
        attempt(&mut || own.retain(|_, _| wanted()));
        assert_eq!(own.len(), 6 - seen.take());
        let left = own.len();
        attempt(&mut || _ = own.extract_if(|_, _| !wanted()).count());
        assert_eq!(own.len(), left - seen.take());
        attempt(&mut || memo.retain(|_, _| wanted()));
        assert_eq!(memo.len(), 6 - seen.take());
        attempt(&mut || shared.retain(|_, _| wanted()));
        assert_eq!(shared.len(), 6 - seen.take());
        assert_eq!(shared.pending_dead(), 0);
    });
}

/// A number whose code panics, if it is to.
struct Calls;

impl Code for Calls {
    fn hash(&self, _: &Custom) -> usize {
        call();
        0
    }

    fn eq(&self, one: &Custom, other: &Custom) -> bool {
        call();
        one.number == other.number
    }

    fn clone(&self, of: &Custom) -> Custom {
        call();
        Custom::with(&Calls, of.number, 0)
    }

    fn drop(&self, _: &Custom) {}
}

fn calls(number: usize) -> Custom {
    Custom::with(&Calls, number, 0)
}

/// Transfers a value from one key to another: each call that this makes of users' code panics, in turn, and nothing has changed.
/// `$again`: the keys are compared again after the removal, and a panic that comes only then loses the value.
macro_rules! transfers {
    ($($name:ident: $new:expr, |$all:ident, $number:ident| $key:expr, $value:expr, |$put:ident, $in:ident| $insert:expr, $show:expr, $again:expr;)*) => {$(
        #[test]
        fn $name() {
            for occupied in [false, true] {
                let (unchanged, lost) = (Cell::new(0), Cell::new(0));
                at_each_call(|attempt| {
                    #[allow(unused_mut)]
                    let mut $all = $new;
                    let keys = [0, 1, 2].map(|$number| $key);
                    let [from, to, other] = &keys;
                    let values = [10, 11, 12].map(|$number| $value);
                    let entries = [(from, &values[0]), (other, &values[2]), (to, &values[1])];
                    for &($put, $in) in &entries[..2 + usize::from(occupied)] {
                        $insert;
                    }
                    let (before, mut old) = (occupied.then_some(11), None);
                    let panicked = attempt(&mut || {
                        old = $all.transfer(from, to).map(|$number| $show);
                    });
                    let now = [from, to, other].map(|key| $all.get(key).map(|$number| $show));
                    match now {
                        _ if !panicked => assert_eq!((now, old), ([None, Some(10), Some(12)], before)),
                        [None, ..] if $again => {
                            lost.set(lost.get() + 1);
                            assert_eq!(now, [None, before, Some(12)]);
                        }
                        _ => {
                            unchanged.set(unchanged.get() + 1);
                            assert_eq!((now, lost.get()), ([Some(10), before, Some(12)], 0));
                        }
                    }
                    assert_eq!(($all.len_live(), $all.pending_dead()), (now.iter().flatten().count(), 0));
                });
                assert!(unchanged.get() > lost.get(), "{}, {}", unchanged.get(), lost.get());
            }
        }
    )*};
}

/// 652: Of a map of one owner, and a shared one.
mod transfers {
    use super::*;

    transfers! {
        by_content: WeakHashMap::new(), |all, number| Strong::new(calls(number)), number,
            |key, value| all.insert(key, *value), *Borrow::<usize>::borrow(&number), true;
        pairs_by_content: WeakHashPairMap::new(), |all, number| Strong::new(calls(number)), Strong::new(number),
            |key, value| all.insert(key, value), *number, true;
        shared: concurrent::WeakMap::new(), |all, number| Strong::new(number), calls(number),
            |key, value| all.insert(key, Custom::clone(value)), number.number, false;
        shared_by_content: concurrent::WeakHashMap::new(), |all, number| Strong::new(calls(number)), calls(number),
            |key, value| all.insert(key, Custom::clone(value)), number.number, false;
    }
}

/// A handle of a user, whose code panics wherever it can.
struct Handle(Arc<usize>);
struct WeakHandle(Weak<usize>);

impl Clone for Handle {
    fn clone(&self) -> Self {
        call();
        Handle(self.0.clone())
    }
}

impl Clone for WeakHandle {
    fn clone(&self) -> Self {
        call();
        WeakHandle(self.0.clone())
    }
}

impl Deref for Handle {
    type Target = usize;
    fn deref(&self) -> &usize {
        call();
        &self.0
    }
}

impl Borrow<usize> for Handle {
    fn borrow(&self) -> &usize {
        self
    }
}

impl From<usize> for Handle {
    fn from(number: usize) -> Self {
        Handle(Arc::new(number))
    }
}

#[allow(unsafe_code)]
// SAFETY: everything is passed on to `Arc`, which pins its address.
unsafe impl WeakKey for Handle {
    type Watch = Swept<Self>;
    type Weak = WeakHandle;
    fn downgrade(this: &Self) -> WeakHandle {
        call();
        WeakHandle(Arc::downgrade(&this.0))
    }
    fn addr(this: &Self) -> *const () {
        call();
        Arc::as_ptr(&this.0).cast()
    }
}

#[allow(unsafe_code)]
// SAFETY: likewise.
unsafe impl StrongRef for Handle {
    type Target = usize;
}

#[allow(unsafe_code)]
// SAFETY: likewise.
unsafe impl WeakRef for WeakHandle {
    type Strong = Handle;
    fn upgrade(&self) -> Option<Handle> {
        call();
        self.0.upgrade().map(Handle)
    }
    fn addr(&self) -> *const () {
        call();
        self.0.as_ptr().cast()
    }
    fn is_expired(&self) -> bool {
        call();
        self.0.strong_count() == 0
    }
}

impl Identity for WeakHandle {
    fn identity(this: &Self) -> *const () {
        Identity::identity(&this.0)
    }
}

impl Identify<Handle> for WeakHandle {
    fn addr(this: &Self) -> *const () {
        if this.is_expired() {
            std::ptr::null()
        } else {
            WeakRef::addr(this)
        }
    }
}

/// Runs an act on a collection that has three objects, with a fourth, and with one that is there: whatever panics, nothing is
/// counted twice (`$len` is `$most` at most), and nothing is left when the objects are dead, and `$rest` has let go of others.
macro_rules! handles {
    ($($name:ident: $all:ident = $new:expr, $fill:expr, |$object:ident| [$($act:expr),* $(,)?], $len:expr, $most:expr, $rest:expr;)*) => {$(
        #[test]
        fn $name() {
            let count = [$(stringify!($act)),*].len();
            for number in 0..count {
                at_each_call(|attempt| {
                    #[allow(unused_mut)]
                    let mut $all = $new;
                    let objects: Vec<_> = (0..4).map(Handle::from).collect();
                    for $object in &objects[..3] {
                        $fill;
                    }
                    attempt(&mut || {
                        for $object in [&objects[3], &objects[1]] {
                            let mut at = 0;
                            $(
                                if at == number {
                                    _ = $act;
                                }
                                at += 1;
                            )*
                            assert_eq!(at, count);
                        }
                    });
                    assert!($len <= $most, "{number}");
                    let alive: Vec<_> = objects.iter().map(|object| Arc::downgrade(&object.0)).collect();
                    drop(objects);
                    $rest;
                    assert_eq!($len, 0, "{number}");
                    assert!(alive.iter().all(|object| object.strong_count() == 0), "{number}");
                });
            }
        }
    )*};
}

handles! {
    map: all = WeakMap::new(), all.insert(object, 1),
        |object| [all.insert(object, 2), all.get(object), all.remove(object), all.get_or_insert_with(object, |_| 3), all.purge(), all.transfer(object, &Handle::from(7))],
        all.len(), 4, all.purge();
    value_map: all = WeakValueMap::new(), all.insert(*object.0, object),
        |object| [all.insert(*object.0, object), all.get(&*object.0), all.remove(&*object.0), all.insert(1, object)],
        all.len(), 4, all.purge();
    pair_map: all = WeakPairMap::new(), all.insert(object, object),
        |object| [all.insert(object, object), all.get(object), all.remove(object), all.transfer(object, &Handle::from(7))],
        all.len(), 4, all.purge();
    hash_map: all = WeakHashMap::new(), all.insert(object, 1),
        |object| [all.insert(object, 2), all.get(&*object.0), all.remove(&*object.0), all.get_or_insert_with(object, |_| 3), all.transfer(&*object.0, &Handle::from(7))],
        all.len(), 4, all.purge();
    interner: all = Interner::<Handle>::new(), drop(all.intern_with(&*object.0, |_| object.clone())),
        |object| [all.intern(*object.0), all.intern_with(&*object.0, |_| object.clone()), all.get(&*object.0)],
        all.len(), 4, all.purge();
    kept: all = keep::KeepAlive::new(Limit::entries(2)), all.keep(object, 1),
        |object| [all.keep(object, 1), all.keep(object, 2)],
        all.len(), 4, all.clear();
    shared_map: all = concurrent::WeakMap::new(), all.insert(object, 1),
        |object| [all.insert(object, 2), all.get(object), all.remove(object), all.get_or_insert_with(object, |_| 3), all.compute(object, |_| Some(4)), all.purge(), all.transfer(object, &Handle::from(7))],
        all.len(), 4, all.purge();
    shared_pair_map: all = concurrent::WeakPairMap::new(), all.insert(object, object),
        |object| [all.insert(object, object), all.get(object), all.remove(object), all.get_or_insert_with(object, Handle::clone), all.transfer(object, &Handle::from(7))],
        all.len(), 4, all.purge();
    memo: all = Memo::<(Handle, Value<usize>), usize>::new(), all.insert((object, &1), 1),
        |object| [all.insert((object, &1), 2), all.get((object, &1)), all.remove((object, &1)), all.get_or_compute((object, &1), |cx| { cx.depends_on(object); 3 }), all.invalidate(object)],
        all.len(), 4, all.purge();
    floor: all = {
            let all = concurrent::WeakValueMap::new();
            let kept = all.set_keep_alive(Limit::entries(2).generations(0), |_| { call(); 1 });
            (all, kept)
        }, all.0.insert(*object.0, object),
        |object| [all.0.insert(*object.0, object), all.0.get(&*object.0), all.0.remove(&*object.0), all.0.insert(1, object), all.0.get_or_insert_with(7, |_| object.clone()), all.1.keep(object, 1), all.0.clear()],
        all.0.len() + all.1.len(), 5 + 2, { all.1.clear(); all.0.purge() };
    ceiling: all = {
            let all = concurrent::WeakMap::new();
            all.set_ceiling(Limit::entries(3), |_| { call(); 1 });
            all.set_listener(|_: &_, _: &_, _| call());
            all
        }, all.insert(object, 1),
        |object| [all.insert(object, 2), all.get(object), all.remove(object), all.get_or_insert_with(object, |_| 3), all.shrink_to(1), all.clear()],
        all.len() + all.retained_weight(), 3 + 3, all.purge();
}

/// 654, 662: At any call that a transfer makes of users' code, a second transfer may bring back what the first has moved: one of
/// the objects has it in the end.
#[test]
fn a_transfer_back_within_a_transfer() {
    struct Name;
    impl AttributeKey for Name {
        type Value = usize;
    }
    type All = (concurrent::WeakMap<Handle, usize>, Attributes<Handle>);
    type Transfer = fn(&All, &Handle, &Handle);
    let transfers: [Transfer; 2] = [
        |all, from, to| _ = all.0.transfer(from, to),
        |all, from, to| _ = all.1.transfer(from, to, Existing::Replace),
    ];
    for transfer in transfers {
        let mut calls = 0;
        loop {
            let all = Arc::new(All::default());
            let [from, to] = [0, 1].map(Handle::from);
            all.0.insert(&from, 7);
            all.1.insert(&from, Name, 7);
            let (again, back, away) = (all.clone(), Handle(from.0.clone()), Handle(to.0.clone()));
            ACTS.set(Some(Box::new(move || transfer(&again, &away, &back))));
            LEFT.set(Some(calls));
            transfer(&all, &from, &to);
            LEFT.set(None);
            let is_in =
                [&from, &to].map(|key| (all.0.contains_key(key), all.1.contains_key(key, Name)));
            assert!(
                is_in.iter().any(|it| it.0) && is_in.iter().any(|it| it.1),
                "{calls}: {is_in:?}"
            );
            if ACTS.take().is_some() {
                break;
            }
            calls += 1;
        }
        assert!(calls > 3, "{calls}");
    }
}
