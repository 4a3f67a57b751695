//! Debug builds know whether a thread holds the lock of a bucket.

use std::thread;

use super::super::bucket::Bucket;
use crate::sync::in_critical;

/// A thread with two locks knows that it holds locks, also after unlocking the first. Other threads
/// hold none.
#[test]
fn a_thread_knows_its_locks() {
    let buckets: [Bucket<u64>; 2] = [Bucket::new(), Bucket::new()];
    let [first, second] = buckets.each_ref().map(|bucket| bucket.lock(bucket.meta()));
    assert_eq!(in_critical(), cfg!(debug_assertions));
    thread::scope(|scope| _ = scope.spawn(|| assert!(!in_critical())));
    drop(first);
    assert_eq!(in_critical(), cfg!(debug_assertions));
    second.unwrap().moved();
    assert!(!in_critical());
    assert!(buckets[1].lock(buckets[1].meta()).is_none());
    assert!(!in_critical());
}
