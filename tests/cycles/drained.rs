//! Drains: what is removed is handed out, of several maps and of shared ones, and what stays is named.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};

use weakly::keep::{Gone, Limit};
use weakly::{
    Memo, Reclaim, Strong, Weak, WeakHashMap, WeakMap, WeakValueMap, concurrent,
    cycles::{Cycles, Drained, Trace, Tracer},
    impl_trace, local,
    memo::Value,
};

use crate::common::{panics, quiet_panic};
use crate::tools::{Shared, any, shared};

/// A value that owns an object, and counts its end.
struct Counted(Strong<Shared>, Arc<AtomicUsize>);

impl_trace!(Counted: 0);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, SeqCst);
    }
}

/// An object that owns itself.
fn selfish(number: usize) -> Strong<Shared> {
    let object = shared(number);
    assert!(object.own.set(object.clone()).is_ok());
    object
}

/// 680: A drain of several maps removes what a purge removes; its result owns it, of every type, when no map is borrowed
/// any more.
#[test]
fn several_maps() {
    struct Uses(local::Strong<u32>, Rc<RefCell<Map>>);
    type Map = WeakMap<local::Strong<u32>, Uses>;
    impl_trace!(Uses: 0);
    impl Drop for Uses {
        fn drop(&mut self) {
            assert!(self.1.borrow_mut().is_empty());
        }
    }
    let name = String::from("borrowed");
    let one = Rc::new(RefCell::new(Map::new()));
    let mut other = WeakMap::new();
    let (a, b) = (local::Strong::new(1), local::Strong::new(2));
    one.borrow_mut().insert(&a, Uses(b.clone(), one.clone()));
    other.insert(&b, (&*name, any(a.clone())));
    drop((a, b));
    assert_eq!(one.borrow_mut().purge_cycles().removed, 0);
    let drained: Drained<'_> = {
        let mut borrowed = one.borrow_mut();
        Cycles::new().with(&mut *borrowed).with(&mut other).drain()
    };
    assert_eq!((drained.purged().removed, drained.kept().len()), (2, 0));
    assert!(other.is_empty() && drained.foreign().is_empty());
    assert!(format!("{drained:?}").contains("removed: 2"));
    drop(drained);
    drop(other);
    assert_eq!(Rc::strong_count(&one), 1);
}

/// 681: A drain of maps at rest looks behind the locks of shared objects, and destroys nothing: the caller may hold a lock.
#[test]
fn at_rest() {
    let map = Mutex::new(WeakMap::new());
    let dead = Arc::new(AtomicUsize::new(0));
    let (top, left, right) = (shared(1), shared(2), shared(3));
    *left.locked.lock().unwrap() = Some(top.clone());
    *right.locked.lock().unwrap() = Some(top.clone());
    let value = [left, right].map(|side| Counted(side, dead.clone()));
    map.lock().unwrap().insert(&top, value);
    drop(top);
    let mut locked = map.lock().unwrap();
    assert_eq!(locked.drain_cycles().0, Default::default());
    assert_eq!(
        Cycles::new().with(&mut *locked).drain().purged(),
        Default::default()
    );
    let drained = Cycles::new().with(&mut *locked).at_rest().drain();
    assert_eq!(
        (drained.purged().removed, locked.len(), dead.load(SeqCst)),
        (1, 0, 0)
    );
    drop(locked);
    drop(drained);
    assert_eq!(dead.load(SeqCst), 2);
}

