//~ a memo whose keys are `Value<(String, u8)>` is not asked by `(&str, u8)`
//~ the fields of a `T` are no parts of the key
//~ a `Value<(String, u8)>` in the key of a memo is not asked by a reference to `(&str, u8)`
//~ no `(String, u8)` can be made of this
//~ let each field be a part of the key: `(Strong<_>, Value<A>, Value<B>)`
//!~ type mismatch
use weakly::{Memo, Strong, memo::Value};

type Lengths = Memo<(Strong<str>, Value<(String, u8)>), usize>;

pub fn by_value(lengths: &Lengths, text: &Strong<str>) -> Option<usize> {
    lengths.get((text, ("word", 1_u8)))
}

pub fn by_reference(lengths: &Lengths, text: &Strong<str>) -> usize {
    lengths.get_or_compute((text, &("word", 1_u8)), |_| 5)
}
