//! Rewritings: results that may be one of their inputs, which they then do not keep alive.

use weakly::{
    Strong,
    memo::Rewritten,
    reference::{StrongRef, WeakRef},
};

use crate::asked::Memo;
use crate::common::scaled;
use crate::for_each_pointer;
use crate::tools::{Count, Pointer, objects};

for_each_pointer!(
    an_unchanged_input_is_not_kept_alive,
    any_other_result_is_kept_alive,
    any_input_of_a_tuple_may_be_the_result,
);

fn same<P: StrongRef>(one: &P, other: &P) -> bool {
    P::addr(one) == P::addr(other)
}

/// 173: Its entry is dropped with it.
fn an_unchanged_input_is_not_kept_alive<P: Pointer>() {
    let (memo, rewritten) = (Memo::<P, Rewritten<P>>::new(), Count::default());
    let all = objects::<P>(scaled(100, 5));
    let weak: Vec<_> = all.iter().map(P::downgrade).collect();
    for _ in 0..2 {
        for object in &all {
            let result = memo.get_or_rewrite(object, |_| {
                rewritten.add();
                object.clone()
            });
            assert!(same(&result, object));
            let known = memo.get_rewritten(object).expect("a result");
            assert!(same(&known, object));
        }
    }
    assert_eq!((rewritten.get(), memo.len()), (all.len(), all.len()));
    let statistics = memo.statistics();
    let each = all.len() as u64;
    assert_eq!((statistics.hits, statistics.misses), (each, each));
    drop(all);
    assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
    memo.purge();
    assert_eq!((memo.len(), memo.pending_dead()), (0, 0));
    assert_eq!(memo.statistics().invalidated, weak.len() as u64);
}

/// 173: It is owned by the entry, and dies with the key.
fn any_other_result_is_kept_alive<P: Pointer>() {
    let memo = Memo::<P, Rewritten<P>>::new();
    let input = P::from(1);
    assert!(memo.get_rewritten(&input).is_none());
    let result = memo.get_or_rewrite(&input, |_| P::from(2));
    let weak = P::downgrade(&result);
    drop(result);
    let again = memo.get_or_rewrite(&input, |_| unreachable!("it is present"));
    assert!(same(&again, &weak.upgrade().expect("the entry owns it")));
    drop(again);
    drop(input);
    memo.purge();
    assert!(memo.is_empty() && weak.upgrade().is_none());
}

/// 173: Whichever it is; each of the inputs ends the entry.
fn any_input_of_a_tuple_may_be_the_result<P: Pointer>() {
    type Key<P> = (P, P, P, P);
    for result in 0..4 {
        for dies in 0..4 {
            let memo = Memo::<Key<P>, Rewritten<P>>::new();
            let mut inputs = objects::<P>(4);
            let weak = P::downgrade(&inputs[result]);
            for _ in 0..2 {
                let [a, b, c, d] = [0, 1, 2, 3].map(|at| &inputs[at]);
                let given = memo.get_or_rewrite((a, b, c, d), |_| inputs[result].clone());
                assert!(same(&given, &inputs[result]));
            }
            assert_eq!(memo.statistics().misses, 1);
            inputs[dies] = P::from(5);
            assert_eq!(weak.upgrade().is_none(), dies == result);
            memo.purge();
            assert!(memo.is_empty());
        }
    }
}

/// 172, 173: The dependencies of a rewriting end it, even if the result is the input.
#[test]
fn a_rewriting_depends_on_its_dependencies() {
    let memo = Memo::<Strong<usize>, Rewritten<Strong<usize>>>::new();
    let (input, rules) = (Strong::new(1), Strong::new("rules"));
    drop(memo.get_or_rewrite(&input, |cx| {
        cx.depends_on(&rules);
        input.clone()
    }));
    assert!(memo.get_rewritten(&input).is_some());
    drop(rules);
    assert!(memo.get_rewritten(&input).is_none());
}
