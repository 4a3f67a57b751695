//! Queues of notices: a collection receives the deaths of its objects through one. There is a queue for one owner,
//! and one for collections that threads share.

#[cfg(all(test, weakly_loom))]
mod models;
mod notice_queue;
mod owner;
#[cfg(feature = "std")]
#[cfg_attr(weakly_loom, allow(dead_code, unreachable_pub, unused_imports))]
mod shared;

pub(crate) use notice_queue::NoticeQueue;
pub(crate) use owner::{DeadNotice, DeadQueue, Registered, Seen};
#[cfg(all(feature = "std", not(weakly_loom)))]
pub(crate) use shared::{DrainGuard, HookId, SharedQueue, SharedWatch, SharedWatchOf, Stripe};
