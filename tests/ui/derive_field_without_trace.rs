//! 676: A field that is not `Trace` is named, at its type.
//~ `Foreign` does not show which strong handles it owns
//~ `#[derive(Trace)]`
//~ derive_field_without_trace.rs:12:25
//!~ required by a bound introduced by this call
use weakly::cycles::Trace;

// The place of the derive is not the place of the error.
#[derive(Trace)]
pub struct Owner {
    pub number: u8,
    pub(crate) foreign: Foreign,
}

pub struct Foreign;
