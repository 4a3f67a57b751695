//! Deaths that cause deaths, on a small stack.

use std::cell::Cell;
use std::rc::Rc;

use crate::common::subject::{Life, Single, single};
use crate::common::wild::{Code, Wild};
use crate::common::{Kind, on_a_stack_of, scaled, sized};
use crate::for_each_kind;
use weakly::local;

/// If a link took a frame, the stack would end after some thousand.
const LINKS: usize = sized(1_000_000, 100_000, 24);
const FEWER_LINKS: usize = sized(100_000, 20_000, 24);

fn on_a_small_stack(f: fn()) {
    on_a_stack_of(512 << 10, f);
}

type Link<P> = <P as Kind>::Strong<Wild>;

thread_local! {
    static DEATHS: Cell<usize> = const { Cell::new(0) };
}

/// Counts its end.
struct Linked;

impl Code for Linked {
    fn drop(&self, _: &Wild) {
        DEATHS.set(DEATHS.get() + 1);
    }
}

/// A collection in which the entry of one object owns the next.
trait Chain: Single<Wild> {
    const LINKS: usize;
    fn drop_drain(&mut self);
}

macro_rules! chains {
    ($($chain:ident: $links:expr;)*) => {$(
        impl<K: Life<Wild>> Chain for single::$chain<K> {
            const LINKS: usize = $links;

            fn drop_drain(&mut self) {
                drop(self.drain());
            }
        }
    )*};
}

// As the value of a weak key, as the same by content, and as the key of a weak value.
chains! {
    Maps: LINKS;
    HashMaps: FEWER_LINKS;
    ValueMaps: FEWER_LINKS;
}

fn linked<L: From<Wild>>(number: usize) -> L {
    Wild::with(&Linked, number, 0).into()
}

fn chain<C: Chain>(links: usize) -> (C, C::Life) {
    let mut map = C::default();
    let mut head = linked::<C::Life>(0);
    map.enter(&head, &single::quietly());
    for number in 1..links {
        let next = linked(number);
        let owned = head;
        map.enter(&next, &(Rc::new(move |_| _ = &owned) as single::Ends));
        head = next;
    }
    assert_eq!(map.len(), links);
    DEATHS.set(0);
    (map, head)
}

fn purged<C: Chain>() {
    on_a_small_stack(|| {
        // Without notices, each round of a purge finds only those links that lie ahead of it: in a random order
        // that is O(links * capacity).
        let links = if C::Life::NOTIFIES {
            C::LINKS
        } else {
            scaled(2_000, 24)
        };
        let (mut map, head) = chain::<C>(links);
        drop(head);
        assert_eq!(DEATHS.get(), 1);
        map.purge();
        assert_eq!((map.counts(), DEATHS.get()), ((0, 0, 0), links));
    });
}

/// By the map's other operations, sixteen at a time.
fn tidied<C: Chain>() {
    on_a_small_stack(|| {
        let links = if C::Life::NOTIFIES {
            scaled(20_000, 24)
        } else {
            24
        };
        let (mut map, head) = chain::<C>(links);
        let absent = Wild::new(links).into();
        drop(head);
        while map.len_live() > 0 {
            let before = DEATHS.get();
            map.leave(&absent);
            let reclaimed = DEATHS.get() - before;
            assert!(reclaimed <= 16, "{reclaimed} at once");
            if C::Life::NOTIFIES && map.len() > 1_000 {
                assert_eq!(reclaimed, 16);
                // `len_live` is O(capacity).
                for _ in 0..links / 100 {
                    map.leave(&absent);
                }
            }
        }
        assert_eq!(DEATHS.get(), links);
    });
}

fn with_the_map<C: Chain>() {
    on_a_small_stack(|| {
        let (map, head) = chain::<C>(C::LINKS);
        drop(map);
        assert_eq!(DEATHS.get(), C::LINKS - 1);
        drop(head);
    });
    on_a_small_stack(|| {
        let (map, head) = chain::<C>(C::LINKS / 10);
        drop(head);
        drop(map);
        assert_eq!(DEATHS.get(), C::LINKS / 10);
    });
}

fn cleared<C: Chain>() {
    on_a_small_stack(|| {
        let links = C::LINKS / 10;
        let (mut map, head) = chain::<C>(links);
        drop(head);
        map.clear();
        assert_eq!((map.counts(), DEATHS.get()), ((0, 0, 0), links));
        let (mut map, head) = chain::<C>(links);
        drop(head);
        map.drop_drain();
        assert_eq!(DEATHS.get(), links);
    });
}

macro_rules! for_each_chain {
    ($($name:ident: $chain:ident;)*) => {$(
        mod $name {
            use super::*;
            fn purged<P: Kind>()
            where
                Link<P>: Life<Wild>,
            {
                super::purged::<single::$chain<Link<P>>>();
            }
            fn tidied<P: Kind>()
            where
                Link<P>: Life<Wild>,
            {
                super::tidied::<single::$chain<Link<P>>>();
            }
            fn with_the_map<P: Kind>()
            where
                Link<P>: Life<Wild>,
            {
                super::with_the_map::<single::$chain<Link<P>>>();
            }
            fn cleared<P: Kind>()
            where
                Link<P>: Life<Wild>,
            {
                super::cleared::<single::$chain<Link<P>>>();
            }
            for_each_kind!(purged, tidied, with_the_map, cleared);
        }
    )*};
}

for_each_chain! {
    map: Maps;
    hash_map: HashMaps;
    values: ValueMaps;
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
