//! The paths from the maps to an object, in groups.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::any::type_name;
use core::cmp::Reverse;
use core::fmt::{self, Write as _};
use core::iter;
use core::mem;

use super::graph::{Ephemeron, Graph};
use super::purge::Cycles;
use super::report::{Report, short};
use super::search::Searching;
use crate::holders::{self, Holder, Origin};
use crate::leaks::{NO_LINES, by_line, write_groups, write_lines};
use crate::reference::{StrongRef, WeakKey, WeakRef};

/// The most groups in a text, the most lines about other things, and the most fields at each end of
/// a path.
const GROUPS: usize = 20;
const LINES: usize = 8;
const FIELDS: usize = 16;
/// What is said of the objects of a type that does not show its handles.
const NO_TRACE: &str = "has no `Trace` (`impl_trace!` and `#[derive(Trace)]` implement it)";

/// The holders of an object, as far as the values of some maps show them. See [`Cycles::holders`].
///
/// The text has at most 100 lines, without backtraces, and says what was [not looked
/// at](Self::unseen).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Holders {
    /// The number of strong handles to the object. `None` if a handle of your own type does not
    /// know the number, and within a `trace`.
    pub count: Option<usize>,
    /// The handles that the maps show, in groups, the largest first.
    pub groups: Vec<HolderGroup>,
    /// What was not looked at, and how to look at it, as sentences.
    pub unseen: Vec<String>,
    name: String,
    /// The steps to the object, in the order of the lengths of their paths.
    ends: Vec<usize>,
    /// The lines of the handles to which no path leads.
    elsewhere: Vec<(Origin, usize)>,
    paths: Arc<Paths>,
}

/// Strong handles to an object that are like each other: in the same field of objects of one type,
/// or of the values of one map; and, with the feature `holders`, made on one line, in objects made
/// on one line. Where the object is a key of the entry, or the path meets the object on its way,
/// the handles are another group.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HolderGroup {
    /// The number of handles.
    pub count: usize,
    /// The sum of the sizes of the objects that own the handles, without what these objects own
    /// elsewhere. The values of maps and foreign objects count as zero bytes.
    pub bytes: usize,
    /// The shortest path to one of the handles.
    pub path: HolderPath,
    /// The origin of this handle. `None` without the feature `holders`, and for a handle that is
    /// not of this crate.
    pub since: Option<Origin>,
    /// The origin of the object that owns this handle. `None` without the feature `holders`, for
    /// the value of a map, and for objects behind handles that are not of this crate.
    pub birth: Option<Origin>,
}

/// A path from an entry of a map to an object. A clone costs as much as the clone of an `Arc`.
#[derive(Clone)]
pub struct HolderPath(Arc<Paths>, usize);

/// All paths, as a tree: a step names the step before it, so paths share their common beginnings.
#[derive(Debug, Default)]
struct Paths {
    steps: Vec<Step>,
    /// The names of the objects, and of the maps.
    names: Vec<Cow<'static, str>>,
    maps: Vec<&'static str>,
    ephemerons: Vec<Ephemeron>,
    keys: Vec<usize>,
    report: Report,
}

/// A field on a path.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    /// The step to the object that owns the field; `None` if the entry does.
    from: Option<usize>,
    /// The entry at the beginning of the path, and whether the target is a key of this entry.
    link: usize,
    own: bool,
    /// Whether the path leads through the target.
    ring: bool,
    /// The field, as an edge of the graph, and the object to which it leads.
    edge: usize,
    object: usize,
}

