//~ `Sound` does not show which strong handles it owns
use weakly::{Strong, WeakMap, cycles::{Cycles, Purged}};

pub struct Sound;

pub fn purge(sounds: &mut WeakMap<Strong<str>, Sound>) -> Purged {
    Cycles::new().with(sounds).purge()
}
