//! Memoisation that never keeps its inputs alive.
//
// The files, in the order of reading. The table of a memo, and the list of a computation's inputs,
// are in `concurrent`.
//
// | file | contents |
// |---|---|
// | `key`, `keys` | the keys of a memo, and queries for these keys; the iteration over keys |
// | `watches` | the watches of an entry on its inputs |
// | `cache` | the memo, and its results computed by threads |
// | `lookup` | lookups, which add their results to the inputs of a computation |
// | `computation` | a computation by a thread |
// | `tasks` | results computed by tasks |
// | `racing`, `timeout` | races for a result; the error of a wait with a timeout |
// | `untracked` | code of a computation that adds nothing to its inputs |
// | `cyclic` | the purge of results that keep their inputs alive |

mod cache;
mod computation;
mod cyclic;
mod key;
mod keys;
mod lookup;
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