impl Cycles<'_, '_> {
    /// Finds the holders of an object: for each strong handle that the values of these maps show, a
    /// path from an entry to the handle. Handles that are like each other form a group. All other
    /// strong handles to the object, the argument included, are elsewhere.
    ///
    /// The search looks behind locks, and trusts the counts of `Arc`s, whether the maps are [at
    /// rest](Self::at_rest) or not: [`purge`](Self::purge) may ignore a path that is reported here.
    ///
    /// Use the method to find out why an object is still alive. O(entries + objects + handles), in
    /// time and in memory, times the logarithm of the number of groups. The call changes nothing.
    /// Within a [`trace`](crate::cycles::Trace::trace) the call finds nothing.
    ///
    /// ```
    /// use std::cell::RefCell;
    /// use weakly::{WeakMap, cycles::Cycles, impl_trace, local::Strong};
    ///
    /// struct Widget { on_click: RefCell<Option<Callback>> }
    /// struct Callback { captured: Strong<Widget> }
    /// impl_trace!(Widget: on_click);
    /// impl_trace!(Callback: captured);
    ///
    /// let window = Strong::new(Widget { on_click: RefCell::new(None) });
    /// let button = Strong::new(Widget { on_click: RefCell::new(None) });
    /// let mut buttons = WeakMap::new();
    /// buttons.insert(&window, button.clone());
    /// *button.on_click.borrow_mut() = Some(Callback { captured: window.clone() });
    ///
    /// let holders = Cycles::new().with(&mut buttons).holders(&window);
    /// assert_eq!((holders.count, holders.elsewhere()), (Some(2), Some(1))); // `window` itself
    /// let path = holders.groups[0].path.to_string();
    /// assert!(path.ends_with("(its own key) -> Widget .on_click.captured -> Widget"), "{path}");
    /// ```
    ///
    /// # Panics
    /// If a [`trace`](crate::cycles::Trace::trace) panics.
    #[must_use]
    pub fn holders<K: StrongRef>(&self, target: &K) -> Holders {
        /// Lets entries move again.
        struct Release<'a, 'm, 'v>(&'a Cycles<'m, 'v>);
        impl Drop for Release<'_, '_, '_> {
            fn drop(&mut self) {
                self.0.members.iter().for_each(|member| member.release());
            }
        }
        let mut holders = Holders {
            name: short(type_name::<K::Target>()),
            ..Holders::default()
        };
        let Some(search) = Searching::begin() else {
            let why = "no map was searched, because a search called `trace`";
            holders.unseen.push(why.into());
            return holders;
        };
        // Before the graph makes handles of its own.
        let addr = WeakKey::addr(target).addr();
        holders.count = K::downgrade(target).strong_count();
        let known = holders::known_at(&[addr]).into_iter();
        let mut known: BTreeMap<_, _> = known.flat_map(|object| object.holders).collect();
        let mut graph = Graph::new(true);
        graph.report = Some(Report::default());
        let release = Release(self);
        self.show(&mut graph);
        graph.complete();
        drop(search);
        let (steps, ends) = match graph.objects.get(addr) {
            Some(goal) => steps(&graph, goal as usize, addr),
            None => Default::default(),
        };
        holders.ends = ends;
        let mut report = graph.report.take().unwrap_or_default();
        for node in graph.nodes.iter().filter(|node| !node.traced) {
            report.unseen(node.held.name(), NO_TRACE);
        }
        holders.paths = Arc::new(Paths {
            steps,
            names: graph.nodes.iter().map(|node| node.held.name()).collect(),
            maps: self.members.iter().map(|member| member.name()).collect(),
            ephemerons: mem::take(&mut graph.ephemerons),
            keys: mem::take(&mut graph.keys),
            report,
        });
        holders.group(&graph, &mut known);
        holders.elsewhere = by_line(known.into_values());
        holders.note_unseen();
        drop(graph);
        drop(release);
        holders
    }
}

/// Returns the steps from the entries to all objects, and the numbers of the steps to one object.
/// Breadth first: so the paths are short.
fn steps(graph: &Graph, goal: usize, addr: usize) -> (Vec<Step>, Vec<usize>) {
    let (mut steps, mut ends) = (Vec::new(), Vec::new());
    let mut seen = vec![false; graph.nodes.len()];
    // A range of handles, with a step that is like their steps but for the handle and its object.
    let mut work: VecDeque<_> = (0..graph.ephemerons.len())
        .map(|link| {
            let own = graph.keys[graph.ephemerons[link].keys.clone()].contains(&addr);
            let mut step = Step::default();
            (step.link, step.own) = (link, own);
            (step, graph.ephemerons[link].edges.clone())
        })
        .collect();
    while let Some((like, edges)) = work.pop_front() {
        for edge in edges {
            let object = graph.edges[edge] as usize;
            let is_first = !mem::replace(&mut seen[object], true);
            if is_first {
                // `from`: the step that is pushed below.
                let (from, ring) = (Some(steps.len()), like.ring || object == goal);
                let next = graph.nodes[object].edges.clone();
                work.push_back((Step { from, ring, ..like }, next));
            }
            if object == goal {
                ends.push(steps.len());
            }
            if is_first || object == goal {
                let step = Step { edge, ..like };
                steps.push(Step { object, ..step });
            }
        }
    }
    (steps, ends)
}

