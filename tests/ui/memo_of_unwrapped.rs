//~ what is no handle is a `memo::Value<_>`
use weakly::{Memo, Strong};

pub fn found() -> Memo<(Strong<str>, u32), u32> {
    Memo::new()
}
