//! The native objects.

use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::Relaxed};

use pyo3::{Borrowed, ffi, prelude::*};
use weakly::{Strong, impl_trace};

use crate::node;
use crate::tensor::{self, Tensor};

static ALIVE: AtomicUsize = AtomicUsize::new(0);

pub fn alive() -> usize {
    ALIVE.load(Relaxed)
}

#[derive(Default)]
pub struct Native {
    pub size: AtomicUsize,
    /// What a tensor is a view of.
    pub base: Option<Strong<Native>>,
    /// What a node is computed from. Only threads with Python's lock change the list.
    pub inputs: Mutex<Vec<Strong<Native>>>,
    /// The wrapper of a node, see [`node`].
    pub wrapper: AtomicPtr<ffi::PyObject>,
    pub is_node: bool,
    /// What the first pass of the last collection has found: see [`node`].
    pub has_one_owner: AtomicBool,
}

impl_trace!(Native: base, inputs);

impl Native {
    pub fn new(size: usize, base: Option<Strong<Native>>) -> Strong<Native> {
        Self::make(size, base, false)
    }

    pub fn node() -> Strong<Native> {
        Self::make(0, None, true)
    }

    fn make(size: usize, base: Option<Strong<Native>>, is_node: bool) -> Strong<Native> {
        ALIVE.fetch_add(1, Relaxed);
        Strong::new(Native {
            size: AtomicUsize::new(size),
            base,
            inputs: Mutex::default(),
            wrapper: AtomicPtr::new(null_mut()),
            is_node,
            has_one_owner: AtomicBool::new(false),
        })
    }
}

impl Drop for Native {
    /// A long chain takes no stack.
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
        let mut work = std::mem::take(self.inputs.get_mut().unwrap());
        work.extend(self.base.take());
        while let Some(native) = work.pop() {
            if let Some(mut last) = Strong::into_inner(native) {
                work.append(last.inputs.get_mut().unwrap());
                work.extend(last.base.take());
            }
        }
    }
}

/// A wrapper as an argument: the native object of a tensor or of a node.
pub struct Handle(pub Strong<Native>);

impl<'py> FromPyObject<'_, 'py> for Handle {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match node::is_node(&object) {
            true => node::native(&object).map(Handle),
            false => Ok(Handle(object.cast::<Tensor>()?.get().0.clone())),
        }
    }
}

/// Returns the wrapper of a native object.
pub fn wrap<'py>(py: Python<'py>, native: &Strong<Native>) -> PyResult<Bound<'py, PyAny>> {
    match native.is_node {
        true => node::wrap(py, native),
        false => Ok(tensor::wrap(py, native)?.into_any()),
    }
}
