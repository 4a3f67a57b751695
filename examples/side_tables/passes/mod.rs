//! Three passes over trees that they do not own. Each stores its results in a map of its own; none knows of the
//! others.

pub(crate) mod complexity;
pub(crate) mod documentation;
pub(crate) mod spans;

use weakly::{Strong, WeakMap};

use crate::common::alive::{Alive, Counter};
use crate::tree::{Node, Tree};

/// What the program needs to know of a pass: nothing of its results.
pub(crate) trait Pass {
    /// Attaches the pass's attributes to the nodes of a tree.
    fn look_at(&mut self, tree: &Tree);
    /// Drops the attributes of dead nodes.
    fn purge(&mut self);
    /// The nodes that have an attribute.
    fn len(&self) -> usize;
    /// The attributes whose node is dead and that are not yet purged.
    fn pending(&self) -> usize;
}

/// One private attribute of nodes. The values count themselves, so that the map's own count is not the only
/// evidence that they are gone.
struct Attribute<V> {
    map: WeakMap<Strong<Node>, (V, Alive)>,
    counter: &'static Counter,
}

impl<V> Attribute<V> {
    fn new(counter: &'static Counter) -> Self {
        let map = WeakMap::new();
        Attribute { map, counter }
    }

    fn get(&self, node: &Strong<Node>) -> Option<&V> {
        self.map.get(node).map(|(value, _)| value)
    }

    fn set(&mut self, node: &Strong<Node>, value: V) {
        self.map.insert(node, (value, self.counter.guard()));
    }
}