impl Holders {
    /// Groups the paths, and takes the origins of their handles out of `known`.
    fn group(&mut self, graph: &Graph, known: &mut BTreeMap<Holder, Origin>) {
        let paths = &self.paths;
        let mut groups = BTreeMap::new();
        for &end in &self.ends {
            let step = paths.steps[end];
            let from = step.from.map(|from| paths.steps[from].object);
            let owner = from.map(|object| &graph.nodes[object].held);
            let (field, holder) = paths.report.edges[step.edge];
            let (since, birth) = (known.remove(&holder), owner.and_then(|owner| owner.birth()));
            let name = match owner.map(|owner| owner.name()) {
                None => paths.maps[paths.ephemerons[step.link].member],
                Some(Cow::Borrowed(name)) => name,
                Some(Cow::Owned(_)) => "foreign object",
            };
            let lines = [&since, &birth].map(|origin| origin.as_ref().map(Origin::location));
            let kind = (from.is_some(), step.own, step.ring);
            let (group, last) = groups.entry((kind, name, field, lines)).or_insert_with(|| {
                let group = HolderGroup {
                    count: 0,
                    bytes: 0,
                    path: HolderPath(paths.clone(), end),
                    since,
                    birth,
                };
                (group, None)
            });
            group.count += 1;
            // The handles of one owner come in a row.
            if last.replace(from) != Some(from) {
                group.bytes += owner.map_or(0, |owner| owner.bytes());
            }
        }
        self.groups = groups.into_values().map(|(group, _)| group).collect();
        let order = |group: &HolderGroup| (Reverse(group.count), group.path.1);
        self.groups.sort_by_key(order);
    }

    /// Notes which handles and values the search has not seen.
    fn note_unseen(&mut self) {
        let elsewhere = self.elsewhere();
        if elsewhere != Some(0) {
            let count = elsewhere.map_or("some".into(), |count| count.to_string());
            self.unseen.push(format!(
                "handles elsewhere: {count}, such as the argument of the search, variables, fields \
                 that no `Trace` shows (`impl_trace!`, `#[derive(Trace)]`), maps that were not \
                 searched (`Cycles::with`)"
            ));
        }
        for ((name, why), count) in &self.paths.report.unseen {
            let (name, unseen) = (short(name), &mut self.unseen);
            unseen.push(format!("not looked at: {count} of `{name}`, which {why}"));
        }
        if cfg!(not(feature = "holders")) {
            self.unseen.push(NO_LINES.into());
        }
    }

    /// Returns the number of strong handles to which no path leads: the argument of the search,
    /// variables, fields that no `Trace` shows, and values of other maps.
    #[must_use]
    pub fn elsewhere(&self) -> Option<usize> {
        Some(self.count?.saturating_sub(self.ends.len()))
    }

    /// Returns a path to each strong handle that the maps show, the shortest first.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = HolderPath> {
        let ends = self.ends.iter();
        ends.map(|end| HolderPath(self.paths.clone(), *end))
    }

    /// Returns the shortest path of each group as a graph in the language of Graphviz. A cluster
    /// for each group has the objects that only its path and paths of smaller groups have.
    ///
    /// ```
    /// use weakly::{Strong, WeakMap, cycles::Cycles};
    ///
    /// let object = Strong::new(1);
    /// let mut map = WeakMap::from([(&object, object.clone())]);
    /// let graph = Cycles::new().with(&mut map).holders(&object).to_dot();
    /// assert!(graph.starts_with("digraph holders {\n  subgraph cluster0 {"));
    /// ```
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut text = String::from("digraph holders {\n");
        let (mut nodes, mut drawn) = (BTreeSet::new(), BTreeSet::new());
        for (number, group) in self.groups.iter().enumerate() {
            let HolderPath(paths, end) = &group.path;
            let (steps, mut edges) = (&paths.steps, String::new());
            let (count, bytes, mut at) = (group.count, group.bytes, Some(*end));
            _ = writeln!(text, "  subgraph cluster{number} {{");
            _ = writeln!(text, "    label=\"{count} handles, {bytes} bytes\";");
            while let Some(step) = at.filter(|step| drawn.insert(*step)) {
                let (field, name) = paths.step(step);
                let Step { from, link, .. } = steps[step];
                let owner = match from {
                    Some(from) => format!("object{}", steps[from].object),
                    None => format!("entry{link}"),
                };
                if from.is_none() && nodes.insert(owner.clone()) {
                    let entry = group.path.entry();
                    _ = writeln!(text, "    {owner} [shape=box, label={entry:?}];");
                }
                let object = format!("object{}", steps[step].object);
                _ = writeln!(edges, "  {owner} -> {object} [label={field:?}];");
                if nodes.insert(object.clone()) {
                    _ = writeln!(text, "    {object} [label={name:?}];");
                }
                at = from;
            }
            text = text + "  }\n" + &edges;
        }
        text + "}\n"
    }
}

