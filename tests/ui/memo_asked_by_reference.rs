//~ references do not coerce here
use weakly::{Memo, Strong};

pub fn length(memo: &Memo<Strong<str>, usize>, text: &Strong<str>) -> Option<usize> {
    memo.get(&text)
}
