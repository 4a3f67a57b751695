//! Rewritings: results that may be one of their inputs, which they then do not keep alive.

use std::sync::{Arc, Barrier};
use std::thread;

use weakly::{
    Strong,
    memo::Rewritten,
    reference::{StrongRef, WeakRef},
};

use crate::asked::{Memo, Parts};
use crate::common::{panics, scaled};
use crate::for_each_pointer;
use crate::tools::{Count, Pointer, objects};

for_each_pointer!(
    an_unchanged_input_is_not_kept_alive,
    any_other_result_is_kept_alive,
    an_equal_object_is_another,
    any_input_of_a_tuple_may_be_the_result,
    any_input_of_a_list_may_be_the_result,
    nothing_is_kept_of_a_failed_rewriting,
    all_waiters_get_the_same,
    needing_itself_is_an_error_here_too,
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

/// 173: Inputs are compared by identity.
fn an_equal_object_is_another<P: Pointer>() {
    let memo = Memo::<P, Rewritten<P>>::new();
    let (input, equal) = (P::from(1), P::from(1));
    for _ in 0..2 {
        let result = memo.get_or_rewrite(&input, |_| equal.clone());
        assert!(same(&result, &equal) && !same(&result, &input));
    }
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

/// 173, 200: Also of a list, whatever values are beside it: those are no inputs.
fn any_input_of_a_list_may_be_the_result<P: Pointer>() {
    for result in 0..3 {
        let memo = Memo::<Parts<P>, Rewritten<P>>::new();
        let inputs = objects::<P>(3);
        let weak = P::downgrade(&inputs[result]);
        for _ in 0..2 {
            let key = (&inputs[..2], "text", &inputs[2], &7);
            let given = memo.get_or_rewrite(key, |_| inputs[result].clone());
            assert!(same(&given, &inputs[result]));
        }
        assert_eq!(memo.statistics().misses, 1);
        drop(inputs);
        assert!(weak.upgrade().is_none());
        memo.purge();
        assert!(memo.is_empty());
    }
}

/// 173: An input of another type cannot be the result.
#[test]
fn inputs_of_several_types() {
    let memo = Memo::<(Strong<str>, Arc<usize>, Strong<usize>), Rewritten<Strong<usize>>>::new();
    let (name, number) = (Strong::from("name"), Arc::new(1));
    let term = Strong::new(2);
    let weak = Strong::downgrade(&term);
    for _ in 0..2 {
        let result = memo.get_or_rewrite((&name, &number, &term), |_| term.clone());
        assert!(Strong::ptr_eq(&result, &term));
    }
    drop(term);
    assert!(weak.upgrade().is_none());
    memo.purge();
    assert!(memo.is_empty());
}

/// 175
fn nothing_is_kept_of_a_failed_rewriting<P: Pointer>() {
    let (memo, input) = (Memo::<P, Rewritten<P>>::new(), P::from(1));
    let failed = memo.try_get_or_rewrite(&input, |_| Err("no"));
    assert_eq!(failed.err(), Some("no"));
    assert!(memo.get_rewritten(&input).is_none() && memo.is_empty());
    for _ in 0..2 {
        let done = memo.try_get_or_rewrite(&input, |_| Ok::<_, ()>(input.clone()));
        assert!(same(&done.expect("no failure"), &input));
    }
    let statistics = memo.statistics();
    assert_eq!((statistics.hits, statistics.misses), (1, 2));
    assert_eq!((statistics.failures, memo.len()), (1, 1));
}

/// 176: Each gets a clone of its own input, or of the one result.
fn all_waiters_get_the_same<P: Pointer>() {
    let threads = scaled(4, 2);
    for round in 0..scaled(100, 4) {
        let (memo, input, other) = (Memo::<P, Rewritten<P>>::new(), P::from(1), P::from(2));
        let wanted = if round % 2 == 0 { &input } else { &other };
        let (barrier, rewritten) = (Barrier::new(threads), Count::default());
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    barrier.wait();
                    let result = memo.get_or_rewrite(&input.clone(), |_| {
                        rewritten.add();
                        wanted.clone()
                    });
                    assert!(same(&result, wanted));
                });
            }
        });
        assert_eq!(rewritten.get(), 1);
    }
}

/// 174
fn needing_itself_is_an_error_here_too<P: Pointer>() {
    let (memo, input) = (Memo::<P, Rewritten<P>>::new(), P::from(1));
    let ask = || memo.get_or_rewrite(&input, |_| memo.get_or_rewrite(&input, |_| unreachable!()));
    assert!(panics(|| drop(ask())));
    assert!(same(
        &memo.get_or_rewrite(&input, |_| input.clone()),
        &input
    ));
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

/// 173: The entry keeps a result that contains its input only weakly, as documented: the result lives while it
/// is used, and so does its entry.
#[test]
fn a_result_that_owns_its_input_is_weak() {
    struct Term(Option<Strong<Term>>);
    let memo = Memo::<Strong<Term>, weakly::Weak<Term>>::new();
    let made = Count::default();
    let derive = |term: &Strong<Term>| {
        let mut own = None;
        let weak = memo.get_or_compute(term, |cx| {
            made.add();
            let result = own.insert(Strong::new(Term(Some(term.clone()))));
            cx.depends_on(result);
            Strong::downgrade(result)
        });
        weak.upgrade().expect("this test drops it")
    };
    let term = Strong::new(Term(None));
    let weak = Strong::downgrade(&term);
    let one = derive(&term);
    assert!(Strong::ptr_eq(&one, &derive(&term)));
    assert!(
        one.0
            .as_ref()
            .is_some_and(|inside| Strong::ptr_eq(inside, &term))
    );
    assert_eq!(made.get(), 1);
    drop(one);
    drop(derive(&term));
    assert_eq!(made.get(), 2, "it was not in use");
    drop(term);
    assert!(weak.upgrade().is_none());
    memo.purge();
    assert!(memo.is_empty());
}
