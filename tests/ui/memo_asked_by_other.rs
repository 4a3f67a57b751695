//~ a memo whose keys are `(Strong<str, Atomic>, Value<u32>)` is not asked by `&Strong<str, Atomic>`
//~ a tuple with one argument for each part of the key
use weakly::{Memo, Strong, memo::Value};

pub fn found(memo: &Memo<(Strong<str>, Value<u32>), usize>, text: &Strong<str>) -> Option<usize> {
    memo.get(text)
}
