//! A binding for Python, as the guide's chapter *wrappers* describes it. The native objects are
//! tensors. A death may happen on any thread, with or without Python's lock; references to Python
//! objects are given back under the lock only. `.ci/python` builds the module and runs the tests.
//!
//! * [`foreign`]: where values die
//! * [`native`]: the native objects
//! * [`tensor`]: one wrapper for each tensor, made anew; attributes of tensors
//! * [`node`]: a wrapper with state, which lives as long as the native object
//! * [`collect`]: cycles that pass through both worlds
//! * [`dictionary`]: a weak dictionary
//! * [`compiler`]: a compile cache, whose keys and guards are tokens
//! * [`naive`]: forms that hang, for comparison, and a worker thread without the lock

mod collect;
mod compiler;
mod dictionary;
mod foreign;
mod naive;
mod native;
mod node;
mod tensor;

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use pyo3::exceptions::PyImportError;
use pyo3::types::PyDict;
use pyo3::{ffi, prelude::*};

/// The interpreter that has imported the module first, or -1. The statics of the module own objects
/// of this interpreter.
static INTERPRETER: AtomicI64 = AtomicI64::new(-1);

/// Refuses a second interpreter. (Before CPython 3.12, PyO3 lets each interpreter import a module.)
fn enter_interpreter() -> PyResult<()> {
    // SAFETY: the caller has Python's lock.
    let this = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match INTERPRETER.compare_exchange(-1, this, Relaxed, Relaxed) {
        Err(first) if first != this => Err(PyImportError::new_err(
            "another interpreter has imported the module",
        )),
        _ => Ok(()),
    }
}

/// Destroys what dead entries own, and returns the number of native objects.
#[pyfunction]
fn alive(py: Python<'_>) -> usize {
    foreign::settle(py);
    native::alive()
}

/// Gives back all references to Python objects while Python still runs.
#[pyfunction]
fn shutdown(py: Python<'_>) {
    tensor::clear(py);
    node::clear(py);
    foreign::shutdown(py);
}

#[pymodule]
mod weakly_example {
    use super::*;

    #[pymodule_export]
    use super::{
        alive,
        collect::collect,
        compiler::{Compiler, Token},
        dictionary::WeakDictionary,
        foreign::after_fork,
        naive::{Locked, kept, on_death_at_once, release, upgrade_until_dead},
        shutdown,
        tensor::Tensor,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        enter_interpreter()?;
        module.add("Node", node::class(py)?)?;
        let exit = py.import("atexit")?;
        exit.call_method1("register", (module.getattr("shutdown")?,))?;
        let hooks = PyDict::new(py);
        hooks.set_item("after_in_child", module.getattr("after_fork")?)?;
        let os = py.import("os")?;
        os.call_method("register_at_fork", (), Some(&hooks))?;
        Ok(())
    }
}
