//! Keys, values and objects whose `Hash`, `Eq`, `Clone` and `Drop` are a test's. They have one type: the library is
//! compiled again for each.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::owned::{Content, Ends, Owned};
use super::quiet_panic;

/// When user code runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    Hash,
    Eq,
    Clone,
    Drop,
    /// A collection asks whether the object of a [`Lease`](super::lease::Lease) is dead.
    Asked,
}

/// What the traits of a [`Custom`] do.
pub trait Code: Sync {
    fn hash(&self, of: &Custom) -> usize {
        of.number
    }

    fn eq(&self, one: &Custom, other: &Custom) -> bool {
        one.number == other.number
    }

    /// Without an end.
    fn clone(&self, of: &Custom) -> Custom {
        Custom::new(of.number)
    }

    fn drop(&self, of: &Custom) {
        end(of);
    }
}

/// As a number.
struct Plain;

impl Code for Plain {}

/// A closure for each of them. Equal are those with equal numbers, and all have the same hash, unless a test decides otherwise.
struct Closures;

impl Code for Closures {
    fn hash(&self, of: &Custom) -> usize {
        of.runs(On::Hash);
        of.hash
    }

    fn eq(&self, one: &Custom, other: &Custom) -> bool {
        called_back(On::Eq, one);
        one.runs(On::Eq);
        (one.equal)(&one.number, &other.number)
    }

    fn clone(&self, of: &Custom) -> Custom {
        of.runs(On::Clone);
        Custom {
            is_original: false,
            closure: of.closure.clone(),
            held: of.held.clone(),
            _memory: Box::new(0),
            ..*of
        }
    }

    fn drop(&self, of: &Custom) {
        of.runs(On::Drop);
    }
}

type Closure = dyn Fn(On, &Custom) + Send + Sync;

/// A number with code of its own.
pub struct Custom {
    pub number: usize,
    /// Tells its code which one it is.
    pub mark: usize,
    code: &'static dyn Code,
    is_original: bool,
    hash: usize,
    equal: fn(&usize, &usize) -> bool,
    closure: Option<Arc<Closure>>,
    held: Option<Arc<dyn Any + Send + Sync>>,
    /// If the object is destroyed twice, the allocator and Miri detect the second free.
    _memory: Box<u8>,
}

type End = Box<dyn FnMut(&Custom)>;

thread_local! {
    /// By marks, of which zero has none. Their objects must die on the thread that made them.
    static ENDS: RefCell<BTreeMap<usize, End>> = const { RefCell::new(BTreeMap::new()) };
    static MARKS: Cell<usize> = const { Cell::new(0) };
}

/// Calls what was to be called at the end of this object.
fn end(of: &Custom) {
    if of.mark != 0 {
        let end = ENDS.with_borrow_mut(|ends| ends.remove(&of.mark));
        if let Some(mut end) = end {
            end(of);
        }
    }
}

impl Custom {
    /// A plain number.
    pub fn new(number: usize) -> Self {
        Custom::with(&Plain, number, 0)
    }

    pub fn with(code: &'static dyn Code, number: usize, mark: usize) -> Self {
        Custom {
            number,
            mark,
            code,
            is_original: true,
            hash: 0,
            equal: usize::eq,
            closure: None,
            held: None,
            _memory: Box::new(0),
        }
    }

    /// A plain number that calls this when it is destroyed, on this thread.
    pub fn ending(number: usize, end: impl FnMut(&Custom) + 'static) -> Self {
        Custom::new(number).and_ends(end)
    }

    /// The same, of one that has no mark yet.
    pub fn and_ends(mut self, end: impl FnMut(&Custom) + 'static) -> Self {
        MARKS.set(MARKS.get() + 1);
        self.mark = MARKS.get();
        ENDS.with_borrow_mut(|ends| ends.insert(self.mark, Box::new(end)));
        self
    }

    /// Whether this is no clone.
    pub fn is_original(&self) -> bool {
        self.is_original
    }

    pub fn hashed(mut self, hash: usize) -> Self {
        self.hash = hash;
        self
    }

    pub fn equal(mut self, equal: fn(&usize, &usize) -> bool) -> Self {
        self.equal = equal;
        self
    }

    /// Its user code, and that of its clones.
    pub fn code(mut self, code: impl Fn(On, &Custom) + Send + Sync + 'static) -> Self {
        self.closure = Some(Arc::new(code));
        self
    }

    /// What is done then.
    pub fn on(self, when: On, code: impl Fn(&Custom) + Send + Sync + 'static) -> Self {
        self.code(move |on, this| {
            if on == when {
                code(this);
            }
        })
    }

    /// It has a handle to a token, and so has each clone.
    pub fn holding(mut self, token: &Arc<impl Any + Send + Sync>) -> Self {
        self.held = Some(token.clone());
        self
    }

    /// It panics when it is dropped; its clones do not.
    pub fn bomb(self) -> Self {
        self.on(On::Drop, |this| {
            if this.is_original() {
                quiet_panic();
            }
        })
    }

    fn runs(&self, on: On) {
        if let Some(closure) = &self.closure {
            closure(on, self);
        }
    }
}

/// Its code is closures.
impl From<usize> for Custom {
    fn from(number: usize) -> Self {
        Custom::with(&Closures, number, 0)
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        self.code.eq(self, other)
    }
}

impl Eq for Custom {}

impl Hash for Custom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.code.hash(self).hash(state);
    }
}

impl Clone for Custom {
    fn clone(&self) -> Self {
        self.code.clone(self)
    }
}

impl Drop for Custom {
    fn drop(&mut self) {
        self.code.drop(self);
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

impl Content for Custom {
    fn number(&self) -> usize {
        self.number
    }
}

/// Plain objects.
pub fn customs<L: From<Custom>>(numbers: impl IntoIterator<Item = usize>) -> Vec<L> {
    let object = |number| Custom::new(number).into();
    numbers.into_iter().map(object).collect()
}

/// What a collection owns of an entry, and what is called when it is dropped.
pub fn owned<E: Ends>(number: usize, ends: &E) -> Owned<E, Custom> {
    Owned::new(Custom::new(number), ends)
}

type Callback = Box<dyn FnMut(On, *const ())>;

thread_local! {
    static CALLBACK: RefCell<Option<Callback>> = const { RefCell::new(None) };
}

/// Runs something. Each comparison on this thread, and each question whether the object of a lease is dead, calls back,
/// except those of a callback. (It gets an address, where an object may be no more.)
pub fn with_callback<R>(
    callback: impl FnMut(On, *const ()) + 'static,
    run: impl FnOnce() -> R,
) -> R {
    let _restored = Restores(CALLBACK.replace(Some(Box::new(callback))));
    run()
}

pub fn called_back<T>(on: On, object: *const T) {
    // (It may be asked of at the end of a thread, too.)
    if let Ok(Some(callback)) = CALLBACK.try_with(RefCell::take) {
        let mut running = Restores(Some(callback));
        running.0.as_mut().expect("it is there")(on, object.cast());
    }
}

/// Puts a callback back, even if there is a panic.
struct Restores(Option<Callback>);

impl Drop for Restores {
    fn drop(&mut self) {
        _ = CALLBACK.replace(self.0.take());
    }
}
