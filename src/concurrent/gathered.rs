//! The objects on which a computation depends besides its key: each object once.

use std::vec::Vec;

use hashbrown::HashTable;

use super::watch::{AnyWatch, Watched};
use crate::sync::{allocating, make_room, move_table};

/// Up to `FEW` watches are compared one by one: most computations depend on fewer objects.
const FEW: usize = 16;

/// The watches of a computation, each on a different object.
#[derive(Default)]
pub(crate) struct Gathered {
    watches: Vec<AnyWatch>,
    /// A bit for the hash of each object: most new objects have a bit that is not yet set.
    bits: u64,
    /// The places of the watches by their objects, if there are more than a few watches.
    places: HashTable<usize>,
    /// Whether the result of the computation is not to be kept (I2 of [`inputs`](super::inputs)).
    spoiled: bool,
    /// Whether the computation has asked for a result that had ended.
    ended: bool,
}

/// Memory for a [`Gathered`].
type GatheredMemory = (Vec<AnyWatch>, HashTable<usize>);

impl Gathered {
    /// Whether there is a watch on an object. O(1).
    #[inline]
    pub(crate) fn has(&self, object: Watched) -> bool {
        self.bits & bit(object) != 0 && self.finds(object)
    }

    #[cold]
    #[inline(never)]
    fn finds(&self, object: Watched) -> bool {
        if self.places.is_empty() {
            return self.watches.iter().any(|watch| watch.watched() == object);
        }
        let is_it = |&at: &usize| self.watches[at].watched() == object;
        self.places.find(object.hash(), is_it).is_some()
    }

    /// Adds a watch on an object that has none here. O(1) amortised.
    #[inline]
    pub(crate) fn push(&mut self, object: Watched, watch: AnyWatch) {
        if self.watches.len() >= FEW {
            self.note_next(object);
        }
        self.bits |= bit(object);
        self.watches.push(watch);
    }

    #[cold]
    #[inline(never)]
    fn note_next(&mut self, object: Watched) {
        allocating(|room| self.make_room(room));
        let place = self.watches.len();
        self.places
            .insert_unique(object.hash(), place, |_| unreachable!("there is room"));
    }

    /// Makes room for a further watch. The error is the capacity that is missing.
    pub(crate) fn make_room(&mut self, room: &mut GatheredMemory) -> Result<(), (usize, usize)> {
        make_room(&mut self.watches, 1, &mut room.0).map_err(|len| (len, 0))?;
        let (len, places) = (self.watches.len(), self.places.len());
        if len < FEW || len < self.places.capacity() {
            return Ok(());
        }
        if room.1.capacity() <= len {
            return Err((0, 2 * len));
        }
        let Gathered {
            watches,
            places: table,
            ..
        } = self;
        let hash = |&at: &usize| watches[at].watched().hash();
        move_table(table, &mut room.1, hash);
        for at in places..len {
            table.insert_unique(hash(&at), at, |_| unreachable!("there is room"));
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.watches.len()
    }

    pub(crate) fn spoil(&mut self) {
        self.spoiled = true;
    }

    /// Spoils the list, because an input has ended.
    pub(crate) fn note_ended(&mut self) {
        (self.spoiled, self.ended) = (true, true);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(crate) fn is_spoiled(&self) -> bool {
        self.spoiled
    }

    #[inline]
    pub(crate) fn into_watches(self) -> Vec<AnyWatch> {
        self.watches
    }
}

#[inline]
fn bit(object: Watched) -> u64 {
    1 << (object.hash() % 64)
}
