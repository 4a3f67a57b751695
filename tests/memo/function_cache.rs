//! A function cache as JAX has it (`weakref_lru_cache`), written by a user: some arguments weak, the others by value.

use weakly::Memo;
use weakly::memo::{Many, MemoKey, MemoQuery, Statistics, Value};

use crate::for_each_pointer;
use crate::tools::{Pointer, objects};

// All that the user writes.

struct Cached<K: MemoKey, R, F>(F, Memo<K, R>);

impl<K: MemoKey, R: Clone, F> Cached<K, R, F> {
    fn call<A: MemoQuery<K> + Copy>(&self, arguments: A) -> R
    where
        F: Fn(A) -> R,
    {
        self.1.get_or_compute(arguments, |_| (self.0)(arguments))
    }

    fn cache_info(&self) -> (Statistics, usize) {
        (self.1.statistics(), self.1.len())
    }

    fn cache_clear(&mut self) {
        self.1 = Memo::new();
    }
}

/// Hits, misses, and how many results there are.
fn info<K: MemoKey, R: Clone, F>(cached: &Cached<K, R, F>) -> [usize; 3] {
    cached.1.purge(); // for the sake of `Arc`
    let (statistics, size) = cached.cache_info();
    [statistics.hits, statistics.misses, size]
}

for_each_pointer!(
    equal_arguments_hit,
    results_go_with_the_weak_argument,
    results_go_with_any_of_several,
);

type Options<'a> = (usize, &'a str);

fn eval<P: Pointer>((object, &(number, text)): (&P, &Options<'_>)) -> String {
    format!("{object:?} {number} {text}")
}

/// 172, 177, 200: The first argument by identity, the others by value. Clearing sets the counts back, too.
fn equal_arguments_hit<P: Pointer>() {
    let text = String::from("a"); // equal to another, at another place
    let mut cached = Cached::<(P, Value<Options<'_>>), _, _>(eval, Memo::new());
    let [one, other] = [7, 7].map(P::from);
    assert_eq!(cached.call((&one, &(1, "a"))), eval((&one, &(1, "a"))));
    cached.call((&one, &(1, text.as_str())));
    assert_eq!(info(&cached), [1, 1, 1]);
    cached.call((&one, &(2, "a")));
    cached.call((&one, &(1, "b")));
    cached.call((&other, &(1, "a")));
    assert_eq!(info(&cached), [1, 4, 4]);
    cached.cache_clear();
    assert_eq!(info(&cached), [0, 0, 0]);
    cached.call((&one, &(1, "a")));
    assert_eq!(info(&cached), [0, 1, 1]);
}

/// 172, 200: Whatever the other arguments are.
fn results_go_with_the_weak_argument<P: Pointer>() {
    let cached = Cached::<(P, Value<Options<'_>>), _, _>(eval, Memo::new());
    let [one, other] = [1, 2].map(P::from);
    for object in [&one, &other] {
        for number in 0..3 {
            cached.call((object, &(number, "")));
        }
    }
    drop(one);
    assert_eq!(info(&cached), [0, 6, 3]);
    cached.call((&other, &(0, "")));
    assert_eq!(info(&cached), [1, 6, 3]);
}

fn longer<P: Pointer>((one, many, &twice): (&P, &[P], &bool)) -> usize {
    let sum: usize = many.iter().map(|it| **it).sum();
    (**one + sum) * (1 + usize::from(twice))
}

/// 172, 200: As in `multi_weakref_lru_cache`, and where one of them is a list.
fn results_go_with_any_of_several<P: Pointer>() {
    let cached = Cached::<(P, Many<P>, Value<bool>), _, _>(longer, Memo::new());
    let (one, mut many) = (P::from(1), objects::<P>(4));
    for twice in [false, true] {
        assert_eq!(
            cached.call((&one, &many[..], &twice)),
            [7, 14][usize::from(twice)]
        );
        cached.call((&one, &many[..2], &twice));
        cached.call((&many[0], &many[..2], &twice));
    }
    assert_eq!(info(&cached), [0, 6, 6]);
    drop(many.pop());
    assert_eq!(info(&cached), [0, 6, 4]);
    assert_eq!(cached.call((&one, &many[..2], &true)), 4);
    drop(one);
    assert_eq!(info(&cached), [1, 6, 2]);
    drop(many);
    assert_eq!(info(&cached), [1, 6, 0]);
}
