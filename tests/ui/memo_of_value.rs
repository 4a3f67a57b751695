//~ use a `HashMap`, or put the object first
use weakly::{Memo, memo::Value};

pub fn squares() -> Memo<Value<u32>, u32> {
    Memo::new()
}
