//! What the results of the [`graph`](super::graph) are, as plain lists say: the library has the same results at each moment,
//! if a single thread uses it.

use crate::graph::{Asks, EXTRAS, Env, NODES, Outcome, SLOTS, Value, compute, key_slots};

/// A kept result.
#[derive(Clone)]
struct Entry {
    outcome: Outcome,
    /// The results from which it was computed, as bits.
    nodes: u64,
    /// The slots of the objects, and the extra objects, on which it depends.
    slots: u64,
    extras: u64,
}

/// A computation under way.
#[derive(Clone, Copy, Default)]
struct Frame {
    nodes: u64,
    extras: u64,
    is_spoilt: bool,
}

#[derive(Default)]
pub(crate) struct Model {
    /// What the objects contain.
    pub(crate) slots: [u32; SLOTS],
    pub(crate) extras: [u32; EXTRAS],
    entries: [Option<Entry>; NODES],
    frames: Vec<Frame>,
    pub(crate) misses: u64,
}

impl Model {
    fn end_where(&mut self, ends: impl Fn(usize, &Entry) -> bool) {
        let mut ended = 0;
        for node in 0..NODES {
            // A result depends on results with lower numbers only.
            let entry = &mut self.entries[node];
            if entry
                .take_if(|entry| entry.nodes & ended != 0 || ends(node, entry))
                .is_some()
            {
                ended |= 1 << node;
            }
        }
        for frame in &mut self.frames {
            frame.is_spoilt |= frame.nodes & ended != 0;
        }
    }

    pub(crate) fn end_slot(&mut self, slot: usize) {
        self.end_where(|_, entry| entry.slots & 1 << slot != 0);
    }

    pub(crate) fn end_extra(&mut self, extra: usize) {
        self.end_where(|_, entry| entry.extras & 1 << extra != 0);
    }

    pub(crate) fn end_node(&mut self, node: usize) {
        self.end_where(|other, _| other == node);
    }

    pub(crate) fn end_memo(&mut self, memo: usize) {
        self.end_where(|node, _| node % 3 == memo);
    }

    pub(crate) fn insert(&mut self, node: usize, outcome: Outcome) {
        self.end_node(node);
        let slots = key_slots(node).map(|slot| 1 << slot).sum();
        let entry = Entry {
            outcome,
            nodes: 0,
            slots,
            extras: 0,
        };
        self.entries[node] = Some(entry);
    }

    pub(crate) fn has(&self, node: usize) -> bool {
        self.entries[node].is_some()
    }

    /// What a caller outside of all computations gets.
    pub(crate) fn ask_for(&mut self, node: usize) -> Outcome {
        self.frames.clear();
        self.answer(node).0
    }

    /// The result, and whether it is kept.
    fn answer(&mut self, node: usize) -> (Outcome, bool) {
        if let Some(entry) = &self.entries[node] {
            return (entry.outcome, true);
        }
        self.misses += 1;
        self.frames.push(Frame::default());
        let contents: Vec<_> = key_slots(node).map(|slot| self.slots[slot]).collect();
        let outcome = compute(node, &contents, self).map(|value| value.number);
        let frame = self.frames.pop().expect("it was pushed");
        let is_kept = outcome.is_ok() && !frame.is_spoilt;
        if is_kept {
            let slots = key_slots(node).map(|slot| 1 << slot).sum();
            let (nodes, extras) = (frame.nodes, frame.extras);
            self.entries[node] = Some(Entry {
                outcome,
                nodes,
                slots,
                extras,
            });
        }
        (outcome, is_kept)
    }

    fn frame(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }
}

impl Env for Model {
    fn ask(&mut self, node: usize, how: Asks) -> Option<Result<Value, ()>> {
        if how == Asks::Peeks && !self.has(node) {
            return None;
        }
        let (outcome, is_kept) = self.answer(node);
        if let Some(frame) = self.frame().filter(|_| how != Asks::Untracked) {
            if is_kept {
                frame.nodes |= 1 << node;
            } else {
                frame.is_spoilt = true;
            }
        }
        Some(outcome.map(Value::of))
    }

    fn declare(&mut self, extra: usize) -> u32 {
        if let Some(frame) = self.frame() {
            frame.extras |= 1 << extra;
        }
        self.extras[extra]
    }

    fn forget(&mut self, node: usize) {
        self.end_node(node);
    }
}
