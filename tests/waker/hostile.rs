//! Wakers that panic, purge, set a waker, kill, or drop the collection; and destructors of wakers.

use std::cell::RefCell;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::task::{Context, RawWaker, RawWakerVTable, Wake, Waker};

use weakly::{Reclaim, Strong, WeakMap};

use crate::common::{panics, quiet_panic};
use crate::{Calls, SharedMap, Value, call, idle, owns, value};

type Map = WeakMap<Strong<usize>, usize>;
type Values = WeakMap<Strong<usize>, Value>;

/// A value whose destructor panics, perhaps.
fn bombs(panics: bool) -> Value {
    value(move || {
        if panics {
            quiet_panic();
        }
    })
}

thread_local! {
    /// A map that wakers can use: they are `Send`, and it is not.
    static MAP: RefCell<Option<Map>> = const { RefCell::new(None) };
}

fn with_map<R>(act: impl FnOnce(&mut Map) -> R) -> R {
    MAP.with_borrow_mut(|map| act(map.get_or_insert_default()))
}

fn insert(count: usize) -> Vec<Strong<usize>> {
    let keys: Vec<_> = (0..count).map(Strong::new).collect();
    with_map(|map| map.extend(keys.iter().map(|key| (key, 0))));
    keys
}

/// 590: The notice is there, the death is complete, all other wakers are called, and the panic comes to the one that
/// dropped the last handle.
#[test]
fn it_panics() {
    let (calls, finalized) = (Calls::new(), Calls::new());
    let mut maps: [Map; 3] = Default::default();
    let object = Strong::new(1);
    for (i, map) in maps.iter_mut().enumerate() {
        map.set_waker(if i == 1 {
            call(|| quiet_panic())
        } else {
            calls.waker()
        });
        map.insert(&object, 1);
    }
    let waker = finalized.waker();
    Strong::finalize(&object, move || waker.into_iter().for_each(Waker::wake));
    let weak = Strong::downgrade(&object);
    assert!(panics(|| drop(object)));
    assert!(weak.is_expired());
    assert_eq!((calls.take(), finalized.take()), (2, 1));
    for map in &mut maps {
        assert_eq!(map.pending_dead(), 1);
        map.purge();
        assert!(map.is_empty());
    }
    let object = Strong::new(1);
    maps[1].insert(&object, 1);
    assert!(panics(|| drop(object)), "once more");
}

/// 590: Moving the payload out of the last handle is a death: a panic drops it.
#[test]
fn it_panics_when_the_payload_is_moved_out() {
    let (token, mut map) = (idle(), WeakMap::<_, usize>::new());
    map.set_waker(call(|| quiet_panic()));
    let object = Strong::new(token.clone());
    map.insert(&object, 1);
    assert!(panics(|| drop(Strong::into_inner(object))));
    assert_eq!(Arc::strong_count(&token), 1);
    map.purge();
    let mut object = Strong::new(token.clone());
    map.insert(&object, 1);
    assert!(panics(|| _ = Strong::make_mut(&mut object)));
    assert_eq!(Arc::strong_count(&token), 2, "it is in the new object");
}

/// 590: A value's destructor panics in a drain that leaves nothing: the waker is armed all the same.
#[test]
fn a_drain_panics() {
    let (calls, mut map) = (Calls::new(), Values::new());
    map.set_waker(calls.waker());
    let drains: [fn(&mut Values); 4] = [
        |map| _ = map.purge(),
        |map| _ = map.purge_some(1),
        |map| drop(map.remove(&Strong::new(1))),
        |map| map.clear(),
    ];
    for drain in drains {
        let object = Strong::new(1);
        map.insert(&object, bombs(true));
        drop(object);
        assert_eq!(calls.take(), 1);
        assert!(panics(|| drain(&mut map)));
    }

    let map = SharedMap::new();
    map.set_waker(calls.waker());
    let drains: [fn(&SharedMap); 3] = [
        |map| _ = map.purge(),
        |map| _ = map.purge_some(1),
        |map| _ = map.remove_if(&Strong::new(1), |_| true),
    ];
    for drain in drains {
        let object = Strong::new(1);
        map.insert(&object, bombs(true));
        drop(object);
        assert_eq!(calls.take(), 1);
        assert!(panics(|| drain(&map)));
    }
}

/// Panics when it is dropped, unless it is disarmed by a panic.
struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            quiet_panic();
        }
    }
}

fn bomb() -> Option<Waker> {
    Some(Arc::new(Bomb).into())
}

/// 590, 182: A panic of its destructor is that of who replaces it.
#[test]
fn its_destructor_panics() {
    let (calls, object) = (Calls::new(), Strong::new(1));
    let mut map = Map::from([(&object, 1)]);
    map.set_waker(bomb());
    assert!(panics(|| map.set_waker(calls.waker())));
    map.set_waker(bomb());
    assert!(panics(|| drop(map)));

    let map = SharedMap::new();
    map.insert(&object, idle());
    map.set_waker(bomb());
    assert!(panics(|| map.set_waker(calls.waker())));
    drop(object);
    assert_eq!(calls.take(), 1);
    map.set_waker(bomb());
    assert!(panics(|| drop(map)));
}

