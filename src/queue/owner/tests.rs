//! What a watch says without its block.

use core::marker::PhantomData;
use core::ptr;

use super::OwnedWatch;
use crate::ptr::{Atomic, Strong};

#[test]
fn the_address_of_an_object_whose_payload_is_in_its_block_is_known_without_the_block() {
    let apart: Strong<_, Atomic> = Strong::new([7_u64; 64]);
    // No mark says that the payload is apart. Who reads the block would be told.
    let watch = OwnedWatch::<_, Atomic> {
        at: Some(apart.place()),
        marker: PhantomData,
    };
    assert!(ptr::addr_eq(watch.addr(), apart.place().as_ptr()));
    assert!(!ptr::addr_eq(watch.addr(), Strong::as_ptr(&apart)));
}
