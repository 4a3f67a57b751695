//! Tensors: native objects whose wrappers are made anew, and have no state. The attributes belong to
//! the native object.

use std::sync::LazyLock;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::types::{PyDict, PyWeakrefMethods, PyWeakrefReference};
use pyo3::{PyTraverseError, PyVisit, exceptions::PyAttributeError, prelude::*};
use weakly::Strong;

use crate::foreign::{self, Reference, Table};
use crate::naive;
use crate::native::Native;

static WRAPPERS: LazyLock<Table<Py<PyWeakrefReference>>> = LazyLock::new(foreign::table);
/// Dictionaries.
pub static ATTRIBUTES: LazyLock<Table<Reference>> = LazyLock::new(foreign::table);

pub fn clear(py: Python<'_>) {
    foreign::empty(py, &WRAPPERS);
    foreign::empty(py, &ATTRIBUTES);
}

/// The wrapper owns the native object. An object has one wrapper at a time.
#[pyclass(frozen, weakref)]
pub struct Tensor(pub Strong<Native>);

/// The wrapper of a native object, if there is one. Runs no Python code.
fn living<'py>(py: Python<'py>, native: &Strong<Native>) -> Option<Bound<'py, Tensor>> {
    let upgrade = |weak: &Py<PyWeakrefReference>| weak.bind(py).upgrade();
    let wrapper = WRAPPERS.with(py, |wrappers| wrappers.get(native).and_then(upgrade))?;
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
    let old = WRAPPERS.with(py, |wrappers| wrappers.insert(native, weak));
    drop(old);
    Ok(wrapper)
}

/// The attributes of a native object.
fn attributes<'py>(py: Python<'py>, native: &Strong<Native>) -> Option<Bound<'py, PyAny>> {
    ATTRIBUTES.with(py, |all| Some(all.get(native)?.0.bind(py).clone()))
}

#[pymethods]
impl Tensor {
    #[new]
    fn new(py: Python<'_>, size: usize) -> PyResult<Bound<'_, Tensor>> {
        wrap(py, &Native::new(size, None))
    }

    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Tensor>> {
        wrap(py, &Native::new(self.size(), Some(self.0.clone())))
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
        self.0.size.load(Relaxed)
    }

    /// Python calls this method for names that the class does not have.
    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let value = match attributes(py, &self.0) {
            Some(attributes) => attributes.cast::<PyDict>()?.get_item(name)?,
            None => None,
        };
        let missing = || PyAttributeError::new_err(name.to_owned());
        Ok(value.ok_or_else(missing)?.unbind())
    }

    fn __setattr__(&self, py: Python<'_>, name: &str, value: Bound<'_, PyAny>) -> PyResult<()> {
        foreign::settle(py);
        let attributes = match attributes(py, &self.0) {
            Some(attributes) => attributes,
            None => {
                let empty = PyDict::new(py);
                // Another thread may have been first, as Python may have run its collector.
                ATTRIBUTES.with(py, |all| {
                    let first = || Reference(empty.clone().into_any().unbind());
                    all.get_or_insert_with(&self.0, |_| first())
                        .0
                        .bind(py)
                        .clone()
                })
            }
        };
        attributes.set_item(name, value)
    }

    /// Shows the attributes of the native objects that live only because of this wrapper. (No
    /// native code of this example upgrades weak handles meanwhile.) There is nothing to clear: a
    /// cycle passes through the dictionary of the attributes, which Python clears itself.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let mut next = Some(&self.0);
        while let Some(native) = next.filter(|it| Strong::strong_count(it) == 1) {
            // SAFETY: Python calls this method with its lock.
            unsafe {
                ATTRIBUTES.peek(|all| all.get(native).map_or(Ok(()), |it| visit.call(&it.0)))?;
            }
            next = native.base.as_ref();
        }
        Ok(())
    }
}
