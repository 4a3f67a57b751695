//~ associated function `new` is private
use weakly::{Strong, Weak, impl_handle, reference::{Notify, Permit}};

mod even {
    #[derive(Clone)]
    pub struct Even(super::Strong<u32>);
    #[derive(Clone)]
    pub struct WeakEven(super::Weak<u32>);
    super::impl_handle!(Even(super::Strong<u32>), WeakEven(super::Weak<u32>));
}

pub fn odd() -> even::Even {
    Notify::from_handle(Strong::new(7), Permit::new())
}
