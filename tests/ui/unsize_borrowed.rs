//~ `unsize!` takes a `Strong` or a `Weak` of this crate, by value, not `&Strong<i32, Atomic>`
//~ clone a borrowed handle first
use std::fmt::Display;
use weakly::{Strong, unsize};

pub fn shown(number: &Strong<i32>) -> Strong<dyn Display> {
    unsize!(number => dyn Display)
}
