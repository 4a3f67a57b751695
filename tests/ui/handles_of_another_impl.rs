//~ the trait `Send` requires an `unsafe impl` declaration
#![forbid(unsafe_code)]
use std::cell::Cell;

pub struct Counter<'a>(pub &'a Cell<u64>);

weakly::impl_handle! { @handles ['a> Send for Counter<'a> {} #[cfg(any())] impl<] u8, u8, u8, u8 }
