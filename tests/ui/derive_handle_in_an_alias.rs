//! 676: Where an alias hides a handle, the compiler says which bound is missing.
//~ the parameter type `T` may not live long enough
//~ derive_handle_in_an_alias.rs:13:15
//~ consider adding an explicit lifetime bound
//~ pub struct List<T: 'static> {
use weakly::{Strong, cycles::Trace};

pub type Link<T> = Option<Strong<List<T>>>;

#[derive(Trace)]
pub struct List<T> {
    pub head: T,
    pub tail: Link<T>,
}
