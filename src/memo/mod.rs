//! Memoisation that never keeps its inputs alive.

mod cache;
mod computation;
mod cyclic;
mod key;
mod rewriting;
mod watches;

pub use cache::{Memo, Statistics};
pub use computation::Computation;
pub use key::MemoKey;
pub use rewriting::Rewritten;
