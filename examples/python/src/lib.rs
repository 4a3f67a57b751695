//! A binding for Python, as the guide's chapter *wrappers* describes it. The native objects are
//! tensors. A death may happen on any thread, with or without Python's lock; references to Python
//! objects are given back under the lock only. `.ci/python` builds the module and runs the tests.
//!
//! * [`foreign`]: where values die
//! * [`tensor`]: one wrapper for each tensor, made anew; attributes of tensors
//! * [`dictionary`]: a weak dictionary
//! * [`compiler`]: a compile cache, whose keys and guards are tokens
//! * [`resurrected`]: a wrapper with state, which lives as long as the native object
//! * [`naive`]: forms that hang, for comparison, and a worker thread without the lock

mod compiler;
mod dictionary;
mod foreign;
mod naive;
mod resurrected;
mod tensor;

use pyo3::prelude::*;

/// Destroys what dead entries own, and returns the number of native objects.
#[pyfunction]
fn alive(py: Python<'_>) -> usize {
    foreign::settle(py);
    tensor::alive()
}

/// Gives back all references to Python objects while Python still runs.
#[pyfunction]
fn shutdown(py: Python<'_>) {
    tensor::clear();
    resurrected::clear();
    foreign::shutdown(py);
}

#[pymodule]
mod weakly_example {
    use super::*;

    #[pymodule_export]
    use super::{
        alive,
        compiler::{Compiler, Token},
        dictionary::WeakDictionary,
        naive::{Locked, kept, on_death_at_once, release},
        resurrected::Parameter,
        shutdown,
        tensor::Tensor,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        resurrected::init(module.py());
        let exit = module.py().import("atexit")?;
        exit.call_method1("register", (module.getattr("shutdown")?,))?;
        Ok(())
    }
}
