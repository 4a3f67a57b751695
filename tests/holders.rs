//! The feature `holders`: each strong handle knows where it was made, and what has leaked names its holders.
//! With line tables: `cargo test --profile lines --features holders --test holders`.
//!
//! * `holders/handles.rs`: all the ways in which a handle begins, changes and ends.
//! * `holders/collections.rs`: handles that collections make name the caller of the collection.
//! * `holders/leaks.rs`: snapshots and leak checks.
//! * `holders/list.rs`: the list of all shared collections.
//! * `holders/hostile.rs`: destructors, panics, threads, the end of a thread.

#[path = "holders/collections.rs"]
mod collections;
mod common;
#[path = "holders/handles.rs"]
mod handles;
#[path = "holders/hostile.rs"]
mod hostile;
#[path = "holders/leaks.rs"]
mod leaks;
#[path = "holders/list.rs"]
mod list;

use common::heap::Heap;
use hostile::Pausing;
use weakly::ptr::{self, Flavour};

#[global_allocator]
static HEAP: Heap<Pausing> = Heap(Pausing);

/// The lines where the handles of an object were made; all must be in `file`, and made by this thread.
#[track_caller]
fn lines_in<T: ?Sized, F: Flavour>(file: &str, strong: &ptr::Strong<T, F>) -> Vec<u32> {
    let line = |origin: weakly::holders::Origin| {
        let found = origin.location();
        assert_eq!(
            found.file(),
            file,
            "without line tables there is none: `--profile lines`"
        );
        assert_eq!(origin.thread().id(), std::thread::current().id());
        found.line()
    };
    ptr::Strong::holders(strong).into_iter().map(line).collect()
}

/// The lines of this object's handles, which must all be in the file that calls.
macro_rules! lines {
    ($strong:expr) => {
        $crate::lines_in(file!(), $strong)
    };
}
use lines;
