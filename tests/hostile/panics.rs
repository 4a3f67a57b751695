//! Panics in user code.

use std::cell::Cell;
use std::rc::Rc;

use crate::common::subject::Owned;
use crate::common::subject::single::{Ends, Maps, quietly};
use crate::common::wild::{self, Code, Wild, wilds};
use crate::common::{Counter, Kind, downgrade, is_alive, new, panics, quiet_panic, scaled};
use crate::for_each_kind;
use weakly::{Strong, local};

/// More than one operation reclaims.
const MANY: usize = scaled(100, 20);

/// What panics when it is dropped while the fuse burns, which extinguishes it.
#[derive(Clone, Default)]
struct Bombs {
    fuse: Rc<Cell<bool>>,
    dropped: Counter,
}

impl Bombs {
    fn explode(&self) {
        let _counted = self.dropped.witness();
        if self.fuse.take() {
            quiet_panic();
        }
    }

    fn bomb(&self) -> Owned<Ends, Wild> {
        let bombs = self.clone();
        wild::owned(0, &(Rc::new(move |_| bombs.explode()) as Ends))
    }

    fn object<L: From<Wild>>(&self) -> L {
        let bombs = self.clone();
        Wild::ending(0, move |_| bombs.explode()).into()
    }
}

type Object<P> = <P as Kind>::Strong<Wild>;
type Map<P> = Maps<Object<P>>;

fn map_of<P: Kind>(bombs: &Bombs) -> (Map<P>, Vec<Object<P>>) {
    let keys = wilds::<Object<P>>(0..MANY);
    let map = keys.iter().map(|key| (key, bombs.bomb())).collect();
    (map, keys)
}

/// The map's counts are right and it takes new entries.
fn assert_usable<P: Kind>(map: &mut Map<P>, live: usize) {
    let bombs = Bombs::default();
    map.purge();
    assert_eq!(
        (map.len(), map.len_live(), map.pending_dead()),
        (live, live, 0)
    );
    let keys = wilds::<Object<P>>(0..MANY);
    for key in &keys {
        map.insert(key, bombs.bomb());
    }
    assert_eq!(map.len(), live + MANY);
    drop(keys);
    map.purge();
    assert_eq!(
        (map.len(), map.pending_dead(), bombs.dropped.get()),
        (live, 0, MANY)
    );
}

fn value_in_purge<P: Kind>() {
    let bombs = Bombs::default();
    let (mut map, keys) = map_of::<P>(&bombs);
    drop(keys);
    bombs.fuse.set(true);
    assert!(panics(|| _ = map.purge()));
    assert_eq!(bombs.dropped.get(), 1);
    map.purge();
    assert_eq!(bombs.dropped.get(), MANY);
    assert_usable::<P>(&mut map, 0);
}

fn value_in_insert<P: Kind>() {
    let bombs = Bombs::default();
    let (mut map, keys) = map_of::<P>(&bombs);
    drop(keys);
    // At the addresses of the dead, many of which are not yet reclaimed when these are inserted.
    let keys = wilds::<Object<P>>(0..MANY);
    let mut caught = 0;
    for key in &keys {
        bombs.fuse.set(true);
        while panics(|| _ = map.insert(key, bombs.bomb())) {
            caught += 1;
        }
        assert!(map.contains_key(key));
    }
    assert!(caught > 0);
    bombs.fuse.set(false);
    assert_usable::<P>(&mut map, MANY);
}

fn value_replaced_or_removed<P: Kind>() {
    let bombs = Bombs::default();
    let (mut map, keys) = map_of::<P>(&bombs);
    for key in &keys {
        bombs.fuse.set(true);
        assert!(panics(|| _ = map.entry(key).insert_entry(bombs.bomb())));
        bombs.fuse.set(true);
        assert!(panics(|| drop(map.remove(key))));
    }
    assert_eq!(map.len(), 0);
    assert_usable::<P>(&mut map, 0);
}

fn value_in_drain<P: Kind>() {
    let bombs = Bombs::default();
    let (mut map, mut keys) = map_of::<P>(&bombs);
    keys.truncate(MANY / 2);
    bombs.fuse.set(true);
    assert!(panics(|| map.drain().for_each(drop)));
    assert_usable::<P>(&mut map, 0);
}

/// All values are dropped; the keys of the entries die afterwards.
fn value_in_clear<P: Kind>() {
    let bombs = Bombs::default();
    let (mut map, keys) = map_of::<P>(&bombs);
    bombs.fuse.set(true);
    assert!(panics(|| map.clear()));
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
    assert_eq!(bombs.dropped.get(), MANY);
    drop(keys);
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
    assert_usable::<P>(&mut map, 0);
}

fn value_in_the_drop_of_the_map<P: Kind>() {
    let bombs = Bombs::default();
    let (map, keys) = map_of::<P>(&bombs);
    bombs.fuse.set(true);
    assert!(panics(|| drop(map)));
    assert_eq!(bombs.dropped.get(), MANY);
    drop(keys);
}

/// The death completes.
fn payload_in_its_death<P: Kind>() {
    let bombs = Bombs::default();
    let key = bombs.object::<Object<P>>();
    let weak = downgrade(&key);
    let mut map = Map::<P>::new();
    map.insert(&key, wild::owned(1, &quietly()));
    bombs.fuse.set(true);
    assert!(panics(|| drop(key)));
    assert!(!is_alive(&weak));
    assert_eq!(map.len_live(), 0);
    assert!(map.drain_dead().map(|value| value.number.number).eq([1]));
    assert_eq!(bombs.dropped.get(), 1);
}

