//! A dictionary whose keys are native objects, by identity. An entry lives as long as its native
//! object, however many wrappers come and go.

use std::sync::Arc;

use pyo3::{PyTraverseError, PyVisit, exceptions::PyKeyError, prelude::*};
use weakly::{Strong, concurrent::WeakMap};

use crate::foreign::{self, Foreign, Value};
use crate::tensor::{Native, Tensor};

#[pyclass(frozen, weakref, mapping)]
pub struct WeakDictionary(Arc<WeakMap<Strong<Native>, Value>>);

#[pymethods]
impl WeakDictionary {
    #[new]
    fn new() -> Self {
        WeakDictionary(Foreign::armed())
    }

    /// The closure clones the reference under Python's lock, and runs no Python code.
    fn get(&self, py: Python<'_>, key: &Tensor) -> Option<Py<PyAny>> {
        self.0.with(&key.0, |value| value.clone_ref(py))
    }

    fn __getitem__(&self, py: Python<'_>, key: &Tensor) -> PyResult<Py<PyAny>> {
        let missing = || PyKeyError::new_err("no entry");
        self.get(py, key).ok_or_else(missing)
    }

    fn __setitem__(&self, py: Python<'_>, key: &Tensor, value: Py<PyAny>) {
        self.0.insert(&key.0, Arc::new(value));
        foreign::settle(py);
    }

    fn __delitem__(&self, py: Python<'_>, key: &Tensor) -> PyResult<()> {
        foreign::settle(py);
        match self.0.remove(&key.0) {
            Some(_) => Ok(()),
            None => Err(PyKeyError::new_err("no entry")),
        }
    }

    fn __contains__(&self, key: &Tensor) -> bool {
        self.0.contains_key(&key.0)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// A value that is not shown, since its key is dead, only looks as if its owner lived.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.values().try_for_each(|value| visit.call(&*value))
    }

    fn __clear__(&self) {
        self.0.clear();
    }
}
