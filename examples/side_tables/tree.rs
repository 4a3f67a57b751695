//! The syntax tree that the passes analyse. They know nothing of each other's attributes.

use std::mem;
use std::ops::Range;

use weakly::{Strong, Weak};

use crate::common::alive::{Alive, Counter};

/// The live nodes.
pub(crate) static NODES: Counter = Counter::new();

/// A piece of syntax: what it is, where it is, and its neighbours. It has no field for the data of any pass.
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// In bytes of the source.
    pub(crate) range: Range<u32>,
    /// Expired for the root.
    pub(crate) parent: Weak<Node>,
    pub(crate) children: Vec<Strong<Node>>,
    /// For the count of live nodes.
    pub(crate) _alive: Alive,
}

/// As fine as some pass needs it; kinds that no pass asks for are coarse.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    // Items.
    Fn,
    Mod,
    Struct,
    Union,
    Enum,
    Trait,
    Impl,
    /// `const` and `static`.
    Constant,
    /// `type`.
    Alias,
    /// `use`, `mod` without a body, `macro_rules!` and other items that need no documentation of their own.
    OtherItem,
    ForeignMod,
    // Parts of items.
    Doc,
    /// `#[doc(hidden)]`.
    Hidden,
    OtherAttribute,
    /// `pub`, without restriction.
    Pub,
    Restricted,
    Name,
    Field,
    Variant,
    Parameter,
    Generic,
    // Statements, expressions, patterns, types.
    Block,
    Let,
    LetElse,
    If,
    While,
    For,
    Match,
    Arm,
    Guard,
    /// `&&` and `||`.
    Lazy,
    Try,
    OtherExpr,
    Pattern,
    Type,
    Path,
    Macro,
}

impl Node {
    /// Whether one of its children is of this kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.child(kind).is_some()
    }

    /// The first child of this kind.
    pub(crate) fn child(&self, kind: Kind) -> Option<&Strong<Node>> {
        self.children.iter().find(|child| child.kind == kind)
    }
}

impl Drop for Node {
    /// Takes the tree apart level by level: the recursion of the default drop would be as deep as the tree.
    fn drop(&mut self) {
        let mut dying = mem::take(&mut self.children);
        while let Some(child) = dying.pop() {
            if let Some(mut node) = Strong::into_inner(child) {
                dying.append(&mut node.children);
            }
        }
    }
}

/// The text of a file, and the offsets of its lines.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) lines: Vec<u32>,
}

impl Source {
    /// # Panics
    /// If the text has more than 4 GiB: the code that reads files refuses those.
    pub(crate) fn new(name: String, text: String) -> Self {
        let offset = |at: usize| u32::try_from(at).expect("a source of at most 4 GiB");
        let breaks = text.match_indices('\n').map(|(at, _)| offset(at + 1));
        let lines = std::iter::once(0).chain(breaks).collect();
        Source { name, text, lines }
    }

    /// The text of a node.
    pub(crate) fn text_of(&self, node: &Node) -> &str {
        &self.text[node.range.start as usize..node.range.end as usize]
    }
}

/// A file.
pub(crate) struct Tree {
    pub(crate) source: Source,
    pub(crate) root: Strong<Node>,
}

impl Tree {
    /// All nodes, parents first, in the order of the text.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Strong<Node>> {
        let mut ahead = vec![&self.root];
        std::iter::from_fn(move || {
            let node = ahead.pop()?;
            ahead.extend(node.children.iter().rev());
            Some(node)
        })
    }

    /// The path of a node by names, following the parents: `map::Entry::insert`.
    pub(crate) fn path_of(&self, node: &Node) -> String {
        let mut names = Vec::new();
        let mut above = node.parent.upgrade();
        names.extend(self.name_of(node));
        while let Some(node) = above {
            names.extend(self.name_of(&node));
            above = node.parent.upgrade();
        }
        names.reverse();
        names.join("::")
    }

    /// Items have names; an `impl` goes by the name of its type.
    fn name_of(&self, node: &Node) -> Option<&str> {
        let named = match node.kind {
            Kind::Fn | Kind::Mod | Kind::Trait => node.child(Kind::Name),
            // The last: bounds come before it.
            Kind::Impl => node.children.iter().rfind(|it| it.kind == Kind::Type),
            _ => None,
        }?;
        Some(self.source.text_of(named))
    }
}