/// The map's own handle turns out to be the last.
fn payload_in_retain<P: Kind>() {
    let bombs = Bombs::default();
    let mut keys: Vec<Object<P>> = (0..MANY).map(|_| bombs.object()).collect();
    let value = || wild::owned(1, &quietly());
    let mut map: Map<P> = keys.iter().map(|key| (key, value())).collect();
    bombs.fuse.set(true);
    assert!(panics(|| map.retain(|_, _| {
        keys.clear();
        true
    })));
    assert_eq!(bombs.dropped.get(), MANY);
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

fn makers<P: Kind>() {
    let bombs = Bombs::default();
    let (mut map, keys) = map_of::<P>(&bombs);
    let key = new::<P, _>(Wild::new(0));
    assert!(panics(
        || _ = map.entry(&key).or_insert_with(|| quiet_panic())
    ));
    assert!(panics(
        || _ = map.entry(&key).or_insert_with_key(|_| quiet_panic())
    ));
    assert!(panics(
        || _ = map.get_or_insert_with(&key, |_| quiet_panic())
    ));
    assert!(panics(
        || _ = map.entry(&keys[0]).and_modify(|_| quiet_panic())
    ));
    assert!(!map.contains_key(&key));
    assert_usable::<P>(&mut map, MANY);
}

fn predicates<P: Kind>() {
    let bombs = Bombs::default();
    let (mut map, keys) = map_of::<P>(&bombs);
    let mut calls = 0;
    assert!(panics(|| map.retain(|_, _| {
        calls += 1;
        if calls > 5 { quiet_panic() } else { false }
    })));
    assert_eq!((map.len(), bombs.dropped.get()), (MANY - 5, 5));
    assert!(panics(|| _ = map.extract_if(|_, _| quiet_panic()).count()));
    assert_usable::<P>(&mut map, MANY - 5);
    drop(keys);
}

fn iterator_fed_to_extend<P: Kind>() {
    let bombs = Bombs::default();
    let keys = wilds::<Object<P>>(0..MANY);
    let mut map = Map::<P>::new();
    let entries = keys.iter().map(|key| {
        if key.number == MANY / 2 {
            quiet_panic();
        }
        (key, bombs.bomb())
    });
    assert!(panics(|| map.extend(entries)));
    assert_usable::<P>(&mut map, MANY / 2);
}

fn clone_of_a_value<P: Kind>() {
    struct Sheep;
    impl Code for Sheep {
        fn clone(&self, _: &Wild) -> Wild {
            quiet_panic()
        }
    }
    let key = new::<P, _>(Wild::new(0));
    let value = Owned::new(Wild::with(&Sheep, 0, 0), &quietly());
    let map = Maps::from([(&key, value)]);
    assert!(panics(|| drop(map.clone())));
    assert_eq!(map.len(), 1);
}

for_each_kind!(
    value_in_purge,
    value_in_insert,
    value_replaced_or_removed,
    value_in_drain,
    value_in_clear,
    value_in_the_drop_of_the_map,
    payload_in_its_death,
    payload_in_retain,
    makers,
    predicates,
    iterator_fed_to_extend,
    clone_of_a_value,
);

/// The others run, the map gets its notice, and the panic propagates.
#[test]
fn finalizer() {
    let ran = Rc::new(Cell::new(0));
    let key = local::Strong::new(Wild::new(1));
    let mut map = Maps::from([(&key, wild::owned(1, &quietly()))]);
    for number in 0..9 {
        let ran = ran.clone();
        local::Strong::finalize(&key, move || {
            ran.set(ran.get() + 1);
            if number == 4 {
                quiet_panic();
            }
        });
    }
    let weak = local::Strong::downgrade(&key);
    assert!(panics(|| drop(key)));
    assert_eq!((ran.get(), map.pending_dead()), (9, 1));
    assert!(weak.is_expired());
    map.purge();
}

/// With `run_now`, the panic is the caller's, and the token is used up.
#[test]
fn finalizer_run_now() {
    let key = Strong::new(1);
    let token = Strong::finalize(&key, || quiet_panic());
    assert!(panics(|| _ = token.run_now()));
    assert!(!token.run_now() && !token.is_pending());
}

#[test]
fn construction() {
    let mut kept = None;
    let panicked = panics(|| {
        let _ = Strong::<i32>::new_cyclic(|me| {
            kept = Some(me.clone());
            quiet_panic()
        });
    });
    assert!(panicked && kept.unwrap().upgrade().is_none());
}

/// A second panic while the first unwinds aborts the process, as with every destructor. This test runs itself
/// again, in a process of its own.
#[test]
#[cfg_attr(miri, ignore = "no processes")]
fn two_finalizers_abort() {
    const CHILD: &str = "WEAKLY_TEST_TWO_FINALIZERS";
    if std::env::var_os(CHILD).is_some() {
        let key = Strong::new(1);
        Strong::finalize(&key, || quiet_panic());
        Strong::finalize(&key, || quiet_panic());
        assert!(panics(|| drop(key)));
        return; // not reached
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "panics::two_finalizers_abort"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(!child.status.success());
    assert_ne!(child.status.code(), Some(101), "not a failed test");
}
