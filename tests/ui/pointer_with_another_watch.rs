//~ choose `Notified<Self>` or `Swept<Self>`
use weakly::{Strong, reference::WeakKey};

pub struct Node(Strong<str>);

unsafe impl WeakKey for Node {
    type Watch = Strong<str>;
    fn addr(this: &Self) -> *const () {
        WeakKey::addr(&this.0)
    }
}
