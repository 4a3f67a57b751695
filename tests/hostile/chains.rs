//! Deaths that cause deaths, on a small stack.

use std::cell::Cell;
use std::rc::Rc;
use std::thread;

use crate::common::{Counter, Kind, Witness, new, scaled};
use crate::for_each_kind;
use weakly::{WeakMap, local};

const LINKS: usize = scaled(1_000_000, 24);

fn on_a_small_stack(f: fn()) {
    let small = thread::Builder::new().stack_size(512 << 10);
    small.spawn(f).unwrap().join().unwrap();
}

/// Somebody whose value owns the next.
type Key<P> = <P as Kind>::Strong<Witness>;
type Map<P> = WeakMap<Key<P>, Option<Key<P>>>;

fn chain<P: Kind>(links: usize, deaths: &Counter) -> (Map<P>, Key<P>) {
    let mut map = Map::<P>::new();
    let mut head = new::<P, Witness>(deaths.witness());
    map.insert(&head, None);
    for _ in 1..links {
        let key = new::<P, Witness>(deaths.witness());
        map.insert(&key, Some(head));
        head = key;
    }
    assert_eq!(map.len(), links);
    (map, head)
}

fn purged<P: Kind>() {
    on_a_small_stack(|| {
        // Without notices, each round of a purge finds those links that lie ahead of it: in a random
        // order that is O(links * capacity).
        let links = if P::NOTIFIES {
            LINKS
        } else {
            scaled(2_000, 24)
        };
        let deaths = Counter::default();
        let (mut map, head) = chain::<P>(links, &deaths);
        drop(head);
        assert_eq!(deaths.get(), 1);
        map.purge();
        assert_eq!((map.len(), map.pending_dead(), deaths.get()), (0, 0, links));
    });
}

/// By the map's other operations, sixteen at a time.
fn tended<P: Kind>() {
    on_a_small_stack(|| {
        let links = if P::NOTIFIES { scaled(20_000, 24) } else { 24 };
        let deaths = Counter::default();
        let (mut map, head) = chain::<P>(links, &deaths);
        let stranger = new::<P, Witness>(Counter::default().witness());
        drop(head);
        while map.len_live() > 0 {
            let before = deaths.get();
            map.remove(&stranger);
            let buried = deaths.get() - before;
            assert!(buried <= 16, "{buried} at once");
            if P::NOTIFIES && map.len() > 1_000 {
                assert_eq!(buried, 16);
                // `len_live` is O(capacity).
                for _ in 0..links / 100 {
                    map.remove(&stranger);
                }
            }
        }
        assert_eq!(deaths.get(), links);
    });
}

fn with_the_map<P: Kind>() {
    on_a_small_stack(|| {
        let deaths = Counter::default();
        let (map, head) = chain::<P>(LINKS, &deaths);
        drop(map);
        assert_eq!(deaths.get(), LINKS - 1);
        drop(head);
    });
    on_a_small_stack(|| {
        let deaths = Counter::default();
        let (map, head) = chain::<P>(LINKS / 10, &deaths);
        drop(head);
        drop(map);
        assert_eq!(deaths.get(), LINKS / 10);
    });
}

fn cleared<P: Kind>() {
    on_a_small_stack(|| {
        let deaths = Counter::default();
        let links = LINKS / 10;
        let (mut map, head) = chain::<P>(links, &deaths);
        drop(head);
        map.clear();
        assert_eq!((map.len(), map.pending_dead(), deaths.get()), (0, 0, links));
        let (mut map, head) = chain::<P>(links, &deaths);
        drop(head);
        drop(map.drain());
        assert_eq!(deaths.get(), 2 * links);
    });
}

for_each_kind!(purged, tended, with_the_map, cleared);

/// A finalizer that owns the next object runs that one's finalizers inside its own call, as the
/// destructor of a list's head runs the next one's: this chain is as deep as it is long.
#[test]
fn of_finalizers() {
    let links = scaled(500, 50);
    let ran = Rc::new(Cell::new(0));
    let mut head = local::Strong::new(0);
    for link in 1..links {
        let (next, ran) = (head, ran.clone());
        head = local::Strong::new(link);
        local::Strong::finalize(&head, move || {
            ran.set(ran.get() + 1);
            drop(next);
        });
    }
    drop(head);
    assert_eq!(ran.get(), links - 1);
}
