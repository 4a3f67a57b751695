//~ `Cyclic` is a "sealed trait"
use weakly::{Strong, WeakMap, cycles::Cyclic};

pub struct Mine(WeakMap<Strong<i32>, i32>);

impl Cyclic for &mut Mine {}
