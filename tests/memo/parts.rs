//! Keys with plain values beside their handles, and lists of handles. Plain values are compared by code of users.

use std::borrow::Borrow;
use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::hash::{Hash, Hasher};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use weakly::memo::{Many, Rewritten, ToValue, Value};
use weakly::{Memo, Strong, cycles::Cycles};

use crate::common::{panics, quiet_panic, scaled};
use crate::for_each_pointer;
use crate::tools::{Count, Pointer, Witness, message, objects};

for_each_pointer!(
    a_plain_value_is_part_of_the_key,
    a_hit_makes_no_value,
    a_value_that_is_not_needed_is_dropped,
    many_parameters_go_with_their_object,
    a_list_is_compared_as_a_list,
    equal_hashes_of_parameters_only_cost_time,
    of_many_threads_one_computes,
    parameters_that_panic_harm_nothing,
    an_eq_that_lies_harms_nothing,
    inserted_results_are_found,
    an_insertion_takes_the_place_of_a_computation,
);

/// 200: By `Eq`, beside the identity of the handle.
fn a_plain_value_is_part_of_the_key<P: Pointer>() {
    let memo = Memo::<(P, Value<(u32, String)>), String>::new();
    let [one, other] = [1, 2].map(P::from);
    assert_eq!(memo.get((&one, &(1, "a".into()))), None);
    assert!(!memo.remove((&one, &(1, "a".into()))));
    for object in [&one, &other] {
        for number in [1, 2] {
            for text in ["a", "b"] {
                let parameters = (number, String::from(text));
                let result = || format!("{object:?} {parameters:?}");
                let ask = || memo.get_or_compute((object, &parameters), |_| result());
                assert_eq!((ask(), ask()), (result(), result()));
            }
        }
    }
    let statistics = memo.statistics();
    assert_eq!((statistics.misses, statistics.hits), (8, 8));
    assert!(memo.remove((&one, Value((1, "a".into())))));
    assert_eq!(memo.len(), 7);
    drop(one);
    memo.purge();
    assert_eq!(memo.len(), 4);
}

thread_local! {
    static MADE: Cell<usize> = const { Cell::new(0) };
}

/// Text, and what it is made of, which counts that.
#[derive(PartialEq, Eq, Hash)]
struct Text(Lent);

