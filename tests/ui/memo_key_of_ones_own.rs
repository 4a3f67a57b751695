//~ a part is a handle that threads share, `Many` of them, or a `Value`
use weakly::{Strong, memo::MemoKey};

pub struct Mine(Strong<i32>, Strong<str>);

impl MemoKey for Mine {}
