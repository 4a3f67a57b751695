//! Side tables on real input: three passes attach data to the nodes of syntax trees that they do not own. A fourth pass
//! replaces all nodes, and the data follow. Then half of the trees are dropped, one of the tables, and the other trees; the
//! data go with them.
//!
//! `cargo run --release --example side_tables -- [PATH…]`

#[path = "../common/mod.rs"]
mod common;
mod passes;
mod tree;

use std::cmp::Reverse;
use std::path::PathBuf;
use std::process::ExitCode;

use common::report::Report;
use common::{same, sources};
use passes::{SideTable, count_branches, find_parents, find_places, rewrite};
use tree::{Kind, Node, Tree};
use weakly::{Strong, Weak};

/// How many nodes are replaced.
const REWRITTEN: usize = if cfg!(debug_assertions) {
    10_000
} else {
    1_000_000
};

fn main() -> ExitCode {
    let columns = ["nodes", "places", "parents", "branches", "pending"];
    common::main(&["rs"], &columns, run)
}

fn run(files: &[PathBuf], report: &mut Report) -> Result<(), String> {
    let mut session = Session {
        trees: sources::read(files, report, Tree::parse)?,
        ..Session::default()
    };
    report.row("read and parse", || session.counts());
    for tree in &session.trees {
        find_places(tree, &mut session.places);
    }
    report.row("find places", || session.counts());
    for tree in &session.trees {
        find_parents(tree, &mut session.parents);
    }
    report.row("find parents", || session.counts());
    for tree in &session.trees {
        count_branches(&tree.root, &mut session.branches);
    }
    report.row("count branches", || session.counts());
    report.aside(|_| session.check(0))?;
    report.aside(|report| session.show(report));

    // The data of each node move to the node that takes its place.
    let mut rewritten = 0;
    while rewritten < REWRITTEN && !session.trees.is_empty() {
        rewritten += session.rewrite();
    }
    report.row("rewrite the nodes", || session.counts());
    report.aside(|_| session.check(0))?;

    // Entries go with their nodes, at once. Their values go with a purge, or when the table changes, or with it.
    let before = session.entries();
    session.trees.truncate(session.trees.len() / 2);
    report.row("drop half of the trees", || session.counts());
    report.aside(|_| session.check(before - session.entries()))?;
    session.places.purge();
    session.parents.purge();
    session.branches.purge();
    report.row("purge", || session.counts());
    report.aside(|_| session.check(0))?;

    // A pass is over.
    session.places = SideTable::new();
    report.row("drop the places", || session.counts());
    let before = session.entries();
    session.trees.clear();
    report.row("drop the other trees", || session.counts());
    report.aside(|_| session.check(before))?;
    session = Session::default();
    report.row("drop the other tables", || session.counts());
    Ok(())
}

/// The trees, and a table for each pass.
#[derive(Default)]
struct Session {
    trees: Vec<Tree>,
    places: SideTable<(usize, usize)>,
    parents: SideTable<Weak<Node>>,
    branches: SideTable<usize>,
}

impl Session {
    /// What the data are for: with several of the tables, a node is looked up in all of them.
    fn show(&self, report: &mut Report) {
        let mut functions = Vec::new();
        for tree in &self.trees {
            let nodes = tree.nodes().filter(|node| node.kind == Kind::Function);
            functions.extend(nodes.map(|node| (self.branches[node], tree, node)));
        }
        functions.sort_by_key(|&(branches, ..)| Reverse(branches));
        let all = functions.len();
        report.say(format!("Most branches in {all} functions:"));
        for (branches, tree, node) in functions.into_iter().take(3) {
            let (path, (line, column)) = (self.path_of(tree, node), self.places[node]);
            let (path, file) = (path.trim_start_matches("::"), &tree.name);
            report.say(format!("{branches:>4} {path}"));
            report.say(format!("     {file}:{line}:{column}"));
        }
    }

    /// The names of a node and of those around it: `::map::Entry::insert`.
    fn path_of(&self, tree: &Tree, node: &Strong<Node>) -> String {
        let parent = self.parents.get(node).and_then(Weak::upgrade);
        let mut path = parent.map_or_else(String::new, |parent| self.path_of(tree, &parent));
        path.extend(tree.name_of(node).into_iter().flat_map(|name| ["::", name]));
        path
    }

    /// Replaces all nodes; returns their number.
    fn rewrite(&mut self) -> usize {
        let (mut nodes, places) = (0, &mut self.places);
        let (parents, branches) = (&mut self.parents, &mut self.branches);
        for tree in &mut self.trees {
            tree.root = rewrite(&tree.root, &mut |old, new| {
                nodes += 1;
                places.transfer(old, new);
                branches.transfer(old, new);
                parents.transfer(old, new);
                // What moved leads to the old parent.
                for child in &new.children {
                    parents.insert(child, Strong::downgrade(new));
                }
            });
        }
        nodes
    }

    /// For the table of the report. The last are dead entries whose values are not dropped yet.
    fn counts(&self) -> [usize; 5] {
        let (places, parents, branches) = (&self.places, &self.parents, &self.branches);
        let pending = places.pending_dead() + parents.pending_dead() + branches.pending_dead();
        let nodes = self.trees.iter().map(|tree| tree.nodes().count()).sum();
        [nodes, places.len(), parents.len(), branches.len(), pending]
    }

    fn entries(&self) -> usize {
        self.places.len() + self.parents.len() + self.branches.len()
    }

    /// Compares the tables with a recount of the trees.
    fn check(&self, pending: usize) -> Result<(), String> {
        let ([nodes, ..], roots) = (self.counts(), self.trees.len());
        let expected = [nodes, nodes, nodes - roots, nodes, pending];
        same("the tables", self.counts(), expected)?;
        let mut nodes = self.trees.iter().flat_map(Tree::nodes);
        nodes.try_for_each(|node| {
            same("branches of a node", self.branches[node], recount(node))?;
            let mut children = node.children.iter();
            children.try_for_each(|child| {
                let parent = self.parents.get(child).and_then(Weak::upgrade);
                same(
                    "the parent of a node",
                    parent.is_some_and(|it| Strong::ptr_eq(&it, node)),
                    true,
                )
            })
        })
    }
}

/// The branches of a node, without a table.
fn recount(node: &Node) -> usize {
    let inside = node.children.iter().filter(|it| it.kind != Kind::Function);
    inside.map(|it| recount(it)).sum::<usize>() + usize::from(node.kind == Kind::Branch)
}
