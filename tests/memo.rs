//! What a memo must do. Each test's comment begins with the number of the behaviour that it shows: those
//! of the section M that are about memos are 172 to 177.

mod common;
#[path = "memo/destructors.rs"]
mod destructors;
#[path = "memo/tools.rs"]
mod tools;
