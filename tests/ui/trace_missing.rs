//~ `Sound` does not show which strong handles it owns
//~ `weakly::impl_trace!` implements `Trace`
use weakly::{Strong, WeakMap, cycles::Purged};

pub struct Sound;

pub fn purge(sounds: &mut WeakMap<Strong<str>, Sound>) -> Purged {
    sounds.purge_cycles()
}
