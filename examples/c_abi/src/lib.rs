//! Attributes of C objects, as GObject's qdata: `main.c` is the program. A C object has an anchor,
//! a field that is a `void *` and zero at first. A table has one value for each object, and a
//! destroy notification for each value.
//!
//! A notification runs under no lock: on the thread that destroys the object, or on a thread that
//! looks at the table at that moment. The notification may use the table, and destroy objects.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Weak};
use std::task::Wake;

use weakly::{Anchor, concurrent::WeakMap};

type Attributes = WeakMap<Anchor, Datum>;
type Notify = Option<unsafe extern "C" fn(*mut c_void)>;

/// A value, and the function that is told of its end.
struct Datum(*mut c_void, Notify);

// SAFETY: the C program promises that its values may be used, and notified, on any thread.
unsafe impl Send for Datum {}
// SAFETY: likewise.
unsafe impl Sync for Datum {}

impl Drop for Datum {
    fn drop(&mut self) {
        if let Some(notify) = self.1 {
            // SAFETY: the C program has passed both together; a value is dropped once.
            unsafe { notify(self.0) };
        }
    }
}

/// Runs the notifications of a death at the end of the death.
struct AtOnce(Weak<Attributes>);

impl Wake for AtOnce {
    fn wake(self: Arc<Self>) {
        if let Some(all) = self.0.upgrade() {
            all.purge();
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn attributes_new() -> *const Attributes {
    let all = Arc::new(Attributes::new());
    all.set_waker(Some(Arc::new(AtOnce(Arc::downgrade(&all))).into()));
    Arc::into_raw(all)
}

/// Notifies of all values that are left.
#[unsafe(no_mangle)]
unsafe extern "C" fn attributes_free(all: *const Attributes) {
    // SAFETY: the table is from `attributes_new`, and the C program uses it no more.
    drop(unsafe { Arc::from_raw(all) });
}

/// Notifies of the value that it replaces.
#[unsafe(no_mangle)]
extern "C" fn attributes_set(all: &Attributes, of: &Anchor, data: *mut c_void, notify: Notify) {
    all.insert(of, Datum(data, notify));
}

#[unsafe(no_mangle)]
extern "C" fn attributes_get(all: &Attributes, of: &Anchor) -> *mut c_void {
    all.with(of, |datum| datum.0).unwrap_or(null_mut())
}

/// Notifies of the value that it removes.
#[unsafe(no_mangle)]
extern "C" fn attributes_remove(all: &Attributes, of: &Anchor) -> bool {
    all.remove_if(of, |_| true)
}

#[unsafe(no_mangle)]
extern "C" fn attributes_len(all: &Attributes) -> usize {
    all.len()
}

/// The death of an object. Its anchor is zero afterwards.
#[unsafe(no_mangle)]
extern "C" fn anchor_clear(anchor: &mut Anchor) {
    drop(std::mem::take(anchor));
}
