//! The address of a watch that reads no block, and the end of a stack.

use core::marker::PhantomData;
use core::{mem, ptr};
use std::vec::Vec;

use super::{DeadQueue, NoticeQueue, OwnedWatch};
use crate::hash::Cookie;
use crate::ptr::{Atomic, Strong};

/// The notices of an object with several registrations are pushed under its gate. If the collection
/// has ended, the last notice frees the stack. (Freeing a stack asserts that no lock is held.)
#[test]
fn a_stack_is_freed_under_no_gate() {
    for registrations in [1, 2, 3, 70] {
        let object: Strong<_, Atomic> = Strong::new(1);
        let mut queues = [DeadQueue::NONE, DeadQueue::NONE];
        for _ in 0..registrations {
            let of_object = |queue: &mut DeadQueue<_>| queue.watch(&object, Cookie::fold(1));
            // Entries that were leaked.
            queues.iter_mut().map(of_object).for_each(mem::forget);
        }
        drop(queues);
        drop(object);
    }
}

#[test]
fn the_address_of_an_object_whose_payload_is_in_its_block_is_known_without_the_block() {
    let apart: Strong<_, Atomic> = Strong::new([7_u64; 64]);
    // The watch lacks the mark of a payload apart, so the address is only right if the block is
    // read.
    let watch = OwnedWatch::<_, Atomic> {
        at: Some(apart.place()),
        marker: PhantomData,
    };
    assert!(ptr::addr_eq(watch.addr(), apart.place().as_ptr()));
    assert!(!ptr::addr_eq(watch.addr(), Strong::as_ptr(&apart)));
}

/// A later notice may be at the address of the last notice that was counted.
#[test]
fn a_count_does_not_outlive_its_notices() {
    let mut queue = DeadQueue::NONE;
    let die = |queue: &mut DeadQueue<_>, deaths: usize| {
        let objects = (0..deaths).map(|_| Strong::<_, Atomic>::new(1));
        let objects: Vec<_> = objects.collect();
        let watch = |object| _ = queue.watch(object, Cookie::fold(1));
        objects.iter().for_each(watch);
    };
    for deaths in [3, 1, 2, 1] {
        die(&mut queue, deaths);
        assert_eq!(queue.count(), deaths);
        die(&mut queue, 1);
        assert_eq!(queue.count(), deaths + 1);
        for left in (0..=deaths).rev() {
            let notice = queue.next().unwrap();
            queue.finish(notice);
            assert_eq!(queue.count(), left);
        }
    }
}
