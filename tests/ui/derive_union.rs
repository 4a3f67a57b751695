//! 676: A union cannot be derived, and the error is at the word.
//~ nobody knows which field of a union is in use: implement `Trace` by hand
//~ derive_union.rs:7:5
use weakly::cycles::Trace;

#[derive(Trace)]
pub union Number {
    pub float: f32,
    pub bits: u32,
}
