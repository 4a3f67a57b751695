//~ `String` cannot be a weak key: no collection learns of its death
use weakly::Memo;

pub fn lengths() -> Memo<String, usize> {
    Memo::new()
}
