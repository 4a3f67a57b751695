//! The table's line for a phase.

use std::time::Duration;

use crate::common::report::{self, bytes, duration, number, or_dash};

/// One line of the table: the state after a phase. `None` for what does not exist, or no longer.
pub(crate) struct Row {
    pub(crate) phase: &'static str,
    pub(crate) took: Duration,
    pub(crate) nodes: usize,
    /// Entries that the maps of the passes report.
    pub(crate) entries: [Option<usize>; 3],
    /// Live attribute values, by their own count.
    pub(crate) values: usize,
    pub(crate) pending: usize,
    pub(crate) drained: Option<usize>,
    pub(crate) bytes: isize,
}

impl report::Row<10> for Row {
    const HEAD: [&'static str; 10] = [
        "phase", "time", "nodes", "spans", "branches", "docs", "values", "pending", "drained",
        "memory",
    ];

    fn cells(&self) -> [String; 10] {
        let [spans, branches, docs] = self.entries.map(or_dash);
        [
            self.phase.to_string(),
            duration(self.took),
            number(self.nodes),
            spans,
            branches,
            docs,
            number(self.values),
            number(self.pending),
            or_dash(self.drained),
            bytes(self.bytes),
        ]
    }
}