/// 680: A panic in a trace: nothing is removed, and no map stays pinned. A search in a search removes nothing.
#[test]
fn traces_that_panic_or_search() {
    struct Bad(Strong<Shared>, bool);
    impl Trace for Bad {
        fn trace(&self, tracer: &mut Tracer<'_>) {
            let inner = concurrent::WeakMap::from([(&self.0, self.0.clone())]);
            assert_eq!(inner.drain_cycles().0.removed, 0);
            assert!(Cycles::new().with(&inner).drain().kept().is_empty());
            drop(inner);
            self.0.trace(tracer);
            if self.1 {
                quiet_panic();
            }
        }
    }
    let map = concurrent::WeakMap::new();
    let (good, bad) = (shared(1), shared(2));
    map.insert(&good, Bad(good.clone(), false));
    map.insert(&bad, Bad(bad.clone(), true));
    drop((good, bad));
    assert!(panics(|| _ = map.drain_cycles()));
    assert!(panics(|| _ = Cycles::new().with(&map).drain()));
    assert_eq!((map.len(), map.pending_dead()), (2, 0));
    map.retain_values(|bad| !bad.1);
    assert_eq!(map.drain_cycles().0.removed, 1);
}

/// 682: The entries that stay are named: the map, and the key weakly, of each kind of map.
#[test]
fn kept_entries_are_named() {
    let objects: Vec<_> = (0..8).map(selfish).collect();
    let free = shared(9);
    let mut by_identity = WeakMap::from([(&objects[0], objects[0].clone()), (&free, free.clone())]);
    let mut by_content = WeakHashMap::from([(&objects[1], objects[1].clone())]);
    let mut by_value = WeakValueMap::from([(objects[2].clone(), &objects[2])]);
    let shared_one = concurrent::WeakMap::from([(&objects[3], objects[3].clone())]);
    let shared_content = concurrent::WeakHashMap::from([(&objects[4], objects[4].clone())]);
    let shared_value = concurrent::WeakValueMap::from([(objects[5].clone(), &objects[5])]);
    let memo = Memo::<Strong<Shared>, Strong<Shared>>::new();
    memo.insert(&objects[6], objects[6].clone());
    let pairs = Memo::<(Strong<Shared>, Value<u8>), Strong<Shared>>::new();
    pairs.insert((&objects[7], &1), objects[7].clone());
    let weak: Vec<_> = objects.iter().map(Strong::downgrade).collect();
    drop((objects, free));
    let mut drain = || {
        let cycles = Cycles::new()
            .with(&mut by_identity)
            .with(&mut by_content)
            .with(&mut by_value);
        let cycles = cycles
            .with(&shared_one)
            .with(&shared_content)
            .with(&shared_value);
        cycles.with(&memo).with(&pairs).drain()
    };
    let drained = drain();
    assert_eq!((drained.purged().removed, drained.purged().kept), (1, 8));
    assert_eq!(drained.kept().len(), 8);
    for kept in drained.kept() {
        let key = kept.key::<Weak<Shared>>();
        let key = key
            .or_else(|| Some(&kept.key::<(Weak<Shared>, Arc<u8>)>()?.0))
            .unwrap();
        assert!(Weak::ptr_eq(key, &weak[kept.map()]), "{kept:?}");
        assert!(kept.key::<Strong<Shared>>().is_none());
    }
    drop(drained);
    // (`own` cannot be cleared: seven of the objects leak. The entry of a dead key is not named.)
    drop(drain());
    assert_eq!((memo.len(), shared_one.len()), (1, 1));
}

/// The dictionaries of another language, each with the number of its references.
#[derive(Default)]
struct Language {
    counts: Mutex<Vec<usize>>,
    edges: Mutex<Vec<Vec<Edge>>>,
}

enum Edge {
    Dictionary(usize),
    Object(Strong<Shared>),
}

/// A reference to a dictionary.
struct Reference(&'static Language, usize);

impl Trace for Reference {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        let Reference(language, id) = *self;
        tracer.foreign(id, language.counts.lock().unwrap()[id], move |tracer| {
            for edge in &language.edges.lock().unwrap()[id] {
                match edge {
                    Edge::Dictionary(to) => Reference(language, *to).trace(tracer),
                    Edge::Object(object) => object.trace(tracer),
                }
            }
        });
    }
}

