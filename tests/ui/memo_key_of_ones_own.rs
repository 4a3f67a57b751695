//~ `MemoKey` is a "sealed trait"
use weakly::{Strong, memo::MemoKey};

pub struct Mine(Strong<i32>, Strong<str>);

impl MemoKey for Mine {}
