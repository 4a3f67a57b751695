//~ `WeakNode` has no identity
//~ `impl Identity for WeakNode`
use weakly::{Strong, Weak, reference::{Identify, Notified, WeakKey}};

pub struct Node(Strong<str>);
#[derive(Clone)]
pub struct WeakNode(Weak<str>);

impl Identify<Node> for WeakNode {
    fn addr(this: &Self) -> *const () {
        Identify::<Strong<str>>::addr(&this.0)
    }
}

unsafe impl WeakKey for Node {
    type Watch = Notified<Self>;
    type Weak = WeakNode;
    fn addr(this: &Self) -> *const () {
        WeakKey::addr(&this.0)
    }
    fn downgrade(this: &Self) -> WeakNode {
        WeakNode(Strong::downgrade(&this.0))
    }
}
