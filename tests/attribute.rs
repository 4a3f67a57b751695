//! What namespaces of attributes must do. (A single attribute is a shared map: see `tests/concurrent.rs`.) Each test's
//! comment begins with the number of the behaviour it shows: those of section M that are about attributes are 166 to 171.

#[path = "attribute/chains.rs"]
mod chains;
mod common;
#[path = "attribute/namespaces.rs"]
mod namespaces;
#[path = "attribute/reentry.rs"]
mod reentry;
#[path = "attribute/single.rs"]
mod single;
#[path = "attribute/threads.rs"]
mod threads;
#[path = "memo/tools.rs"]
mod tools;
#[path = "attribute/transfers.rs"]
mod transfers;

use common::pointers::for_each_pointer;
