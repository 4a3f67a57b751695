//! The recipe *A lock for each key* of the guide, with tokio's `lock_owned`. `tests/house` checks that
//! the guide shows this file.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::runtime::Builder;
use tokio::task::{JoinSet, yield_now};

include!("locks/recipe.rs");

const ACCOUNTS: usize = 3;
const TASKS: usize = 30;
const TURNS: usize = 100;

/// Of the tasks that lock an account, one goes on, across an `await`. A task that is dropped while it
/// waits leaves no lock behind.
#[test]
fn one_task_at_a_time_has_the_lock_of_a_key() {
    let (inside, turns) = (
        Arc::<[AtomicUsize; ACCOUNTS]>::default(),
        Arc::<AtomicUsize>::default(),
    );
    let runtime = Builder::new_multi_thread().build().unwrap();
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let (inside, turns) = (Arc::clone(&inside), Arc::clone(&turns));
            tasks.spawn(async move {
                for turn in 0..TURNS {
                    let account = (task + turn) % ACCOUNTS;
                    let name = account.to_string();
                    if turn % 7 == 0 {
                        let waiting = tokio::spawn(async move { drop(lock(&name).await) });
                        yield_now().await;
                        waiting.abort();
                        continue;
                    }
                    let _guard = lock(&name).await;
                    assert_eq!(inside[account].fetch_add(1, Relaxed), 0);
                    yield_now().await;
                    assert_eq!(inside[account].fetch_sub(1, Relaxed), 1);
                    turns.fetch_add(1, Relaxed);
                }
            });
        }
        tasks.join_all().await;
    });
    drop(runtime); // and with it the tasks that were aborted
    assert_eq!(turns.load(Relaxed), TASKS * (TURNS - TURNS.div_ceil(7)));
    assert_eq!(LOCKS.len_live(), 0);
}
