//! Memoisation that never keeps its inputs alive.

mod asked;
mod cache;
mod computation;
mod cyclic;
mod key;
mod keys;
mod racing;
mod tasks;
mod timeout;
mod untracked;
mod watches;

pub use cache::Memo;
pub use computation::Computation;
pub use key::{Many, MemoKey, MemoQuery, Part, ToValue, TraceKey, Value};
pub use timeout::TimedOut;
pub use untracked::{untracked, untracked_async};

pub use tasks::Dependencies;
