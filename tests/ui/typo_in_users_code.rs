// Methods that numbers do not have: no trait of ours that applies to all types offers one.
//~ no method named `split` found for type `u32`
//~ no method named `keep` found for type `u32`
//!~ weakly
use weakly::{Interner, Strong, WeakMap, concurrent};

pub type Uses = (
    WeakMap<Strong<str>, u32>,
    Interner<Strong<str>>,
    concurrent::WeakSet<Strong<u32>>,
);

pub fn number() {
    5u32.keep();
    5u32.split();
    5u32.kept();
    5u32.find();
    5u32.take();
    5u32.enter();
    5u32.replace();
    5u32.pin();
    5u32.show();
    5u32.show_mut();
    5u32.peek();
    5u32.peek_mut();
    5u32.half();
    5u32.is();
    5u32.addr();
    5u32.key();
    5u32.content();
    5u32.hash();
    5u32.fill();
    5u32.register();
    5u32.copy();
    5u32.cold();
    5u32.read();
    5u32.inner();
    5u32.wrap();
    5u32.watch();
    5u32.elements();
}
