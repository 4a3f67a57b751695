//! A dictionary whose keys are native objects, by identity. An entry lives as long as its native
//! object, however many wrappers come and go.

use std::sync::Arc;

use pyo3::{PyTraverseError, PyVisit, exceptions::PyKeyError, prelude::*};
use weakly::{Strong, concurrent::WeakMap};

use crate::foreign::{self, Foreign};
use crate::tensor::{Native, Tensor};

/// Only `with` and `retain_values` look at values, and each thread that uses the dictionary has
/// Python's lock. So no value has to be cloned without the lock, or needs an `Arc`.
#[pyclass(frozen, weakref, mapping)]
pub struct WeakDictionary(Arc<WeakMap<Strong<Native>, Py<PyAny>>>);

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
        self.0.insert(&key.0, value);
        foreign::settle(py);
    }

    fn __delitem__(&self, py: Python<'_>, key: &Tensor) -> PyResult<()> {
        let missing = || PyKeyError::new_err("no entry");
        foreign::settle(py);
        let removed = self.0.remove_if(&key.0, |_| true);
        removed.then_some(()).ok_or_else(missing)
    }

    fn __contains__(&self, key: &Tensor) -> bool {
        self.0.contains_key(&key.0)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// A value that is not shown, since its key is dead, only looks as if its owner lived.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let mut visited = Ok(());
        self.0.retain_values(|value| {
            visited = std::mem::replace(&mut visited, Ok(())).and_then(|()| visit.call(value));
            true
        });
        visited
    }

    fn __clear__(&self) {
        self.0.clear();
    }
}
