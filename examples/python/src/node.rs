//! A node: a native object whose wrapper has state. The wrapper has a `__dict__`, classes derive
//! from it, and it lives as long as the wrapper or the object is in use. While Python uses the
//! wrapper, the wrapper owns the object. When Python has dropped its last reference, and native code
//! still has handles, the wrapper is *parked*: the object owns it, by an entry in [`PARKED`].
//!
//! The pointer in [`Native::wrapper`] is null, or valid for whoever has a handle to the object and
//! Python's lock. [`dealloc`] frees a wrapper in three cases only. A death of the object has begun,
//! so that no handle is left and weak handles fail; or the wrapper was parked, and the object is
//! dead; or the wrapper was parked, and has lost its entry in [`PARKED`], as by [`clear`]. In the
//! third case, `dealloc` first sets the pointer to null.
//!
//! The class is made from a `PyType_Spec`, and is no `#[pyclass]`:
//!
//! * With `#[pyclass(dict)]`, CPython allocates the dictionary before PyO3 moves the value in, and a
//!   collection then traverses a value of zeros. Here the dictionary is made when Python first sets
//!   an attribute.
//! * PyO3 shows the `__dict__` to the collector in any case. Here [`traverse`] hides it while native
//!   code has handles.
//! * For an instance of a derived class, CPython's `subtype_dealloc` calls `__del__` and clears
//!   slots before it calls our `dealloc`. So [`adopt`] gives a derived class our three functions, as
//!   PyTorch's metaclass does.
//!
//! Only for CPython with its lock: the count of a wrapper that comes back changes from 0 to 1 by an
//! ordinary increment, which builds with `Py_TRACE_REFS` and without the lock do not permit.

use std::ffi::{c_int, c_void};
use std::mem::{offset_of, replace, take};
use std::ptr::{null_mut, write};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use pyo3::exceptions::{PyReferenceError, PyTypeError};
use pyo3::types::{PyCFunction, PyType};
use pyo3::{ffi, prelude::*, wrap_pyfunction};
use weakly::{Strong, Weak};

use crate::foreign::{self, Reference, Table, attached, settling};
use crate::naive;
use crate::native::{self, Handle, Native};

unsafe extern "C" {
    fn PyInstanceMethod_New(function: *mut ffi::PyObject) -> *mut ffi::PyObject;
}

/// Wrappers owned by their objects.
pub static PARKED: LazyLock<Table<Reference>> = LazyLock::new(foreign::table);
static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

#[repr(C)]
pub struct Wrapper {
    head: ffi::PyObject,
    /// The `__dict__`, null until an attribute is set.
    dict: *mut ffi::PyObject,
    weak: *mut ffi::PyObject,
    /// Nothing while the wrapper is parked.
    native: Option<Strong<Native>>,
    /// Set when the wrapper is first parked.
    owner: Option<Weak<Native>>,
}

pub fn is_node(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: both are valid.
    unsafe { ffi::PyObject_TypeCheck(object.as_ptr(), CLASS.load(Relaxed)) != 0 }
}

/// Frees the parked wrappers. Their objects may live on.
pub fn clear(py: Python<'_>) {
    foreign::empty(py, &PARKED);
}

/// Returns the object of a wrapper. A parked wrapper, which Python has found by a weak reference,
/// owns the object from here on.
pub fn native(wrapper: &Bound<'_, PyAny>) -> PyResult<Strong<Native>> {
    let this = wrapper.as_ptr().cast::<Wrapper>();
    // SAFETY: the caller has checked the class; only threads with Python's lock use the field.
    if let Some(native) = unsafe { &(*this).native } {
        return Ok(native.clone());
    }
    let native =
        owner(wrapper).ok_or_else(|| PyReferenceError::new_err("the native object is dead"))?;
    // SAFETY: as above.
    unsafe { own(wrapper.py(), this, &native) };
    Ok(native)
}

