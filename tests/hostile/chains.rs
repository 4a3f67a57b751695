//! Deaths that cause deaths, on a small stack.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::common::{Counter, Kind, Witness, new, on_a_stack_of, scaled, sized};
use crate::for_each_kind;
use weakly::{WeakHashMap, WeakMap, WeakValueMap, local};

/// If a link took a frame, the stack would end after some thousand.
const LINKS: usize = sized(1_000_000, 100_000, 24);
const FEWER_LINKS: usize = sized(100_000, 20_000, 24);

fn on_a_small_stack(f: fn()) {
    on_a_stack_of(512 << 10, f);
}

/// An object identified by a number.
struct Linked {
    number: usize,
    _witness: Witness,
}

impl PartialEq for Linked {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Linked {}

impl Hash for Linked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

type Link<P> = <P as Kind>::Strong<Linked>;

/// A collection in which the entry of one object owns the next.
trait Chain<P: Kind>: Default {
    const LINKS: usize;
    fn link(&mut self, from: &Link<P>, to: Option<Link<P>>);
    /// A lookup that finds nothing, and reclaims some of the dead.
    fn look_up(&mut self, absent: &Link<P>);
    /// `(len, len_live, pending_dead)`
    fn counts(&self) -> (usize, usize, usize);
    fn purge(&mut self);
    fn clear(&mut self);
    fn drop_drain(&mut self);
}

/// As the value of a weak key.
type Map<P> = WeakMap<Link<P>, Option<Link<P>>>;
/// As the key of a weak value.
type Values<P> = WeakValueMap<Owner<P>, Link<P>>;
/// As the value of a weak key by content.
type HashMap<P> = WeakHashMap<Link<P>, Option<Link<P>>>;

/// A key that owns.
struct Owner<P: Kind> {
    number: usize,
    _next: Option<Link<P>>,
}

impl<P: Kind> PartialEq for Owner<P> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<P: Kind> Eq for Owner<P> {}

impl<P: Kind> Hash for Owner<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

macro_rules! chains {
    ($($chain:ident[$links:expr]: |$this:ident, $from:ident, $to:ident| $link:expr, $look:expr;)*) => {$(
        impl<P: Kind> Chain<P> for $chain<P> {
            const LINKS: usize = $links;

            fn link(&mut self, $from: &Link<P>, $to: Option<Link<P>>) {
                let $this = self;
                $link;
            }
            fn look_up(&mut self, $from: &Link<P>) {
                let $this = self;
                $look;
            }
            fn counts(&self) -> (usize, usize, usize) {
                (self.len(), self.len_live(), self.pending_dead())
            }
            fn purge(&mut self) {
                self.purge();
            }
            fn clear(&mut self) {
                self.clear();
            }
            fn drop_drain(&mut self) {
                drop(self.drain());
            }
        }
    )*};
}

chains! {
    Map[LINKS]: |map, from, to| map.insert(from, to), map.remove(from);
    HashMap[FEWER_LINKS]: |map, from, to| map.insert(from, to), map.remove(&**from);
    Values[FEWER_LINKS]: |map, from, to|
        map.insert(Owner { number: from.number, _next: to }, from),
        map.remove(&Owner { number: from.number, _next: None });
}

fn chain<P: Kind, C: Chain<P>>(links: usize, deaths: &Counter) -> (C, Link<P>) {
    let mut map = C::default();
    let linked = |number| {
        new::<P, _>(Linked {
            number,
            _witness: deaths.witness(),
        })
    };
    let mut head = linked(0);
    map.link(&head, None);
    for number in 1..links {
        let next = linked(number);
        map.link(&next, Some(head));
        head = next;
    }
    assert_eq!(map.counts().0, links);
    (map, head)
}

fn purged<P: Kind, C: Chain<P>>() {
    on_a_small_stack(|| {
        // Without notices, each round of a purge finds only those links that lie ahead of it: in a random order
        // that is O(links * capacity).
        let links = if P::NOTIFIES {
            C::LINKS
        } else {
            scaled(2_000, 24)
        };
        let deaths = Counter::default();
        let (mut map, head) = chain::<P, C>(links, &deaths);
        drop(head);
        assert_eq!(deaths.get(), 1);
        map.purge();
        assert_eq!((map.counts(), deaths.get()), ((0, 0, 0), links));
    });
}

/// By the map's other operations, sixteen at a time.
fn tidied<P: Kind, C: Chain<P>>() {
    on_a_small_stack(|| {
        let links = if P::NOTIFIES { scaled(20_000, 24) } else { 24 };
        let deaths = Counter::default();
        let (mut map, head) = chain::<P, C>(links, &deaths);
        let absent = new::<P, _>(Linked {
            number: links,
            _witness: Counter::default().witness(),
        });
        drop(head);
        while map.counts().1 > 0 {
            let before = deaths.get();
            map.look_up(&absent);
            let reclaimed = deaths.get() - before;
            assert!(reclaimed <= 16, "{reclaimed} at once");
            if P::NOTIFIES && map.counts().0 > 1_000 {
                assert_eq!(reclaimed, 16);
                // `len_live` is O(capacity).
                for _ in 0..links / 100 {
                    map.look_up(&absent);
                }
            }
        }
        assert_eq!(deaths.get(), links);
    });
}

fn with_the_map<P: Kind, C: Chain<P>>() {
    on_a_small_stack(|| {
        let deaths = Counter::default();
        let (map, head) = chain::<P, C>(C::LINKS, &deaths);
        drop(map);
        assert_eq!(deaths.get(), C::LINKS - 1);
        drop(head);
    });
    on_a_small_stack(|| {
        let deaths = Counter::default();
        let (map, head) = chain::<P, C>(C::LINKS / 10, &deaths);
        drop(head);
        drop(map);
        assert_eq!(deaths.get(), C::LINKS / 10);
    });
}

fn cleared<P: Kind, C: Chain<P>>() {
    on_a_small_stack(|| {
        let deaths = Counter::default();
        let links = C::LINKS / 10;
        let (mut map, head) = chain::<P, C>(links, &deaths);
        drop(head);
        map.clear();
        assert_eq!((map.counts(), deaths.get()), ((0, 0, 0), links));
        let (mut map, head) = chain::<P, C>(links, &deaths);
        drop(head);
        map.drop_drain();
        assert_eq!(deaths.get(), 2 * links);
    });
}

macro_rules! for_each_chain {
    ($($name:ident: $chain:ident;)*) => {$(
        mod $name {
            use super::*;
            fn purged<P: Kind>() {
                super::purged::<P, $chain<P>>();
            }
            fn tidied<P: Kind>() {
                super::tidied::<P, $chain<P>>();
            }
            fn with_the_map<P: Kind>() {
                super::with_the_map::<P, $chain<P>>();
            }
            fn cleared<P: Kind>() {
                super::cleared::<P, $chain<P>>();
            }
            for_each_kind!(purged, tidied, with_the_map, cleared);
        }
    )*};
}

for_each_chain! {
    map: Map;
    hash_map: HashMap;
    values: Values;
}

/// A finalizer that owns the next object runs that one's finalizers inside its own call, as the destructor of a
/// list's head runs the next one's: this chain nests as deep as it is long.
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
