//! Queues of notices: a collection of one owner receives the deaths of its objects through one.

#[cfg(all(test, weakly_loom))]
mod models;
mod notice_queue;
mod owner;

pub(crate) use notice_queue::NoticeQueue;
pub(crate) use owner::{DeadNotice, DeadQueue, OwnedWatch, Seen};
