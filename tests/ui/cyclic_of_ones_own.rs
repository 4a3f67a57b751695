//~ `Cyclic` is a "sealed trait"
use weakly::{Cyclic, Strong, WeakMap};

pub struct Mine(WeakMap<Strong<i32>, i32>);

impl Cyclic for &mut Mine {}
