use std::sync::{Arc, LazyLock};
use tokio::sync::{Mutex, OwnedMutexGuard};
use weakly::concurrent::WeakValueMap;

static LOCKS: LazyLock<WeakValueMap<String, Arc<Mutex<()>>>> = LazyLock::new(WeakValueMap::new);

/// Locks an account until the guard is dropped.
async fn lock(account: &str) -> OwnedMutexGuard<()> {
    let there = LOCKS.get(account);
    let lock = there.unwrap_or_else(|| LOCKS.get_or_insert_with(account.into(), |_| Arc::default()));
    lock.lock_owned().await // the guard owns the handle
}
