//! What collections give back, counted by the allocator.

mod common;

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};
use std::task::{Context, Wake, Waker};

use common::heap::{Counting, Heap, allocations, bytes};
use common::{panics, quiet_panic, scaled};
use weakly::memo::{Many, Value};
use weakly::{Memo, Strong, WeakMap, concurrent, cycles::Cycles, impl_trace, local};

#[global_allocator]
static HEAP: Heap<Counting> = Heap(Counting);

const MANY: usize = scaled(10_000, 40);

/// 502: Beside another thread that has used the map, what is removed and comes back takes no memory, and a new object no more
/// than its own.
#[test]
fn entries_beside_a_second_thread_take_no_memory() {
    let (map, object) = (
        concurrent::WeakMap::<Strong<usize>, usize>::new(),
        Strong::new(1),
    );
    let comes_back = || {
        map.insert(&object, 1);
        map.remove(&object);
    };
    let comes_anew = || _ = map.insert(&Strong::new(2), 2);
    let taken = |run: &dyn Fn()| {
        // Without the memory that the thread keeps from now on, and without the table.
        (0..64).for_each(|_| run());
        let before = allocations();
        (0..64).for_each(|_| run());
        allocations() - before
    };
    let stays = Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            comes_back();
            stays.wait();
            stays.wait();
        });
        stays.wait();
        let both = (taken(&comes_back), taken(&comes_anew));
        stays.wait();
        assert_eq!(both, (0, 64));
    });
}

/// A comparison may be wrong, and the one after that panic.
#[derive(Eq)]
struct Word(usize);

std::thread_local! {
    static LIES: Cell<bool> = const { Cell::new(false) };
    static PANICS: Cell<bool> = const { Cell::new(false) };
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        if LIES.take() {
            return false;
        }
        if PANICS.take() {
            quiet_panic();
        }
        self.0 == other.0
    }
}

impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// An entry that takes the memory of a dead one, and then is not inserted: it is refused, or a comparison panics.
#[test]
fn the_memory_of_the_dead_is_freed_once() {
    let set = concurrent::WeakHashSet::new();
    let there = Strong::new(Word(1));
    set.insert(&there);
    let mut left = Vec::new();
    for round in 0..6 {
        let before = bytes();
        set.insert(&Strong::new(Word(2)));
        let other = Strong::new(Word(1));
        let (earlier, panics) = (allocations(), round % 2 == 0);
        // A lookup comes first.
        LIES.set(true);
        PANICS.set(panics);
        let inserted = catch_unwind(AssertUnwindSafe(|| set.insert(&other)));
        assert_eq!(inserted.ok(), (!panics).then_some(false));
        assert!(panics || allocations() == earlier);
        drop(other);
        assert_eq!(set.len(), 1);
        left.push(bytes() - before);
    }
    assert_eq!(left[1..], [0; 5]);
}

/// 166: An object that never had an entry has no record of the map, whatever is read, and whatever happens to others.
#[test]
fn an_object_without_an_entry_pays_nothing() {
    let map = concurrent::WeakMap::<Strong<usize>, usize>::new();
    let (object, other) = (Strong::new(1), Strong::new(2));
    // (The first entry, and what the table allocates for each thread.)
    map.insert(&other, 1);
    map.get_or_insert_with(&Strong::new(3), |_| 3);
    map.purge();
    let before = (allocations(), bytes());
    for _ in 0..10 {
        assert!(map.get(&object).is_none() && !map.contains_key(&*object));
        assert!(map.remove(&object).is_none() && !map.remove_if(&object, |_| true));
        assert!(map.compute(&object, |_| None).is_none());
    }
    map.purge();
    assert_eq!((allocations(), bytes()), before);
    assert_eq!(Strong::weak_count(&object), 0);
    let failed = panics(|| _ = map.get_or_insert_with(&object, |_| quiet_panic()));
    assert_eq!((failed, Strong::weak_count(&object)), (true, 0));
    drop(object);
    assert_eq!(map.pending_dead(), 0, "its death sends no notice");
}

