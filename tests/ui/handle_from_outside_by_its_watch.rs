//~ this function takes 2 arguments but 1 argument was supplied
use weakly::{Strong, Weak, impl_handle, reference::Registrable};

mod even {
    #[derive(Clone)]
    pub struct Even(super::Strong<u32>);
    #[derive(Clone)]
    pub struct WeakEven(super::Weak<u32>);
    super::impl_handle!(Even(super::Strong<u32>), WeakEven(super::Weak<u32>));
}

pub fn odd(odd: &Strong<u32>) -> even::WeakEven {
    <even::Even as Registrable>::weak(Strong::downgrade(odd))
}
