//! What the programs that read files share: arguments, files, the books on memory, the bar, the table.
//! Each includes it with `#[path = "../common/mod.rs"]`.

#![allow(dead_code)] // each program uses its own part

pub(crate) mod alive;
pub(crate) mod memory;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod sources;
