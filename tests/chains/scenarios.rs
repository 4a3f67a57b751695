//! What programs do that are computed anew after each edit: the scenarios of other libraries for this.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use weakly::Strong;
use weakly::concurrent::Interner;
use weakly::keep::Limit;
use weakly::memo::Value;

use crate::asked::Memo;
use crate::tools::Count;

type Input = Strong<AtomicUsize>;
/// Results of an input, by the names of functions.
type Results = Memo<(Input, Value<usize>), usize>;

fn inputs<const N: usize>(numbers: [usize; N]) -> [Input; N] {
    numbers.map(|number| Strong::new(AtomicUsize::new(number)))
}

fn set(results: &Results, input: &Input, number: usize) {
    input.store(number, SeqCst);
    results.invalidate(input);
}

/// 552: A change that cancels itself ends what was computed from it. What is asked by the content of a result, as an
/// interner knows it, is not computed again if the content is the same.
#[test]
fn a_change_that_cancels_itself() {
    let [one, other] = inputs([3, 4]);
    let (sums, words) = (Memo::<Input, Strong<usize>>::new(), Interner::new());
    let (users, checks) = (
        Memo::<Input, usize>::new(),
        Memo::<Strong<usize>, usize>::new(),
    );
    let (summed, used, checked) = (Count::default(), Count::default(), Count::default());
    let sum = || {
        sums.get_or_compute(&one, |cx| {
            cx.depends_on(&other);
            summed.add();
            words.intern(one.load(SeqCst) + other.load(SeqCst))
        })
    };
    let user = Strong::new(AtomicUsize::new(0));
    let ask = || {
        users.get_or_compute(&user, |_| {
            used.add();
            let sum = sum();
            checks.get_or_compute(&sum, |_| {
                checked.add();
                *sum * 2
            })
        })
    };
    assert_eq!(ask(), 14);
    let content = sum(); // somebody has it, as an editor has what it shows
    one.store(4, SeqCst);
    other.store(3, SeqCst);
    assert_eq!((sums.invalidate(&one), ask()), (1, 14));
    assert_eq!([summed.get(), used.get(), checked.get()], [2, 2, 1]);
    drop(content);
    one.store(5, SeqCst);
    sums.invalidate(&one);
    assert_eq!(ask(), 16);
    assert_eq!([summed.get(), used.get(), checked.get()], [3, 3, 2]);
}

/// 553: A cycle through several memos is an error. Nothing of it is kept, and an edit that breaks it lets it be computed.
#[test]
fn a_cycle() {
    let (memos, [input]) = ([(); 3].map(|()| Results::new()), inputs([3]));
    fn ask(memos: &[Results; 3], input: &Input, at: usize) -> usize {
        memos[at].get_or_compute((input, &at), |_| {
            let next = at + 1;
            match input.load(SeqCst) {
                last if last == next => next,
                _ => 1 + ask(memos, input, next % 3),
            }
        })
    }
    input.store(9, SeqCst);
    for at in 0..3 {
        assert!(catch_unwind(AssertUnwindSafe(|| ask(&memos, &input, at))).is_err());
        assert!(memos.iter().all(|memo| memo.is_empty()));
    }
    input.store(3, SeqCst);
    assert_eq!(ask(&memos, &input, 0), 5);
    assert_eq!(memos.each_ref().map(|memo| memo.len()), [1; 3]);
    input.store(2, SeqCst);
    memos[2].invalidate(&input);
    assert!(
        memos.iter().all(|memo| memo.is_empty()),
        "each was computed from the last"
    );
    assert_eq!(ask(&memos, &input, 0), 3);
}

/// 554: Two results at each of 20 levels, each of which asks for both below: a result depends on two others, not on all.
#[test]
fn twenty_levels_of_two_results() {
    const LEVELS: usize = 20;
    let (memo, edges) = (
        Memo::<(Input, Value<usize>), u64>::new(),
        AtomicUsize::new(0),
    );
    let (computed, [source, other]) = (Count::default(), inputs([1, 1]));
    type Ask<'a> = &'a dyn Fn(usize, usize) -> u64;
    fn result(ask: Ask<'_>, level: usize, source: &Input) -> u64 {
        match level.checked_sub(1) {
            Some(below) => ask(below, 0) + ask(below, 1),
            None => source.load(SeqCst) as u64,
        }
    }
    struct All<'a>(&'a dyn Fn(&All<'_>, usize, usize) -> u64);
    let all = All(&|all, level, at| {
        let key = if level == 0 { &source } else { &other };
        memo.get_or_compute((key, &(2 * level + at)), |cx| {
            computed.add();
            let number = result(&|level, at| all.0(all, level, at), level, &source);
            let told = format!("{cx:?}");
            let count = told.rsplit(' ').nth(1).expect("a number");
            edges.fetch_add(count.parse::<usize>().expect("a number"), SeqCst);
            number
        })
    });
    let top = || all.0(&all, LEVELS - 1, 0) + all.0(&all, LEVELS - 1, 1);
    assert_eq!([top(), top()], [1 << LEVELS; 2]);
    assert_eq!((computed.get(), edges.load(SeqCst)), (40, 4 * (LEVELS - 1)));
    source.store(2, SeqCst);
    memo.invalidate(&source);
    assert!(memo.is_empty());
    assert_eq!((top(), computed.get()), (2 << LEVELS, 80));
    drop(source);
}

/// 565: The inner computation calls `enter` of the outer one: an edit ends both results.
#[test]
fn a_part_of_an_outer_computation_within_an_inner_one() {
    let (results, [low, inner, outer]) = (Results::new(), inputs([1, 0, 0]));
    let below = || results.get_or_compute((&low, &0), |_| low.load(SeqCst));
    let ask_inner = |enter: &dyn Fn(&dyn Fn() -> usize) -> usize| {
        results.get_or_compute((&inner, &1), |_| enter(&below))
    };
    let ask = || results.get_or_compute((&outer, &2), |cx| ask_inner(&|part| cx.enter(part)));
    assert_eq!(ask(), 1);
    set(&results, &low, 2);
    assert!(results.is_empty());
    assert_eq!(ask(), 2);
    // The part asks for the result within whose computation it runs.
    let own = || results.get_or_compute((&inner, &3), |_| 0);
    let ask_own = |enter: &dyn Fn(&dyn Fn() -> usize) -> usize| {
        results.get_or_compute((&inner, &3), |_| enter(&own))
    };
    let asked = catch_unwind(AssertUnwindSafe(|| {
        results.get_or_compute((&outer, &4), |cx| ask_own(&|part| cx.enter(part)))
    }));
    assert!(asked.is_err());
}

/// 566
#[test]
fn a_ceiling_full_of_results_with_dependents() {
    for most in [1, 10, 20] {
        let (parsed, sizes, [source]) = (Results::new(), Results::new(), inputs([1]));
        parsed.set_ceiling(Limit::entries(most), |_| 1);
        let size = |name: usize| {
            sizes.get_or_compute((&source, &name), |_| {
                parsed.get_or_compute((&source, &name), |_| name)
            })
        };
        (0..50).for_each(|name| _ = size(name));
        let before = sizes.statistics().loads;
        (0..10).for_each(|_| (40..50).for_each(|name| _ = size(name)));
        assert_eq!(sizes.statistics().loads, before, "a ceiling of {most}");
    }
}
