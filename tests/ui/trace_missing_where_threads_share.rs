//~ `Sound` does not show which strong handles it owns
//~ `weakly::impl_trace!` implements `Trace`, and so does `#[derive(Trace)]` (feature `derive`)
use weakly::{Memo, Strong, concurrent::WeakMap};

pub struct Sound;

pub fn purge(sounds: &WeakMap<Strong<str>, Sound>, made: &Memo<Strong<str>, Sound>) -> usize {
    sounds.purge_cycles().removed + made.purge_cycles().removed
}
