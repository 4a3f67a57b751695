//! Memoisation that never keeps its inputs alive.

mod cache;
mod computation;
mod cyclic;
mod key;
mod keys;
mod racing;
mod rewriting;
mod statistics;
mod tasks;
mod timeout;
mod watches;

pub use cache::Memo;
pub use computation::Computation;
pub use key::{Many, MemoKey, MemoQuery, Part, ToValue, TraceKey, Value};
pub use rewriting::Rewritten;
pub use statistics::Statistics;
pub use timeout::TimedOut;

pub use tasks::Dependencies;
