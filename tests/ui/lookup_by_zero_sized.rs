//~ a reference to a zero-sized value does not identify a key: pass the handle, or `&Addr::of(reference)`
use weakly::{Strong, WeakMap};

pub struct Unit;

pub fn depth<'m>(depths: &'m WeakMap<Strong<Unit>, usize>, unit: &Unit) -> Option<&'m usize> {
    depths.get(unit)
}