#[derive(PartialEq, Eq, Hash)]
struct Lent(&'static str);

impl Borrow<Lent> for Text {
    fn borrow(&self) -> &Lent {
        &self.0
    }
}

impl ToValue<Text> for Lent {
    fn to_value(this: &Self) -> Text {
        MADE.set(MADE.get() + 1);
        Text(Lent(this.0))
    }
}

/// 200: What is passed by reference is made into the value once, and only if there is to be an entry.
fn a_hit_makes_no_value<P: Pointer>() {
    let (memo, object) = (Memo::<(P, Value<Text>), usize>::new(), P::from(1));
    MADE.set(0);
    assert_eq!(memo.get((&object, &Lent("text"))), None);
    assert!(!memo.remove((&object, &Lent("text"))));
    assert_eq!(MADE.get(), 0);
    for _ in 0..3 {
        let length = memo.get_or_compute((&object, &Lent("text")), |_| 4);
        assert_eq!((length, MADE.get()), (4, 1));
    }
    assert_eq!(memo.get((&object, &Lent("text"))), Some(4));
    assert_eq!(memo.insert((&object, &Lent("other")), 5), None);
    assert_eq!(MADE.get(), 2);
    assert!(memo.remove((&object, &Lent("text"))));
    assert_eq!((memo.len(), MADE.get()), (1, 2));
}

/// 200: The borrowed form of an owned value, of a `Box` and of an `Arc`: whatever the handle beside it.
#[test]
fn borrowed_forms_find_values() {
    let object = Strong::new(1_usize);
    macro_rules! is_found {
        ($($value:ty: $borrowed:expr),* $(,)?) => {$(
            let memo = Memo::<(Strong<usize>, Value<$value>), usize>::new();
            assert_eq!(memo.insert((&object, $borrowed), 1), None);
            assert_eq!(memo.get((&object, $borrowed)), Some(1));
            assert_eq!(memo.get((&object, Value(<$value>::from($borrowed)))), Some(1));
            assert!(memo.remove((&object, &<$value>::from($borrowed))));
        )*};
    }
    let (path, name) = (Path::new("a/b"), OsStr::new("a"));
    is_found!(
        String: "text", Box<str>: "text", Arc<str>: "text",
        Vec<u8>: &[1, 2][..], Box<[u8]>: &[1, 2][..], Arc<[u8]>: &[1, 2][..],
        PathBuf: path, Box<Path>: path, Arc<Path>: path,
        OsString: name, Box<OsStr>: name, Arc<OsStr>: name,
    );
}

/// A parameter with this number, whose drop is seen.
#[derive(Clone)]
struct Owned(usize, #[allow(dead_code)] Witness);

impl PartialEq for Owned {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Owned {}

impl Hash for Owned {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// 200: That which an entry is made of goes with the entry, every other at once.
fn a_value_that_is_not_needed_is_dropped<P: Pointer>() {
    let (memo, object) = (Memo::<(P, Value<Owned>), usize>::new(), P::from(1));
    let drops = Count::default();
    let key = || (&object, Value(Owned(1, drops.witness())));
    assert_eq!((memo.get(key()), drops.get()), (None, 1));
    assert_eq!(memo.get_or_compute(key(), |_| 7), 7);
    assert_eq!(drops.get(), 1);
    assert_eq!(memo.get_or_compute(key(), |_| unreachable!()), 7);
    assert_eq!((memo.get(key()), drops.get()), (Some(7), 3));
    assert!(memo.try_get_or_compute(key(), |_| Err(())).is_ok());
    assert_eq!(drops.get(), 4);
    assert!(memo.remove(key()));
    assert_eq!(drops.get(), 6);
    assert!(panics(|| _ = memo.get_or_compute(key(), |_| quiet_panic())));
    memo.purge();
    assert_eq!(drops.get(), 7);
    assert_eq!(memo.insert(key(), 8), None);
    assert_eq!(drops.get(), 7);
    drop(object);
    memo.purge();
    assert_eq!((drops.get(), memo.len()), (8, 0));
}

/// 172, 184, 200: The death of an object ends the results for all its parameters, and no others.
fn many_parameters_go_with_their_object<P: Pointer>() {
    let count = scaled(10_000, 50);
    let (memo, results) = (Memo::<(P, Value<usize>), Witness>::new(), Count::default());
    let [one, other] = [1, 2].map(P::from);
    for parameter in 0..count {
        drop(memo.get_or_compute((&one, &parameter), |_| results.witness()));
    }
    drop(memo.get_or_compute((&other, &1), |_| results.witness()));
    assert_eq!(memo.len(), count + 1);
    drop(one);
    memo.purge();
    assert_eq!((results.get(), memo.len()), (count, 1));
    assert!(memo.get((&other, &1)).is_some());
}

/// 200: By length and order.
fn a_list_is_compared_as_a_list<P: Pointer>() {
    let memo = Memo::<(Many<P>, Value<usize>), usize>::with_capacity(7);
    let all = objects::<P>(3);
    let [a, b, c] = [&all[0], &all[1], &all[2]];
    let lists: [&[&P]; 7] = [
        &[a],
        &[b],
        &[a, b],
        &[b, a],
        &[a, b, c],
        &[a, a],
        &[a, a, b],
    ];
    for (number, list) in lists.iter().enumerate() {
        assert_eq!(memo.get((*list, &1)), None);
        assert_eq!(memo.get_or_compute((*list, &1), |_| number), number);
    }
    for (number, list) in lists.iter().enumerate() {
        assert_eq!(memo.get((*list, &1)), Some(number));
        assert_eq!(memo.get((&list.to_vec(), &1)), Some(number));
    }
    assert_eq!(memo.get((&all, &1)), Some(4));
    assert_eq!(memo.get((&all[..2], &1)), Some(2));
    drop(all);
    memo.purge();
    assert!(memo.is_empty());
}

/// 200: A list of nothing would never die. The panic's location is the caller's.
#[test]
fn an_empty_list_panics() {
    let memo = Memo::<Many<Strong<usize>>, usize>::new();
    let rewritings = Memo::<Many<Strong<usize>>, Rewritten<Strong<usize>>>::new();
    let none: &[Strong<usize>] = &[];
    let asks: [&dyn Fn(); 5] = [
        &|| _ = memo.get(none),
        &|| _ = memo.remove(none),
        &|| _ = memo.insert(none, 1),
        &|| _ = memo.get_or_compute(none, |_| 1),
        &|| _ = rewritings.get_rewritten(none),
    ];
    let place = Arc::new(Mutex::new(String::new()));
    let (seen, here) = (Arc::clone(&place), thread::current().id());
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == here {
            let place = info.location().expect("there always is one");
            *seen.lock().unwrap() = place.file().into();
        } else {
            before(info);
        }
    }));
    for ask in asks {
        let message = message(ask);
        assert!(message.is_some());
        let file = std::mem::take(&mut *place.lock().unwrap());
        assert!(file.ends_with("parts.rs"), "{file}");
    }
    assert!(memo.is_empty());
}

/// A parameter whose hash is that of all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Same(usize);

impl Hash for Same {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// 178, 174: Also where a computation asks for the same object with another parameter, which is no cycle.
fn equal_hashes_of_parameters_only_cost_time<P: Pointer>() {
    fn sum<P: Pointer>(memo: &Memo<(P, Value<Same>), usize>, object: &P, to: usize) -> usize {
        memo.get_or_compute((object, &Same(to)), |_| {
            to.checked_sub(1)
                .map_or(0, |less| sum(memo, object, less) + to)
        })
    }
    let (memo, object) = (Memo::new(), P::from(1));
    let to = scaled(60, 8);
    for _ in 0..2 {
        assert_eq!(sum(&memo, &object, to), to * (to + 1) / 2);
    }
    assert_eq!(memo.statistics().misses, to + 1);
    drop(object);
    memo.purge();
    assert!(memo.is_empty());
}

/// 176: For each object and parameter.
fn of_many_threads_one_computes<P: Pointer>() {
    let memo = Memo::<(P, Value<String>), usize>::new();
    let (object, computed) = (P::from(1), Count::default());
    let barrier = Barrier::new(3);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                barrier.wait();
                for round in 0..scaled(100, 5) {
                    let text = round.to_string();
                    let found = memo.get_or_compute((&object, text.as_str()), |_| {
                        computed.add();
                        round
                    });
                    assert_eq!(found, round);
                }
            });
        }
    });
    assert_eq!(computed.get(), scaled(100, 5));
}

