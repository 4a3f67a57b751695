//~ `(Rc<str>, Rc<str>)` is not the key of a memo
//~ threads share `Strong`, `Arc` and `Anchor`
use std::rc::Rc;
use weakly::Memo;

pub fn distances() -> Memo<(Rc<str>, Rc<str>), usize> {
    Memo::new()
}
