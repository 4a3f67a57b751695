//! What a memo must do. Each test's comment begins with the number of the behaviour that it shows: those
//! of the section M that are about memos are 172 to 177.

#[path = "memo/circles.rs"]
mod circles;
mod common;
#[path = "memo/dependencies.rs"]
mod dependencies;
#[cfg(not(miri))] // where the addresses of frames say nothing
#[path = "memo/depth.rs"]
mod depth;
#[path = "memo/destructors.rs"]
mod destructors;
#[path = "memo/failures.rs"]
mod failures;
#[path = "memo/inputs.rs"]
mod inputs;
#[path = "memo/rewriting.rs"]
mod rewriting;
#[path = "memo/statistics.rs"]
mod statistics;
#[path = "memo/sweeps.rs"]
mod sweeps;
#[path = "memo/tools.rs"]
mod tools;
