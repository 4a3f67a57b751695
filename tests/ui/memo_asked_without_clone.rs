//~ a `Value<Options>` in the key of a memo is not asked by a reference to `Options`
//~ pass `Value(t)`; a reference to a `Options` needs `Options: Clone`
//!~ ToOwned
use weakly::{Memo, Strong, memo::Value};

#[derive(PartialEq, Eq, Hash)]
pub struct Options(u8);

type Compiled = Memo<(Strong<str>, Value<Options>), usize>;

pub fn compile(compiled: &Compiled, source: &Strong<str>, options: &Options) -> usize {
    compiled.get_or_compute((source, options), |_| source.len())
}