impl Paths {
    /// Returns the field of a step, and the name of the object to which the field leads.
    fn step(&self, step: usize) -> (String, String) {
        let Step { edge, object, .. } = self.steps[step];
        let field = self.report.path(self.report.edges[edge].0);
        (field, short(&self.names[object]))
    }
}

impl HolderPath {
    /// Returns the addresses of the entry's keys, to tell the entries of a map apart: as
    /// `Strong::as_ptr` of a key, for example.
    #[must_use]
    pub fn key_addresses(&self) -> &[usize] {
        let HolderPath(paths, end) = self;
        &paths.keys[paths.ephemerons[paths.steps[*end].link].keys.clone()]
    }

    /// Returns the fields on the path, each with the name of the object to which the field leads.
    /// O(length).
    #[must_use]
    pub fn steps(&self) -> Vec<(String, String)> {
        let numbers = self.numbers().into_iter();
        numbers.map(|step| self.0.step(step)).collect()
    }

    /// Returns the numbers of the steps.
    fn numbers(&self) -> Vec<usize> {
        let before = |step: &usize| self.0.steps[*step].from;
        let mut numbers: Vec<_> = iter::successors(Some(self.1), before).collect();
        numbers.reverse();
        numbers
    }

    /// Returns the text for the entry with which the path begins.
    fn entry(&self) -> String {
        let HolderPath(paths, end) = self;
        let Step { link, own, .. } = paths.steps[*end];
        let map = short(paths.maps[paths.ephemerons[link].member]);
        format!("entry of {map}{}", if own { " (its own key)" } else { "" })
    }
}

/// The text of a long path has only the ends of the path.
impl fmt::Display for HolderPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.entry())?;
        let numbers = self.numbers();
        let cut = numbers.len().saturating_sub(2 * FIELDS);
        for (at, step) in numbers.into_iter().enumerate() {
            if cut == 0 || at < FIELDS || at >= FIELDS + cut {
                let (field, name) = self.0.step(step);
                let space = if field.is_empty() { "" } else { " " };
                write!(f, "{space}{field} -> {name}")?;
            } else if at == FIELDS {
                write!(f, " -> ({cut} more)")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for HolderPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for HolderGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  held by {}", self.path)?;
        if let Some(since) = &self.since {
            write!(f, "\n    since {since}")?;
        }
        if let Some(birth) = &self.birth {
            write!(f, "\n    in an object made at {birth}")?;
        }
        match (self.count.saturating_sub(1), self.bytes) {
            (0, _) => Ok(()),
            (more, bytes) => write!(f, "\n    and {more} more like it, in {bytes} bytes"),
        }
    }
}

impl fmt::Display for Holders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, maps) = (self.ends.len(), self.paths.maps.len());
        match self.count {
            Some(count) => write!(f, "{}: {count} strong handles, ", self.name)?,
            None => write!(f, "{}: ", self.name)?,
        }
        write!(f, "{found} found (maps searched: {maps})")?;
        write_groups(f, &self.groups, GROUPS, |group| group.count)?;
        write_lines(f, "held elsewhere", &self.elsewhere, LINES)?;
        for unseen in self.unseen.iter().take(LINES) {
            write!(f, "\n({unseen})")?;
        }
        match self.unseen.len().saturating_sub(LINES) {
            0 => Ok(()),
            more => write!(f, "\n({more} more types were not looked at)"),
        }
    }
}
