//! Children of a `fork` in a process with many threads: what is promised to them.
#![allow(unsafe_code)]

use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
use std::time::{Duration, Instant};

use weakly::concurrent::{Interner, WeakValueMap};
use weakly::{Memo, Reclaim, ReferenceQueue, Strong};

use crate::common::sized;
use crate::faces::{Maps, token};

const CHILDREN: usize = sized(500, 150, 1);

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
    fn kill(child: i32, signal: i32) -> i32;
    fn _exit(code: i32) -> !;
    fn execv(path: *const c_char, arguments: *const *const c_char) -> i32;
}

type Map = Maps<Strong<usize>>;

/// Inserts entries, whose keys die, and begins threads that do.
fn churn(map: &Map, end: &AtomicBool) {
    let round = |number: usize| {
        let keys: Vec<_> = (0..8).map(|more| Strong::new(number + more)).collect();
        keys.iter().for_each(|key| _ = map.insert(key, token()));
    };
    for number in 0_usize.. {
        if end.load(Relaxed) {
            return;
        }
        round(number);
        if number % 64 == 0 {
            thread::scope(|scope| _ = scope.spawn(|| round(number)));
        }
    }
}

/// Uses a collection that only this thread used at the fork, and new ones.
fn use_collections(quiet: &Map, keys: Vec<Strong<usize>>) -> bool {
    let is_there = keys.iter().all(|key| quiet.contains_key(key));
    let new = Strong::new(100);
    quiet.insert(&new, token());
    drop(keys);
    quiet.purge();
    let (names, queue) = (WeakValueMap::new(), ReferenceQueue::new());
    let memo = Memo::<Strong<usize>, usize>::new();
    let (interner, map) = (Interner::<Strong<str>>::new(), Map::new());
    names.insert(100_usize, &new);
    queue.register(&new, "gone");
    map.set_reclaim(Reclaim::OnRequest);
    map.insert(&new, token());
    let is_computed = memo.get_or_compute(&new, |_| 7) == 7;
    let is_interned = Strong::ptr_eq(&interner.intern("text"), &interner.intern("text"));
    drop(new);
    let is_gone = quiet.is_empty() && memo.is_empty() && names.get(&100).is_none();
    is_there
        && is_computed
        && is_interned
        && is_gone
        && queue.poll() == Some("gone")
        && map.take_dead(2).len() == 1
}

/// What the child with this number does.
fn child(number: usize, quiet: &Map, keys: Vec<Strong<usize>>) -> ! {
    let is_right = match number % 3 {
        0 => true,
        1 => use_collections(quiet, keys),
        _ => {
            let arguments = [
                c"sh".as_ptr(),
                c"-c".as_ptr(),
                c"exit 0".as_ptr(),
                std::ptr::null(),
            ];
            // SAFETY: texts that end, in a list that ends.
            unsafe { execv(c"/bin/sh".as_ptr(), arguments.as_ptr()) };
            false
        }
    };
    // SAFETY: it may be called at any time.
    unsafe { _exit(i32::from(!is_right)) }
}

/// Waits for a child; returns whether it has ended well, and in time.
fn ends_well(child: i32) -> bool {
    let (began, mut status) = (Instant::now(), 0);
    loop {
        // SAFETY: a child of ours, whose status has a place. 1: it does not block.
        match unsafe { waitpid(child, &raw mut status, 1) } {
            0 if began.elapsed() < Duration::from_secs(60) => {
                thread::sleep(Duration::from_micros(200))
            }
            0 => {
                // SAFETY: a child of ours, which nobody has waited for.
                unsafe { kill(child, 9) };
                // SAFETY: as above.
                unsafe { waitpid(child, &raw mut status, 0) };
                return false;
            }
            ended => return ended == child && status == 0,
        }
    }
}

/// 365: A child may execute another program, end, or use collections that no other thread was using.
#[test]
fn children_do_what_is_promised() {
    let (busy, quiet, end) = (Map::new(), Map::new(), AtomicBool::new(false));
    thread::scope(|scope| {
        (0..2).for_each(|_| _ = scope.spawn(|| churn(&busy, &end)));
        let wrong = (0..CHILDREN).find(|number| {
            let keys: Vec<_> = (0..40).map(Strong::new).collect();
            keys.iter().for_each(|key| _ = quiet.insert(key, token()));
            // SAFETY: the child does only what is promised, and ends.
            match unsafe { fork() } {
                0 => child(*number, &quiet, keys),
                child => !ends_well(child),
            }
        });
        end.store(true, Relaxed);
        assert_eq!(
            wrong, None,
            "this child did not end, or did not find what was there"
        );
    });
}