/// 683: The foreign objects on the rings that keep entries are named, with those behind the rings, each once: not those that
/// the entries alone keep, nor those that are in use.
#[test]
fn foreign_rings_are_named() {
    let language: &'static Language = Box::leak(Box::default());
    let (key, other, held) = (shared(1), shared(2), shared(3));
    *language.counts.lock().unwrap() = vec![2, 1, 1, 2, 1, 3];
    *language.edges.lock().unwrap() = vec![
        // The wrapper of the key, with its dictionary: `key.me = key; key.other = [[], …]`.
        vec![Edge::Object(key.clone()), Edge::Dictionary(1)],
        vec![Edge::Dictionary(0), Edge::Dictionary(2)],
        // Behind the ring.
        vec![Edge::Dictionary(3), Edge::Dictionary(3)],
        vec![],
        // The value of an entry that is removed.
        vec![Edge::Object(other.clone())],
        // In use, as one of its references is elsewhere, and owns itself.
        vec![Edge::Dictionary(5), Edge::Object(held.clone())],
    ];
    let mut map = WeakMap::new();
    map.insert(&key, Reference(language, 0));
    map.insert(&other, Reference(language, 4));
    map.insert(&held, Reference(language, 5));
    drop((key, other, held));
    let drained = Cycles::new().with(&mut map).drain();
    assert_eq!((drained.purged().removed, drained.purged().kept), (1, 1));
    let mut foreign = drained.foreign().to_vec();
    foreign.sort_unstable();
    assert_eq!(foreign, [0, 1, 2, 3]);
    // The other language clears its dictionary: the entry goes.
    language.edges.lock().unwrap()[1].clear();
    *language.counts.lock().unwrap() = vec![1, 1, 0, 0, 0, 3];
    assert_eq!(Cycles::new().with(&mut map).drain().purged().removed, 1);
    assert_eq!(map.len(), 1);
}

/// Lets the threads at a barrier go when it is dropped.
struct Done<'b>(&'b Barrier);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// A plain key that owns a value.
struct Named(usize, Counted);

impl_trace!(Named: 1);

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Named {}

