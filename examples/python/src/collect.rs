//! The search for cycles that pass through both worlds, where Python's collector sees one owner of a
//! wrapper and native code another.
//!
//! Each living wrapper is in the value of an entry of its object. So the entry of a wrapper that is
//! garbage is *kept*: a ring of Python's references keeps the wrapper. The search names the Python
//! objects of such rings, and this module clears them as Python's collector does: first all
//! `__del__`, then a second search, as a `__del__` may have brought an object back, then the ends of
//! weak references (but not of proxies), so that no code finds a cleared object, then `tp_clear`.
//! The search also names the keys of kept entries: their `inputs` may be a ring without Python.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::{c_int, c_void};
use std::mem::take;
use std::sync::Arc;

use pyo3::types::PyList;
use pyo3::{Borrowed, ffi, prelude::*};
use weakly::cycles::{Cycles, Drained, Trace, Tracer};
use weakly::{Strong, Weak, WeakMap, impl_trace};

use crate::dictionary::WeakDictionary;
use crate::foreign::{Reference, Table, settle};
use crate::native::Native;
use crate::node;
use crate::tensor::{ATTRIBUTES, Tensor};

unsafe extern "C" {
    /// Ends a weak reference without a call of its callback.
    fn _PyWeakref_ClearRef(reference: *mut ffi::PyObject);
}

thread_local! {
    /// The objects to which this module has a reference besides those that it shows.
    static HELD: RefCell<HashSet<usize>> = RefCell::default();
}

/// The value of the entry of a living wrapper. A parked wrapper does not own its object: then the
/// value has a handle, so that the search sees rings of native objects alone.
struct Living {
    wrapper: Option<Reference>,
    native: Option<Strong<Native>>,
}

impl_trace!(Living: wrapper, native);

impl Trace for Reference {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        show(self.0.as_ptr(), tracer);
    }
}

/// Shows a reference to a Python object.
fn show(object: *mut ffi::PyObject, tracer: &mut Tracer<'_>) {
    let held = HELD.with_borrow(|held| held.contains(&object.addr()));
    // SAFETY: the search has Python's lock, and runs no Python code: so the object lives.
    let count = unsafe { ffi::Py_REFCNT(object) } as usize - usize::from(held);
    tracer.foreign(object.addr(), count, move |tracer| {
        // SAFETY: as above.
        unsafe { show_children(object, tracer) };
    });
}

/// Shows the references of a Python object that may lead to other objects. What is not shown looks
/// as if something in use owned it: classes, modules and what belongs to them are in use anyway.
///
/// # Safety
/// The object lives, the thread has Python's lock, and runs no Python code.
unsafe fn show_children(object: *mut ffi::PyObject, tracer: &mut Tracer<'_>) {
    unsafe extern "C" fn add(child: *mut ffi::PyObject, list: *mut c_void) -> c_int {
        // SAFETY: the list is that of `show_children`.
        unsafe { (*list.cast::<Vec<*mut ffi::PyObject>>()).push(child) };
        0
    }
    // SAFETY: as the caller says.
    unsafe {
        let this = Borrowed::from_ptr(Python::assume_attached(), object);
        if node::is_node(&this) {
            let (attributes, native) = node::parts(object);
            native.trace(tracer);
            if !attributes.is_null() {
                show(attributes, tracer);
            }
            return;
        }
        if let Ok(tensor) = this.cast::<Tensor>() {
            return tensor.get().0.trace(tracer);
        }
        // The search shows the entries of a dictionary itself.
        let is_leaf = this.is_instance_of::<WeakDictionary>()
            || ffi::PyType_Check(object) != 0
            || ffi::PyModule_Check(object) != 0;
        let Some(traverse) = (*(*object).ob_type).tp_traverse.filter(|_| !is_leaf) else {
            return;
        };
        let mut children: Vec<*mut ffi::PyObject> = Vec::new();
        traverse(object, add, (&raw mut children).cast());
        let mut module = std::ptr::null_mut();
        if ffi::PyFunction_Check(object) != 0 {
            module = ffi::PyFunction_GetGlobals(object);
        }
        for child in children {
            if child != module && ffi::PyObject_IS_GC(child) != 0 {
                show(child, tracer);
            }
        }
    }
}

