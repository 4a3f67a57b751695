//~ the following trait bounds were not satisfied
//~ #[derive(Hash)]
use weakly::{Interner, Strong};

#[derive(PartialEq, Eq)]
pub struct Term(u32);

pub fn intern(terms: &mut Interner<Strong<Term>>) -> Strong<Term> {
    terms.intern(Term(1))
}
