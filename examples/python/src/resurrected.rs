//! A wrapper with state, which lives as long as the native object. While Python uses the wrapper,
//! the wrapper owns the object. When Python has dropped its last reference, and native code still
//! has handles, the object owns the wrapper: by an entry in [`OWNED`].
//!
//! The pointer in [`Native::wrapper`] is null, or valid for whoever has a handle to the object and
//! Python's lock. [`dealloc`] frees a wrapper in three cases only. A death of the object has begun,
//! so that no handle is left and weak handles fail; or the object owned the wrapper, and is dead; or
//! the object owned the wrapper, and lives, but has lost the entry in [`OWNED`], as by [`clear`]
//! (with a map of one owner, also by `drain` and `drain_cycles`). In the third case, `dealloc` first
//! sets the pointer to null. The state is gone then, and the object gets a [`Tensor`] as wrapper.
//!
//! [`Tensor`]: crate::tensor::Tensor
//!
//! Only for CPython with its lock: the count of a wrapper that comes back changes from 0 to 1 by an
//! ordinary increment, which builds with `Py_TRACE_REFS` and without the lock do not permit.

use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use pyo3::{Borrowed, PyTraverseError, PyTypeInfo, PyVisit, ffi, prelude::*};
use weakly::{Strong, Weak, concurrent::WeakMap};

use crate::foreign::{Foreign, Value};
use crate::naive;
use crate::tensor::Native;

/// Wrappers owned by their objects.
static OWNED: LazyLock<Arc<WeakMap<Strong<Native>, Value<Parameter>>>> =
    LazyLock::new(Foreign::armed);
/// Frees a wrapper, as PyO3 does it.
static FREE: OnceLock<ffi::destructor> = OnceLock::new();

pub fn clear() {
    OWNED.clear();
}

/// Python code runs under none of the locks. Python cannot derive classes from this class.
#[pyclass(frozen, weakref)]
pub struct Parameter {
    /// Nothing while the native object owns this wrapper.
    native: Mutex<Option<Strong<Native>>>,
    /// Set when the native object first owns this wrapper.
    owner: OnceLock<Weak<Native>>,
    state: Mutex<Option<Py<PyAny>>>,
}

/// The wrapper of an object. The wrapper then owns the object.
pub fn wrapper<'py>(py: Python<'py>, native: &Strong<Native>) -> Option<Bound<'py, Parameter>> {
    let pointer = native.wrapper.load(Ordering::Relaxed);
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the pointer is valid, as the head of this file says, and is that of a `Parameter`.
    let wrapper =
        unsafe { Bound::from_borrowed_ptr(py, pointer).cast_into_unchecked::<Parameter>() };
    let mut own = wrapper.get().native.lock().unwrap();
    if own.is_none() {
        *own = Some(native.clone());
        OWNED.remove(native); // Not the last reference.
    }
    drop(own);
    Some(wrapper)
}

#[pymethods]
impl Parameter {
    #[new]
    fn new(py: Python<'_>, size: usize) -> PyResult<Py<Self>> {
        let native = Native::new(size, None);
        let wrapper = Parameter {
            native: Mutex::new(Some(native.clone())),
            owner: OnceLock::new(),
            state: Mutex::new(None),
        };
        let wrapper = Py::new(py, wrapper)?;
        native.wrapper.store(wrapper.as_ptr(), Ordering::Relaxed);
        Ok(wrapper)
    }

    fn keep(&self) {
        let native = self.native.lock().unwrap();
        naive::keep(native.as_ref().expect("Python uses this wrapper"));
    }

    #[getter]
    fn state(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let state = self.state.lock().unwrap();
        state.as_ref().map(|it| it.clone_ref(py))
    }

    #[setter]
    fn set_state(&self, state: Py<PyAny>) {
        let old = self.state.lock().unwrap().replace(state);
        drop(old);
    }

    /// If native code has handles, the state is in use, and is not shown.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let native = self.native.lock().unwrap();
        let is_alone = |it: &Strong<Native>| Strong::strong_count(it) == 1;
        if native.as_ref().is_some_and(is_alone) {
            visit.call(&*self.state.lock().unwrap())?;
        }
        Ok(())
    }

    fn __clear__(&self) {
        let old = self.state.lock().unwrap().take();
        drop(old);
    }
}

/// Python calls this function with a count of 0 and with its lock.
unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: the thread has Python's lock until this function returns.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: `object` is a `Parameter`. `Borrowed` does not change its count.
    let wrapper = unsafe { Borrowed::from_ptr(py, object).cast_unchecked::<Parameter>() };
    let Parameter { native, owner, .. } = wrapper.get();
    let native = native.lock().unwrap().take();
    let dying = match native.map(Strong::begin_death) {
        Some(Err(native)) => {
            owner.get_or_init(|| Strong::downgrade(&native));
            // No Python code has run since the count was 0, and nothing of the wrapper is freed.
            // SAFETY: `object` is valid.
            unsafe { ffi::Py_INCREF(object) };
            // SAFETY: the new reference is this one.
            let wrapper =
                unsafe { Bound::from_owned_ptr(py, object).cast_into_unchecked::<Parameter>() };
            OWNED.insert(&native, Arc::new(wrapper.unbind()));
            // This handle may be the last by now: the object dies, and the entry is due.
            return;
        }
        dying => dying.and_then(Result::ok),
    };
    let living = owner.get().and_then(Weak::upgrade);
    if let Some(native) = &living {
        native.wrapper.store(null_mut(), Ordering::Relaxed);
    }
    let free = FREE.get().expect("set before the first wrapper");
    // SAFETY: the count is 0, and nobody can find the wrapper any more, as the head of this file says.
    unsafe { free(object) };
    // The destructor, finalizers and wakers run now.
    drop((dying, living));
}

/// Puts [`dealloc`] before PyO3's.
pub fn init(py: Python<'_>) {
    let class = Parameter::type_object_raw(py);
    // SAFETY: PyO3 has made the class, and there is no instance yet. Python's lock is held.
    let free = unsafe { (*class).tp_dealloc.replace(dealloc) };
    FREE.get_or_init(|| free.expect("each class of PyO3 has one"));
}
