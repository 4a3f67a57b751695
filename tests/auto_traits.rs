//! What the compiler infers for the public types: which may cross threads, where they may be used, which
//! lifetimes are covariant (`auto_traits/variance.rs`). What must *not* compile is in
//! `src/compile_fail`, each beside a similar example that does; here are the facts that hold, and
//! those that must not, in one place.

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};

mod common;
#[path = "auto_traits/variance.rs"]
mod variance;

use common::own::Own;
use weakly::reference_queue::{Next, Ticket};
use weakly::{
    Addr, Anchor, AnchorRef, Attributes, ByIdentity, Expired, Finalizer, Interner, Memo,
    ReferenceQueue, Strong, Weak, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap,
    WeakSet, WeakValueMap,
    collections::{
        weak_hash_map, weak_hash_pair_map, weak_map, weak_pair_map, weak_set, weak_value_map,
    },
    concurrent, cycles,
    keep::KeepAlive,
    leaks, local,
    reference::StrongRef,
};

/// Whether a type has an auto trait: an inherent constant takes precedence over a trait's, but exists only if
/// the bound holds.
macro_rules! has {
    ($type:ty: $trait:ident) => {{
        struct Probe<T>(std::marker::PhantomData<T>);
        #[allow(dead_code)]
        impl<T: $trait> Probe<T> {
            const HAS: bool = true;
        }
        #[allow(dead_code)]
        trait Otherwise {
            const HAS: bool = false;
        }
        impl<T> Otherwise for Probe<T> {}
        <Probe<$type>>::HAS
    }};
}

/// States for each type whether it is `Send` and whether it is `Sync`.
macro_rules! threads {
    ($($type:ty: $send:literal, $sync:literal;)*) => {$(
        assert_eq!(has!($type: Send), $send, "{}: Send", stringify!($type));
        assert_eq!(has!($type: Sync), $sync, "{}: Sync", stringify!($type));
    )*};
}

/// `Send`, not `Sync`.
type Sendable = Cell<i32>;
/// `Sync`, not `Send`.
type Syncable = MutexGuard<'static, i32>;
/// Neither.
type Neither = Rc<i32>;

#[test]
fn handles_cross_threads_as_arcs_do() {
    threads! {
        Strong<i32>: true, true;
        Strong<dyn Send>: false, false;
        Strong<dyn Send + Sync>: true, true;
        Strong<Sendable>: false, false;
        Strong<Syncable>: false, false;
        Weak<i32>: true, true;
        Weak<Sendable>: false, false;
        Weak<Syncable>: false, false;
        Finalizer: true, true;
        Addr<'static, i32>: false, false; // a bare address, for the lookup at hand
    }
}