type Shared = Arc<SharedMap>;

/// 590: The waker may purge, also what a purge inside kills, and keeps on request.
#[test]
fn small_a_shared_map_is_purged() {
    for reclaim in [Reclaim::OnUse, Reclaim::OnRequest] {
        let map = Shared::default();
        map.set_reclaim(reclaim);
        let weak = Arc::downgrade(&map);
        map.set_waker(call(move || {
            if let Some(map) = weak.upgrade() {
                map.purge();
            }
        }));
        let mut last = None;
        for number in 0..40 {
            let key = Strong::new(number);
            map.insert(&key, owns(last));
            last = Some(key);
        }
        drop(last);
        map.purge();
        assert_eq!((map.pending_dead(), map.len()), (0, 0));
    }
}

thread_local! {
    /// What the clone of a waker kills.
    static VICTIM: RefCell<Option<Strong<usize>>> = const { RefCell::new(None) };
}

/// 237: A task that polls first is cloned for it: what that kills is told, or wakes it.
#[test]
fn small_its_clone_kills() {
    static VTABLE: RawWakerVTable = RawWakerVTable::new(
        |_| {
            drop(VICTIM.take());
            RawWaker::new(ptr::null(), &VTABLE)
        },
        |_| {},
        |_| {},
        |_| {},
    );
    #[allow(unsafe_code)]
    // SAFETY: it uses no data.
    let waker = unsafe { Waker::new(ptr::null(), &VTABLE) };
    let mut context = Context::from_waker(&waker);
    let keys = insert(1);
    VICTIM.set(keys.into_iter().next());
    assert!(with_map(|map| map.poll_pending(&mut context)).is_ready());
    assert_eq!(with_map(|map| map.pending_dead()), 1);

    let (map, key) = (Shared::default(), Strong::new(0));
    map.insert(&key, idle());
    VICTIM.set(Some(key));
    assert!(map.poll_pending(&mut context).is_ready());
    assert_eq!(map.pending_dead(), 1);
}

/// 238: What a thread leaves to be kept calls the waker of a task: that may purge, which kills the next key.
#[test]
fn small_a_shared_map_is_purged_by_who_leaves() {
    let map = Shared::default();
    map.set_reclaim(Reclaim::OnRequest);
    let weak = Arc::downgrade(&map);
    let waker = call(move || _ = weak.upgrade().unwrap().purge()).unwrap();
    let [inside, first, next] = [0, 1, 2].map(Strong::new);
    map.insert(&inside, idle());
    map.insert(&next, idle());
    map.insert(&first, owns(next));
    let poll = || map.poll_pending(&mut Context::from_waker(&waker));
    assert!(poll().is_pending());
    map.with(&inside, |_| {
        drop(first);
        assert_eq!((map.pending_dead(), map.len()), (1, 2));
    });
    assert_eq!((map.pending_dead(), map.len()), (0, 1));
    assert!(poll().is_pending());
}

/// 238: If it panics, that comes to who leaves, and what is kept is pending.
#[test]
fn small_a_task_panics_when_it_is_woken_by_who_leaves() {
    let map = Shared::default();
    map.set_reclaim(Reclaim::OnRequest);
    let keys = [0, 1, 2].map(Strong::new);
    keys.iter().for_each(|key| _ = map.insert(key, idle()));
    let calls = Calls::new();
    let counted = calls.clone();
    let waker = call(move || {
        // The death is the first.
        if counted.0.fetch_add(1, Relaxed) == 1 {
            quiet_panic();
        }
    });
    let poll = || map.poll_pending(&mut Context::from_waker(waker.as_ref().unwrap()));
    assert!(poll().is_pending());
    let [inside, one, other] = keys;
    let look = || {
        map.with(&inside, |_| {
            drop((one, other));
            map.purge();
        })
    };
    let panicked = panics(|| _ = look());
    map.set_waker(None);
    assert!(panicked);
    assert_eq!((calls.take(), map.pending_dead(), map.len()), (2, 2, 1));
    assert!(poll().is_ready());
    map.purge();
    assert!(poll().is_pending());
}

/// 590: It may drop the map.
#[test]
fn small_a_shared_map_is_dropped() {
    let place = Arc::new(Mutex::new(Some(Shared::default())));
    let object = Strong::new(1);
    {
        let place_of_map = place.clone();
        let map = place.lock().unwrap();
        let map = map.as_ref().unwrap();
        map.insert(&object, idle());
        map.set_waker(call(move || drop(place_of_map.lock().unwrap().take())));
    }
    drop(object);
    assert!(place.lock().unwrap().is_none());
    assert_eq!(Arc::strong_count(&place), 1, "the waker is gone too");
}
