//~ an iterator that yields `char` does not show what is in its collection
//~ this must be a reference to what implements `Trace`, or a pair of such references
use weakly::impl_trace;

pub struct Word {
    letters: Letters,
}
impl_trace!(Word: each letters);

pub struct Letters(String);

impl<'a> IntoIterator for &'a Letters {
    type Item = char;
    type IntoIter = std::str::Chars<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.chars()
    }
}
