//! Keys with plain values beside their handles, and lists of handles. Plain values are compared by code of users.

use std::cell::Cell;
use std::hash::{Hash, Hasher};

use weakly::memo::{Many, ToValue, Value};
use weakly::{Equivalent, Strong, cycles::Cycles};

use crate::asked::{Call, Memo, Parameter, Parts};
use crate::common::{panics, place_of_panic, quiet_panic, scaled};
use crate::for_each_pointer;
use crate::tools::{Count, Doomed, Pointer};

for_each_pointer!(
    a_plain_value_is_part_of_the_key,
    a_hit_makes_no_value,
    a_value_that_is_not_needed_is_dropped,
    parameters_that_panic_harm_nothing,
);

/// 200: By `Eq`, beside the identity of the handle.
fn a_plain_value_is_part_of_the_key<P: Pointer>() {
    let memo = Memo::<(P, Value<String>), Doomed>::new();
    let [one, other] = [1, 2].map(P::from);
    assert!(memo.get((&one, "1a")).is_none() && memo.remove((&one, "1a")).is_none());
    let results = Count::default();
    for object in [&one, &other] {
        for number in [1, 2] {
            for text in ["a", "b"] {
                let parameter = format!("{number}{text}");
                let result = results.add();
                let ask = || {
                    memo.get_or_compute((object, &parameter), |_| result.into())
                        .number
                };
                assert_eq!((ask(), ask()), (result, result));
            }
        }
    }
    let statistics = memo.statistics();
    assert_eq!((statistics.misses, statistics.hits), (8, 8));
    assert!(memo.remove((&one, Value("1a".into()))).is_some());
    assert_eq!(memo.len(), 7);
    drop(one);
    memo.purge();
    assert_eq!(memo.len(), 4);
}

thread_local! {
    static MADE: Cell<usize> = const { Cell::new(0) };
}

type Asked<'a, P> = Memo<(P, Value<Parameter<'a>>), Doomed>;

/// What a parameter is made of, which counts that.
#[derive(Hash)]
struct Lent(usize);

impl Equivalent<Parameter<'_>> for Lent {
    fn equivalent(&self, there: &Parameter<'_>) -> bool {
        self.0 == there.number
    }
}

impl ToValue<Parameter<'_>> for Lent {
    fn to_value(this: &Self) -> Parameter<'static> {
        MADE.set(MADE.get() + 1);
        this.0.into()
    }
}

/// 200: What is passed by reference is made into the value once, and only if there is to be an entry.
fn a_hit_makes_no_value<P: Pointer>() {
    let (memo, object) = (Asked::<P>::new(), P::from(1));
    MADE.set(0);
    assert_eq!(memo.get((&object, &Lent(7))), None);
    assert!(memo.remove((&object, &Lent(7))).is_none());
    assert_eq!(MADE.get(), 0);
    for _ in 0..3 {
        let length = memo.get_or_compute((&object, &Lent(7)), |_| 4.into());
        assert_eq!((length.number, MADE.get()), (4, 1));
    }
    assert_eq!(memo.get((&object, &Lent(7))), Some(4.into()));
    assert_eq!(memo.insert((&object, &Lent(8)), 5.into()), None);
    assert_eq!(MADE.get(), 2);
    assert!(memo.remove((&object, &Lent(7))).is_some());
    assert_eq!((memo.len(), MADE.get()), (1, 2));
}

/// 200: That which an entry is made of goes with the entry, every other at once.
fn a_value_that_is_not_needed_is_dropped<P: Pointer>() {
    let (memo, object) = (Asked::<P>::new(), P::from(1));
    let drops = Count::default();
    let key = || {
        let doomed = drops.doomed();
        let parameter = Parameter::from(1);
        (
            &object,
            Value(Parameter {
                doomed,
                ..parameter
            }),
        )
    };
    assert_eq!((memo.get(key()), drops.get()), (None, 1));
    assert_eq!(memo.get_or_compute(key(), |_| 7.into()), 7);
    assert_eq!(drops.get(), 1);
    assert_eq!(memo.get_or_compute(key(), |_| unreachable!()), 7);
    assert_eq!((memo.get(key()), drops.get()), (Some(7.into()), 3));
    assert!(memo.try_get_or_compute(key(), |_| Err(())).is_ok());
    assert_eq!(drops.get(), 4);
    assert!(memo.remove(key()).is_some());
    assert_eq!(drops.get(), 6);
    assert!(panics(|| _ = memo.get_or_compute(key(), |_| quiet_panic())));
    memo.purge();
    assert_eq!(drops.get(), 7);
    assert_eq!(memo.insert(key(), 8.into()), None);
    assert_eq!(drops.get(), 7);
    drop(object);
    memo.purge();
    assert_eq!((drops.get(), memo.len()), (8, 0));
}

/// 200: A list of nothing would never die. The panic's location is the caller's.
#[test]
fn an_empty_list_panics() {
    let memo = Memo::<Many<Strong<usize>>, Doomed>::new();
    let keyed = Memo::<Parts<Strong<usize>>, usize>::new();
    let other = Strong::new(1);
    let none: &[Strong<usize>] = &[];
    let asks: [&dyn Fn(); 5] = [
        &|| _ = memo.get(none),
        &|| _ = memo.remove(none),
        &|| _ = memo.insert(none, Doomed::default()),
        &|| _ = memo.get_or_compute(none, |_| Doomed::default()),
        &|| _ = keyed.get((none, "", &other, &1)),
    ];
    for ask in asks {
        let (file, _) = place_of_panic(ask);
        assert!(file.ends_with("parts.rs"), "{file}");
    }
    assert!(memo.is_empty());
}

