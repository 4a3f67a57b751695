//! Which entries go.

use alloc::vec;
use alloc::vec::Vec;

use super::addresses::Addresses;
use super::census;
use super::graph::Graph;

/// No further entry.
const END: usize = usize::MAX;

/// Entries that wait for one of their keys to be live, as lists: for each object the first, for each the next.
struct Waiting {
    first: Vec<usize>,
    next: Vec<(usize, usize)>,
}

/// The objects that are known to live, and what follows from that.
struct Spread<'g> {
    graph: &'g Graph,
    live: Vec<bool>,
    /// How many keys of each entry are not known to live.
    missing: Vec<usize>,
    waiting: Waiting,
    /// Objects that live, and whose consequences are to be drawn.
    work: Vec<u32>,
}

impl Graph {
    /// For each map the entries to which nothing leads but such entries, by what the map calls them. O(objects +
    /// pointers + entries).
    pub(super) fn doomed(&mut self, members: usize) -> Vec<Addresses> {
        self.complete();
        census::take(&mut self.nodes, self.at_rest);
        let missing = Spread::over(self).missing;
        let mut doomed: Vec<_> = (0..members).map(|_| Addresses::default()).collect();
        for (link, missing) in self.links.iter().zip(missing) {
            if missing > 0 {
                doomed[link.member].get_or_insert(link.entry, 0);
            }
        }
        doomed
    }
}

impl<'g> Spread<'g> {
    /// Finds everything that lives.
    fn over(graph: &'g Graph) -> Self {
        let mut all = Spread {
            graph,
            live: vec![false; graph.nodes.len()],
            missing: vec![0; graph.links.len()],
            waiting: Waiting {
                first: vec![END; graph.nodes.len()],
                next: Vec::new(),
            },
            work: Vec::new(),
        };
        for (object, node) in graph.nodes.iter().enumerate() {
            if !node.is_ours() {
                // Held from outside.
                all.work.push(object as u32);
            }
        }
        for (link, entry) in graph.links.iter().enumerate() {
            if entry.dead {
                continue;
            }
            for key in &graph.keys[entry.keys.clone()] {
                // A key to which no value leads is not ours either.
                if let Some(object) = graph.objects.get(*key) {
                    all.wait(link, object as usize);
                }
            }
            if all.missing[link] == 0 {
                all.enter(link);
            }
        }
        while let Some(object) = all.work.pop() {
            all.revive(object as usize);
        }
        all
    }

    fn wait(&mut self, link: usize, object: usize) {
        self.missing[link] += 1;
        let first = &mut self.waiting.first[object];
        self.waiting.next.push((link, *first));
        *first = self.waiting.next.len() - 1;
    }

    /// An object lives, and with it what it owns; and the entries whose last missing key it was.
    fn revive(&mut self, object: usize) {
        if core::mem::replace(&mut self.live[object], true) {
            return;
        }
        let edges = self.graph.nodes[object].edges.clone();
        self.work.extend(&self.graph.edges[edges]);
        let mut at = self.waiting.first[object];
        while at != END {
            let (link, next) = self.waiting.next[at];
            self.missing[link] -= 1;
            if self.missing[link] == 0 {
                self.enter(link);
            }
            at = next;
        }
    }

    /// An entry stays, and with it what its value owns.
    fn enter(&mut self, link: usize) {
        let edges = self.graph.links[link].edges.clone();
        self.work.extend(&self.graph.edges[edges]);
    }
}
