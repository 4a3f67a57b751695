//! What runs while a table moves its entries: nothing of the user's.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use weakly::{Strong, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap};

use crate::common::sized;
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

/// Fills the table, removes every other entry, and lets entries come and go until removed entries have taken all free
/// places: then a reservation moves the entries within the table, others into other tables.
fn check<M, L>(
    mut map: M,
    make: fn(usize) -> L,
    (insert, remove): (Change<M, L>, Change<M, L>),
    size: fn(&M) -> (usize, usize),
    moves: [fn(&mut M); 3],
) {
    let mut lives: Vec<L> = (0..sized(20_000, 20_000, 2_000)).map(make).collect();
    moves[2](&mut map);
    let full = size(&map).1;
    let mut there: std::collections::VecDeque<_> = (0..full).collect();
    there.iter().for_each(|n| insert(&mut map, *n, &lives[*n]));
    // Fewer than half stay: otherwise the table would grow.
    for n in 0..full / 2 + 20 {
        let gone = there.remove(n.min(there.len() - 1)).unwrap();
        remove(&mut map, gone, &lives[gone]);
    }
    let mut next = full;
    // How long that takes depends on the seeds of the hashes.
    while size(&map).0 != size(&map).1 {
        if next == lives.len() {
            lives.push(make(next));
        }
        insert(&mut map, next, &lives[next]);
        there.push_back(next);
        next += 1;
        let gone = there.pop_front().unwrap();
        remove(&mut map, gone, &lives[gone]);
    }
    for moving in moves {
        HASHED.set(0);
        addresses();
        moving(&mut map);
        assert_eq!((HASHED.get(), addresses()), (0, 0));
        assert_eq!(size(&map).0, there.len());
    }
    for n in there {
        remove(&mut map, n, &lives[n]);
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
                <$map>::new(),
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
