//~ `String` is not a strong handle that collections can refer to weakly
use weakly::Interner;

pub fn words() -> Interner<String> {
    Interner::new()
}
