//! Code that makes objects for a collection: closures, and conversions that an interner calls.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use crate::common::{Key, Kind, keys, new, panics, quiet_panic, scaled};
use crate::for_each_kind;
use weakly::{Interner, Strong, WeakPairMap, WeakValueMap, local};

const MANY: usize = scaled(60, 12);

/// After each of these the map is as before.
fn makers_that_panic<P: Kind>() {
    let (objects, key) = (keys::<P>(MANY), new::<P, _>(MANY));
    let mut values: WeakValueMap<usize, Key<P>> =
        objects.iter().map(|object| (**object, object)).collect();
    assert!(panics(|| drop(
        values.get_or_insert_with(MANY, |_| quiet_panic())
    )));
    assert!(panics(|| drop(
        values.entry(MANY).or_insert_with(|| quiet_panic())
    )));
    assert!(panics(|| drop(
        values.entry(0).and_modify(|_| quiet_panic())
    )));
    assert!(panics(|| drop(
        values.try_get_or_insert_with(MANY, |_| -> Result<_, ()> { quiet_panic() })
    )));
    assert_eq!((values.len(), values.len_live()), (MANY, MANY));
    assert!(!values.contains_key(&MANY));
    let mut pairs: WeakPairMap<_, _> = objects.iter().zip(&objects).collect();
    assert!(panics(|| drop(
        pairs.get_or_insert_with(&key, |_| quiet_panic())
    )));
    assert!(panics(|| drop(
        pairs.entry(&key).or_insert_with(|| quiet_panic())
    )));
    assert_eq!((pairs.len(), pairs.len_live()), (MANY, MANY));
    assert!(!pairs.contains_key(&key));
    drop(objects);
    values.purge();
    pairs.purge();
    assert_eq!((values.len(), pairs.len()), (0, 0));
}

/// While an entry is open, all other objects die; and the closure returns an object that is already in the map.
fn makers_that_kill<P: Kind>() {
    let objects = RefCell::new(keys::<P>(MANY));
    let mut values: WeakValueMap<usize, Key<P>> = objects
        .borrow()
        .iter()
        .map(|object| (**object, object))
        .collect();
    let mut pairs: WeakPairMap<_, _> = objects.borrow().iter().zip(&*objects.borrow()).collect();
    let key = new::<P, _>(MANY);
    let last = values.get_or_insert_with(MANY, |_| {
        let mut all = objects.take();
        all.swap_remove(1)
    });
    assert_eq!((*last, values.len_live(), pairs.len_live()), (1, 2, 1));
    let again = pairs.get_or_insert_with(&key, |_| last);
    assert_eq!((*again, pairs.len_live()), (1, 2));
    values.purge();
    pairs.purge();
    assert_eq!((values.len(), pairs.len()), (2, 2));
    // One death ends both entries of each map.
    drop(again);
    values.purge();
    pairs.purge();
    assert_eq!((values.len(), pairs.len()), (0, 0));
    // A value without an owner: it dies when it is returned.
    drop(values.get_or_insert_with(5, |_| new::<P, _>(5)));
    assert!(values.get(&5).is_none());
}

/// The content that an interner is asked for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Word(usize);

/// Borrows as one content, then as another, and becomes a third.
struct Liar {
    borrows: [Word; 2],
    asked: Cell<usize>,
    /// It panics if `None`.
    becomes: Option<Word>,
}

impl Liar {
    fn new(first: usize, then: usize, becomes: Option<usize>) -> Self {
        Liar {
            borrows: [Word(first), Word(then)],
            asked: Cell::new(0),
            becomes: becomes.map(Word),
        }
    }
}

impl Borrow<Word> for Liar {
    fn borrow(&self) -> &Word {
        &self.borrows[self.asked.replace(1)]
    }
}

/// A word of 1000 and more becomes a wrong one; one of 2000 and more panics.
macro_rules! readers {
    ($($strong:ty),*) => {$(
        impl From<Liar> for $strong {
            fn from(liar: Liar) -> Self {
                <$strong>::new(liar.becomes.unwrap_or_else(|| quiet_panic()))
            }
        }

        impl From<&Word> for $strong {
            fn from(word: &Word) -> Self {
                match word.0 {
                    0..1000 => <$strong>::new(word.clone()),
                    1000..2000 => <$strong>::new(Word(word.0 + 1)),
                    _ => quiet_panic(),
                }
            }
        }
    )*};
}

readers!(Strong<Word>, local::Strong<Word>, Arc<Word>, Rc<Word>);

/// The caller gets a panic, or the object made; the interner keeps one handle for each content.
fn conversions_that_lie<P: Kind>()
where
    P::Strong<Word>: From<Liar> + for<'a> From<&'a Word>,
{
    let mut names = Interner::<P::Strong<Word>>::new();
    let words: Vec<_> = (0..MANY).map(|number| names.intern(Word(number))).collect();
    assert!(panics(|| drop(names.intern(Liar::new(
        1000,
        1000,
        Some(1001)
    )))));
    assert!(panics(|| drop(names.intern(Liar::new(1000, 1000, None)))));
    assert!(panics(|| drop(names.intern_ref(&Word(1000)))));
    assert!(panics(|| drop(names.intern_ref(&Word(2000)))));
    assert_eq!((names.len(), names.len_live()), (MANY, MANY));
    // It has become an object that exists already, behind the interner's back.
    let same = names.intern(Liar::new(0, 1, Some(0)));
    assert!(ptr::eq(&*same, &*words[0]));
    let other = names.intern(Liar::new(1000, 0, Some(1000)));
    assert!(other.0 == 1000 && names.get(&Word(1000)).is_some());
    assert_eq!(names.len_live(), MANY + 1);
    drop((words, same, other));
    names.purge();
    assert_eq!((names.len(), names.pending_dead()), (0, 0));
}

for_each_kind!(makers_that_panic, makers_that_kill, conversions_that_lie);
