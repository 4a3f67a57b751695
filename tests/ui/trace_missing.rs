//~ `Sound` does not show which strong handles it owns
//~ `weakly::impl_trace!` implements `Trace`, and so does `#[derive(Trace)]` (feature `derive`)
use weakly::{Strong, WeakMap, cycles::Purged};

pub struct Sound;

pub fn purge(sounds: &mut WeakMap<Strong<str>, Sound>) -> Purged {
    sounds.purge_cycles()
}