impl Hash for Named {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// 684: Each shared collection hands out what its cycles and its dead entries own, under both policies, also beside threads
/// enough that dead entries are gathered.
#[test]
fn shared_collections_hand_out() {
    for (reclaim, beside) in [
        (Reclaim::OnUse, 0),
        (Reclaim::OnRequest, 0),
        (Reclaim::OnUse, 9),
    ] {
        let dead = Arc::new(AtomicUsize::new(0));
        let value = |object: &Strong<Shared>| Counted(object.clone(), dead.clone());
        let by_identity = concurrent::WeakMap::new();
        let by_content = concurrent::WeakHashMap::new();
        let by_value = concurrent::WeakValueMap::new();
        let memo = Memo::<(Strong<Shared>, Value<u8>), Strong<Counted>>::new();
        by_identity.set_reclaim(reclaim);
        by_content.set_reclaim(reclaim);
        by_value.set_reclaim(reclaim);
        memo.set_reclaim(reclaim);
        let stays = shared(0);
        let (begun, done) = (Barrier::new(beside + 1), Barrier::new(beside + 1));
        std::thread::scope(|scope| {
            for number in 0..beside {
                let (by_identity, value, stays, begun, done) =
                    (&by_identity, &value, &stays, &begun, &done);
                scope.spawn(move || {
                    // Each thread has made a change: so many threads gather.
                    by_identity.insert(&shared(number), value(stays));
                    begun.wait();
                    done.wait();
                });
            }
            begun.wait();
            // Also if this thread fails: the scope waits for the others.
            let _done = Done(&done);
            by_identity.purge();
            dead.store(0, SeqCst);
            by_identity.insert(&stays, value(&stays));
            let (gone, keeps) = (shared(1), shared(2));
            by_identity.insert(&keeps, value(&keeps));
            by_identity.insert(&gone, value(&stays));
            by_content.insert(&keeps, value(&keeps));
            by_value.insert(Named(1, value(&keeps)), &keeps);
            memo.insert((&keeps, &5), Strong::new(value(&keeps)));
            drop((gone, keeps));
            // The others hold the key of each.
            assert_eq!(by_content.drain_cycles().0.removed, 0);
            let cycles = Cycles::new()
                .with(&by_identity)
                .with(&by_content)
                .with(&by_value);
            let drained = cycles.with(&memo).drain();
            assert_eq!((drained.purged().removed, dead.load(SeqCst)), (4, 0));
            drop(drained);
            assert_eq!(dead.load(SeqCst), 5);

            let own = [(); 4].map(|()| shared(3));
            by_identity.insert(&own[0], value(&own[0]));
            by_content.insert(&own[1], value(&own[1]));
            by_value.insert(Named(2, value(&own[2])), &own[2]);
            memo.insert((&own[3], &6), Strong::new(value(&own[3])));
            drop(own);
            let one = by_identity.drain_cycles();
            let two = by_content.drain_cycles();
            let three = by_value.drain_cycles();
            let four = memo.drain_cycles();
            assert_eq!(
                (one.0.removed, one.1.len(), two.0.removed, two.1.len()),
                (1, 1, 1, 1)
            );
            assert_eq!((three.1[0].0, four.0.removed, four.1.len()), (2, 1, 1));
            assert_eq!(dead.load(SeqCst), 5);
            drop((one, two, three, four));
            assert_eq!((dead.load(SeqCst), by_identity.len()), (9, 1));
        });
    }
}

/// 685: What a thread looks at, a drain removes and does not hand out: the entry's contents are kept if that is the policy,
/// and else destroyed by the thread that leaves.
#[test]
fn what_a_thread_looks_at() {
    for reclaim in [Reclaim::OnUse, Reclaim::OnRequest] {
        let dead = Arc::new(AtomicUsize::new(0));
        let map = concurrent::WeakMap::new();
        map.set_reclaim(reclaim);
        let own = shared(1);
        map.insert(&own, Counted(own.clone(), dead.clone()));
        let weak = Strong::downgrade(&own);
        // (`with` takes a weak handle: no strong one keeps the entry.)
        drop(own);
        map.with(&weak, |_| {
            let (purged, values) = map.drain_cycles();
            assert_eq!(
                (purged.removed, values.len(), map.len(), dead.load(SeqCst)),
                (1, 0, 0, 0)
            );
        });
        let kept = map.take_dead(9);
        assert_eq!(kept.len(), usize::from(reclaim == Reclaim::OnRequest));
        drop(kept);
        assert_eq!((dead.load(SeqCst), weak.is_expired()), (1, true));
    }
}

/// 685: The listener of a ceiling hears of an entry that is drained as of a dead one. If it panics, nothing is lost.
#[test]
fn listeners() {
    let (heard, dead) = (
        Arc::new(Mutex::new(Vec::new())),
        Arc::new(AtomicUsize::new(0)),
    );
    let map = concurrent::WeakMap::new();
    let ears = heard.clone();
    map.set_ceiling(Limit::entries(9), |_| 1);
    map.set_listener(move |_: &Weak<Shared>, _: &Counted, why| {
        ears.lock().unwrap().push(why);
        if ears.lock().unwrap().len() == 2 {
            quiet_panic();
        }
    });
    for number in 0..2 {
        let own = shared(number);
        map.insert(&own, Counted(own.clone(), dead.clone()));
        drop(own);
        let drained = panics(|| assert_eq!(map.drain_cycles().1.len(), 1));
        assert_eq!((drained, map.len()), (number == 1, 0));
    }
    map.purge();
    assert_eq!(
        (&**heard.lock().unwrap(), dead.load(SeqCst)),
        (&[Gone::Died; 2][..], 2)
    );
}