/// Lets a parked wrapper own its object.
///
/// # Safety
/// `this` is a wrapper of the object, and is borrowed from a reference of the caller.
unsafe fn own(py: Python<'_>, this: *mut Wrapper, native: &Strong<Native>) {
    // SAFETY: only threads with Python's lock use the fields.
    unsafe { (*this).native = Some(native.clone()) };
    let parked = PARKED.with(py, |parked| parked.remove(native));
    drop(parked); // Not the last reference.
}

/// Returns the wrapper of an object, if there is one. Runs no Python code.
fn living<'py>(py: Python<'py>, native: &Strong<Native>) -> Option<Bound<'py, PyAny>> {
    let pointer = native.wrapper.load(Relaxed);
    // SAFETY: the pointer is null or valid, as the head of this file says.
    let wrapper = unsafe { Bound::from_borrowed_ptr_or_opt(py, pointer) }?;
    let this = pointer.cast::<Wrapper>();
    // SAFETY: `wrapper` is a reference to it, and only threads with Python's lock use the field.
    unsafe {
        if (*this).native.is_none() {
            own(py, this, native);
        }
    }
    Some(wrapper)
}

pub fn wrap<'py>(py: Python<'py>, native: &Strong<Native>) -> PyResult<Bound<'py, PyAny>> {
    if let Some(wrapper) = living(py, native) {
        return Ok(wrapper);
    }
    let wrapper = allocate(py, CLASS.load(Relaxed))?;
    // The allocation may have run the collector, so any Python code, which may have made a wrapper.
    if let Some(first) = living(py, native) {
        return Ok(first);
    }
    give(&wrapper, native);
    Ok(wrapper)
}

/// Gives a new wrapper its object.
fn give(wrapper: &Bound<'_, PyAny>, native: &Strong<Native>) {
    // SAFETY: a wrapper, from `allocate`; only threads with Python's lock use the field.
    unsafe { (*wrapper.as_ptr().cast::<Wrapper>()).native = Some(native.clone()) };
    native.wrapper.store(wrapper.as_ptr(), Relaxed);
}

fn allocate(py: Python<'_>, class: *mut ffi::PyTypeObject) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: CPython knows the new object from here on, and runs no code before the fields are
    // written.
    unsafe {
        let object = ffi::PyType_GenericAlloc(class, 0);
        let wrapper = Bound::from_owned_ptr_or_err(py, object)?;
        let this = object.cast::<Wrapper>();
        write(&raw mut (*this).native, None);
        write(&raw mut (*this).owner, None);
        Ok(wrapper)
    }
}

/// Gives a derived class our functions in place of CPython's.
///
/// # Safety
/// `class` is derived from `Node`.
unsafe fn adopt(class: *mut ffi::PyTypeObject) -> PyResult<()> {
    // SAFETY: a class derived from another has valid fields; Python's lock is held.
    unsafe {
        let dealloc: ffi::destructor = dealloc;
        if (*class)
            .tp_dealloc
            .is_some_and(|it| std::ptr::fn_addr_eq(it, dealloc))
        {
            return Ok(());
        }
        if (*class).tp_basicsize != size_of::<Wrapper>() as ffi::Py_ssize_t {
            return Err(PyTypeError::new_err(
                "a class derived from Node has no __slots__",
            ));
        }
        (*class).tp_dealloc = Some(dealloc);
        (*class).tp_traverse = Some(traverse);
        (*class).tp_clear = Some(empty);
    }
    Ok(())
}

/// `tp_new`: the arguments are for `__init__`.
unsafe extern "C" fn new(
    class: *mut ffi::PyTypeObject,
    _: *mut ffi::PyObject,
    _: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    attached(|py| {
        // SAFETY: Python calls this function for `Node` and for derived classes only.
        let wrapper = unsafe { adopt(class) }.and_then(|()| allocate(py, class));
        match wrapper {
            Ok(wrapper) => {
                give(&wrapper, &Native::node());
                wrapper.into_ptr()
            }
            Err(error) => {
                error.restore(py);
                null_mut()
            }
        }
    })
}

