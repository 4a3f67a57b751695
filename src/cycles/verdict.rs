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

/// The end of a list of waiting entries.
const END: usize = usize::MAX;

/// The objects known to live. Entries are named by their index in [`Graph::ephemerons`].
struct Spread<'g> {
    graph: &'g Graph,
    live: Vec<bool>,
    /// For each entry, the number of keys not known to live.
    missing: Vec<usize>,
    /// For each object, the head of the list of entries with this key: an index into `waiting`.
    first_waiting: Vec<usize>,
    /// The nodes of these lists: an entry, and the index of the next node.
    waiting: Vec<(usize, usize)>,
    /// Objects that live, and are not marked yet.
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
        let candidates = spread.candidates();
        if candidates.is_empty() {
            return verdict;
        }
        spread.work = spread.survivors();
        let foreign = |&object: &u32| self.nodes[object as usize].held.foreign();
        verdict.foreign = spread.work.iter().filter_map(foreign).collect();
        spread.finish();
        for entry in candidates {
            let ephemeron = &self.ephemerons[entry];
            let Verdict { doomed, kept, .. } = &mut verdict;
            let list = if spread.missing[entry] > 0 {
                doomed
            } else {
                kept
            };
            // (A set: the number says nothing.)
            list[ephemeron.member].get_or_insert(ephemeron.entry, 0);
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
            missing: vec![0; graph.ephemerons.len()],
            first_waiting: vec![END; graph.nodes.len()],
            waiting: Vec::new(),
            work: Vec::new(),
        };
        for (object, node) in graph.nodes.iter().enumerate() {
            if !node.is_ours() {
                // Held from outside.
                all.work.push(object as u32);
            }
        }
        for (entry, ephemeron) in graph.ephemerons.iter().enumerate() {
            if ephemeron.dead {
                continue;
            }
            for key in &graph.keys[ephemeron.keys.clone()] {
                // An object that no value leads to is not counted: such a key is held from outside.
                if let Some(object) = graph.objects.get(*key) {
                    all.missing[entry] += 1;
                    let first = &mut all.first_waiting[object as usize];
                    all.waiting.push((entry, *first));
                    *first = all.waiting.len() - 1;
                }
            }
            if all.missing[entry] == 0 {
                all.keep(entry);
            }
        }
        all.finish();
        all
    }

    /// Marks the objects in `work` as live, and all objects to which they lead.
    fn finish(&mut self) {
        while let Some(object) = self.work.pop() {
            self.mark_live(object as usize);
        }
    }

    /// Returns the entries with a key not known to live.
    fn candidates(&self) -> Vec<usize> {
        (0..self.missing.len())
            .filter(|&entry| self.missing[entry] > 0)
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

    /// Marks an object as live. Then the objects in its fields live. If the object was the last
    /// missing key of an entry, the objects owned by the entry live, too.
    fn mark_live(&mut self, object: usize) {
        if core::mem::replace(&mut self.live[object], true) {
            return;
        }
        let edges = self.graph.nodes[object].edges.clone();
        self.work.extend(&self.graph.edges[edges]);
        let mut at = self.first_waiting[object];
        while at != END {
            let (entry, next) = self.waiting[at];
            self.missing[entry] -= 1;
            if self.missing[entry] == 0 {
                self.keep(entry);
            }
            at = next;
        }
    }

    /// Keeps an entry: the objects owned by its value live.
    fn keep(&mut self, entry: usize) {
        let edges = self.graph.ephemerons[entry].edges.clone();
        self.work.extend(&self.graph.edges[edges]);
    }
}
