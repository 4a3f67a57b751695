//! Threads that wait for a result which is not kept: they look again.

use std::cell::Cell;
use std::thread;

use weakly::memo::untracked;

use crate::asked::Memo;
use crate::common::panics;
use crate::for_each_pointer;
use crate::tools::{Count, Pointer};

for_each_pointer!(who_waits_for_what_is_not_kept_looks_again);

type Change<P> = fn(&Memo<P, usize>, &P);

/// 176, 201: What is computed goes only to who computes it, unless it is kept. A waiter finds what was inserted, and
/// computes what was taken out, once.
fn who_waits_for_what_is_not_kept_looks_again<P: Pointer>() {
    let changes: [(Change<P>, Option<usize>); 5] = [
        (|_, _| (), Some(7)),
        (
            |memo, input| assert_eq!(memo.insert(input, 3), None),
            Some(3),
        ),
        (|memo, input| assert_eq!(memo.invalidate(input), 0), None),
        (|memo, input| assert!(memo.remove(input).is_none()), None),
        (|memo, _| memo.clear(), None),
    ];
    for (change, there) in changes {
        let (memo, input) = (Memo::<P, usize>::new(), P::from(1));
        let (computed, waiting) = (Count::default(), Waiting::<P>::new());
        let asks = || {
            memo.get_or_compute(&input, |_| {
                computed.add();
                8
            })
        };
        let (made, waited) = thread::scope(|scope| {
            let mut waiter = None;
            let made = memo.get_or_compute(&input, |_| {
                waiter = Some(scope.spawn(|| waiting.during(asks)));
                waiting.has_begun();
                change(&memo, &input);
                7
            });
            (made, waiter.map(|waiter| waiter.join().unwrap()))
        });
        assert_eq!((made, waited), (7, Some(there.unwrap_or(8))));
        assert_eq!(computed.get(), usize::from(there.is_none()));
        assert_eq!((memo.get(&input), memo.len()), (waited, 1));
        let statistics = memo.statistics();
        // (A call that would have waited for itself is a miss, too.)
        let computed = computed.get() as u64;
        assert!(statistics.hits == 1 - computed && statistics.misses > computed);
        assert_eq!(statistics.invalidated, u64::from(there != Some(7)));
    }
}

/// Tells a thread that computes when another one waits for it: the other asks within a computation of its own, which the
/// first asks for, too. That is an error as soon as the other waits, and not before.
struct Waiting<P: Pointer> {
    memo: Memo<P, usize>,
    key: P,
}

impl<P: Pointer> Waiting<P> {
    fn new() -> Self {
        let (memo, key) = (Memo::new(), P::from(0));
        Waiting { memo, key }
    }

    /// What `ask` returns, which is to wait. If it is the one that gets the error, it begins anew.
    fn during(&self, ask: impl Fn() -> usize) -> usize {
        loop {
            let asked = self.memo.try_get_or_compute(&self.key, |_| {
                let got = Cell::new(None);
                panics(|| got.set(Some(ask())));
                got.take().ok_or(())
            });
            if let Ok(got) = asked {
                return got;
            }
        }
    }

    /// Returns when the other thread waits for this one.
    fn has_begun(&self) {
        let ask = || {
            let asked = self.memo.try_get_or_compute(&self.key, |_| Err(()));
            assert_eq!(asked, Err(()), "it does not wait");
        };
        while !panics(|| untracked(ask)) {
            thread::yield_now();
        }
    }
}
