//! The feature `derive`: `#[derive(Trace)]`. What does not compile, and what the compiler says then, is in `tests/ui`.
//!
//! * `derive/shown.rs`: which handles are shown, and under which names.
//! * `derive/bounds.rs`: what the parameters of a type have to be.
//! * `derive/names.rs`: names, attributes and macros in the user's code.

// Nothing reads a field that is skipped.
#![allow(dead_code)]

#[path = "derive/bounds.rs"]
mod bounds;
#[path = "derive/names.rs"]
mod names;
#[path = "derive/shown.rs"]
mod shown;

use weakly::{WeakMap, cycles::Cycles, cycles::Trace, local::Strong};

type Key = Strong<u8>;

/// Whether an entry goes whose key nothing but its value owns: all handles in the value are shown.
fn goes<V: Trace + 'static>(value: impl FnOnce(Key) -> V) -> bool {
    let key = Strong::new(1);
    let value: Box<dyn Trace> = Box::new(value(key.clone()));
    let mut map = WeakMap::from([(&key, value)]);
    drop(key);
    map.purge_cycles().removed == 1
}

/// The fields on the paths to the handles in a value.
fn fields<V: Trace + 'static>(value: impl FnOnce(Key) -> V) -> Vec<String> {
    let (key, held) = (Strong::new(1), Strong::new(2));
    let value: Box<dyn Trace> = Box::new(value(held.clone()));
    let mut map = WeakMap::from([(&key, value)]);
    let holders = Cycles::new().with(&mut map).holders(&held);
    let paths = holders.paths().map(|path| {
        let path = path.to_string();
        let (_, fields) = path.split_once("> .").expect("a map, and a field");
        fields.to_owned()
    });
    paths.collect()
}

/// Compiles if a type is `Trace`.
fn is_trace<T: ?Sized + Trace>() {}