/// 200: Whatever its key is made of. What is computed and dies leaves nothing.
#[test]
fn a_hit_of_a_memo_allocates_nothing() {
    type Key = (
        Many<Strong<usize>>,
        Value<String>,
        Strong<usize>,
        Value<[u64; 4]>,
    );
    let memo = Memo::<Key, usize>::new();
    let (short, long) = ([1, 2].map(Strong::new), [1, 2, 3, 4, 5].map(Strong::new));
    let ask = |list: &[Strong<usize>]| {
        let key = (list, "text", &list[0], &[1; 4]);
        memo.get_or_compute(key, |_| list.len()) + memo.get(key).unwrap_or_default()
    };
    let fill = || assert_eq!(ask(&short) + ask(&long), 14);
    fill();
    let before = allocations();
    for _ in 0..100 {
        fill();
        memo.remove((&short[..], "other", &short[0], Value([0; 4])));
    }
    assert_eq!(allocations(), before);

    let before = bytes();
    for number in 0..MANY {
        let (object, text) = (Strong::new(number), number.to_string());
        let list = [object.clone()];
        memo.get_or_compute((&list, text.as_str(), &object, Value([0; 4])), |_| number);
    }
    memo.purge();
    memo.shrink_to_fit();
    assert!(bytes() - before < 2000, "{}", bytes() - before);
}

/// 189: A table that ends at whatever moment, also while its entries move into a longer array, or a shorter one.
#[test]
fn a_table_that_ends_leaves_nothing() {
    // At 256 entries it becomes so long that two insertions move them.
    let objects: Vec<_> = (0..scaled(300, 20)).map(Strong::new).collect();
    let fill = |most: usize| objects[..most].iter().collect::<concurrent::WeakSet<_>>();
    drop(fill(objects.len()));
    for most in 0..objects.len() {
        let before = bytes();
        drop(fill(most));
        assert_eq!(bytes(), before, "{most} entries");
    }
}

/// 176: A thread that has computed has nothing left of that, however its computations are nested: its thread-locals are not
/// destroyed.
#[test]
fn a_thread_that_has_computed_leaves_nothing() {
    let memo = Memo::<Strong<usize>, usize>::new();
    let inputs = [1, 2, 3].map(Strong::new);
    let (memo, inputs) = (&memo, &inputs);
    fn ask(memo: &Memo<Strong<usize>, usize>, inputs: &[Strong<usize>]) -> usize {
        let Some((first, rest)) = inputs.split_first() else {
            return 0;
        };
        memo.get_or_compute(first, |_| ask(memo, rest) + ask(memo, rest) + **first)
    }
    for nested in 1..=inputs.len() {
        let left = std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                // The first take what the memo and the thread keep for further computations. The others may free some
                // of it: the memory of at most eight entries, less than eight bytes for each round.
                let rounds = |nested| {
                    let before = bytes();
                    for _ in 0..100 {
                        ask(memo, &inputs[..nested]);
                        memo.clear();
                    }
                    bytes() - before
                };
                rounds(inputs.len());
                rounds(nested)
            });
            thread.join().unwrap()
        });
        assert!(left <= 0, "{nested} nested: {left} bytes");
    }
}

/// 172, 251: The memory of a result does not grow with the number of calls that declare an object.
#[test]
fn a_result_keeps_each_dependency_once() {
    let (memo, input) = (Memo::<Strong<usize>, usize>::new(), Strong::new(1));
    let objects = (Strong::new(2), Arc::new(3));
    let threads = |calls: usize| {
        memo.get_or_compute(&input, |cx| {
            for _ in 0..calls {
                cx.depends_on(&objects.0);
                cx.depends_on(&objects.1);
            }
            1
        })
    };
    let tasks = |calls: usize| {
        let objects = objects.clone();
        let flight = memo.get_or_compute_async(&input, move |_, cx| async move {
            for _ in 0..calls {
                cx.depends_on(&objects.0);
                cx.depends_on(&objects.1);
            }
            1
        });
        let mut context = Context::from_waker(Waker::noop());
        assert!(std::pin::pin!(flight).poll(&mut context).is_ready());
        1
    };
    for ask in [&threads as &dyn Fn(usize) -> usize, &tasks] {
        // The first takes what the memo has for each thread.
        let [_, once, often] = [1, 1, scaled(1_000_000, 100)].map(|calls| {
            let before = bytes();
            ask(calls);
            let kept = bytes() - before;
            let (strong, arc) = (Strong::weak_count(&objects.0), Arc::weak_count(&objects.1));
            assert_eq!((strong, arc), (1, 1));
            memo.clear();
            kept
        });
        assert_eq!(often, once);
    }
}

