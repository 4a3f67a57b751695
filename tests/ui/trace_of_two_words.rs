//~ a field is named alone, or after `each`
use weakly::impl_trace;

pub struct Word {
    letters: Vec<u8>,
}
impl_trace!(Word: every letters);