/// The messages go to any thread, and no two threads look at one.
#[test]
fn queues_of_messages_cross_threads_if_the_messages_may_be_sent() {
    threads! {
        ReferenceQueue<Sendable>: true, true;
        ReferenceQueue<Syncable>: false, false;
        Ticket<Sendable>: true, true;
        Ticket<Syncable>: false, false;
        Next<'static, Sendable>: true, true;
        Next<'static, Syncable>: false, false;
    }
    assert!(has!(Next<'static, Neither>: Unpin));
}

#[test]
fn local_handles_stay_on_their_thread() {
    threads! {
        local::Strong<i32>: false, false;
        local::Weak<i32>: false, false;
        local::Finalizer: false, false;
        WeakMap<local::Strong<i32>, i32>: false, false;
        WeakSet<local::Strong<i32>>: false, false;
        local::Attributes<local::Strong<i32>>: false, false;
        local::Attributes<Strong<i32>>: false, false;
    }
}

/// 611: What is watched for leaks is what may cross threads, unless the watch is local; the answers are values.
#[test]
fn watches_for_leaks_cross_threads_unless_they_are_local() {
    threads! {
        leaks::LeakWatch: true, true;
        local::LeakWatch: false, false;
        leaks::Leaks: true, true;
        cycles::Holders: true, true;
        cycles::HolderPath: true, true;
    }
}

/// An anchor is as good as an `Arc<()>`: it says nothing of the value that it is in.
#[test]
fn anchors_cross_threads_unless_they_are_local() {
    threads! {
        Anchor: true, true;
        AnchorRef: true, true;
        local::Anchor: false, false;
        local::AnchorRef: false, false;
        WeakMap<Anchor, i32>: true, true;
        WeakMap<Anchor, Sendable>: true, false;
        WeakMap<Anchor, Syncable>: false, true;
        WeakMap<Anchor, Neither>: false, false;
        WeakMap<local::Anchor, i32>: false, false;
        WeakSet<Anchor>: true, true;
        WeakSet<local::Anchor>: false, false;
        WeakPairMap<Anchor, Strong<i32>>: true, true;
        WeakPairMap<Anchor, Rc<i32>>: false, false;
        WeakPairMap<local::Anchor, Strong<i32>>: false, false;
        weak_map::Values<'static, Anchor, Neither>: false, false;
        weak_map::Entry<'static, 'static, Anchor, i32>: true, true;
        concurrent::WeakMap<Anchor, i32>: true, true;
        concurrent::WeakMap<Anchor, Sendable>: true, false;
        concurrent::WeakMap<Anchor, Neither>: false, false;
        concurrent::WeakSet<Anchor>: true, true;
        Attributes<Anchor>: true, true;
        local::Attributes<Anchor>: false, false; // of any values
        Memo<Anchor, i32>: true, true;
        Memo<(Anchor, Arc<i32>), Neither>: false, false;
    }
    assert!(has!(Anchor: UnwindSafe) && has!(Anchor: RefUnwindSafe));
    assert!(has!(local::Anchor: UnwindSafe) && has!(local::Anchor: RefUnwindSafe));
    assert!(has!(local::AnchorRef: UnwindSafe) && has!(local::AnchorRef: RefUnwindSafe));
    assert!(has!(WeakMap<local::Anchor, i32>: UnwindSafe));
    assert!(has!(local::Anchor: Unpin));
}

#[test]
fn a_map_crosses_threads_if_its_weak_keys_and_its_values_do() {
    threads! {
        WeakMap<Strong<i32>, i32>: true, true;
        WeakMap<Strong<i32>, Sendable>: true, false;
        WeakMap<Strong<i32>, Syncable>: false, true;
        WeakMap<Strong<i32>, Neither>: false, false;
        WeakMap<Strong<Sendable>, i32>: false, false;
        WeakMap<Strong<Syncable>, i32>: false, false;
        WeakMap<Strong<Mutex<Sendable>>, i32>: true, true;
        WeakMap<Arc<i32>, Sendable>: true, false;
        WeakMap<Arc<Sendable>, i32>: false, false;
        WeakMap<Rc<i32>, i32>: false, false;
        WeakSet<Strong<i32>>: true, true;
        WeakSet<Strong<Sendable>>: false, false;
        WeakSet<Arc<i32>>: true, true;
        WeakSet<Rc<i32>>: false, false;
    }
}

#[test]
fn iterators_and_entries_cross_threads_as_their_map_does() {
    type Key = Strong<i32>;
    threads! {
        weak_map::Iter<'static, Key, i32>: true, true;
        weak_map::IterMut<'static, Key, Sendable>: true, false;
        weak_map::Keys<'static, Key, i32>: true, true;
        weak_map::Values<'static, Key, Neither>: false, false;
        weak_map::IntoIter<Key, Sendable>: true, false;
        weak_map::Drain<'static, Key, i32>: true, true;
        weak_map::DrainDead<'static, Key, Neither>: false, false;
        weak_map::Entry<'static, 'static, Key, i32>: true, true;
        weak_map::Entry<'static, 'static, local::Strong<i32>, i32>: false, false;
        weak_set::Iter<'static, Key>: true, true;
        weak_value_map::Iter<'static, i32, Key>: true, true;
        weak_value_map::Keys<'static, Sendable, Key>: false, false;
        weak_value_map::Entry<'static, i32, Key>: true, true;
        weak_value_map::Entry<'static, Neither, Key>: false, false;
        weak_value_map::Entry<'static, i32, local::Strong<i32>>: false, false;
        weak_value_map::DrainDead<'static, Neither, Key>: false, false;
        weak_value_map::KeysOf<'static, i32, Key>: true, true;
        weak_value_map::IntoIter<Sendable, Key>: true, false;
        weak_pair_map::Iter<'static, Key, Key>: true, true;
        weak_pair_map::KeysOf<'static, Key, local::Strong<i32>>: false, false;
        weak_pair_map::Drain<'static, Key, local::Strong<i32>>: false, false;
        weak_pair_map::Entry<'static, 'static, Key, Key>: true, true;
        weak_pair_map::Entry<'static, 'static, Key, Rc<i32>>: false, false;
        weak_hash_map::Iter<'static, Key, Sendable>: false, false;
        weak_hash_map::IterMut<'static, Key, Sendable>: true, false;
        weak_hash_map::Entry<'static, 'static, local::Strong<i32>, i32>: false, false;
    }
}

/// An owned key of a map with weak values counts like an owned value of a map with weak keys.
#[test]
fn a_map_of_weak_values_crosses_threads_if_its_keys_and_its_values_do() {
    threads! {
        WeakValueMap<i32, Strong<i32>>: true, true;
        WeakValueMap<Sendable, Strong<i32>>: true, false;
        WeakValueMap<Syncable, Strong<i32>>: false, true;
        WeakValueMap<Neither, Strong<i32>>: false, false;
        WeakValueMap<i32, Strong<Sendable>>: false, false;
        WeakValueMap<i32, Strong<Syncable>>: false, false;
        WeakValueMap<i32, local::Strong<i32>>: false, false;
        WeakValueMap<Sendable, Arc<i32>>: true, false;
        WeakValueMap<i32, Arc<Sendable>>: false, false;
        WeakValueMap<i32, Rc<i32>>: false, false;
        WeakValueMap<i32, Strong<i32>, Neither>: false, false; // the hasher
    }
}

/// Each side counts, and so does the recipient of its notices.
#[test]
fn a_map_of_pairs_crosses_threads_if_both_sides_do() {
    type Far = Strong<i32>;
    type Near = local::Strong<i32>;
    threads! {
        WeakPairMap<Far, Far>: true, true;
        WeakPairMap<Far, Arc<i32>>: true, true;
        WeakPairMap<Arc<i32>, Far>: true, true;
        WeakPairMap<Far, Near>: false, false;
        WeakPairMap<Near, Far>: false, false;
        WeakPairMap<Near, Near>: false, false;
        WeakPairMap<Far, Rc<i32>>: false, false;
        WeakPairMap<Rc<i32>, Far>: false, false;
        WeakPairMap<Far, Strong<Sendable>>: false, false;
        WeakHashPairMap<Far, Far>: true, true;
        WeakHashPairMap<Far, Near>: false, false;
        WeakHashPairMap<Near, Far>: false, false;
        WeakHashPairMap<Arc<i32>, Far>: true, true;
        WeakHashPairMap<Far, Rc<i32>>: false, false;
        WeakHashPairMap<Strong<Sendable>, Far>: false, false;
        WeakHashPairMap<Far, Strong<Sendable>>: false, false;
        WeakHashPairMap<Far, Far, Neither>: false, false; // the hasher
        weak_hash_pair_map::Entry<'static, 'static, Far, Far>: true, true;
        weak_hash_pair_map::Iter<'static, Far, Near>: false, false;
        WeakPairMap<Strong<Syncable>, Far>: false, false;
    }
}

#[test]
fn collections_by_content_cross_threads_if_their_keys_and_values_do() {
    threads! {
        WeakHashMap<Strong<str>, i32>: true, true;
        WeakHashMap<Strong<str>, Sendable>: true, false;
        WeakHashMap<Strong<str>, Syncable>: false, true;
        WeakHashMap<local::Strong<str>, i32>: false, false;
        WeakHashMap<Strong<Sendable>, i32>: false, false;
        WeakHashMap<Rc<str>, i32>: false, false;
        WeakHashSet<Strong<str>>: true, true;
        WeakHashSet<Arc<str>>: true, true;
        WeakHashSet<local::Strong<str>>: false, false;
        WeakHashSet<Strong<str>, Neither>: false, false;
        Interner<Strong<str>>: true, true;
        Interner<Strong<Mutex<i32>>>: true, true;
        Interner<Strong<Sendable>>: false, false;
        Interner<local::Strong<str>>: false, false;
        Interner<Rc<str>>: false, false;
        ByIdentity<Strong<str>>: true, true;
        ByIdentity<Rc<str>>: false, false;
        Expired: true, true;
    }
}

/// A collection makes strong pointers on whatever thread it is on: so the pointer's type must allow that, even
/// if the wrapped pointer could go anywhere. What threads share is dropped by any thread, so it has to be both
/// `Send` and `Sync`.
#[test]
fn shared_collections_cross_threads_if_what_they_own_does() {
    threads! {
        concurrent::WeakMap<Strong<i32>, i32>: true, true;
        concurrent::WeakMap<Arc<i32>, i32>: true, true;
        concurrent::WeakMap<Strong<i32>, Sendable>: true, false;
        concurrent::WeakMap<Strong<i32>, Syncable>: false, false;
        concurrent::WeakMap<Strong<i32>, Neither>: false, false;
        concurrent::WeakSet<Strong<i32>>: true, true;
        concurrent::WeakValueMap<i32, Strong<i32>>: true, true;
        concurrent::WeakValueMap<Sendable, Strong<i32>>: true, false;
        concurrent::WeakValueMap<Neither, Strong<i32>>: false, false;
        concurrent::Interner<Arc<str>>: true, true;
        concurrent::WeakHashMap<Strong<str>, i32>: true, true;
        concurrent::WeakHashMap<Arc<str>, Sendable>: true, false;
        concurrent::WeakHashMap<Strong<str>, Syncable>: false, false;
        concurrent::WeakHashMap<Strong<str>, i32, Neither>: false, false; // the hasher
        concurrent::WeakHashSet<Strong<str>>: true, true;
        concurrent::WeakHashSet<Strong<str>, Neither>: false, false;
        concurrent::WeakPairMap<Strong<i32>, Arc<i32>>: true, true;
        concurrent::Iter<'static, Strong<i32>, i32>: true, true;
        concurrent::Iter<'static, Arc<i32>, Sendable>: false, false; // it borrows the map
        concurrent::Iter<'static, Strong<i32>, Neither>: false, false;
        concurrent::Keys<'static, Strong<i32>, i32>: true, true;
        concurrent::Keys<'static, Strong<i32>, Neither>: false, false;
        concurrent::Keys<'static, Arc<str>>: true, true;
        concurrent::ValueIter<'static, i32, Strong<i32>>: true, true;
        concurrent::ValueIter<'static, Sendable, Strong<i32>>: false, false;
        concurrent::PairIter<'static, Strong<i32>, Arc<i32>>: true, true;
        concurrent::KeepAlive<Strong<i32>>: true, true;
        concurrent::KeepAlive<Arc<i32>>: true, true;
        Attributes<Strong<i32>>: true, true;
        Memo<(Strong<i32>, Arc<i32>), i32>: true, true;
        Memo<Strong<i32>, Sendable>: true, false;
        Memo<Strong<i32>, Neither>: false, false;
        weakly::memo::Computation<'static>: true, true;
        weakly::memo::Dependencies: true, true;
    }
}

/// A destructor that panics leaves them whole.
#[test]
fn shared_collections_are_unwind_safe() {
    fn caught<T: UnwindSafe + RefUnwindSafe>() {}
    caught::<concurrent::WeakMap<Strong<i32>, i32>>();
    caught::<concurrent::WeakValueMap<String, Arc<i32>>>();
    caught::<concurrent::Interner<Strong<str>>>();
    caught::<concurrent::WeakHashMap<Strong<str>, i32>>();
    caught::<concurrent::WeakHashSet<Arc<str>>>();
    caught::<concurrent::WeakPairMap<Strong<i32>, Arc<i32>>>();
    caught::<concurrent::KeepAlive<Strong<i32>>>();
    caught::<Memo<Strong<i32>, String>>();
    assert!(!has!(concurrent::WeakMap<Strong<i32>, Cell<i32>>: RefUnwindSafe));
    assert!(!has!(concurrent::WeakHashMap<Strong<i32>, Cell<i32>>: RefUnwindSafe));
}

/// It owns handles.
#[test]
fn a_floor_crosses_threads_if_its_handles_do() {
    threads! {
        KeepAlive<Strong<i32>>: true, true;
        KeepAlive<Arc<i32>>: true, true;
        KeepAlive<Strong<Sendable>>: false, false;
        KeepAlive<Rc<i32>>: false, false;
        KeepAlive<local::Strong<i32>>: false, false;
        KeepAlive<Own<()>>: true, true;
        KeepAlive<Own<Neither>>: false, false;
    }
    assert!(has!(KeepAlive<Strong<i32>>: UnwindSafe) && has!(KeepAlive<Arc<i32>>: RefUnwindSafe));
}

#[test]
fn users_pointers_decide_whether_they_cross_threads() {
    threads! {
        WeakMap<Own<()>, i32>: true, true;
        WeakMap<Own<Sendable>, i32>: true, false;
        WeakMap<Own<Syncable>, i32>: false, true;
        WeakMap<Own<Neither>, i32>: false, false;
        WeakSet<Own<Neither>>: false, false;
        WeakValueMap<i32, Own<()>>: true, true;
        WeakValueMap<i32, Own<Neither>>: false, false;
        WeakPairMap<Own<Neither>, Strong<i32>>: false, false;
        WeakPairMap<Strong<i32>, Own<Neither>>: false, false;
        WeakHashMap<Own<Neither>, i32>: false, false;
        Interner<Own<Neither>>: false, false;
        weak_map::IterWeak<'static, Own<Neither>, i32>: false, false;
    }
}

#[test]
fn handles_are_unwind_safe_as_arcs_are() {
    assert!(has!(Strong<i32>: UnwindSafe) && has!(Strong<i32>: RefUnwindSafe));
    assert!(has!(Weak<i32>: UnwindSafe) && has!(Weak<i32>: RefUnwindSafe));
    assert!(has!(local::Strong<i32>: UnwindSafe) && has!(local::Weak<i32>: UnwindSafe));
    assert!(!has!(Strong<Cell<i32>>: UnwindSafe) && !has!(Weak<Cell<i32>>: UnwindSafe));
    assert!(has!(WeakPairMap<Strong<i32>, local::Strong<i32>>: UnwindSafe));
    assert!(has!(WeakPairMap<Strong<i32>, Strong<i32>>: RefUnwindSafe));
    assert!(!has!(WeakPairMap<Strong<i32>, Strong<Cell<i32>>>: UnwindSafe));
    assert!(has!(WeakValueMap<i32, Strong<i32>>: UnwindSafe));
    assert!(!has!(WeakValueMap<&'static Cell<i32>, Strong<i32>>: UnwindSafe));
    assert!(has!(Interner<Strong<str>>: UnwindSafe) && has!(Interner<Strong<str>>: RefUnwindSafe));
}

#[test]
fn everything_is_unpin_whatever_it_points_to() {
    type Pinned = std::marker::PhantomPinned;
    assert!(!has!(Pinned: Unpin));
    assert!(has!(Strong<Pinned>: Unpin) && has!(local::Strong<Pinned>: Unpin));
    assert!(has!(Weak<Pinned>: Unpin) && has!(local::Weak<Pinned>: Unpin));
    assert!(has!(WeakMap<Strong<Pinned>, i32>: Unpin) && has!(WeakSet<Strong<Pinned>>: Unpin));
    assert!(has!(WeakPairMap<Strong<Pinned>, Rc<Pinned>>: Unpin));
    assert!(has!(WeakValueMap<i32, Strong<Pinned>>: Unpin));
    assert!(has!(WeakHashMap<Strong<Pinned>, i32>: Unpin) && has!(Interner<Strong<Pinned>>: Unpin));
}

/// Without the feature `holders`, which makes them larger.
#[test]
#[cfg(not(feature = "holders"))]
fn handles_are_as_small_as_those_of_std() {
    assert_eq!(size_of::<Option<Strong<i32>>>(), size_of::<usize>());
    assert_eq!(size_of::<Strong<str>>(), size_of::<Arc<str>>());
    assert_eq!(size_of::<local::Strong<i32>>(), size_of::<usize>());
}

/// What needs no hash asks nothing of keys and hashers: neither `Hash` nor `Eq`, nor `BuildHasher`.
#[test]
fn what_needs_no_hash_has_no_bounds() {
    struct Plain;

    macro_rules! look {
        ($collection:expr, $($more:ident)*) => {{
            let mut it = $collection;
            it.purge();
            it.set_waker(None);
            it.set_reclaim(it.reclaim());
            _ = it.hasher();
            $(_ = it.$more();)*
            let counts = it.iter().count() + it.iter_weak().count() + it.len() + it.len_live();
            assert!(it.is_empty() && counts + it.pending_dead() == 0 && it.capacity() >= 8);
            it.clear();
        }};
    }

    fn all<K: StrongRef, V: StrongRef>() {
        let mut map = WeakValueMap::<Plain, V, Plain>::with_capacity_and_hasher(8, Plain);
        map.retain(|_, _| true);
        map.retain_values(|_| true);
        look!(map, pop drain_dead values keys);
        look!(WeakHashMap::<K, Plain, Plain>::with_capacity_and_hasher(8, Plain), pop values_mut keys);
        look!(WeakHashPairMap::<K, V, Plain>::with_capacity_and_hasher(8, Plain), pop values keys);
        look!(
            WeakHashSet::<K, Plain>::with_capacity_and_hasher(8, Plain),
            pop
        );
        look!(Interner::<K, Plain>::with_capacity_and_hasher(8, Plain),);
        assert_eq!(
            WeakValueMap::<Plain, V, Plain>::with_hasher(Plain)
                .into_iter()
                .count(),
            0
        );
    }
    all::<Strong<i32>, Rc<i32>>();
}
