//! A dictionary whose keys are native objects, by identity. An entry lives as long as its native
//! object, however many wrappers come and go.

use pyo3::{PyTraverseError, PyVisit, exceptions::PyKeyError, prelude::*};

use crate::foreign::{self, Reference, Table};
use crate::native::Handle;

/// A map of one owner: each thread that uses the dictionary has Python's lock.
#[pyclass(frozen, weakref, mapping)]
pub struct WeakDictionary(pub Table<Reference>);

#[pymethods]
impl WeakDictionary {
    #[new]
    fn new() -> Self {
        WeakDictionary(foreign::table())
    }

    /// The closure clones the reference under Python's lock, and runs no Python code.
    fn get(&self, py: Python<'_>, key: Handle) -> Option<Py<PyAny>> {
        self.0
            .with(py, |map| Some(map.get(&key.0)?.0.clone_ref(py)))
    }

    fn __getitem__(&self, py: Python<'_>, key: Handle) -> PyResult<Py<PyAny>> {
        let missing = || PyKeyError::new_err("no entry");
        self.get(py, key).ok_or_else(missing)
    }

    fn __setitem__(&self, py: Python<'_>, key: Handle, value: Py<PyAny>) {
        let old = self.0.with(py, |map| map.insert(&key.0, Reference(value)));
        drop(old);
        foreign::settle(py);
    }

    fn __delitem__(&self, py: Python<'_>, key: Handle) -> PyResult<()> {
        let missing = || PyKeyError::new_err("no entry");
        let removed = self.0.with(py, |map| map.remove(&key.0));
        foreign::settle(py);
        removed.map(drop).ok_or_else(missing)
    }

    fn __contains__(&self, py: Python<'_>, key: Handle) -> bool {
        self.0.with(py, |map| map.contains_key(&key.0))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.0.with(py, |map| map.len())
    }

    /// A value that is not shown, since its key is dead, only looks as if its owner lived.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // SAFETY: Python calls this method with its lock.
        unsafe {
            self.0
                .peek(|map| map.values().try_for_each(|value| visit.call(&value.0)))
        }
    }

    fn __clear__(&self, py: Python<'_>) {
        foreign::empty(py, &self.0);
    }
}
