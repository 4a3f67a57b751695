//! How much of the public API is documented.
//!
//! An item is public if it is declared `pub`, or belongs to a public enum or trait, and is neither hidden nor
//! inside something private. A file does not know how it is included, so each counts as a public module.

use super::{Attribute, Pass};
use crate::common::alive::Counter;
use crate::tree::{Kind, Node, Tree};

/// The live verdicts.
pub(crate) static ALIVE: Counter = Counter::new();

/// Every public item gets its verdict: documented or not.
pub(crate) struct Documentation {
    documented: Attribute<bool>,
}

impl Documentation {
    pub(crate) fn new() -> Self {
        let documented = Attribute::new(&ALIVE);
        Documentation { documented }
    }

    /// The number of documented public items.
    pub(crate) fn documented(&self) -> usize {
        let verdicts = self.documented.map.values();
        verdicts.filter(|(documented, _)| *documented).count()
    }
}

/// Whether the item is visible outside of its file.
fn is_public(node: &Node) -> bool {
    if node.has(Kind::Hidden) {
        return false;
    }
    let Some(parent) = node.parent.upgrade() else {
        return true; // the file
    };
    match parent.kind {
        // The members of these are as public as they are; an `impl` is as public as its module.
        Kind::Enum | Kind::Variant | Kind::Trait => is_public(&parent),
        _ if matches!(node.kind, Kind::Impl | Kind::ForeignMod) => is_public(&parent),
        Kind::File | Kind::Mod | Kind::Struct | Kind::Union | Kind::Impl | Kind::ForeignMod => {
            node.has(Kind::Pub) && is_public(&parent)
        }
        _ => false, // inside a function
    }
}

/// Whether it is of a kind that needs documentation. Fields without a name are recognised by their type.
fn wants_documentation(node: &Node) -> bool {
    match node.kind {
        Kind::Fn | Kind::Mod | Kind::Struct | Kind::Union | Kind::Enum | Kind::Trait => true,
        Kind::Constant | Kind::Alias | Kind::Variant => true,
        Kind::Field => node.has(Kind::Name),
        _ => false,
    }
}

impl Pass for Documentation {
    fn look_at(&mut self, tree: &Tree) {
        for node in tree.nodes() {
            if wants_documentation(node) && is_public(node) {
                self.documented.set(node, node.has(Kind::Doc));
            }
        }
    }

    fn purge(&mut self) {
        self.documented.map.purge();
    }

    fn len(&self) -> usize {
        self.documented.map.len()
    }

    fn pending(&self) -> usize {
        self.documented.map.pending_dead()
    }
}
