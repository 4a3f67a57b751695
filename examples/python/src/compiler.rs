//! A cache of what functions compile to: variants of a function, each with guards. Functions are
//! Python objects, and no keys: a function owns a [`Token`].

use std::sync::Arc;

use pyo3::prelude::*;
use weakly::memo::{self, Computation};
use weakly::{Memo, Strong};

use crate::foreign;
use crate::native::Handle;

/// Any thread may clone this value. Only with Python's lock may a thread clone a `Py`.
type Value = Arc<Py<PyAny>>;

/// For a field of a Python object. A copy of the object needs a new token.
#[pyclass(frozen)]
pub struct Token(Strong<()>);

#[pymethods]
impl Token {
    #[new]
    fn new() -> Self {
        Token(Strong::new(()))
    }
}

/// What a result depends on, besides its function.
#[derive(FromPyObject)]
enum Guard<'py> {
    Token(Bound<'py, Token>),
    Object(Handle),
}

type Graphs = Memo<(Strong<()>, memo::Value<String>), Value>;

/// A result that refers to its function keeps the function alive, and so the entry: let it refer to
/// the code of the function, or weakly.
#[pyclass(frozen)]
pub struct Compiler(Arc<Graphs>);

/// Compiles, and declares the guards. `compile` returns them beside the result.
fn run(cx: &Computation<'_>, compile: &Bound<'_, PyAny>, variant: &str) -> PyResult<Value> {
    let (result, guards): (Py<PyAny>, Vec<Guard<'_>>) = compile.call1((variant,))?.extract()?;
    for guard in &guards {
        match guard {
            Guard::Token(it) => cx.depends_on(&it.get().0),
            Guard::Object(it) => cx.depends_on(&it.0),
        }
    }
    Ok(result.into())
}

#[pymethods]
impl Compiler {
    #[new]
    fn new() -> Self {
        Compiler(foreign::memo())
    }

    /// Threads that miss at the same time all compile. No thread waits.
    fn get(&self, token: &Token, variant: &str, compile: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = compile.py();
        foreign::settle(py);
        let compute = |cx: &Computation<'_>| run(cx, &compile, variant);
        let value = self
            .0
            .try_get_or_compute_racing((&token.0, variant), compute)?;
        Ok(value.clone_ref(py))
    }

    /// One thread compiles, and the others wait without Python's lock.
    fn get_once(
        &self,
        py: Python<'_>,
        token: &Token,
        variant: &str,
        compile: Py<PyAny>,
    ) -> PyResult<Py<PyAny>> {
        foreign::settle(py);
        let compute =
            |cx: &Computation<'_>| Python::attach(|py| run(cx, compile.bind(py), variant));
        let value = py.detach(|| self.0.try_get_or_compute((&token.0, variant), compute))?;
        Ok(value.clone_ref(py))
    }

    /// Hangs if two threads miss at the same time: the second waits for the first with Python's
    /// lock, and the first waits for the lock.
    fn get_naive(
        &self,
        token: &Token,
        variant: &str,
        compile: Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        let compute = |cx: &Computation<'_>| run(cx, &compile, variant);
        let value = self.0.try_get_or_compute((&token.0, variant), compute)?;
        Ok(value.clone_ref(compile.py()))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}
