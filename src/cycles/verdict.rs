//! Which entries go.
//!
//! First what lives for certain: what is held from outside, what that leads to, and what entries
//! own whose keys all live ([`Spread`]). The other entries could go. Then what would live on
//! without them: plain counting is tried on the objects that are left, and what it does not free
//! lies on a cycle of fields, or behind one ([`Spread::survivors`]). The spread goes on from there.
//! An entry with a key that does not live even then goes, and the key dies, since nothing holds it
//! but such entries and objects that they hold.

use alloc::vec;
use alloc::vec::Vec;

use super::addresses::Addresses;
use super::census;
use super::graph::Graph;

/// What becomes of the entries.
pub(super) struct Verdict {
    /// For each map the entries that go, by what the map calls them.
    pub(super) doomed: Vec<Addresses>,
    /// How many entries stay only because their keys survive without them.
    pub(super) kept: usize,
}

/// No further entry.
const END: usize = usize::MAX;

/// Entries that wait for one of their keys to be live, as lists: for each object the first, for
/// each the next.
struct Blocked {
    first: Vec<usize>,
    next: Vec<(usize, usize)>,
}

/// The objects that are known to live, and what follows from that.
struct Spread<'g> {
    graph: &'g Graph,
    live: Vec<bool>,
    /// How many keys of each entry are not known to live.
    missing: Vec<usize>,
    waiting: Blocked,
    /// Objects that live, and whose consequences are to be drawn.
    work: Vec<u32>,
}

impl Graph {
    /// Which entries go. O(objects + handles + entries).
    pub(super) fn verdict(&mut self, members: usize) -> Verdict {
        self.complete();
        census::take(&mut self.nodes, self.at_rest);
        let mut spread = Spread::over(self);
        let mut doomed: Vec<_> = (0..members).map(|_| Addresses::default()).collect();
        let unheld = spread.unheld();
        if unheld.is_empty() {
            return Verdict { doomed, kept: 0 };
        }
        spread.work = spread.survivors();
        spread.finish();
        // A map that is given twice has shown each entry twice.
        let mut kept = Addresses::default();
        for link in unheld {
            let entry = &self.links[link];
            if spread.missing[link] > 0 {
                doomed[entry.member].get_or_insert(entry.entry, 0);
            } else {
                kept.get_or_insert(entry.entry, 0);
            }
        }
        Verdict {
            doomed,
            kept: kept.len(),
        }
    }
}

impl<'g> Spread<'g> {
    /// Finds everything that lives.
    fn over(graph: &'g Graph) -> Self {
        let mut all = Spread {
            graph,
            live: vec![false; graph.nodes.len()],
            missing: vec![0; graph.links.len()],
            waiting: Blocked {
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
        all.finish();
        all
    }

    fn finish(&mut self) {
        while let Some(object) = self.work.pop() {
            self.revive(object as usize);
        }
    }

    /// The entries with a key that is not known to live.
    fn unheld(&self) -> Vec<usize> {
        (0..self.missing.len())
            .filter(|&link| self.missing[link] > 0)
            .collect()
    }

    /// Of the objects that are not known to live, those that plain counting does not free when no
    /// entry owns them any more.
    ///
    /// All handles to such objects are fields of such objects, or belong to entries with such a key
    /// or a dead one: whatever else has one lives.
    fn survivors(&self) -> Vec<u32> {
        let graph = self.graph;
        let fields = |object: usize| &graph.edges[graph.nodes[object].edges.clone()];
        let unheld = || (0..graph.nodes.len()).filter(|&object| !self.live[object]);
        // Fields of such objects; of those that live, one more, so that they are never free.
        let mut owners: Vec<_> = self.live.iter().map(|&live| usize::from(live)).collect();
        for owned in unheld().flat_map(fields) {
            owners[*owned as usize] += 1;
        }
        let mut free: Vec<_> = unheld().filter(|&object| owners[object] == 0).collect();
        while let Some(object) = free.pop() {
            for owned in fields(object) {
                let owned = *owned as usize;
                owners[owned] -= 1;
                if owners[owned] == 0 {
                    free.push(owned);
                }
            }
        }
        let survivors = unheld().filter(|&object| owners[object] > 0);
        survivors.map(|object| object as u32).collect()
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
