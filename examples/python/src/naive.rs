//! Forms that hang, beside forms that do not; and native code that keeps tensors, and drops them on
//! a thread without Python's lock.

use std::mem::take;
use std::sync::mpsc::{self, Sender, SyncSender};
use std::sync::{LazyLock, Mutex};
use std::thread;

use pyo3::prelude::*;
use weakly::{Strong, WeakMap};

use crate::native::{self, Handle, Native};

static KEPT: Mutex<Vec<Strong<Native>>> = Mutex::new(Vec::new());

type Work = (Vec<Strong<Native>>, SyncSender<()>);

static WORKER: LazyLock<Sender<Work>> = LazyLock::new(|| {
    let (sender, receiver) = mpsc::channel::<Work>();
    thread::spawn(move || {
        for (natives, done) in receiver {
            drop(natives);
            _ = done.send(());
        }
    });
    sender
});

/// Native code keeps an object.
pub fn keep(native: &Strong<Native>) {
    KEPT.lock().unwrap().push(native.clone());
}

/// The wrappers of what native code keeps.
#[pyfunction]
pub fn kept(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let kept = KEPT.lock().unwrap().clone();
    kept.iter().map(|it| native::wrap(py, it)).collect()
}

/// The worker drops what native code keeps. With `wait`, the caller waits for the worker, and does
/// not release Python's lock: many native libraries do, and no death may take the lock.
#[pyfunction]
pub fn release(wait: bool) {
    let kept = take(&mut *KEPT.lock().unwrap());
    let (done, is_done) = mpsc::sync_channel(1);
    WORKER.send((kept, done)).unwrap();
    if wait {
        is_done.recv().unwrap();
    }
}

/// A thread without Python's lock upgrades a weak handle, until the object is dead.
#[pyfunction]
pub fn upgrade_until_dead(object: Handle) {
    let weak = Strong::downgrade(&object.0);
    thread::spawn(move || while weak.upgrade().is_some() {});
}

/// Calls a Python function on the thread of the death. Hangs if the thread that has Python's lock
/// waits for the death.
#[pyfunction]
pub fn on_death_at_once(object: Handle, callback: Py<PyAny>) {
    _ = Strong::finalize(&object.0, move || {
        Python::attach(|py| _ = callback.call0(py));
    });
}

/// A dictionary of one owner, under a lock.
#[pyclass(frozen)]
pub struct Locked(Mutex<WeakMap<Strong<Native>, Py<PyAny>>>);

#[pymethods]
impl Locked {
    #[new]
    fn new() -> Self {
        let map = WeakMap::new();
        Locked(Mutex::new(map))
    }

    fn set(&self, key: Handle, value: Py<PyAny>) {
        let old = self.0.lock().unwrap().insert(&key.0, value);
        drop(old);
    }

    fn __len__(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Destroys values after the lock.
    fn purge(&self) {
        let dead: Vec<_> = self.0.lock().unwrap().drain_dead().collect();
        drop(dead);
    }

    /// Destroys values under the lock. Hangs if a destructor uses the dictionary.
    fn purge_naive(&self) {
        self.0.lock().unwrap().purge();
    }
}