/// Parks a wrapper whose count is 0.
///
/// # Safety
/// `this` is a wrapper with a count of 0, of which nothing is freed; `native` was its object.
unsafe fn park(py: Python<'_>, this: *mut Wrapper, native: Strong<Native>) {
    // SAFETY: as the caller says. The new reference is the one in `wrapper`.
    let wrapper = unsafe {
        (*this)
            .owner
            .get_or_insert_with(|| Strong::downgrade(&native));
        ffi::Py_INCREF(this.cast());
        Bound::from_owned_ptr(py, this.cast())
    };
    PARKED.with(py, |parked| {
        _ = parked.insert(&native, Reference(wrapper.unbind()))
    });
    // This handle may be the last by now: the object dies, and the entry is due.
}

/// Python calls this function with a count of 0 and with its lock.
unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: as above.
    attached(|py| settling(py, || unsafe { free_or_park(py, object.cast()) }));
}

unsafe fn free_or_park(py: Python<'_>, this: *mut Wrapper) {
    let object = this.cast::<ffi::PyObject>();
    // SAFETY: the thread has Python's lock, `object` is a wrapper with a count of 0, and nothing of
    // it is freed before the end.
    unsafe {
        let was_parked = (*this).native.is_none();
        if was_parked {
            // The object lives, if it only has lost its reference to the wrapper. For `__del__`.
            (*this).native = (*this).owner.as_ref().and_then(Weak::upgrade);
        } else if let Some(native) = (*this).native.take_if(|it| Strong::strong_count(it) > 1) {
            return park(py, this, native);
        }
        let class = (*object).ob_type;
        if (*class).tp_finalize.is_some() && ffi::PyObject_CallFinalizerFromDealloc(object) < 0 {
            return; // resurrected by `__del__`
        }
        // `__del__` may have given the object to native code.
        let (mut living, mut dying) = (None, None);
        match (*this).native.take() {
            Some(native) if was_parked => {
                native.wrapper.store(null_mut(), Relaxed);
                living = Some(native);
            }
            Some(native) => match Strong::begin_death(native) {
                // No Python code has run since the count was 0.
                Err(native) => return park(py, this, native),
                Ok(begun) => dying = Some(begun),
            },
            None => {}
        }
        ffi::PyObject_GC_UnTrack(object.cast::<c_void>());
        if !(*this).weak.is_null() {
            ffi::PyObject_ClearWeakRefs(object);
        }
        let (dict, owner) = (
            replace(&mut (*this).dict, null_mut()),
            take(&mut (*this).owner),
        );
        ffi::PyObject_GC_Del(object.cast::<c_void>());
        ffi::Py_DECREF(class.cast());
        ffi::Py_XDECREF(dict);
        // The destructor, finalizers and wakers run now.
        drop((owner, living, dying));
    }
}

/// The visitor of the first pass of a collection, null until [`class`] has learnt the visitor.
static FIRST: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static LEARNS: AtomicBool = AtomicBool::new(false);

/// Whether an object has one owner. The first pass of a collection decides, and the later passes
/// follow: a thread may upgrade a weak handle meanwhile. If the first pass showed a reference, and a
/// later pass did not, the collector would take objects in use for garbage.
fn has_one_owner(native: &Strong<Native>, visitor: *mut c_void) -> bool {
    let first = FIRST.load(Relaxed);
    if first == visitor || first.is_null() {
        let is_one = Strong::strong_count(native) == 1;
        native.has_one_owner.store(is_one, Relaxed);
    }
    native.has_one_owner.load(Relaxed)
}

