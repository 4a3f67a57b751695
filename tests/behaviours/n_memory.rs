//! Memory (item 189): what an object takes besides itself while it is watched, and what remains when it is dead
//! and weak handles or entries are left. Counted by the allocator, for both flavours.

use weakly::{WeakSet, ptr};

use crate::common::{Own, scaled};
use crate::{for_each_flavour, heap};

for_each_flavour!(
    a_second_entry_takes_a_record_and_others_a_hook,
    a_weak_handle_beside_an_entry_takes_a_record,
    a_dead_object_keeps_a_small_block_at_most,
);

/// So many that the last chunk of hooks, which may be partly used, makes no difference: its memory is less than
/// a byte for each. (Under Miri, so many that all chunks are full.)
const MANY: usize = scaled(6_000, 246);
const MAPS: usize = scaled(10, 4);
/// Two entries, or an entry and weak handles.
const RECORD: isize = 56;
const HOOK: isize = 32;
/// What may remain of a dead object's memory.
const BLOCK: isize = 256;

type Key<F> = ptr::Strong<usize, F>;

fn objects<F: Own>() -> Vec<Key<F>> {
    (0..MANY).map(Key::new).collect()
}

/// How many bytes more are allocated afterwards.
fn taken(f: impl FnOnce()) -> isize {
    let before = heap::bytes();
    f();
    heap::bytes() - before
}

/// 189: An object in several collections has a record, and a hook for each but two.
fn a_second_entry_takes_a_record_and_others_a_hook<F: Own>() {
    let (objects, warm) = (objects::<F>(), Key::<F>::new(0));
    let mut maps: Vec<_> = (0..MAPS).map(|_| WeakSet::with_capacity(MANY)).collect();
    for (nth, map) in maps.iter_mut().enumerate() {
        // The table, and the queue.
        map.insert(&warm);
        map.remove(&warm);
        let all = taken(|| objects.iter().for_each(|object| _ = map.insert(object)));
        let limit = match nth {
            0 => 0,
            1 => RECORD,
            _ => HOOK,
        };
        let each = all / MANY as isize;
        assert!(each <= limit, "{each} bytes for entry {nth}");
        // It is exact where the collection allocates nothing besides.
        assert!(nth > 1 || all == limit * MANY as isize, "{all} for {nth}");
    }
}

/// 189: An object with an entry and weak handles has a record.
fn a_weak_handle_beside_an_entry_takes_a_record<F: Own>() {
    let object = Key::<F>::new(0);
    let set = WeakSet::from([&object]);
    let mut weak = None;
    assert_eq!(
        taken(|| weak = Some(ptr::Strong::downgrade(&object))),
        RECORD
    );
    assert_eq!(taken(|| drop(weak.clone())), 0);
    drop((set, weak));
}

/// 122, 189: Of a dead object of whatever size at most 256 bytes remain until the last weak handle is gone.
fn a_dead_object_keeps_a_small_block_at_most<F: Own>() {
    let sizes = [0, 1, 8, 100, 239, 240, 241, 248, 256, 257, 1_000, 4_096];
    for size in sizes {
        let text = "x".repeat(size);
        let (base, mut weak) = (heap::bytes(), None);
        {
            let object = ptr::Strong::<str, F>::from(text.as_str());
            // Two words as with `Arc`, and two more for a large payload.
            let more = heap::bytes() - base - size.max(8) as isize;
            assert!((0..=32).contains(&more), "{more} bytes beside {size}");
            weak.replace(ptr::Strong::downgrade(&object));
        }
        let left = heap::bytes() - base;
        assert!((1..=BLOCK).contains(&left), "{left} bytes of {size}");
        drop(weak);
        assert_eq!(heap::bytes(), base);
    }
}

/// 189: An entry of a collection that threads share is an entry like any other: the second, whichever is the first, takes
/// a record beside what the first takes, and each further one a hook with its collection.
#[cfg(feature = "std")]
#[test]
fn a_second_entry_takes_a_record_also_where_threads_share_the_collection() {
    use weakly::{Strong, concurrent};

    /// What entries take, one after the other. (A set with an entry has its table.)
    fn each<const N: usize>(enter: [&mut dyn FnMut(&Strong<usize>); N]) -> [isize; N] {
        let object = Strong::new(0_usize);
        enter.map(|enter| taken(|| enter(&object)))
    }
    let warm = Strong::new(1_usize);
    let shared: [concurrent::WeakSet<Strong<usize>>; 3] = core::array::from_fn(|_| {
        let set = concurrent::WeakSet::new();
        set.insert(&warm);
        set
    });
    let [mut one, mut two, mut three] = shared.each_ref().map(|set| {
        move |object: &Strong<usize>| {
            set.insert(object);
        }
    });
    let mut owned = WeakSet::from([&warm]);
    let [node, second, third] = each([&mut one, &mut two, &mut three]);
    assert_eq!(second - node, RECORD);
    assert_eq!(third - node, HOOK + size_of::<usize>() as isize);
    shared.iter().for_each(|set| _ = set.purge());
    let [nothing, second] = each([&mut |object| _ = owned.insert(object), &mut one]);
    assert_eq!((nothing, second - node), (0, RECORD));
    shared[0].purge();
    owned.purge();
    let [first, second] = each([&mut one, &mut |object| _ = owned.insert(object)]);
    assert_eq!((first, second), (node, RECORD));
}
