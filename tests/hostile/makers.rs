//! Code that makes objects for a collection: closures, and conversions that an interner calls.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use crate::common::subject::Owned;
use crate::common::subject::single::{Ends, PairsTwice, ValueMaps, quietly};
use crate::common::wild::{self, Wild, wilds};
use crate::common::{Kind, new, panics, quiet_panic, scaled};
use crate::for_each_kind;
use weakly::{Interner, Strong, local};

const MANY: usize = scaled(60, 12);

type Object<P> = <P as Kind>::Strong<Wild>;

fn owned(number: usize) -> Owned<Ends, Wild> {
    wild::owned(number, &quietly())
}

fn values<P: Kind>(objects: &[Object<P>]) -> ValueMaps<Object<P>> {
    let named = objects.iter().map(|object| (owned(object.number), object));
    named.collect()
}

/// After each of these the map is as before.
fn makers_that_panic<P: Kind>() {
    let objects = wilds::<Object<P>>(0..MANY);
    let key = new::<P, _>(Wild::new(MANY));
    let mut values = values::<P>(&objects);
    assert!(panics(|| drop(
        values.get_or_insert_with(owned(MANY), |_| quiet_panic())
    )));
    assert!(panics(|| drop(
        values.entry(owned(MANY)).or_insert_with(|| quiet_panic())
    )));
    assert!(panics(|| drop(
        values.entry(owned(0)).and_modify(|_| quiet_panic())
    )));
    assert!(panics(|| drop(
        values.try_get_or_insert_with(owned(MANY), |_| -> Result<_, ()> { quiet_panic() })
    )));
    assert_eq!((values.len(), values.len_live()), (MANY, MANY));
    assert!(!values.contains_key(&Wild::new(MANY)));
    let mut pairs: PairsTwice<_> = objects.iter().zip(&objects).collect();
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
    let objects = RefCell::new(wilds::<Object<P>>(0..MANY));
    let mut values = values::<P>(&objects.borrow());
    let mut pairs: PairsTwice<_> = objects.borrow().iter().zip(&*objects.borrow()).collect();
    let key = new::<P, _>(Wild::new(MANY));
    let last = values.get_or_insert_with(owned(MANY), |_| {
        let mut all = objects.take();
        all.swap_remove(1)
    });
    assert_eq!(
        (last.number, values.len_live(), pairs.len_live()),
        (1, 2, 1)
    );
    let again = pairs.get_or_insert_with(&key, |_| last);
    assert_eq!((again.number, pairs.len_live()), (1, 2));
    values.purge();
    pairs.purge();
    assert_eq!((values.len(), pairs.len()), (2, 2));
    // One death ends both entries of each map.
    drop(again);
    values.purge();
    pairs.purge();
    assert_eq!((values.len(), pairs.len()), (0, 0));
    // A value without an owner: it dies when it is returned.
    drop(values.get_or_insert_with(owned(5), |_| new::<P, _>(Wild::new(5))));
    assert!(values.get(&Wild::new(5)).is_none());
}

/// Borrows as one content, then as another, and becomes a third.
struct Liar {
    borrows: [Wild; 2],
    asked: Cell<usize>,
    /// It panics if `None`.
    becomes: Option<Wild>,
}

impl Liar {
    fn new(first: usize, then: usize, becomes: Option<usize>) -> Self {
        Liar {
            borrows: [first, then].map(Wild::new),
            asked: Cell::new(0),
            becomes: becomes.map(Wild::new),
        }
    }
}

impl Borrow<Wild> for Liar {
    fn borrow(&self) -> &Wild {
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

        impl From<&Wild> for $strong {
            fn from(word: &Wild) -> Self {
                match word.number {
                    0..1000 => <$strong>::new(word.clone()),
                    1000..2000 => <$strong>::new(Wild::new(word.number + 1)),
                    _ => quiet_panic(),
                }
            }
        }
    )*};
}

readers!(Strong<Wild>, local::Strong<Wild>, Arc<Wild>, Rc<Wild>);

/// The caller gets a panic, or the object made; the interner keeps one handle for each content.
fn conversions_that_lie<P: Kind>()
where
    P::Strong<Wild>: From<Liar> + for<'a> From<&'a Wild>,
{
    let mut names = Interner::<P::Strong<Wild>>::new();
    let words: Vec<_> = (0..MANY)
        .map(|number| names.intern(Wild::new(number)))
        .collect();
    // It is under the hash of another content, as long as it lives.
    let lie = names.intern(Liar::new(1000, 1000, Some(1001)));
    assert!(lie.number == 1001 && names.get(&Wild::new(1000)).is_none());
    assert_eq!(names.len_live(), MANY + 1);
    drop(lie);
    names.purge();
    assert!(panics(|| drop(names.intern(Liar::new(1000, 1000, None)))));
    assert!(panics(|| drop(names.intern_ref(&Wild::new(1000)))));
    assert!(panics(|| drop(names.intern_ref(&Wild::new(2000)))));
    assert_eq!((names.len(), names.len_live()), (MANY, MANY));
    // It has become an object that exists already, behind the interner's back.
    let same = names.intern(Liar::new(0, 1, Some(0)));
    assert!(ptr::eq(&*same, &*words[0]));
    let other = names.intern(Liar::new(1000, 0, Some(1000)));
    assert!(other.number == 1000 && names.get(&Wild::new(1000)).is_some());
    assert_eq!(names.len_live(), MANY + 1);
    drop((words, same, other));
    names.purge();
    assert_eq!((names.len(), names.pending_dead()), (0, 0));
}

for_each_kind!(makers_that_panic, makers_that_kill, conversions_that_lie);
