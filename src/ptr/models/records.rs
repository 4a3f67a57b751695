//! Records: how records are made, and pointers, finalizers and `get_mut` beside them.

use super::pointers::{
    get_mut_against_downgrade, get_mut_against_upgrade_and_downgrade, get_mut_against_upgrade_of,
};
use super::*;
use crate::ptr::FinalizerToken;

/// Adds a finalizer, and so a record.
fn finalized(a: &Strong<Payload>) -> FinalizerToken<Atomic> {
    Strong::finalize(a, || {})
}

/// Adds a record, and nothing else.
fn record(a: &Strong<Payload>) {
    drop(finalized(a));
}

#[test]
fn two_inflate_nothing() {
    check_shared(|a, b| {
        both(
            move || {
                finalized(&b);
                drop(b);
            },
            || {
                finalized(&a);
                drop(a);
            },
        );
    });
}

/// A thread that waits while the state is locked may afterwards find a record that another thread
/// has made.
#[test]
fn a_locked_state_becomes_a_record() {
    check(1, |maker| {
        let mut a = maker.object();
        let (b, c) = (a.clone(), a.clone());
        all_three(
            move || drop(finalized(&b)),
            move || drop(Strong::downgrade(&c)),
            || write_if_alone(&mut a),
        );
    });
}

#[test]
fn inflation_against_a_weak_count() {
    check_shared(|a, b| {
        both(
            move || drop(finalized(&b)),
            || assert!(Strong::weak_count(&a) <= 1),
        );
    });
}

#[test]
fn inflation_against_a_first_downgrade() {
    check_shared(|a, b| {
        both(
            move || downgrade_and_drop(b),
            || {
                drop(finalized(&a));
                drop(a);
            },
        );
    });
}

#[test]
fn inflation_against_weak_clone_and_drop() {
    check_weak(|a, weak| {
        both(
            move || clone_and_drop(weak),
            || {
                drop(finalized(&a));
                drop(a);
            },
        );
    });
}

#[test]
fn inflation_against_weak_drop_and_death() {
    check_weak(|a, weak| {
        let b = a.clone();
        all_three(
            move || drop(weak),
            move || drop(b),
            || {
                drop(finalized(&a));
                drop(a);
            },
        );
    });
}

#[test]
fn weak_pointers_of_a_record_against_death() {
    check_weak(|a, weak| {
        drop(finalized(&a));
        both(move || clone_and_drop(weak), || drop(a));
    });
}

#[test]
fn get_mut_on_a_record_against_downgrade() {
    get_mut_against_downgrade(record);
}

#[test]
fn get_mut_on_a_record_against_an_upgraded_pointer_that_downgrades_again() {
    get_mut_against_upgrade_and_downgrade(record);
}

#[test]
fn get_mut_on_a_record_against_upgrade() {
    get_mut_against_upgrade_of(record);
}

#[test]
fn get_mut_against_inflation() {
    check_shared(|mut a, b| {
        both(
            move || {
                let token = finalized(&b);
                b.read();
                drop(b);
                token
            },
            || write_if_alone(&mut a),
        );
        assert!(write_if_alone(&mut a));
    });
}

#[test]
fn get_mut_ignores_finalizers() {
    check(1, |maker| {
        let mut a = maker.object();
        let token = finalized(&a);
        let weak = Strong::downgrade(&a);
        both(
            move || {
                drop(token);
                peek(&weak);
            },
            || write_if_alone(&mut a),
        );
        assert!(write_if_alone(&mut a));
    });
}

/// A token is dropped in two steps. A check that sees one count before the drop and the other count
/// after it must not take the weak pointer for a bystander.
#[test]
fn get_mut_is_not_fooled_by_a_token_that_goes() {
    check(1, |maker| {
        let mut a = maker.object();
        let token = finalized(&a);
        let _weak = Strong::downgrade(&a);
        let (_, alone) = both(move || drop(token), || write_if_alone(&mut a));
        assert!(!alone);
    });
}

/// The same check, with a token that is made.
#[test]
fn get_mut_is_not_fooled_by_a_token_that_comes() {
    check(1, |maker| {
        let mut a = maker.object();
        drop(finalized(&a));
        let b = a.clone();
        let weak = Strong::downgrade(&a);
        let (token, alone) = both(
            move || {
                drop(weak);
                finalized(&b)
            },
            || write_if_alone(&mut a),
        );
        let _ = alone;
        assert!(write_if_alone(&mut a));
        drop(token);
    });
}

fn counting(a: &Strong<Payload>, runs: &Arc<AtomicUsize>) -> FinalizerToken<Atomic> {
    let runs = runs.clone();
    Strong::finalize(a, move || {
        runs.fetch_add(1, Relaxed);
    })
}

#[test]
fn a_finalizer_runs_once_or_is_returned() {
    check(1, |maker| {
        let a = maker.object();
        let runs = Arc::new(AtomicUsize::new(0));
        let token = counting(&a, &runs);
        let (detached, _) = both(move || token.detach(), || drop(a));
        let ran = runs.load(Relaxed);
        assert_eq!(ran + usize::from(detached.is_some()), 1);
    });
}

#[test]
fn a_finalizer_is_run_early_once() {
    check(1, |maker| {
        let a = maker.object();
        let runs = Arc::new(AtomicUsize::new(0));
        let token = loom::sync::Arc::new(counting(&a, &runs));
        let again = token.clone();
        all_three(move || token.run_now(), move || again.run_now(), || drop(a));
        assert_eq!(runs.load(Relaxed), 1);
    });
}

/// One finalizer is taken from the middle of the list, while another is added.
#[test]
fn finalizers_come_and_go() {
    check(1, |maker| {
        let a = maker.object();
        let runs = Arc::new(AtomicUsize::new(0));
        let tokens = [0; 2].map(|_| counting(&a, &runs));
        let b = a.clone();
        let its = runs.clone();
        both(
            move || {
                drop(counting(&b, &its));
                drop(b);
            },
            || {
                assert!(tokens[0].detach().is_some());
                assert!(tokens[1].is_pending());
                drop(a);
            },
        );
        assert_eq!(runs.load(Relaxed), 2);
        assert!(!tokens[1].is_pending());
    });
}

#[test]
fn a_token_is_dropped_while_its_object_dies() {
    check(1, |maker| {
        let a = maker.object();
        let token = finalized(&a);
        both(
            move || {
                let _ = token.is_pending();
                drop(token);
            },
            move || drop(a),
        );
    });
}
