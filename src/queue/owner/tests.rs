//! The address of a watch that reads no block, and the end of a stack.

use core::marker::PhantomData;
use core::{mem, ptr};

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
