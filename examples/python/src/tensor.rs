//! Tensors, their wrappers, and their attributes.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use pyo3::types::{PyDict, PyWeakrefMethods, PyWeakrefReference};
use pyo3::{PyTraverseError, PyVisit, exceptions::PyAttributeError, ffi, prelude::*};
use weakly::{Strong, concurrent::WeakMap};

use crate::foreign::{self, Foreign, Value};
use crate::naive;

static ALIVE: AtomicUsize = AtomicUsize::new(0);

pub fn alive() -> usize {
    ALIVE.load(Ordering::Relaxed)
}

/// The native object.
pub struct Native {
    size: usize,
    /// What this is a view of.
    base: Option<Strong<Native>>,
    /// The wrapper, for [`resurrected`](crate::resurrected).
    pub wrapper: AtomicPtr<ffi::PyObject>,
}

impl Native {
    pub fn new(size: usize, base: Option<Strong<Native>>) -> Strong<Native> {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Strong::new(Native {
            size,
            base,
            wrapper: AtomicPtr::new(null_mut()),
        })
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

type Map<T> = LazyLock<Arc<WeakMap<Strong<Native>, Value<T>>>>;
static WRAPPERS: Map<PyWeakrefReference> = LazyLock::new(Foreign::armed);
static ATTRIBUTES: Map<PyDict> = LazyLock::new(Foreign::armed);

pub fn clear() {
    WRAPPERS.clear();
    ATTRIBUTES.clear();
}

/// The wrapper owns the native object. An object has one wrapper at a time.
#[pyclass(frozen, weakref)]
pub struct Tensor(pub Strong<Native>);

/// The wrapper of a native object, if there is one. Runs no Python code.
fn living<'py>(py: Python<'py>, native: &Strong<Native>) -> Option<Bound<'py, Tensor>> {
    let wrapper = WRAPPERS.with(native, |weak| weak.bind(py).upgrade())??;
    wrapper.cast_into().ok()
}

pub fn wrap<'py>(py: Python<'py>, native: &Strong<Native>) -> PyResult<Bound<'py, Tensor>> {
    if let Some(wrapper) = living(py, native) {
        return Ok(wrapper);
    }
    let wrapper = Bound::new(py, Tensor(native.clone()))?;
    let weak = PyWeakrefReference::new(&wrapper)?.unbind();
    // The allocation may have run the collector, so any Python code, which may have made a wrapper.
    if let Some(first) = living(py, native) {
        return Ok(first);
    }
    WRAPPERS.insert(native, weak.into());
    Ok(wrapper)
}

#[pymethods]
impl Tensor {
    #[new]
    fn new(py: Python<'_>, size: usize) -> PyResult<Bound<'_, Tensor>> {
        wrap(py, &Native::new(size, None))
    }

    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Tensor>> {
        wrap(py, &Native::new(self.0.size, Some(self.0.clone())))
    }

    #[getter]
    fn base<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Tensor>>> {
        self.0.base.as_ref().map(|base| wrap(py, base)).transpose()
    }

    fn keep(&self) {
        naive::keep(&self.0);
    }

    #[getter]
    fn size(&self) -> usize {
        self.0.size
    }

    /// Python calls this method for names that the class does not have.
    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let value = match ATTRIBUTES.get(&self.0) {
            Some(attributes) => attributes.bind(py).get_item(name)?,
            None => None,
        };
        let missing = || PyAttributeError::new_err(name.to_owned());
        Ok(value.ok_or_else(missing)?.unbind())
    }

    fn __setattr__(&self, py: Python<'_>, name: &str, value: Bound<'_, PyAny>) -> PyResult<()> {
        foreign::settle(py);
        let attributes = ATTRIBUTES.get(&self.0).unwrap_or_else(|| {
            let empty = Arc::new(PyDict::new(py).unbind());
            ATTRIBUTES.get_or_insert_racing(&self.0, |_| empty)
        });
        attributes.bind(py).set_item(name, value)
    }

    /// Shows the attributes of the native objects that live only because of this wrapper. (No
    /// native code of this example upgrades weak handles meanwhile.) There is nothing to clear: a
    /// cycle passes through the dictionary of the attributes, which Python clears itself.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let mut next = Some(&self.0);
        while let Some(native) = next.filter(|it| Strong::strong_count(it) == 1) {
            if let Some(attributes) = ATTRIBUTES.get(native) {
                visit.call(&*attributes)?;
            }
            next = native.base.as_ref();
        }
        Ok(())
    }
}
