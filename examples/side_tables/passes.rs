//! Three passes over trees that they do not own. Each writes what it finds out about nodes into a table of its own. The fourth
//! pass replaces the nodes, and knows nothing of the tables.

use std::iter;

use weakly::{Strong, Weak, WeakMap};

use crate::tree::{Kind, Node, Tree};

/// Data about nodes, for as long as the nodes live.
pub(crate) type SideTable<V> = WeakMap<Strong<Node>, V>;

/// Where each node begins: line and column, from one.
pub(crate) fn find_places(tree: &Tree, places: &mut SideTable<(usize, usize)>) {
    let breaks = tree.text.match_indices('\n').map(|(at, _)| at + 1);
    let lines: Vec<usize> = iter::once(0).chain(breaks).collect();
    for node in tree.nodes() {
        let line = lines.partition_point(|&line| line <= node.range.start);
        let before = &tree.text[lines[line - 1]..node.range.start];
        places.insert(node, (line, before.chars().count() + 1));
    }
}

/// The parent of each node. A strong handle to it would keep it alive, and with it the child, and the entry.
pub(crate) fn find_parents(tree: &Tree, parents: &mut SideTable<Weak<Node>>) {
    for node in tree.nodes() {
        for child in &node.children {
            parents.insert(child, Strong::downgrade(node));
        }
    }
}

/// How many branches there are in a node, except in the functions in it. Computed once: the table is a memo, too.
pub(crate) fn count_branches(node: &Strong<Node>, known: &mut SideTable<usize>) -> usize {
    if let Some(&branches) = known.get(node) {
        return branches;
    }
    let mut branches = usize::from(node.kind == Kind::Branch);
    for child in &node.children {
        let inside = count_branches(child, known);
        if child.kind != Kind::Function {
            branches += inside;
        }
    }
    known.insert(node, branches);
    branches
}

/// Replaces a node and all below it by new nodes, the children first, and shows each old node with the new one.
pub(crate) fn rewrite(
    node: &Strong<Node>,
    replaced: &mut impl FnMut(&Strong<Node>, &Strong<Node>),
) -> Strong<Node> {
    let children = node.children.iter();
    let children = children.map(|child| rewrite(child, replaced)).collect();
    let (kind, range) = (node.kind, node.range.clone());
    let new = Strong::new(Node {
        kind,
        range,
        children,
    });
    replaced(node, &new);
    new
}
