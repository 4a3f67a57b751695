//! Attributes of C objects, as GObject's qdata: `main.c` is the program. A C object has an anchor,
//! a field that is a `void *` and zero at first. A table has one value for each object, and a
//! destroy notification for each value.
//!
//! A notification runs under no lock: on the thread that destroys the object, or that replaces or
//! removes the value. If another thread is looking at the table at that moment, the notification may
//! run on that thread, and after the call has returned: the memory of the value must not be freed
//! before. [`anchor_clear_wait`] returns after the notification. A notification may use the table,
//! and destroy objects.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::task::Wake;
use std::time::Duration;

use weakly::{Anchor, concurrent::WeakMap};

type Attributes = WeakMap<Anchor, Datum>;
type Notify = Option<unsafe extern "C" fn(*mut c_void)>;

/// A value, the function that is told of its end, and whether a thread waits for that.
struct Datum(*mut c_void, Notify, OnceLock<Arc<Told>>);

/// Whether a notification has returned.
#[derive(Default)]
struct Told(Mutex<bool>, Condvar);

thread_local! {
    /// Whether this thread runs a notification.
    static NOTIFIES: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: the C program promises that its values may be used, and notified, on any thread.
unsafe impl Send for Datum {}
// SAFETY: likewise.
unsafe impl Sync for Datum {}

impl Drop for Datum {
    fn drop(&mut self) {
        if let Some(notify) = self.1 {
            let before = NOTIFIES.replace(true);
            // SAFETY: the C program has passed both together; a value is dropped once.
            unsafe { notify(self.0) };
            NOTIFIES.set(before);
        }
        if let Some(told) = self.2.get() {
            *told.0.lock().unwrap() = true;
            told.1.notify_all();
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

/// Notifies of the value that the call replaces.
#[unsafe(no_mangle)]
extern "C" fn attributes_set(all: &Attributes, of: &Anchor, data: *mut c_void, notify: Notify) {
    all.insert(of, Datum(data, notify, OnceLock::new()));
}

#[unsafe(no_mangle)]
extern "C" fn attributes_get(all: &Attributes, of: &Anchor) -> *mut c_void {
    all.with(of, |datum| datum.0).unwrap_or(null_mut())
}

/// Notifies of the value that the call removes.
#[unsafe(no_mangle)]
extern "C" fn attributes_remove(all: &Attributes, of: &Anchor) -> bool {
    all.remove_if(of, |_| true)
}

#[unsafe(no_mangle)]
extern "C" fn attributes_len(all: &Attributes) -> usize {
    all.len()
}

/// The death of an object. Its anchor is zero afterwards. A notification may run later, on a thread
/// that looks at a table.
#[unsafe(no_mangle)]
extern "C" fn anchor_clear(anchor: &mut Anchor) {
    drop(std::mem::take(anchor));
}

/// The death of an object, as by `anchor_clear`. Returns when the notification of the value in this
/// table has returned: the call waits for other threads that look at the table, so the caller must
/// hold no lock that a notification takes. In a notification the call does not wait, since the same
/// thread may have to run the further notification, and returns false if that is still due.
#[unsafe(no_mangle)]
extern "C" fn anchor_clear_wait(all: &Attributes, anchor: &mut Anchor) -> bool {
    let told = all.with(anchor, |datum| {
        Arc::clone(datum.2.get_or_init(Arc::default))
    });
    anchor_clear(anchor);
    let Some(told) = told else { return true };
    let mut is_told = told.0.lock().unwrap();
    while !*is_told && !NOTIFIES.get() {
        // If the other thread misses the value when it leaves, the next operation notifies.
        is_told = told
            .1
            .wait_timeout(is_told, Duration::from_millis(1))
            .unwrap()
            .0;
        if !*is_told {
            drop(is_told);
            all.purge();
            is_told = told.0.lock().unwrap();
        }
    }
    *is_told
}