/// The seed of each memo is its own: what hashes to the same in one does not in another.
#[test]
fn each_memo_has_a_seed() {
    thread_local! {
        static HASHES: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
    }
    #[derive(Clone, PartialEq, Eq)]
    struct Shown;
    impl Hash for Shown {
        fn hash<H: Hasher>(&self, state: &mut H) {
            1_u64.hash(state);
            let mut hashes = HASHES.take();
            hashes.push(state.finish());
            HASHES.set(hashes);
        }
    }
    let object = Strong::new(1_usize);
    for _ in 0..4 {
        let memo = Memo::<(Strong<usize>, Value<Shown>), usize>::new();
        assert_eq!(memo.get_or_compute((&object, &Shown), |_| 1), 1);
        assert_eq!(memo.get((&object, &Shown)), Some(1));
    }
    let hashes = HASHES.take();
    assert!(hashes.chunks(2).all(|of_one| of_one[0] == of_one[1]));
    let distinct: HashSet<_> = hashes.iter().collect();
    assert_eq!(distinct.len(), 4);
}

/// A parameter that panics on request, and runs other code.
struct Wild<'a> {
    number: usize,
    run: &'a (dyn Fn(&str) -> Option<bool> + Sync),
}

impl PartialEq for Wild<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.run)("eq").unwrap_or(self.number == other.number)
    }
}

impl Eq for Wild<'_> {}

impl Hash for Wild<'_> {
    fn hash<H: Hasher>(&self, _: &mut H) {
        (self.run)("hash");
    }
}

impl Clone for Wild<'_> {
    fn clone(&self) -> Self {
        (self.run)("clone");
        Wild { ..*self }
    }
}

