//! An object whose `Hash`, `Eq`, `Clone` and `Drop` are the test's own: one type for many tests, so that a collection is not
//! compiled again for a type of each.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use super::owned::{Content, Ends, Owned};

/// What the traits of a [`Wild`] do.
pub trait Code: Sync {
    fn hash(&self, of: &Wild) -> usize {
        of.number
    }

    fn eq(&self, one: &Wild, other: &Wild) -> bool {
        one.number == other.number
    }

    /// Without an end.
    fn clone(&self, of: &Wild) -> Wild {
        Wild::new(of.number)
    }

    fn drop(&self, of: &Wild) {
        end(of);
    }
}

/// A number, whose code is the test's.
pub struct Wild {
    pub number: usize,
    /// Tells its code which one it is.
    pub mark: usize,
    code: &'static dyn Code,
    /// If the object is destroyed twice, the allocator and Miri detect the second free.
    _memory: Box<u8>,
}

/// A number as every other.
pub struct Plain;

impl Code for Plain {}

type End = Box<dyn FnMut(&Wild)>;

thread_local! {
    /// By marks, of which zero has none. Their objects must die on the thread that made them.
    static ENDS: RefCell<BTreeMap<usize, End>> = const { RefCell::new(BTreeMap::new()) };
    static MARKS: Cell<usize> = const { Cell::new(0) };
}

/// Calls what was to be called at the end of this object.
fn end(of: &Wild) {
    if of.mark != 0 {
        let end = ENDS.with_borrow_mut(|ends| ends.remove(&of.mark));
        if let Some(mut end) = end {
            end(of);
        }
    }
}

impl Wild {
    /// One without code of its own.
    pub fn new(number: usize) -> Self {
        Wild::with(&Plain, number, 0)
    }

    pub fn with(code: &'static dyn Code, number: usize, mark: usize) -> Self {
        Wild {
            number,
            mark,
            code,
            _memory: Box::new(0),
        }
    }

    /// One that calls this when it is destroyed, on this thread.
    pub fn ending(number: usize, end: impl FnMut(&Wild) + 'static) -> Self {
        Wild::new(number).and_ends(end)
    }

    /// The same, of one that has no mark yet.
    pub fn and_ends(mut self, end: impl FnMut(&Wild) + 'static) -> Self {
        MARKS.set(MARKS.get() + 1);
        self.mark = MARKS.get();
        ENDS.with_borrow_mut(|ends| ends.insert(self.mark, Box::new(end)));
        self
    }
}

impl From<usize> for Wild {
    fn from(number: usize) -> Self {
        Wild::new(number)
    }
}

impl Clone for Wild {
    fn clone(&self) -> Self {
        self.code.clone(self)
    }
}

impl Drop for Wild {
    fn drop(&mut self) {
        self.code.drop(self);
    }
}

impl PartialEq for Wild {
    fn eq(&self, other: &Self) -> bool {
        self.code.eq(self, other)
    }
}

impl Eq for Wild {}

impl Hash for Wild {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.code.hash(self).hash(state);
    }
}

impl Content for Wild {
    fn number(&self) -> usize {
        self.number
    }
}

/// Objects without code of their own.
pub fn wilds<L: From<Wild>>(numbers: impl IntoIterator<Item = usize>) -> Vec<L> {
    let object = |number| Wild::new(number).into();
    numbers.into_iter().map(object).collect()
}

/// What a collection owns of an entry, and what is called when it is dropped.
pub fn owned<E: Ends>(number: usize, ends: &E) -> Owned<E, Wild> {
    Owned::new(Wild::new(number), ends)
}