/// Shows the attributes if the wrapper is the only owner of its object, with parked wrappers of the
/// objects that it alone owns.
unsafe extern "C" fn traverse(
    object: *mut ffi::PyObject,
    visit: ffi::visitproc,
    arg: *mut c_void,
) -> c_int {
    let this = object.cast::<Wrapper>();
    let visitor = visit as *mut c_void;
    if LEARNS.swap(false, Relaxed) {
        FIRST.store(visitor, Relaxed);
    }
    // SAFETY: the thread has Python's lock, and `object` is a wrapper. A handle keeps each object in
    // `work`, as only threads with the lock change inputs.
    unsafe {
        let show = |shown: *mut ffi::PyObject| match shown.is_null() {
            true => 0,
            false => visit(shown, arg),
        };
        let mut error = show((*object).ob_type.cast());
        if let Some(native) = &(*this).native {
            if !has_one_owner(native, visitor) {
                return error;
            }
            let mut work: Vec<*const Native> = vec![&raw const **native];
            while let Some(native) = work.pop() {
                let inputs = (*native).inputs.lock().unwrap();
                for input in inputs.iter().filter(|it| has_one_owner(it, visitor)) {
                    work.push(&raw const **input);
                    // A wrapper that is not parked would be a second owner.
                    let parked = input.wrapper.load(Relaxed);
                    error = if error == 0 { show(parked) } else { error };
                }
            }
        }
        if error == 0 {
            show((*this).dict)
        } else {
            error
        }
    }
}

/// `tp_clear`: empties the dictionary and the inputs, if the wrapper is the only owner of its
/// object. So the objects of parked wrappers die that the object alone owns. A parked wrapper keeps
/// its dictionary: it may be parked only since the collector has cleared another object.
unsafe extern "C" fn empty(object: *mut ffi::PyObject) -> c_int {
    let run = |py: Python<'_>| {
        // SAFETY: the thread has Python's lock, and `object` is a wrapper.
        let native = unsafe { &(*object.cast::<Wrapper>()).native };
        if let Some(native) = native.as_ref().filter(|it| Strong::strong_count(it) == 1) {
            let inputs = take(&mut *native.inputs.lock().unwrap());
            settling(py, || {
                // SAFETY: as above, and the collector has a reference.
                unsafe { forget_attributes(object) };
                drop(inputs);
            });
        }
    };
    attached(run);
    0
}

/// # Safety
/// `object` is a wrapper, of which the caller has a reference, and the thread has Python's lock.
pub unsafe fn forget_attributes(object: *mut ffi::PyObject) {
    // SAFETY: as the caller says.
    unsafe {
        let dict = replace(&mut (*object.cast::<Wrapper>()).dict, null_mut());
        ffi::Py_XDECREF(dict);
    }
}

/// The object of a parked wrapper, if the object lives.
pub fn owner(wrapper: &Bound<'_, PyAny>) -> Option<Strong<Native>> {
    // SAFETY: the caller has checked the class; only threads with Python's lock use the field.
    let owner = unsafe { &(*wrapper.as_ptr().cast::<Wrapper>()).owner };
    owner.as_ref().and_then(Weak::upgrade)
}

/// The dictionary and the object of a wrapper, for the search for cycles.
///
/// # Safety
/// `object` is a wrapper, the thread has Python's lock, and runs no Python code while it uses the
/// reference.
pub unsafe fn parts<'a>(
    object: *mut ffi::PyObject,
) -> (*mut ffi::PyObject, &'a Option<Strong<Native>>) {
    // SAFETY: as the caller says.
    unsafe {
        let this = object.cast::<Wrapper>();
        ((*this).dict, &(*this).native)
    }
}

/// A parked wrapper that Python has found by a weak reference owns its object again, if the object
/// lives.
///
/// # Safety
/// `object` is a wrapper, of which the caller has a reference, and the thread has Python's lock.
unsafe fn revive(object: *mut ffi::PyObject) {
    // SAFETY: as the caller says.
    unsafe {
        let this = object.cast::<Wrapper>();
        if (*this).native.is_none() && (*this).owner.is_some() {
            attached(|py| _ = native(&Bound::from_borrowed_ptr(py, object)));
        }
    }
}

/// `tp_getattro`
unsafe extern "C" fn attribute(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: Python calls this function with its lock, for a wrapper.
    unsafe {
        revive(object);
        ffi::PyObject_GenericGetAttr(object, name)
    }
}

/// `tp_setattro`
unsafe extern "C" fn set_attribute(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: as above. An assignment to `__class__` may have given the wrapper a class without an
    // instance, with the size of the wrapper's class.
    unsafe {
        revive(object);
        let error = ffi::PyObject_GenericSetAttr(object, name, value);
        _ = adopt((*object).ob_type);
        error
    }
}

