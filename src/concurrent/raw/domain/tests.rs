//! Who looks at what waits in limbo.

use core::time::Duration;
use std::sync::mpsc::channel;
use std::thread;

use super::*;

unsafe fn nothing(_: *mut (), _: &()) {}

/// A thread for which nothing in limbo waits leaves without the lock, which another may have.
#[test]
fn a_reader_that_nothing_waits_for_takes_no_lock() {
    for prompt in [true, false] {
        let domain = Domain::new(());
        let (domain, (came, comes)) = (&domain, channel());
        let ((go, goes), (read, reads)) = (channel::<()>(), channel());
        thread::scope(|scope| {
            scope.spawn(move || {
                let inside = Reading::new(domain, prompt);
                came.send(()).unwrap();
                _ = goes.recv();
                drop(inside);
            });
            comes.recv().unwrap();
            let inside = Writing::new(domain, prompt);
            // SAFETY: nothing is read through it.
            inside.retire(unsafe { Retired::new(core::ptr::null_mut::<()>(), nothing) });
            drop(inside);
            let limbo = domain.limbo();
            assert_eq!(limbo.len(), 1);
            scope.spawn(move || {
                drop(Reading::new(domain, prompt));
                read.send(()).unwrap();
            });
            let left = reads.recv_timeout(Duration::from_secs(10));
            drop((limbo, go));
            left.unwrap();
        });
        assert!(domain.limbo().is_empty());
    }
}

/// D3: A thread that has missed that something waits for it, since it left without a barrier: the next that leaves
/// looks.
#[test]
fn the_next_that_leaves_looks_for_one_that_has_missed_it() {
    let domain = Domain::new(());
    let (domain, (came, comes)) = (&domain, channel());
    let (go, goes) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let inside = Reading::new(domain, false);
            came.send(()).unwrap();
            _ = goes.recv();
            let left = inside.0.leave(false);
            assert!(left && inside.0.is_awaited());
            core::mem::forget(inside);
        });
        comes.recv().unwrap();
        let inside = Writing::new(domain, false);
        // SAFETY: nothing is read through it.
        inside.retire(unsafe { Retired::new(core::ptr::null_mut::<()>(), nothing) });
        drop(inside);
        drop(Reading::new(domain, false));
        assert_eq!(domain.limbo().len(), 1, "that one is inside");
        drop(go);
    });
    drop(Reading::new(domain, false));
    assert!(domain.limbo().is_empty());
}
