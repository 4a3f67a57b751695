//! Rows of interners.

use super::{MANY, Pace, SIZES, Words, rounds};
use crate::duel::Row;
use crate::interners::{Lexicon, lexicons};
use crate::peers::Interner;
use crate::subjects::Subjects;
use crate::theirs::{Internment, PlainSet, WeakTableSet};

/// Two interners with as many words.
type Lexicons<B> = Subjects<Lexicon<Words>, Lexicon<B>>;

/// One handle for each word, by size: see [`Internment`].
pub(super) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    for size in SIZES {
        let pace = Pace::of(size);
        let swept = Subjects::new(size, lexicons::<_, WeakTableSet>);
        let global = Subjects::new(size, lexicons::<_, Internment>);
        let kept = Subjects::new(size, lexicons::<_, PlainSet>);
        rows.extend([
            hit("weak-table", &swept),
            pace.row(miss("weak-table", &swept, pace.ours, pace.theirs)),
            hit("internment", &global),
            miss("internment", &global, MANY, MANY),
            hit("plain set", &kept),
            miss("plain set", &kept, MANY, MANY),
        ]);
    }
    rows
}

/// A word that is present.
fn hit<B: Interner>(peer: &'static str, lexicons: &Lexicons<B>) -> Row {
    let (lexicons, size) = (lexicons.clone(), lexicons.size());
    let row = Row::new("Interner: hit", peer, move |scale| {
        let (ours, theirs) = lexicons.sides(scale);
        let operations = scale.of(MANY);
        [
            Lexicon::hit(ours, operations),
            Lexicon::hit(theirs, operations),
        ]
    });
    row.size(size).rounds(rounds(size))
}

/// A word that is not present, and is dropped at once; that many in a sample of ours, and of theirs.
fn miss<B: Interner>(
    peer: &'static str,
    lexicons: &Lexicons<B>,
    our_operations: usize,
    their_operations: usize,
) -> Row {
    let (lexicons, size) = (lexicons.clone(), lexicons.size());
    let row = Row::new("Interner: miss", peer, move |scale| {
        let (ours, theirs) = lexicons.sides(scale);
        [
            Lexicon::miss(ours, scale.of(our_operations)),
            Lexicon::miss(theirs, scale.of(their_operations)),
        ]
    });
    row.size(size).rounds(rounds(size))
}
