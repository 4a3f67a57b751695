//~ `Sound` does not show which strong pointers it owns
use weakly::{Strong, WeakMap};

pub struct Sound;

pub fn purge(sounds: &mut WeakMap<Strong<str>, Sound>) -> usize {
    sounds.purge_cycles()
}