#[pyfunction]
#[pyo3(signature = (node, size = 0, inputs = Vec::new()))]
fn init(node: Handle, size: usize, inputs: Vec<Handle>) {
    node.0.size.store(size, Relaxed);
    set_inputs(node, inputs);
}

#[pyfunction]
fn size(node: Handle) -> usize {
    node.0.size.load(Relaxed)
}

#[pyfunction]
fn inputs<'py>(py: Python<'py>, node: Handle) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let inputs = node.0.inputs.lock().unwrap().clone();
    inputs.iter().map(|it| native::wrap(py, it)).collect()
}

#[pyfunction]
fn set_inputs(node: Handle, inputs: Vec<Handle>) {
    let inputs = inputs.into_iter().map(|it| it.0).collect();
    let old = replace(&mut *node.0.inputs.lock().unwrap(), inputs);
    drop(old);
}

#[pyfunction]
fn keep(node: Handle) {
    naive::keep(&node.0);
}

/// Returns the class. (A program may import the module twice, without its entry in `sys.modules`.)
pub fn class(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    // SAFETY: null, or the class.
    match unsafe { Bound::from_borrowed_ptr_or_opt(py, CLASS.load(Relaxed).cast()) } {
        Some(class) => Ok(class.cast_into()?),
        None => make_class(py),
    }
}

fn make_class(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let member = |name: &'static std::ffi::CStr, offset: usize| ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        ..Default::default()
    };
    let mut members = [
        member(c"__dictoffset__", offset_of!(Wrapper, dict)),
        member(c"__weaklistoffset__", offset_of!(Wrapper, weak)),
        ffi::PyMemberDef::default(),
    ];
    // CPython keeps pointers to these, and copies the others.
    let attributes = Box::leak(Box::new([
        ffi::PyGetSetDef {
            name: c"__dict__".as_ptr(),
            get: Some(ffi::PyObject_GenericGetDict),
            set: Some(ffi::PyObject_GenericSetDict),
            ..Default::default()
        },
        ffi::PyGetSetDef::default(),
    ]));
    let slot = |slot, pfunc| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_new, new as *mut c_void),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, empty as *mut c_void),
        slot(ffi::Py_tp_getattro, attribute as *mut c_void),
        slot(ffi::Py_tp_setattro, set_attribute as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, attributes.as_mut_ptr().cast()),
        slot(0, null_mut()),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE | ffi::Py_TPFLAGS_HAVE_GC;
    let mut spec = ffi::PyType_Spec {
        name: c"weakly_example.Node".as_ptr(),
        basicsize: size_of::<Wrapper>() as c_int,
        itemsize: 0,
        flags: flags as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: what CPython keeps pointers to is static.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec)) }?;
    let class = class.cast_into::<PyType>()?;
    // The class is never freed.
    CLASS.store(class.clone().into_ptr().cast(), Relaxed);
    // SAFETY: a new reference, or null with an error.
    let method = |function: Bound<'_, PyCFunction>| unsafe {
        Bound::from_owned_ptr_or_err(py, PyInstanceMethod_New(function.as_ptr()))
    };
    let property = py.import("builtins")?.getattr("property")?;
    class.setattr("__init__", method(wrap_pyfunction!(init, py)?)?)?;
    class.setattr("keep", method(wrap_pyfunction!(keep, py)?)?)?;
    class.setattr("size", property.call1((wrap_pyfunction!(size, py)?,))?)?;
    let (get, set) = (
        wrap_pyfunction!(inputs, py)?,
        wrap_pyfunction!(set_inputs, py)?,
    );
    class.setattr("inputs", property.call1((get, set))?)?;
    let node = class.call0()?;
    LEARNS.store(true, Relaxed);
    py.import("gc")?.call_method0("collect")?;
    LEARNS.store(false, Relaxed); // a collection was under way
    drop(node);
    Ok(class)
}
