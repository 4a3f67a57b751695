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
    let goals = [[0.7, 0.65], [0.7, 0.8], [0.95, 0.8]];
    let plain = [[1.15, 1.05], [1.05, 1.05], [1.05, 1.05]];
    for ((size, goals), plain) in SIZES.into_iter().zip(goals).zip(plain) {
        let pace = Pace::of(size);
        let swept = Subjects::new(size, lexicons::<_, WeakTableSet<str>>);
        let global = Subjects::new(size, lexicons::<_, Internment>);
        let kept = Subjects::new(size, lexicons::<_, PlainSet>);
        rows.extend([
            hit("weak-table", &swept).goal(1.0),
            pace.row(miss("weak-table", &swept, pace.ours, pace.theirs))
                .goal(1.0),
            hit("internment", &global).goal(goals[0]),
            miss("internment", &global, MANY, MANY).goal(goals[1]),
            hit("plain set", &kept).goal(plain[0]),
            miss("plain set", &kept, MANY, MANY).goal(plain[1]),
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
