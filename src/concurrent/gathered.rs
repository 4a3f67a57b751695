//! The objects on which a computation depends besides its key: each object once.

use hashbrown::HashTable;

use super::watch::{AnyWatch, Watched};
use crate::sync::{missing_in, move_table};

/// The watches of a computation, each on a different object.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) watches: HashTable<AnyWatch>,
    /// Whether the result of the computation is not to be kept (I2 of [`inputs`](super::inputs)).
    pub(crate) spoiled: bool,
    /// Whether the computation has asked for a result that had ended.
    pub(crate) ended: bool,
}

impl Gathered {
    /// Whether there is a watch on an object. O(1).
    #[inline]
    pub(crate) fn has(&self, object: Watched) -> bool {
        let is_it = |watch: &AnyWatch| watch.watched() == object;
        self.watches.find(object.hash(), is_it).is_some()
    }

    /// Adds a watch on an object that has none here. The caller has made room.
    #[inline]
    pub(crate) fn push(&mut self, object: Watched, watch: AnyWatch) {
        self.watches.insert_unique(object.hash(), watch, hash);
    }

    /// Makes room for a further watch: moves a full list into the memory `room`. The error is the
    /// capacity that `room` must have for this.
    pub(crate) fn make_room(&mut self, room: &mut HashTable<AnyWatch>) -> Result<(), usize> {
        match missing_in(&self.watches) {
            0 => {}
            more if room.capacity() < more => return Err(more),
            _ => move_table(&mut self.watches, room, hash),
        }
        Ok(())
    }

    /// Spoils the list, because an input has ended.
    pub(crate) fn note_ended(&mut self) {
        (self.spoiled, self.ended) = (true, true);
    }
}

fn hash(watch: &AnyWatch) -> u64 {
    watch.watched().hash()
}
