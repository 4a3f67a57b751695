//! Live objects in groups.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::{self, Write as _};

use crate::holders::{Holder, Origin};

/// The most groups in a text, and the most lines about the groups.
const GROUPS: usize = 15;
const LINES: usize = 90;

/// What an answer does not know if it does not know the origin of an object.
const UNSEEN: &str = match cfg!(feature = "holders") {
    true => "the lines of handles that are not of `weakly` are not known",
    false => NO_LINES,
};
/// What an answer without the feature `holders` does not know.
pub(crate) const NO_LINES: &str =
    "the lines that made the handles are not known: build with the feature `holders` of `weakly`";

/// The live objects among those that should be dead, in groups. See [`LeakWatch`](super::LeakWatch)
/// and, with the feature `holders`, `Snapshot`.
///
/// The text has at most 100 lines, without backtraces and line breaks in labels, and says what is
/// [not known](Self::unseen).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Leaks {
    /// The groups, the largest first.
    pub groups: Vec<LeakGroup>,
    /// The objects that were looked at.
    scope: String,
}

/// Live objects of one type, made on one line, whose handles were made on the same lines. (Without
/// the feature `holders`: live objects of one type.)
///
/// The text describes the first object of the group, and has the number of the others.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LeakGroup {
    /// The label of the first object, if the object was watched.
    pub label: Option<String>,
    /// The type with which the objects were made (of watched objects: the target of the watched
    /// handles), as [`core::any::type_name`] names it.
    pub type_name: &'static str,
    /// The number of objects.
    pub count: usize,
    /// The sum of the sizes of the objects, without what the objects own elsewhere. An object of
    /// unknown size, which only a handle of your own type may have, counts as zero bytes.
    pub bytes: usize,
    /// The number of strong handles to the first object, if the number is known.
    pub strong_count: Option<usize>,
    /// The origin of the first object. `None` without the feature `holders`, and for a handle that
    /// is not of this crate.
    pub birth: Option<Origin>,
    /// The lines that made the present handles of the first object, each with the number of its
    /// handles, most handles first. Empty without the feature `holders`, and for handles that are
    /// not of this crate.
    pub holders: Vec<(Origin, usize)>,
}

impl Leaks {
    /// Groups live objects: at first each is a group of its own, beside its handles. O(objects +
    /// handles), times the logarithm of the number of groups.
    pub(super) fn group(
        scope: String,
        leaks: impl IntoIterator<Item = (LeakGroup, Vec<(Holder, Origin)>)>,
    ) -> Self {
        let mut groups = BTreeMap::new();
        for (leak, holders) in leaks {
            let place = |(_, origin): &(Holder, Origin)| origin.location();
            let mut lines: Vec<_> = holders.iter().map(place).collect();
            lines.sort_unstable();
            lines.dedup();
            let birth = leak.birth.as_ref().map(Origin::location);
            match groups.entry((leak.type_name, birth, lines)) {
                Entry::Vacant(place) => {
                    let holders = by_line(holders.into_iter().map(|(_, origin)| origin));
                    place.insert(LeakGroup { holders, ..leak });
                }
                Entry::Occupied(mut group) => {
                    group.get_mut().count += leak.count;
                    group.get_mut().bytes += leak.bytes;
                }
            }
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by_key(|group| Reverse((group.count, group.bytes)));
        Leaks { scope, groups }
    }

    /// Returns the number of live objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// Returns whether all objects that were looked at are dead.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the sum of the sizes of the live objects, without what the objects own elsewhere.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.groups.iter().map(|group| group.bytes).sum()
    }

