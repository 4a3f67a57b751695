//! `get_or_compute_racing`: what a race depends on. (Who wins is in `concurrent/racing.rs` and `flight/failing.rs`.)

use weakly::memo::Value;

use crate::asked::Memo;
use crate::for_each_pointer;
use crate::tools::{Pointer, objects};

for_each_pointer!(
    it_depends_on_what_it_declares,
    what_is_invalidated_meanwhile_is_not_kept,
);

/// 280
fn it_depends_on_what_it_declares<P: Pointer>() {
    let memo = Memo::<P, usize>::new();
    let mut all = objects::<P>(2);
    memo.get_or_compute_racing(&all[0], |cx| {
        cx.depends_on(&all[1]);
        1
    });
    assert_eq!(memo.get(&all[0]), Some(1));
    drop(all.pop());
    assert_eq!(memo.get(&all[0]), None);
}

/// 280, 471: By the key, by what was declared, by a removal, by clearing.
fn what_is_invalidated_meanwhile_is_not_kept<P: Pointer>() {
    type Key<P> = (P, Value<usize>);
    let (memo, all) = (Memo::<Key<P>, usize>::new(), objects::<P>(2));
    let (key, declared) = (&all[0], &all[1]);
    let changes: [&dyn Fn(); 4] = [
        &|| _ = memo.invalidate(key),
        &|| _ = memo.invalidate(declared),
        &|| _ = memo.remove((key, &1)),
        &|| memo.clear(),
    ];
    for (number, change) in changes.iter().enumerate() {
        let got = memo.get_or_compute_racing((key, &1), |cx| {
            cx.depends_on(declared);
            change();
            number
        });
        assert_eq!((got, memo.get((key, &1))), (number, None));
    }
    if P::NOTIFIES {
        // Of other keys, it may be anything.
        let other = &objects::<P>(1)[0];
        let got = memo.get_or_compute_racing((key, &2), |_| {
            memo.insert((other, &1), 7);
            assert_eq!((memo.invalidate(other), memo.remove((key, &3))), (1, None));
            8
        });
        assert_eq!((got, memo.get((key, &2))), (8, Some(8)));
    }
    // What begins after that is kept.
    assert_eq!(memo.get_or_compute_racing((key, &1), |_| 9), 9);
    assert_eq!(memo.get((key, &1)), Some(9));
}
