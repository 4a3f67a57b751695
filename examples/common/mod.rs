//! What the programs that read files share: arguments, files, memory accounting, the progress bar, the table.
//! Each includes it with `#[path = "../common/mod.rs"]`.

#![allow(dead_code)] // each program uses a part of it

pub(crate) mod alive;
pub(crate) mod memory;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod sources;
