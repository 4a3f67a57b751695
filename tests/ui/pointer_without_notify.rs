//~ `Node` does not say which `Strong` it wraps
//~ a handle that wraps none chooses `type Watch = Swept<Self>`
use weakly::{Strong, reference::{Notified, WeakKey}};

pub struct Node(Strong<str>);

unsafe impl WeakKey for Node {
    type Watch = Notified<Self>;
    fn addr(this: &Self) -> *const () {
        WeakKey::addr(&this.0)
    }
}