/// 177, 181: A `Hash`, an `Eq` or a `Clone` that panics, in each operation and at each call: the results stay, nobody waits for
/// what is not computed.
fn parameters_that_panic_harm_nothing<P: Pointer>() {
    let left = std::sync::atomic::AtomicIsize::new(isize::MAX);
    let run = |_: &str| -> Option<bool> {
        use std::sync::atomic::Ordering::Relaxed;
        if left.fetch_sub(1, Relaxed) == 0 {
            quiet_panic();
        }
        None
    };
    let set = |calls| left.store(calls, std::sync::atomic::Ordering::Relaxed);
    let of = |number| Wild { number, run: &run };
    let (memo, object) = (Memo::<(P, Value<Wild<'_>>), usize>::new(), P::from(1));
    assert_eq!(memo.get_or_compute((&object, &of(0)), |_| 0), 0);
    let operations: [&dyn Fn(); 5] = [
        &|| _ = memo.get((&object, &of(1))),
        &|| _ = memo.get_or_compute((&object, &of(1)), |_| 1),
        &|| _ = memo.get_or_compute((&object, &of(1)), |_| unreachable!()),
        &|| _ = memo.insert((&object, Value(of(1))), 1),
        &|| _ = memo.remove((&object, &of(1))),
    ];
    let mut panicked = 0;
    for operation in operations {
        for calls in 0.. {
            set(calls);
            if !panics(operation) {
                break;
            }
            panicked += 1;
            set(isize::MAX);
            assert_eq!(memo.get((&object, &of(0))), Some(0));
            let statistics = memo.statistics();
            let ended = statistics.invalidated + statistics.discarded;
            let begun = statistics.misses + statistics.inserted;
            assert_eq!(begun, memo.len() + ended);
            assert!(calls < 100);
        }
        set(isize::MAX);
    }
    assert!(panicked > 10, "{panicked}");
    assert_eq!((memo.get((&object, &of(1))), memo.len()), (None, 1));
}

/// 181: An `Eq` that asks the memo, about this object and others, removes, and inserts; one that lies.
fn an_eq_that_lies_harms_nothing<P: Pointer>() {
    type Asked<'a, P> = Memo<(P, Value<Wild<'a>>), usize>;
    let quiet = |_: &str| None;
    let other = P::from(2);
    let count = Count::default();
    let others = Memo::<(P, Value<usize>), usize>::new();
    let lying = |what: &str| {
        let turn = count.add();
        others.get_or_compute((&other, &(turn % 5)), |_| turn);
        others.remove((&other, &(turn % 3)));
        (what == "eq" && turn % 3 == 0).then_some(turn % 2 == 0)
    };
    let memo = Asked::<P>::new();
    let object = P::from(1);
    for round in 0..scaled(200, 10) {
        let liar = Wild {
            number: round % 7,
            run: &lying,
        };
        let honest = Wild {
            number: round % 7,
            run: &quiet,
        };
        memo.get_or_compute((&object, &liar), |_| round % 7);
        memo.insert((&object, &honest), round % 7);
        memo.get((&object, &liar));
        if round % 4 == 0 {
            memo.remove((&object, &liar));
        }
    }
    drop(object);
    memo.purge();
    assert!(memo.is_empty());
    let statistics = memo.statistics();
    let ended = statistics.invalidated + statistics.discarded;
    assert_eq!(statistics.misses + statistics.inserted, ended);
}

/// 174, 181: An `Eq` may ask the same memo for the same object, also while that very result is computed.
#[test]
fn an_eq_may_ask_the_memo() {
    static MEMO: Memo<(Strong<usize>, Value<Curious>), usize> = Memo::new();
    thread_local! {
        static OBJECT: Strong<usize> = Strong::new(1);
        static ASKING: Cell<bool> = const { Cell::new(true) };
        static REFUSED: Cell<usize> = const { Cell::new(0) };
    }
    #[derive(Clone)]
    struct Curious(usize);
    fn ask(number: usize) -> usize {
        let object = OBJECT.with(Clone::clone);
        MEMO.get_or_compute((&object, &Curious(number)), |_| number)
    }
    impl PartialEq for Curious {
        fn eq(&self, other: &Self) -> bool {
            if !ASKING.replace(true) {
                for number in [self.0, other.0] {
                    let refused = panics(|| assert_eq!(ask(number), number));
                    REFUSED.set(REFUSED.get() + usize::from(refused));
                }
                ASKING.set(false);
            }
            self.0 == other.0
        }
    }
    impl Eq for Curious {}
    impl Hash for Curious {
        fn hash<H: Hasher>(&self, _: &mut H) {}
    }
    for round in 0..scaled(40, 10) {
        // From the first lookup on, or from the end of the computation.
        ASKING.set(round % 2 == 0);
        let (object, number) = (OBJECT.with(Clone::clone), round % 8);
        let asked = MEMO.get_or_compute((&object, &Curious(number)), |_| {
            ASKING.set(false);
            number
        });
        assert_eq!(asked, number);
        ASKING.set(true);
        let key = (&OBJECT.with(Clone::clone), &Curious(round % 3));
        MEMO.remove(key);
    }
    assert!(REFUSED.get() > 0, "what is being computed is asked for");
    assert!(MEMO.len() <= 8);
}

/// 173: A parameter that owns the object keeps the entry, and is found if it shows that.
#[test]
fn a_parameter_that_owns_the_object_is_found() {
    #[derive(Clone)]
    struct Owner(Strong<usize>);
    impl PartialEq for Owner {
        fn eq(&self, other: &Self) -> bool {
            Strong::ptr_eq(&self.0, &other.0)
        }
    }
    impl Eq for Owner {}
    impl Hash for Owner {
        fn hash<H: Hasher>(&self, state: &mut H) {
            (&raw const *self.0).hash(state);
        }
    }
    weakly::impl_trace!(Owner: 0);
    let memo = Memo::<(Strong<usize>, Value<Owner>), Option<Strong<usize>>>::new();
    let objects = [1, 2, 3].map(Strong::new);
    let owner = |at: usize| Value(Owner(objects[at].clone()));
    memo.get_or_compute((&objects[0], owner(0)), |_| None);
    memo.get_or_compute((&objects[1], owner(2)), |_| None);
    memo.get_or_compute((&objects[2], owner(2)), |_| Some(objects[2].clone()));
    let weak = objects.each_ref().map(Strong::downgrade);
    assert_eq!(memo.purge_cycles().removed, 0);
    drop(objects);
    memo.purge();
    assert_eq!(memo.len(), 2, "the second has gone");
    assert_eq!(Cycles::new().with(&memo).purge().removed, 2);
    assert!(memo.is_empty() && weak.iter().all(weakly::Weak::is_expired));
}

/// 173: So is a result that owns an object of a list.
#[test]
fn a_result_that_owns_an_object_of_a_list_is_found() {
    let memo = Memo::<Many<Strong<usize>>, Strong<usize>>::new();
    let objects = [1, 2, 3].map(Strong::new);
    memo.get_or_compute(&objects[..2], |_| objects[1].clone());
    memo.get_or_compute(&objects[1..], |_| Strong::new(4));
    assert_eq!(memo.purge_cycles().removed, 0);
    let weak = objects.each_ref().map(Strong::downgrade);
    let [first, second, third] = objects;
    drop((second, third));
    assert_eq!((memo.purge_cycles().removed, memo.len()), (1, 0));
    assert!(weak[1].is_expired() && *first == 1);
}

/// 200: They count apart, and replace.
fn inserted_results_are_found<P: Pointer>() {
    let (memo, object) = (Memo::<(P, Value<usize>), String>::new(), P::from(1));
    let results = |text: &str| Some(String::from(text));
    assert_eq!(memo.insert((&object, &1), "one".into()), None);
    assert_eq!(memo.get((&object, &1)), results("one"));
    assert_eq!(memo.insert((&object, &1), "two".into()), results("one"));
    assert_eq!(
        memo.get_or_compute((&object, &1), |_| unreachable!()),
        "two"
    );
    let statistics = memo.statistics();
    assert_eq!((statistics.inserted, statistics.discarded), (2, 1));
    assert_eq!((statistics.misses, statistics.hits), (0, 1));
    drop(object);
    memo.purge();
    assert_eq!((memo.len(), memo.statistics().invalidated), (0, 1));
}

/// 200: What was computed is returned, and what was inserted meanwhile is kept.
fn an_insertion_takes_the_place_of_a_computation<P: Pointer>() {
    let (memo, object) = (Memo::<P, usize>::new(), P::from(1));
    let computed = memo.get_or_compute(&object, |_| {
        assert_eq!(memo.insert(&object, 1), None);
        assert_eq!(memo.get_or_compute(&object, |_| unreachable!()), 1);
        2
    });
    assert_eq!((computed, memo.get(&object)), (2, Some(1)));
    let statistics = memo.statistics();
    assert_eq!((statistics.misses, statistics.discarded), (1, 1));
    assert_eq!((memo.len(), statistics.inserted), (1, 1));
}
