//! Keys, values and objects whose `Hash`, `Eq`, `Clone` and `Drop` are a test's. They have one type: the library is
//! compiled again for each.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::quiet_panic;
use super::subject::Content;

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

type Code = dyn Fn(On, &Custom) + Send + Sync;

/// Equal are those with equal numbers, and all have the same hash, unless a test decides otherwise.
pub struct Custom {
    pub number: usize,
    is_original: bool,
    hash: u64,
    equal: fn(&usize, &usize) -> bool,
    code: Option<Arc<Code>>,
    held: Option<Arc<dyn Any + Send + Sync>>,
    /// If the object is destroyed twice, the allocator and Miri detect the second free.
    memory: Box<u8>,
}

impl Custom {
    /// Whether this is no clone.
    pub fn is_original(&self) -> bool {
        self.is_original
    }

    pub fn hashed(mut self, hash: usize) -> Self {
        self.hash = hash as u64;
        self
    }

    pub fn equal(mut self, equal: fn(&usize, &usize) -> bool) -> Self {
        self.equal = equal;
        self
    }

    /// Its user code, and that of its clones.
    pub fn code(mut self, code: impl Fn(On, &Custom) + Send + Sync + 'static) -> Self {
        self.code = Some(Arc::new(code));
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
        if let Some(code) = &self.code {
            code(on, self);
        }
    }
}

impl From<usize> for Custom {
    fn from(number: usize) -> Self {
        Custom {
            number,
            is_original: true,
            hash: 0,
            equal: usize::eq,
            code: None,
            held: None,
            memory: Box::new(0),
        }
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        called_back(On::Eq, self);
        self.runs(On::Eq);
        (self.equal)(&self.number, &other.number)
    }
}

impl Eq for Custom {}

impl Hash for Custom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.runs(On::Hash);
        state.write_u64(self.hash);
    }
}

impl Clone for Custom {
    fn clone(&self) -> Self {
        self.runs(On::Clone);
        Custom {
            is_original: false,
            code: self.code.clone(),
            held: self.held.clone(),
            memory: self.memory.clone(),
            ..*self
        }
    }
}

impl Drop for Custom {
    fn drop(&mut self) {
        self.runs(On::Drop);
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