/// One search. Runs no Python code between the making of the list and the end of the search.
fn search(py: Python<'_>) -> PyResult<Drained<'static>> {
    let all = py
        .import("gc")?
        .call_method0("get_objects")?
        .cast_into::<PyList>()?;
    let (mut living, mut tables) = (WeakMap::<Strong<Native>, Living>::new(), Vec::new());
    tables.push(Arc::clone(&node::PARKED));
    tables.push(Arc::clone(&ATTRIBUTES));
    for object in &all {
        if node::is_node(&object) {
            // SAFETY: a wrapper, and no Python code runs here.
            let (_, native) = unsafe { node::parts(object.as_ptr()) };
            if let Some(native) = native {
                let wrapper = Some(Reference(object.clone().unbind()));
                living.insert(
                    native,
                    Living {
                        wrapper,
                        native: None,
                    },
                );
            } else if let Some(native) = node::owner(&object) {
                let value = Living {
                    wrapper: None,
                    native: Some(native.clone()),
                };
                living.insert(&native, value);
            }
        } else if let Ok(table) = object.cast::<WeakDictionary>() {
            tables.push(Arc::clone(&table.get().0));
        }
    }
    // The list has a reference to each object.
    drop(all);
    let mut locked: Vec<_> = tables
        .iter()
        .map(|table: &Table<_>| table.lock(py))
        .collect();
    let mut cycles = Cycles::new().with(&mut living).at_rest();
    for table in &mut locked {
        cycles = cycles.with(&mut **table);
    }
    Ok(cycles.drain())
}

/// Ends the weak references to garbage, and then calls the callbacks of those that are in use.
fn end_weak_references(
    py: Python<'_>,
    garbage: &[&Py<PyAny>],
    ids: &HashSet<usize>,
) -> PyResult<()> {
    let weakref = py.import("weakref")?;
    let list = weakref.getattr("getweakrefs")?;
    let callback_of = weakref.getattr("ref")?.getattr("__callback__")?;
    let mut calls = Vec::new();
    for object in garbage {
        for reference in list.call1((*object,))?.cast_into::<PyList>()? {
            let pointer = reference.as_ptr();
            // SAFETY: a valid object.
            if unsafe { ffi::PyWeakref_CheckRef(pointer) } == 0 {
                continue;
            }
            let callback = callback_of.call_method1("__get__", (&reference,))?;
            // SAFETY: a weak reference, and the thread has Python's lock.
            unsafe { _PyWeakref_ClearRef(pointer) };
            if !callback.is_none() && !ids.contains(&pointer.addr()) {
                calls.push((callback, reference));
            }
        }
    }
    for (callback, reference) in calls {
        if let Err(error) = callback.call1((reference,)) {
            error.write_unraisable(py, Some(&callback));
        }
    }
    Ok(())
}

/// Collects cycles that pass through both worlds, and returns the number of cleared objects and of
/// removed entries. No native code may change `inputs` meanwhile.
#[pyfunction]
pub fn collect(py: Python<'_>) -> PyResult<usize> {
    settle(py);
    let first = search(py)?;
    // SAFETY: no Python code has run since the search: the objects live.
    let own =
        |id: &usize| unsafe { Bound::from_borrowed_ptr(py, *id as *mut ffi::PyObject).unbind() };
    let rings: Vec<_> = first.foreign().iter().map(own).collect();
    let mut count = first.purged().removed;
    drop(first);
    for object in &rings {
        // SAFETY: an object with a reference of ours.
        unsafe { ffi::PyObject_CallFinalizer(object.as_ptr()) };
    }
    HELD.set(rings.iter().map(|it| it.as_ptr().addr()).collect());
    let second = search(py);
    HELD.with_borrow_mut(take);
    let second = second?;
    count += second.purged().removed;
    let ids: HashSet<usize> = second.foreign().iter().copied().collect();
    let is_garbage = |it: &&Py<PyAny>| ids.contains(&it.as_ptr().addr());
    let garbage: Vec<_> = rings.iter().filter(is_garbage).collect();
    end_weak_references(py, &garbage, &ids)?;
    // Rings of native objects alone.
    let keys = second
        .kept()
        .iter()
        .filter_map(|kept| kept.key::<Weak<Native>>()?.upgrade());
    for native in keys.collect::<Vec<_>>() {
        let inputs = take(&mut *native.inputs.lock().unwrap());
        count += usize::from(!inputs.is_empty());
    }
    for object in &garbage {
        count += 1;
        let pointer = object.as_ptr();
        // SAFETY: as above.
        unsafe {
            if node::is_node(object.bind(py)) {
                node::forget_attributes(pointer);
            } else if let Some(clear) = (*(*pointer).ob_type).tp_clear {
                clear(pointer);
            }
        }
    }
    drop((rings, second));
    settle(py);
    Ok(count)
}