/// 239: A task that polls a collection again and again costs nothing; the first poll, and another task, some bytes.
#[test]
// There a vtable has several addresses, and no clone of a waker says that it wakes the same task.
#[cfg_attr(miri, ignore)]
fn polls_of_one_task_allocate_nothing() {
    struct Task;
    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }
    let object = Strong::new(1_usize);
    let mut map = WeakMap::from([(&object, 1_usize)]);
    let shared = concurrent::WeakMap::<_, usize>::new();
    shared.insert(&object, 1);
    let mut is_ready = |waker: &Waker| {
        let mut context = Context::from_waker(waker);
        let ready = map.poll_pending(&mut context).is_ready();
        assert_eq!(shared.poll_pending(&mut context).is_ready(), ready);
        ready
    };
    let tasks = [(); 2].map(|()| Waker::from(Arc::new(Task)));
    for (task, most) in tasks.iter().zip([128, 0]) {
        let before = bytes();
        assert!(!is_ready(task));
        assert!(bytes() - before <= 2 * most, "{}", bytes() - before);
        let before = allocations();
        assert!((0..10).all(|_| !is_ready(task)));
        assert_eq!(allocations(), before);
    }
    drop(object);
    let before = allocations();
    assert!(is_ready(&tasks[1]));
    assert_eq!(allocations(), before);
}

/// 480: Replaced entries, large and small, beside a thread that is inside and without, and removed entries.
#[test]
fn a_thread_keeps_the_memory_of_few_entries() {
    fn keeps<V: Copy>(value: V, most: isize) {
        let map = concurrent::WeakMap::<Strong<usize>, V>::new();
        let keys: Vec<_> = (0..MANY.min(100)).map(Strong::new).collect();
        let change = || {
            for key in &keys {
                map.insert(key, value);
                map.compute(key, |_| Some(value));
            }
        };
        change();
        // Without the lists and bags that changes make once.
        map.with(&keys[0], |_| change());
        map.purge();
        map.shrink_to_fit();
        let before = bytes();
        for _ in 0..10 {
            change();
            map.with(&keys[0], |_| change());
            change();
        }
        map.purge();
        assert!((bytes() - before).abs() <= most, "{}", bytes() - before);
        let before = allocations();
        change();
        let made = allocations() - before;
        assert_eq!(made < keys.len(), most != 0, "{made}");
    }
    keeps(0, 1024);
    keeps([0; 20], 1024);
    keeps([0_usize; 200], 0);
}

/// 481: Entries by content and of weak values are set again, for the same object and for another.
#[test]
fn an_entry_that_is_set_again_takes_the_memory_of_the_former() {
    fn keeps(set: impl Fn(usize, &Strong<usize>)) {
        let objects: Vec<_> = (0..MANY.min(100)).map(Strong::new).collect();
        let change = || objects.iter().enumerate().for_each(|(at, of)| set(at, of));
        change();
        change();
        let before = allocations();
        change();
        let made = allocations() - before;
        assert!(
            made < objects.len() || cfg!(any(miri, weakly_sanitize)),
            "{made}"
        );
    }
    let contents = concurrent::WeakHashMap::<Strong<usize>, usize>::new();
    keeps(|at, object| _ = contents.insert(object, at));
    let values = concurrent::WeakValueMap::<usize, Strong<usize>>::new();
    keeps(|at, object| _ = values.insert(at, object));
    let values = concurrent::WeakValueMap::<usize, Strong<usize>>::new();
    keeps(|at, object| _ = values.insert(at / 2, object));
}

/// 491: One computation after the other, each of a key that dies. (What checks the accesses to memory frees it at once.)
#[test]
fn a_computation_allocates_once() {
    let memo = Memo::<Strong<usize>, usize>::new();
    let map = concurrent::WeakMap::<Strong<usize>, usize>::new();
    let rounds = MANY.min(100);
    let ask = || {
        for number in 0..rounds {
            let key = Strong::new(number);
            memo.get_or_compute(&key, |_| number);
            map.get_or_insert_with(&key, |_| number);
        }
    };
    ask();
    let before = allocations();
    ask();
    if !cfg!(any(miri, weakly_sanitize)) {
        // The key, and a place for each computation; and what the second registration takes.
        assert_eq!(allocations() - before, 4 * rounds);
    }
}

