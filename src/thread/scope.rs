//! Scopes: for which computation the current thread runs code.
//!
//! The scopes of a thread are a list, the innermost scope first. A scope names a list of inputs
//! ([`Inputs`](crate::concurrent::Inputs)), to which the results are added that the code of the
//! scope asks for; or the scope names none, for user code that the library runs, such as a
//! destructor or a waker. Coroutines may end their scopes in any order, so the end of a scope takes
//! the scope out of the middle of the list, too. But a coroutine that suspends leaves its scopes in
//! the list of its thread: the inputs of a suspended computation get what its caller asks for
//! ([`Computation`](crate::memo::Computation) forbids it).

use core::cell::Cell;
use core::{iter, ptr};

crate::sync::thread_local! {
    /// The innermost scope of the thread, or null. The cell has no destructor, so the destructors
    /// of other thread-locals find it.
    static INNERMOST: Cell<*const Scope> = const { Cell::new(ptr::null()) };
}

/// A scope of the current thread, from [`begin`](Self::begin) until [`end`](Self::end).
pub(crate) struct Scope {
    /// The inputs to which the code of the scope adds, or null.
    inputs: Cell<*const ()>,
    /// The next outer scope of the thread, or null.
    outer: Cell<*const Scope>,
    /// Whether the code adds to the inputs of the next outer scope, too.
    joins: Cell<bool>,
}

impl Scope {
    pub(crate) const fn new() -> Self {
        Scope {
            inputs: Cell::new(ptr::null()),
            outer: Cell::new(ptr::null()),
            joins: Cell::new(false),
        }
    }

    /// Whether the thread has a scope.
    #[inline]
    pub(crate) fn is_any() -> bool {
        !INNERMOST.with(Cell::get).is_null()
    }

    /// The inputs of the innermost scope of the thread, or null.
    #[inline]
    pub(crate) fn inputs() -> *const () {
        scopes()
            .next()
            .map_or(ptr::null(), |scope| scope.inputs.get())
    }

    /// Whether the scope around the innermost scope has inputs.
    pub(crate) fn has_outer() -> bool {
        scopes()
            .nth(1)
            .is_some_and(|scope| !scope.inputs.get().is_null())
    }

    /// Passes all inputs to which the code of the scope around the innermost scope adds.
    pub(crate) fn each_outer(mut each: impl FnMut(*const ())) {
        let mut joins = true;
        for scope in scopes().skip(1) {
            if !joins || scope.inputs.get().is_null() {
                return;
            }
            joins = scope.joins.get();
            each(scope.inputs.get());
        }
    }

    /// Whether `is_it` is true for the inputs of a scope of the thread.
    pub(crate) fn any(mut is_it: impl FnMut(*const ()) -> bool) -> bool {
        scopes().any(|scope| !scope.inputs.get().is_null() && is_it(scope.inputs.get()))
    }

    /// Runs user code that belongs to no computation.
    #[inline]
    pub(crate) fn apart<R>(run: impl FnOnce() -> R) -> R {
        match Scope::is_any() {
            true => Scope::with(ptr::null(), false, run),
            false => run(),
        }
    }

    /// Runs code that adds to `inputs`, unless `inputs` is null. `joins`: the code belongs to the
    /// computation whose code the thread runs, too.
    #[inline(never)]
    pub(crate) fn with<R>(inputs: *const (), joins: bool, run: impl FnOnce() -> R) -> R {
        struct Begun<'s>(&'s Scope);
        impl Drop for Begun<'_> {
            fn drop(&mut self) {
                self.0.end();
            }
        }
        let scope = Scope::new();
        scope.joins.set(joins);
        // SAFETY: `Begun` ends the scope.
        unsafe { scope.begin(inputs) };
        let _begun = Begun(&scope);
        run()
    }

    /// Begins the scope.
    ///
    /// # Safety
    /// The scope has not begun. The scope stays in its place until the same thread has ended it.
    pub(crate) unsafe fn begin(&self, inputs: *const ()) {
        self.inputs.set(inputs);
        self.outer
            .set(INNERMOST.with(|innermost| innermost.replace(self)));
    }

    /// Ends the scope, which has begun.
    #[inline]
    pub(crate) fn end(&self) {
        let outer = self.outer.get();
        if ptr::eq(INNERMOST.with(Cell::get), self) {
            INNERMOST.with(|innermost| innermost.set(outer));
        } else if let Some(inner) = scopes().find(|inner| ptr::eq(inner.outer.get(), self)) {
            inner.outer.set(outer);
        }
    }
}

/// Iterates from the innermost scope on. No scope of these may end while the iterator is in use.
fn scopes<'s>() -> impl Iterator<Item = &'s Scope> {
    let mut next = INNERMOST.with(Cell::get);
    iter::from_fn(move || {
        // SAFETY: the pointer is null, or leads to a scope that the current thread has begun and
        // not ended: `end` takes a scope out of the list. Until then the scope stays in its place.
        let scope = unsafe { next.as_ref() }?;
        next = scope.outer.get();
        Some(scope)
    })
}
