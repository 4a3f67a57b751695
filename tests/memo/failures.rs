//! Computations that panic, fail, or are cancelled: no result is stored, and no thread waits forever.

use crate::asked::Memo;
use crate::for_each_pointer;
use crate::tools::Pointer;

for_each_pointer!(nothing_is_kept_of_a_failure,);

/// 175: Its dependencies are deregistered too.
fn nothing_is_kept_of_a_failure<P: Pointer>() {
    let (memo, input, dependency) = (Memo::<P, usize>::new(), P::from(1), P::from(2));
    let failed = memo.try_get_or_compute(&input, |cx| {
        cx.depends_on(&dependency);
        Err("no")
    });
    assert_eq!((failed, memo.get(&input), memo.len()), (Err("no"), None, 0));
    assert_eq!(memo.try_get_or_compute(&input, |_| Ok::<_, ()>(7)), Ok(7));
    let kept = memo.try_get_or_compute(&input, |_| Err("not asked"));
    assert_eq!(kept, Ok(7));
    drop(dependency);
    assert_eq!((memo.get(&input), memo.pending_dead()), (Some(7), 0));
    let statistics = memo.statistics();
    assert_eq!((statistics.hits, statistics.misses), (1, 2));
    assert_eq!((statistics.invalidated, statistics.failures), (0, 1));
}
