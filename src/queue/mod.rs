//! Queues of notices. Through such a queue, a collection with one owner learns which of its objects
//! have died.

#[cfg(all(test, weakly_loom))]
mod models;
mod notice_queue;
mod owner;

pub(crate) use notice_queue::NoticeQueue;
pub(crate) use owner::{DeadNotice, DeadQueue, OwnedWatch};
