//! The operations on interners that are measured, each written once.

use std::hint::black_box;
use std::ptr;

use crate::chance::{Numbers, Turns, Words, shuffle};
use crate::duel::Sample;
use crate::peers::Interner;
use crate::pointers::in_turn;
use crate::subjects::Share;
use crate::teams::alone;

/// An interner, and the owner of its words.
pub(crate) struct Lexicon<I: Interner> {
    interner: I,
    live: Vec<I::Word>,
    /// The live words, not in the order of insertion.
    words: Words,
    /// For the other words.
    numbers: Numbers,
}

/// Two interners with as many live words each, inserted alternately, so that neither has the better memory
/// layout.
pub(crate) fn lexicons<A: Interner, B: Interner>(size: usize) -> (Lexicon<A>, Lexicon<B>) {
    let mut numbers = Numbers::default();
    let known = numbers.take(size);
    let mut ours = A::with_capacity(size);
    let mut theirs = B::with_capacity(size);
    let words = Words::of(&known);
    let words = words.run(0, size);
    let (our_live, their_live) = words
        .zip(&known)
        .map(|(word, &number)| in_turn(number, || ours.intern(word), || theirs.intern(word)))
        .unzip();
    (
        Lexicon::new(ours, our_live, &known, numbers.clone()),
        Lexicon::new(theirs, their_live, &known, numbers),
    )
}

impl<I: Interner> Lexicon<I> {
    fn new(mut interner: I, live: Vec<I::Word>, known: &[u64], numbers: Numbers) -> Self {
        let words = Words::of(known);
        for (word, live) in words.run(0, known.len()).zip(&live) {
            assert!(ptr::eq(&*interner.intern(word), &**live));
        }
        let mut known = known.to_vec();
        shuffle(&mut known);
        Lexicon {
            interner,
            live,
            words: Words::of(&known),
            numbers,
        }
    }

    /// Interns words that are present, in random order, continuing where the last sample ended.
    pub(crate) fn hit(this: Share<Self>, operations: usize) -> Sample {
        let mut turns = Turns::new(this.borrow().words.len(), operations);
        let (some, passes) = (turns.some(), operations.div_ceil(turns.some()));
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            black_box(&this.live);
            let start = turns.next();
            let mut pass = || {
                for word in this.words.run(start, some) {
                    drop(black_box(this.interner.intern(word)));
                }
            };
            alone(|| (0..passes).for_each(|_| pass())) / (passes * some) as f64
        })
    }

    /// A new word is inserted, and its last handle is dropped at once.
    pub(crate) fn miss(this: Share<Self>, operations: usize) -> Sample {
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            black_box(&this.live);
            let words = Words::of(&this.numbers.take(operations));
            let all = || {
                for word in words.run(0, operations) {
                    let new = this.interner.intern(word);
                    this.interner.forget(black_box(new));
                }
            };
            alone(all) / operations as f64
        })
    }
}
