//~ `Sound` does not show which strong pointers it owns
use weakly::{Cycles, Strong, WeakMap};

pub struct Sound;

pub fn purge(sounds: &mut WeakMap<Strong<str>, Sound>) -> usize {
    Cycles::new().with(sounds).purge()
}
