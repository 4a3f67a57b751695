//! loom models of the loans: what upgrades leave with a group, against its end, its owner's questions,
//! and payments. (Here two loans are many.)

use loom::thread;

use crate::ptr::models::{Payload, both, check, check_three, peek};
use crate::ptr::{Atomic, Handle};
use crate::{Strong, Weak};

/// A weak handle to an object whose group has been lent so many units.
fn lend(strong: &Strong<Payload>, loans: usize) -> Weak<Payload> {
    let weak = Strong::downgrade(strong);
    for _ in 0..loans {
        assert!(peek(&weak));
    }
    assert_eq!(
        super::lent::<Atomic>(strong.header().count.load(super::Relaxed)),
        loans
    );
    weak
}

#[test]
fn loans_go_with_the_last_group() {
    for loans in 0..=2 {
        check(1, move |a| {
            let weak = lend(&a, loans);
            drop(a);
            assert!(weak.is_expired());
        });
    }
}

#[test]
fn the_end_of_a_group_with_loans_against_an_upgrade() {
    for loans in 1..=2 {
        check(1, move |a| {
            let weak = lend(&a, loans);
            both(
                move || {
                    peek(&weak);
                },
                move || drop(a),
            );
        });
    }
}

/// Groups that end one after the other, each with a look at the loans; with two, upgrades also pay.
#[test]
fn the_ends_of_three_groups_with_loans() {
    for loans in 1..=2 {
        check_three(1, move |a| {
            let weak = lend(&a, loans);
            let again = weak.clone();
            let one = thread::spawn(move || {
                peek(&weak);
            });
            let two = thread::spawn(move || {
                peek(&again);
            });
            drop(a);
            one.join().unwrap();
            two.join().unwrap();
        });
    }
}

#[test]
fn two_payments_while_the_object_lives() {
    check(1, |a| {
        let weak = lend(&a, 2);
        let again = weak.clone();
        both(move || assert!(peek(&again)), || assert!(peek(&weak)));
        drop(a);
        assert!(weak.is_expired());
    });
}

#[test]
fn get_mut_against_a_payment() {
    for loans in 1..=2 {
        check(1, move |mut a| {
            let weak = lend(&a, loans);
            both(
                move || {
                    peek(&weak);
                },
                || {
                    if let Some(payload) = Handle::get_mut(&mut a) {
                        payload.write();
                    }
                },
            );
            // Loans must not disable it.
            Handle::get_mut(&mut a).unwrap().write();
        });
    }
}

#[test]
fn try_unwrap_against_a_payment() {
    for loans in 1..=2 {
        check(1, move |a| {
            let weak = lend(&a, loans);
            both(
                move || {
                    peek(&weak);
                    peek(&weak);
                },
                move || match Handle::try_unwrap(a) {
                    Ok(mut payload) => payload.write(),
                    Err(a) => a.read(),
                },
            );
        });
    }
}

/// The count that `try_unwrap` has seen first can come back: a payment, and a loan after it.
#[test]
fn try_unwrap_against_two_upgraders() {
    for loans in 1..=2 {
        check_three(1, move |a| {
            let weak = lend(&a, loans);
            let again = weak.clone();
            let one = thread::spawn(move || {
                peek(&weak);
            });
            let two = thread::spawn(move || {
                peek(&again);
            });
            match Handle::try_unwrap(a) {
                Ok(mut payload) => payload.write(),
                Err(a) => a.read(),
            }
            one.join().unwrap();
            two.join().unwrap();
        });
    }
}

/// Whoever has been told that the others are done is alone.
#[test]
fn loans_do_not_stand_against_the_only_handle() {
    check(1, |a| {
        let weak = lend(&a, 1);
        both(move || assert!(peek(&weak)), || {});
        let mut payload = Handle::try_unwrap(a).ok().unwrap();
        payload.write();
    });
}
