//! What is under test: one handle for each word, and for each file a table that owns the handles of its words.
//! Neither collection keeps anything alive.

use std::collections::HashMap;
use std::path::PathBuf;

use weakly::{ByIdentity, DefaultHashBuilder, Interner, Strong, WeakValueMap};

use crate::common::alive::{Alive, Counter};
use crate::words::words;

/// The live tables.
pub(crate) static TABLES: Counter = Counter::new();

/// Compared by address: equal words are the same object.
pub(crate) type Word = ByIdentity<Strong<str>>;

/// How often each word occurs in a file.
pub(crate) struct Table {
    pub(crate) counts: HashMap<Word, u32, DefaultHashBuilder>,
    /// For the count of live tables.
    _alive: Alive,
}

#[derive(Default)]
pub(crate) struct Library {
    /// Each word lives as long as some table contains it.
    pub(crate) words: Interner<Strong<str>>,
    /// Each entry lives as long as its table has an owner.
    pub(crate) tables: WeakValueMap<PathBuf, Strong<Table>>,
    /// Words read.
    pub(crate) read: usize,
    /// Those among them that had no handle yet.
    pub(crate) made: usize,
}

impl Library {
    /// Makes the table of a file that has none. The caller has to keep it alive.
    pub(crate) fn load(&mut self, path: PathBuf, text: &str) -> Strong<Table> {
        let Library {
            words: interner,
            tables,
            read,
            made,
        } = self;
        tables.get_or_insert_with(path, |_| {
            let before = interner.len();
            let mut counts = HashMap::default();
            for word in words(text) {
                let word = ByIdentity(interner.intern_ref(word));
                *counts.entry(word).or_insert(0) += 1;
                *read += 1;
            }
            // No word dies meanwhile.
            *made += interner.len() - before;
            Strong::new(Table {
                counts,
                _alive: TABLES.guard(),
            })
        })
    }

    /// The number of entries in all live tables.
    pub(crate) fn entries(&self) -> usize {
        self.tables.values().map(|table| table.counts.len()).sum()
    }

    pub(crate) fn pending(&self) -> usize {
        self.words.pending_dead() + self.tables.pending_dead()
    }
}
