//~ use a `HashMap`, or put the object first
use weakly::{Memo, Strong, memo::Value};

pub fn found() -> Memo<(Value<u32>, Strong<str>), u32> {
    Memo::new()
}