    /// Returns what this answer does not know, and how to see it. (If a place is not known for want
    /// of line tables, the text of the place says so.)
    #[must_use]
    pub fn unseen(&self) -> Option<&'static str> {
        let mut groups = self.groups.iter();
        groups.any(|group| group.birth.is_none()).then_some(UNSEEN)
    }

    /// Returns the groups as a graph in the language of Graphviz, a cluster for each group: its
    /// first object, and the lines that hold the object.
    ///
    /// ```
    /// use weakly::{Strong, leaks::LeakWatch};
    ///
    /// let (watch, object) = (LeakWatch::new(), Strong::new(1));
    /// watch.expect_dead(&object, "one");
    /// assert!(watch.alive().to_dot().starts_with("digraph leaks {\n  subgraph cluster0 {"));
    /// ```
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut text = String::from("digraph leaks {\n");
        for (number, group) in self.groups.iter().enumerate() {
            let (count, bytes, name) = (group.count, group.bytes, group.type_name);
            // Writing to a string does not fail.
            _ = writeln!(text, "  subgraph cluster{number} {{");
            _ = writeln!(text, "    label=\"{count} objects, {bytes} bytes\";");
            _ = writeln!(text, "    object{number} [label={name:?}];");
            for (line, (origin, times)) in group.holders.iter().enumerate() {
                let (line, place) = (format!("line{number}_{line}"), origin.to_string());
                _ = writeln!(text, "    {line} [shape=box, label={place:?}];");
                _ = writeln!(text, "    {line} -> object{number} [label={times}];");
            }
            text += "  }\n";
        }
        text + "}\n"
    }
}

/// Returns the lines that made some handles: the origin of each line's first handle, and the number
/// of its handles. Most handles first; equal numbers in the order of the source.
pub(crate) fn by_line(origins: impl IntoIterator<Item = Origin>) -> Vec<(Origin, usize)> {
    let mut lines = BTreeMap::new();
    for origin in origins {
        lines.entry(origin.location()).or_insert((origin, 0)).1 += 1;
    }
    let mut lines: Vec<_> = lines.into_values().collect();
    lines.sort_by_key(|(_, count)| Reverse(*count));
    lines
}

/// Writes at most this number of lines that hold an object.
pub(crate) fn write_lines(
    f: &mut fmt::Formatter<'_>,
    held: &str,
    lines: &[(Origin, usize)],
    most: usize,
) -> fmt::Result {
    for (origin, times) in lines.iter().take(most) {
        match times {
            1 => write!(f, "\n  {held} since {origin}")?,
            _ => write!(f, "\n  {held} {times} times since {origin}")?,
        }
    }
    match lines.len().saturating_sub(most) {
        0 => Ok(()),
        more => write!(f, "\n  {held} since {more} more lines"),
    }
}

/// Writes the largest groups, and the number of the others.
pub(crate) fn write_groups<G: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    groups: &[G],
    most: usize,
    count: fn(&G) -> usize,
) -> fmt::Result {
    let (shown, rest) = groups.split_at(groups.len().min(most));
    for group in shown {
        // Besides the lines of the holders, a group has at most three.
        write!(f, "\n{group:.*}", LINES / shown.len() - 3)?;
    }
    match (rest.len(), rest.iter().map(count).sum::<usize>()) {
        (0, _) => Ok(()),
        (more, all) => write!(f, "\nand {more} more groups, of {all}"),
    }
}

/// The precision is the largest number of lines for the holders.
impl fmt::Display for LeakGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.label {
            write!(f, "{label}: ")?;
        }
        write!(f, "`{}`, ", self.type_name)?;
        match self.strong_count {
            Some(1) => f.write_str("1 strong handle")?,
            Some(count) => write!(f, "{count} strong handles")?,
            None => f.write_str("an unknown number of strong handles")?,
        }
        if let Some(birth) = &self.birth {
            write!(f, ", made at {birth}")?;
        }
        write_lines(f, "held", &self.holders, f.precision().unwrap_or(LINES))?;
        match (self.count.saturating_sub(1), self.bytes) {
            (0, _) => Ok(()),
            (more, bytes) => write!(f, "\n  and {more} more like it, {bytes} bytes in all"),
        }
    }
}

impl fmt::Display for Leaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (alive, bytes, scope) = (self.len(), self.bytes(), &self.scope);
        write!(f, "{alive} of {scope} ({bytes} bytes)")?;
        write_groups(f, &self.groups, GROUPS, |group| group.count)?;
        let mut unseen = self.unseen().into_iter();
        unseen.try_for_each(|unseen| write!(f, "\n({unseen})"))
    }
}