/// 613: Who asks for the holders of an object pays for the graph, whatever the lengths of the paths: twice the graph, twice the
/// allocations and the bytes. Likewise the text, and the list of what lives.
#[test]
fn answers_about_leaks_are_linear() {
    struct Node(RefCell<Vec<local::Strong<Node>>>);
    impl_trace!(Node: 0);
    let node = || local::Strong::new(Node(RefCell::default()));
    // A chain, at whose end `length` objects own the target.
    let cost = |length: usize| {
        let (first, target, watch) = (node(), node(), local::LeakWatch::new());
        let mut last = first.clone();
        for _ in 0..length {
            let next = node();
            watch.expect_dead(&next, "in the chain");
            last.0.borrow_mut().push(next.clone());
            last = next;
        }
        for _ in 0..length {
            let owner = node();
            owner.0.borrow_mut().push(target.clone());
            last.0.borrow_mut().push(owner);
        }
        let mut map = WeakMap::from([(&target, first.clone())]);
        let before = allocations();
        let holders = Cycles::new().with(&mut map).holders(&target);
        assert_eq!((holders.groups.len(), holders.groups[0].count), (1, length));
        assert!(holders.to_string().len() < 10_000 && holders.to_dot().len() > 20 * length);
        let of_paths = allocations() - before;
        assert_eq!(
            (watch.alive().len(), watch.alive().groups.len()),
            (length, 1)
        );
        let of_both = allocations() - before;
        // One by one: a chain would be dropped by recursion.
        let mut rest = first.0.take();
        while let Some(node) = rest.pop() {
            rest.append(&mut node.0.take());
        }
        [of_paths, of_both - of_paths]
    };
    let (once, twice) = (cost(scaled(500, 20)), cost(2 * scaled(500, 20)));
    for (once, twice) in once.into_iter().zip(twice) {
        assert!(twice < 2 * once + once / 4, "{once} {twice}");
    }
}

/// 633: What a collection tells of its memory is what it has allocated: exactly with one owner, and without what threads keep
/// where they share it.
#[test]
fn the_memory_of_a_collection_is_what_it_has_allocated() {
    let told = |usage: weakly::MemoryUsage| usage.total() as isize;
    let objects = Vec::from_iter((0..MANY).map(Strong::new));
    // Each object has a record, which no collection counts, and two registrations elsewhere.
    let others: [WeakMap<_, _>; 2] =
        [(); 2].map(|()| objects.iter().map(|it| (it, 0_u8)).collect());
    let before = bytes();
    let mut map = WeakMap::new();
    assert_eq!(told(map.memory_usage()), 0);
    for object in &objects {
        map.insert(object, 0_u64);
    }
    assert_eq!(told(map.memory_usage()), bytes() - before);
    assert!(map.memory_usage().records > MANY * 32);
    map.clear();
    map.shrink_to_fit();
    assert_eq!(told(map.memory_usage()), bytes() - before);

    let before = bytes();
    let shared = concurrent::WeakMap::new();
    assert_eq!((told(shared.memory_usage()), bytes() - before), (0, 0));
    for object in &objects {
        shared.insert(object, 0_u64);
    }
    let few = 1_500;
    let unseen = bytes() - before - told(shared.memory_usage());
    assert!((0..=few).contains(&unseen), "{unseen}");
    assert_eq!(shared.memory_usage().entries, MANY * size_of::<[u64; 5]>());
    assert!(shared.memory_usage().records > MANY * 32);
    drop((others, objects));
    assert_eq!(shared.pending_dead(), MANY);
    assert_eq!(shared.memory_usage().entries, MANY * size_of::<[u64; 5]>());
    shared.purge();
    let table = shared.memory_usage().table;
    shared.shrink_to_fit();
    let usage = shared.memory_usage();
    assert_eq!(usage.entries, 0);
    assert!(usage.table < table && usage.records < 4_000, "{usage:?}");

    // The lists of a memo's inputs.
    let objects = Vec::from_iter((0..100).map(Strong::new));
    let before = bytes();
    let memo = Memo::<Strong<usize>, u64>::new();
    for object in &objects {
        memo.get_or_compute(object, |computation| {
            objects
                .iter()
                .for_each(|other| computation.depends_on(other));
            0
        });
    }
    let records = memo.memory_usage().records;
    assert!(records > 100 * 99 * 64, "{records} of {}", bytes() - before);
}
