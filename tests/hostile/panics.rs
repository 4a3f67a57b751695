//! Panics in user code.

use crate::common::custom::{self, Custom};
use crate::common::own::{self, Own};
use crate::common::subject::single::{Maps, quietly};
use crate::common::{panics, quiet_panic};
use weakly::{Strong, WeakPairMap};

/// 182: The destructor of a payload panics: the death completes.
#[test]
fn payload_in_its_death() {
    let key = Strong::new(Custom::ending(0, |_| quiet_panic()));
    let weak = Strong::downgrade(&key);
    let mut map = Maps::from([(&key, custom::owned(1, &quietly()))]);
    assert!(panics(|| drop(key)));
    assert!(weak.is_expired());
    assert_eq!(map.len_live(), 0);
    assert!(map.drain_dead().map(|value| value.number.number).eq([1]));
}

/// J137: With `run_now`, the panic is the caller's, and the token is used up.
#[test]
fn finalizer_run_now() {
    let key = Strong::new(1);
    let token = Strong::finalize(&key, || quiet_panic());
    assert!(panics(|| _ = token.run_now()));
    assert!(!token.run_now() && !token.is_pending());
}

/// I192: The closure that makes an object from a weak handle to it panics: there is none.
#[test]
fn construction() {
    let mut kept = None;
    let panicked = panics(|| {
        let _ = Strong::<i32>::new_cyclic(|me| {
            kept = Some(me.clone());
            quiet_panic()
        });
    });
    assert!(panicked && kept.unwrap().upgrade().is_none());
}

/// J134: A second panic while the first unwinds aborts the process, as with every destructor. This test runs itself
/// again, in a process of its own.
#[test]
#[cfg_attr(miri, ignore = "no processes")]
fn two_finalizers_abort() {
    const CHILD: &str = "WEAKLY_TEST_TWO_FINALIZERS";
    if std::env::var_os(CHILD).is_some() {
        let key = Strong::new(1);
        Strong::finalize(&key, || quiet_panic());
        Strong::finalize(&key, || quiet_panic());
        assert!(panics(|| drop(key)));
        return; // not reached
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "panics::two_finalizers_abort"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(!child.status.success());
    assert_ne!(child.status.code(), Some(101), "not a failed test");
}

/// 181: A pointer that panics while it replaces another: the entry is as it was, or as it would have been, but
/// counted once, whichever side dies.
#[test]
fn pointers_that_panic() {
    let mut caught = 0;
    for patience in 0..4 {
        for value_dies_first in [false, true] {
            let [key, old, new] = [1, 2, 3].map(Own::<()>::new);
            let mut map = WeakPairMap::new();
            map.insert(&key, &old);
            own::set_requests_left(Some(patience));
            caught += usize::from(panics(|| drop(map.insert(&key, &new))));
            own::set_requests_left(None);
            assert_eq!((map.len(), map.len_live(), map.pending_dead()), (1, 1, 0));
            let (first, second) = match value_dies_first {
                true => ([Some(old), Some(new)], Some(key)),
                false => ([Some(key), None], None),
            };
            drop(first);
            assert_eq!((map.len(), map.len_live(), map.pending_dead()), (0, 0, 1));
            drop(second);
            assert_eq!((map.len(), map.len_live(), map.pending_dead()), (0, 0, 1));
            map.purge();
            assert_eq!((map.len(), map.pending_dead()), (0, 0));
        }
    }
    assert!(caught >= 2, "{caught}");
}
