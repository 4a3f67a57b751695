//~ `Box<i32>` has no identity
//~ neither a key nor the weak handle of one
use weakly::ByIdentity;

pub fn main() {
    std::collections::HashSet::from([ByIdentity(Box::new(1_i32))]);
}
