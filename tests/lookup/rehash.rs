//! What runs while a table moves its entries: nothing of the user's.

use std::cell::Cell;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use weakly::{Strong, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap};

use crate::common::random::random;
use crate::common::scaled;
use crate::counted::{Counted, addresses};

thread_local! {
    static HASHED: Cell<usize> = const { Cell::new(0) };
}

/// A content that counts how often it is hashed.
#[derive(Debug, PartialEq, Eq)]
struct Content(usize);

impl Hash for Content {
    fn hash<H: Hasher>(&self, state: &mut H) {
        HASHED.set(HASHED.get() + 1);
        state.write_usize(self.0);
    }
}

type Change<M, L> = fn(&mut M, usize, &L);

/// How many entries come at most, and to how many maps.
const ENTRIES: usize = scaled(20_000, 2_000);
const MAPS: u64 = 100;

/// Fills the table, removes every other entry, and lets entries come and go until removed entries have taken all free places.
/// Returns the numbers of the entries, or `None` if not all places are taken in the end: that depends on the hashes. (The hashes
/// of addresses in a row are so even that free places always stay: so the order of the entries is random.)
fn fill<M, L>(
    map: &mut M,
    lives: &[L],
    (insert, remove): (Change<M, L>, Change<M, L>),
    size: fn(&M) -> (usize, usize),
    seed: u64,
) -> Option<VecDeque<usize>> {
    let full = size(map).1;
    let mut order: Vec<_> = (0..lives.len()).collect();
    for (at, with) in (1..order.len()).zip(random(seed)) {
        order.swap(at, with % (at + 1));
    }
    let mut there: VecDeque<_> = order.drain(..full).collect();
    there.iter().for_each(|n| insert(map, *n, &lives[*n]));
    // Fewer than half stay: otherwise the table would grow.
    for n in 0..full / 2 + 20 {
        let gone = there.remove(n.min(there.len() - 1)).unwrap();
        remove(map, gone, &lives[gone]);
    }
    for next in order {
        if size(map).0 == size(map).1 {
            return Some(there);
        }
        insert(map, next, &lives[next]);
        there.push_back(next);
        let gone = there.pop_front().unwrap();
        remove(map, gone, &lives[gone]);
    }
    None
}

/// A reservation moves the entries within the table, others into other tables.
fn check<M, L>(
    new: fn() -> M,
    make: fn(usize) -> L,
    changes: (Change<M, L>, Change<M, L>),
    size: fn(&M) -> (usize, usize),
    moves: [fn(&mut M); 3],
) {
    let lives: Vec<L> = (0..ENTRIES).map(make).collect();
    let filled = |seed| {
        let mut map = new();
        moves[2](&mut map);
        let there = fill(&mut map, &lives, changes, size, seed)?;
        Some((map, there))
    };
    let (mut map, there) = (0..MAPS).find_map(filled).expect("all places are taken");
    for moving in moves {
        HASHED.set(0);
        addresses();
        moving(&mut map);
        assert_eq!((HASHED.get(), addresses()), (0, 0));
        assert_eq!(size(&map).0, there.len());
    }
    for n in there {
        (changes.1)(&mut map, n, &lives[n]);
    }
    assert_eq!(size(&map).0, 0);
}

/// H420: A table that moves its entries, to grow, to shrink, or to use the places of removed entries, calls neither `Hash`
/// nor a handle: a panic of theirs would lose the entries that have not moved yet.
#[test]
fn entries_move_without_code_of_the_user() {
    macro_rules! check {
        ($($map:ty, $make:expr, $insert:expr, $remove:expr;)*) => {$(
            check::<$map, _>(
                <$map>::new,
                $make,
                ($insert, $remove),
                |map| (map.len(), map.capacity()),
                [|map| map.reserve(1), |map| map.shrink_to_fit(), |map| map.reserve(400)],
            );
        )*};
    }
    let counted = Counted::<usize>::new;
    check! {
        WeakValueMap<Content, Rc<usize>>, Rc::new, |map, n, life| _ = map.insert(Content(n), life),
            |map, n, _| _ = map.remove(&Content(n));
        WeakValueMap<Content, Counted<usize>>, counted, |map, n, life| _ = map.insert(Content(n), life),
            |map, n, _| _ = map.remove(&Content(n));
        WeakValueMap<Content, Strong<usize>>, Strong::new, |map, n, life| _ = map.insert(Content(n), life),
            |map, n, _| _ = map.remove(&Content(n));
        WeakMap<Counted<usize>, usize>, counted, |map, n, life| _ = map.insert(life, n), |map, _, life| _ = map.remove(life);
        WeakSet<Counted<usize>>, counted, |set, _, life| _ = set.insert(life), |set, _, life| _ = set.remove(life);
        WeakPairMap<Counted<usize>, Counted<usize>>, counted, |map, _, life| _ = map.insert(life, life),
            |map, _, life| _ = map.remove(life);
        WeakHashMap<Rc<Content>, usize>, |n| Rc::new(Content(n)), |map, n, life| _ = map.insert(life, n),
            |map, n, _| _ = map.remove(&Content(n));
        WeakHashSet<Rc<Content>>, |n| Rc::new(Content(n)), |set, _, life| _ = set.insert(life),
            |set, n, _| _ = set.remove(&Content(n));
    }
}