/// 177, 181: A `Hash`, an `Eq` or a `Clone` that panics, in each operation and at each call: the results stay, nobody waits for
/// what is not computed.
fn parameters_that_panic_harm_nothing<P: Pointer>() {
    let left = std::sync::atomic::AtomicIsize::new(isize::MAX);
    let run = |_: Call| -> Option<bool> {
        use std::sync::atomic::Ordering::Relaxed;
        if left.fetch_sub(1, Relaxed) == 0 {
            quiet_panic();
        }
        None
    };
    let set = |calls| left.store(calls, std::sync::atomic::Ordering::Relaxed);
    let of = |number| Parameter::running(number, &run);
    let (memo, object) = (Asked::<P>::new(), P::from(1));
    assert_eq!(memo.get_or_compute((&object, &of(0)), |_| 0.into()), 0);
    let operations: [&dyn Fn(); 5] = [
        &|| _ = memo.get((&object, &of(1))),
        &|| _ = memo.get_or_compute((&object, &of(1)), |_| 1.into()),
        &|| _ = memo.get_or_compute((&object, &of(1)), |_| unreachable!()),
        &|| _ = memo.insert((&object, Value(of(1))), 1.into()),
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
            assert_eq!(memo.get((&object, &of(0))), Some(0.into()));
            assert_eq!(memo.statistics().live, memo.len() as u64);
            assert!(calls < 100);
        }
        set(isize::MAX);
    }
    assert!(panicked > 10, "{panicked}");
    assert_eq!((memo.get((&object, &of(1))), memo.len()), (None, 1));
}

/// 174, 181: An `Eq` may ask the same memo for the same object, also while that very result is computed.
#[test]
fn an_eq_may_ask_the_memo() {
    static MEMO: Asked<'static, Strong<usize>> = Memo::new();
    thread_local! {
        static OBJECT: Strong<usize> = Strong::new(1);
        static ASKING: Cell<bool> = const { Cell::new(true) };
        static REFUSED: Cell<usize> = const { Cell::new(0) };
    }
    fn curious(number: usize) -> Parameter<'static> {
        Parameter::running(number, &|call| {
            let Call::Eq(one, other) = call else {
                return None;
            };
            if !ASKING.replace(true) {
                for number in [one, other] {
                    let refused = panics(|| assert_eq!(ask(number), number));
                    REFUSED.set(REFUSED.get() + usize::from(refused));
                }
                ASKING.set(false);
            }
            None
        })
    }
    fn ask(number: usize) -> usize {
        let object = OBJECT.with(Clone::clone);
        MEMO.get_or_compute((&object, &curious(number)), |_| number.into())
            .number
    }
    for round in 0..scaled(40, 10) {
        // From the first lookup on, or from a lookup of the computation.
        ASKING.set(round % 2 == 0);
        let (object, number) = (OBJECT.with(Clone::clone), round % 8);
        let asked = MEMO.get_or_compute((&object, &curious(number)), |_| {
            ASKING.set(false);
            assert!(!MEMO.contains_key((&object, &curious(number))));
            number.into()
        });
        assert_eq!(asked, number);
        ASKING.set(true);
        let key = (&OBJECT.with(Clone::clone), &curious(round % 3));
        MEMO.remove(key);
    }
    assert!(REFUSED.get() > 0, "what is being computed is asked for");
    assert!(MEMO.len() <= 8);
}

/// 173: A parameter that owns the object keeps the entry, and is found if it shows that.
#[test]
fn a_parameter_that_owns_the_object_is_found() {
    let memo = Asked::<Strong<usize>>::new();
    let objects = [1, 2, 3].map(Strong::new);
    let owns = |at: usize| Doomed::owning(&objects[at]);
    let owner = |at: usize| {
        let (doomed, number) = (owns(at), Parameter::from(at));
        Value(Parameter { doomed, ..number })
    };
    memo.get_or_compute((&objects[0], owner(0)), |_| Doomed::default());
    memo.get_or_compute((&objects[1], owner(2)), |_| Doomed::default());
    memo.get_or_compute((&objects[2], owner(2)), |_| owns(2));
    let weak = objects.each_ref().map(Strong::downgrade);
    assert_eq!(memo.purge_cycles().removed, 0);
    drop(objects);
    memo.purge();
    assert_eq!(memo.len(), 2, "the second has gone");
    assert_eq!(Cycles::new().with(&*memo).purge().removed, 2);
    assert!(memo.is_empty() && weak.iter().all(weakly::Weak::is_expired));
}

/// 492: In a memo, a map by name and a map by content.
#[test]
fn a_computation_compares_no_keys() {
    thread_local!(static COMPARED: Cell<usize> = const { Cell::new(0) });
    #[derive(Clone, Eq)]
    struct Compared(usize);
    impl Hash for Compared {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }
    impl PartialEq for Compared {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }
    let memo = weakly::Memo::<(Strong<usize>, Value<Compared>), usize>::new();
    let names = weakly::concurrent::WeakValueMap::<Compared, Strong<usize>>::new();
    let contents = weakly::concurrent::WeakHashMap::<Strong<Compared>, usize>::new();
    let object = Strong::new(1);
    let keys: Vec<_> = (0..20)
        .map(|number| Strong::new(Compared(number)))
        .collect();
    for key in &keys {
        memo.get_or_compute((&object, &**key), |_| key.0);
        _ = names.get_or_insert_with((**key).clone(), |_| object.clone());
        contents.get_or_insert_with(key, |_| key.0);
    }
    assert_eq!(COMPARED.get(), 0);
    assert_eq!((memo.len(), names.len(), contents.len()), (20, 20, 20));
}
