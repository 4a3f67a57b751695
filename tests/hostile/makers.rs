//! Conversions that an interner calls.

use std::borrow::Borrow;
use std::cell::Cell;
use std::ptr;

use crate::common::custom::Custom;
use crate::common::{panics, quiet_panic, scaled};
use weakly::{Interner, Strong};

const MANY: usize = scaled(60, 12);

/// Borrows as one content, then as another, and becomes a third.
struct Liar {
    borrows: [Custom; 2],
    asked: Cell<usize>,
    /// It panics if `None`.
    becomes: Option<Custom>,
}

impl Liar {
    fn new(first: usize, then: usize, becomes: Option<usize>) -> Self {
        Liar {
            borrows: [first, then].map(Custom::new),
            asked: Cell::new(0),
            becomes: becomes.map(Custom::new),
        }
    }
}

impl Borrow<Custom> for Liar {
    fn borrow(&self) -> &Custom {
        &self.borrows[self.asked.replace(1)]
    }
}

impl From<Liar> for Strong<Custom> {
    fn from(liar: Liar) -> Self {
        Strong::new(liar.becomes.unwrap_or_else(|| quiet_panic()))
    }
}

/// A word of 1000 and more becomes a wrong one; one of 2000 and more panics.
impl From<&Custom> for Strong<Custom> {
    fn from(word: &Custom) -> Self {
        match word.number {
            0..1000 => Strong::new(word.clone()),
            1000..2000 => Strong::new(Custom::new(word.number + 1)),
            _ => quiet_panic(),
        }
    }
}

/// H117, 181: The caller gets a panic, or the object made; the interner keeps one handle for each content.
#[test]
fn conversions_that_lie() {
    let mut names = Interner::<Strong<Custom>>::new();
    let words: Vec<_> = (0..MANY)
        .map(|number| names.intern(Custom::new(number)))
        .collect();
    // It is under the hash of another content, as long as it lives.
    let lie = names.intern(Liar::new(1000, 1000, Some(1001)));
    assert!(lie.number == 1001 && names.get(&Custom::new(1000)).is_none());
    assert_eq!(names.len_live(), MANY + 1);
    drop(lie);
    names.purge();
    assert!(panics(|| drop(names.intern(Liar::new(1000, 1000, None)))));
    assert!(panics(|| drop(names.intern_ref(&Custom::new(1000)))));
    assert!(panics(|| drop(names.intern_ref(&Custom::new(2000)))));
    assert_eq!((names.len(), names.len_live()), (MANY, MANY));
    // It has become an object that exists already, behind the interner's back.
    let same = names.intern(Liar::new(0, 1, Some(0)));
    assert!(ptr::eq(&*same, &*words[0]));
    let other = names.intern(Liar::new(1000, 0, Some(1000)));
    assert!(other.number == 1000 && names.get(&Custom::new(1000)).is_some());
    assert_eq!(names.len_live(), MANY + 1);
    drop((words, same, other));
    names.purge();
    assert_eq!((names.len(), names.pending_dead()), (0, 0));
}
