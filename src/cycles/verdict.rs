//! The verdict: the entries to remove.
//!
//! The verdict first finds the objects that live for certain: objects held from outside, objects to
//! which these lead, and objects owned by an entry whose keys all live ([`Spread`]). Every other
//! entry is a candidate. Then the verdict finds the survivors: plain counting is tried on the
//! remaining objects, as if the candidates were gone. The objects that plain counting does not free
//! lie on a cycle of fields, or behind such a cycle ([`Spread::survivors`]). The survivors count as
//! live, and the spread goes on from them. An entry with a key that does not live even now is
//! removed, and the key dies: only removed entries, and objects that they own, have handles to the
//! key.

use alloc::vec;
use alloc::vec::Vec;

use super::addresses::Addresses;
use super::census;
use super::graph::Graph;

/// The entries to remove, and the entries kept by cycles of fields: for each map, by the map's
/// names for them.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) doomed: Vec<Addresses>,
    /// The entries that stay only because their keys would survive without them.
    pub(super) kept: Vec<Addresses>,
    /// The ids of the foreign objects among the survivors.
    pub(super) foreign: Vec<usize>,
}

/// The end of a list of entries.
const END: usize = usize::MAX;

/// Entries waiting until one of their keys is known to live, as linked lists: `first` has the head
/// for each object, `next` the entry and the next place.
struct Blocked {
    first: Vec<usize>,
    next: Vec<(usize, usize)>,
}

/// The objects known to live, and the consequences drawn so far.
struct Spread<'g> {
    graph: &'g Graph,
    live: Vec<bool>,
    /// For each entry, the number of keys not known to live.
    missing: Vec<usize>,
    waiting: Blocked,
    /// Live objects whose consequences are still to be drawn.
    work: Vec<u32>,
}

impl Graph {
    /// Returns the entries to remove. O(objects + handles + entries).
    pub(super) fn verdict(&mut self, members: usize) -> Verdict {
        self.complete();
        census::take(&mut self.nodes, self.at_rest);
        let mut spread = Spread::over(self);
        let mut verdict = Verdict::default();
        for all in [&mut verdict.doomed, &mut verdict.kept] {
            all.resize_with(members, Addresses::default);
        }
        let unheld = spread.unheld();
        if unheld.is_empty() {
            return verdict;
        }
        spread.work = spread.survivors();
        let foreign = |&object: &u32| self.nodes[object as usize].held.foreign();
        verdict.foreign = spread.work.iter().filter_map(foreign).collect();
        spread.finish();
        for link in unheld {
            let entry = &self.links[link];
            let Verdict { doomed, kept, .. } = &mut verdict;
            let list = if spread.missing[link] > 0 {
                doomed
            } else {
                kept
            };
            list[entry.member].get_or_insert(entry.entry, 0);
        }
        verdict
    }
}

impl<'g> Spread<'g> {
    /// Finds all objects that live for certain.
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
                // An object that no value leads to is not counted: such a key is held from outside.
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

    /// Returns the entries with a key not known to live.
    fn unheld(&self) -> Vec<usize> {
        (0..self.missing.len())
            .filter(|&link| self.missing[link] > 0)
            .collect()
    }

    /// Returns the survivors: of the objects not known to live, those that plain counting does not
    /// free when no entry owns them any more.
    ///
    /// All handles to an object not known to live are fields of such objects, or belong to entries
    /// with a dead key or a key not known to live: a handle of any other owner would make the
    /// object live.
    fn survivors(&self) -> Vec<u32> {
        let graph = self.graph;
        let fields = |object: usize| &graph.edges[graph.nodes[object].edges.clone()];
        let unheld = || (0..graph.nodes.len()).filter(|&object| !self.live[object]);
        // The number of owning fields in objects not known to live; one more for a live object, so
        // that live objects are never freed.
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

    /// Marks an object as live. Then the objects in its fields live. If the object was the last
    /// missing key of an entry, the objects owned by the entry live, too.
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

    /// Keeps an entry: the objects owned by its value live.
    fn enter(&mut self, link: usize) {
        let edges = self.graph.links[link].edges.clone();
        self.work.extend(&self.graph.edges[edges]);
    }
}
