//! A function cache as JAX has it (`weakref_lru_cache`), written by a user: some arguments weak, the others by value.

use weakly::Memo;
use weakly::memo::{MemoKey, MemoQuery, Statistics, Value};

use crate::asked::Parts;
use crate::for_each_pointer;
use crate::tools::{Doomed, Pointer, objects};

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
    [statistics.hits as usize, statistics.misses as usize, size]
}

for_each_pointer!(
    equal_arguments_hit,
    results_go_with_the_weak_argument,
    results_go_with_any_of_several,
);

fn eval<P: Pointer>((object, text): (&P, &str)) -> Doomed {
    (10 * **object + text.len()).into()
}

/// 172, 177, 200: The first argument by identity, the others by value. Clearing sets the counts back, too.
fn equal_arguments_hit<P: Pointer>() {
    let text = String::from("a"); // equal to another, at another place
    let mut cached = Cached::<(P, Value<String>), _, _>(eval, Memo::new());
    let [one, other] = [7, 7].map(P::from);
    assert_eq!(cached.call((&one, "a")), eval((&one, "a")).number);
    cached.call((&one, text.as_str()));
    assert_eq!(info(&cached), [1, 1, 1]);
    cached.call((&one, ""));
    cached.call((&one, "b"));
    cached.call((&other, "a"));
    assert_eq!(info(&cached), [1, 4, 4]);
    cached.cache_clear();
    assert_eq!(info(&cached), [0, 0, 0]);
    cached.call((&one, "a"));
    assert_eq!(info(&cached), [0, 1, 1]);
}

/// 172, 200: Whatever the other arguments are.
fn results_go_with_the_weak_argument<P: Pointer>() {
    let cached = Cached::<(P, Value<String>), _, _>(eval, Memo::new());
    let [one, other] = [1, 2].map(P::from);
    for object in [&one, &other] {
        for text in ["", "a", "b"] {
            cached.call((object, text));
        }
    }
    drop(one);
    assert_eq!(info(&cached), [0, 6, 3]);
    cached.call((&other, ""));
    assert_eq!(info(&cached), [1, 6, 3]);
}

fn longer<P: Pointer>((many, text, one, &times): (&[P], &str, &P, &usize)) -> Doomed {
    let sum: usize = many.iter().map(|it| **it).sum();
    ((**one + sum) * times + text.len()).into()
}

/// 172, 200: As in `multi_weakref_lru_cache`, and where one of them is a list.
fn results_go_with_any_of_several<P: Pointer>() {
    let cached = Cached::<Parts<P>, _, _>(longer, Memo::new());
    let (one, mut many) = (P::from(1), objects::<P>(4));
    for times in [1, 2] {
        assert_eq!(
            cached.call((&many[..], "text", &one, &times)),
            [11, 18][times - 1]
        );
        cached.call((&many[..2], "text", &one, &times));
        cached.call((&many[..2], "text", &many[0], &times));
    }
    assert_eq!(info(&cached), [0, 6, 6]);
    drop(many.pop());
    assert_eq!(info(&cached), [0, 6, 4]);
    assert_eq!(cached.call((&many[..2], "text", &one, &2)), 8);
    drop(one);
    assert_eq!(info(&cached), [1, 6, 2]);
    drop(many);
    assert_eq!(info(&cached), [1, 6, 0]);
}
