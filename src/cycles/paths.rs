//! The paths from the maps to an object.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::any::type_name;
use core::fmt::{self, Write as _};

use super::graph::Graph;
use super::purge::Cycles;
use super::search::Searching;
use crate::reference::{StrongRef, WeakKey};

/// The holders of an object, as far as the values of some maps show them. See [`Cycles::holders`].
#[derive(Debug, Clone)]
pub struct Holders {
    name: String,
    count: Option<usize>,
    paths: Vec<HolderPath>,
}

/// A path from an entry of a map to an object.
#[derive(Debug, Clone)]
pub struct HolderPath {
    map: String,
    /// Whether the object is a key of the entry.
    own: bool,
    keys: Vec<usize>,
    /// The fields on the path, each with the object to which it leads.
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
struct Step {
    field: String,
    /// The object to which the field leads, and the name of the object's type.
    object: usize,
    name: String,
}

/// The owner of a field on a path: an object, or the entry at the beginning.
#[derive(Clone, Copy)]
enum From {
    Ephemeron(usize),
    Object(usize),
}

/// An arrival at an object: the owner of the field, and the edge.
type Arrival = (From, usize);

impl Cycles<'_> {
    /// Finds the holders of an object: for each strong handle that the values of these maps show, a
    /// path from an entry to the handle. All other strong handles to the object, the argument
    /// included, are elsewhere.
    ///
    /// The search looks behind locks, and trusts the counts of `Arc`s, whether the maps are [at
    /// rest](Self::at_rest) or not: [`purge`](Self::purge) may ignore a path that is reported here.
    ///
    /// Use the method to find out why an object is still alive. O(entries + objects + handles +
    /// steps of all paths; there is one path for each handle to the object). The call changes
    /// nothing. Within a [`trace`](crate::cycles::Trace::trace) the call finds nothing.
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
    /// assert_eq!((holders.count(), holders.paths().len()), (Some(2), 1));
    /// let path = holders.paths()[0].to_string();
    /// assert!(path.ends_with("(its own key) -> Widget .on_click.captured -> Widget"), "{path}");
    /// ```
    ///
    /// # Panics
    /// If a [`trace`](crate::cycles::Trace::trace) panics.
    #[must_use]
    pub fn holders<K: StrongRef>(&self, target: &K) -> Holders {
        /// Lets entries move again.
        struct Release<'a, 'm>(&'a Cycles<'m>);
        impl Drop for Release<'_, '_> {
            fn drop(&mut self) {
                self.0.members.iter().for_each(|member| member.release());
            }
        }
        let name = short(type_name::<K::Target>());
        let nothing = |name| Holders {
            name,
            count: None,
            paths: Vec::new(),
        };
        let Some(search) = Searching::begin() else {
            return nothing(name);
        };
        let mut graph = Graph::new(true);
        graph.fields_of_edges = Some(Vec::new());
        let release = Release(self);
        self.show(&mut graph);
        graph.complete();
        drop(search);
        let fields = graph.fields_of_edges.take().unwrap_or_default();
        let addr = WeakKey::addr(target).addr();
        let Some(goal) = graph.objects.get(addr) else {
            return nothing(name);
        };
        let goal = goal as usize;
        let (first, direct) = arrivals(&graph, goal);
        let paths = direct.into_iter().map(|arrival| {
            let mut steps = Vec::new();
            let mut at = arrival;
            let mut object = goal;
            let link = loop {
                let (from, edge) = at;
                steps.push(Step {
                    field: fields[edge].clone(),
                    object,
                    name: short(&graph.nodes[object].held.name()),
                });
                match from {
                    From::Ephemeron(link) => break &graph.links[link],
                    From::Object(node) => {
                        object = node;
                        at = first[node].expect("an object is entered from somewhere");
                    }
                }
            };
            steps.reverse();
            let keys = &graph.keys[link.keys.clone()];
            HolderPath {
                map: short(self.members[link.member].name()),
                own: keys.contains(&addr),
                keys: keys.to_vec(),
                steps,
            }
        });
        let paths = paths.collect();
        let count = Some(graph.nodes[goal].count);
        drop(graph);
        drop(release);
        Holders { name, count, paths }
    }
}

/// Returns the first arrival at each object, and all arrivals at the goal. (Breadth first: so the
/// paths are short.)
fn arrivals(graph: &Graph, goal: usize) -> (Vec<Option<Arrival>>, Vec<Arrival>) {
    let mut first = vec![None; graph.nodes.len()];
    let mut direct = Vec::new();
    let mut work = VecDeque::new();
    let mut arrive = |from, edges: core::ops::Range<usize>, work: &mut VecDeque<usize>| {
        for edge in edges {
            let object = graph.edges[edge] as usize;
            if object == goal {
                direct.push((from, edge));
            }
            if first[object].is_none() {
                first[object] = Some((from, edge));
                work.push_back(object);
            }
        }
    };
    for (number, link) in graph.links.iter().enumerate() {
        arrive(From::Ephemeron(number), link.edges.clone(), &mut work);
    }
    while let Some(object) = work.pop_front() {
        let edges = graph.nodes[object].edges.clone();
        arrive(From::Object(object), edges, &mut work);
    }
    (first, direct)
}

impl Holders {
    /// Returns the number of strong handles to the object; `None` if the maps show no handle to it.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        self.count
    }

    /// Returns a path to each strong handle that the maps show.
    #[must_use]
    pub fn paths(&self) -> &[HolderPath] {
        &self.paths
    }

    /// Returns the paths as a graph in the language of Graphviz.
    ///
    /// ```
    /// use weakly::{Strong, WeakMap, cycles::Cycles};
    ///
    /// let object = Strong::new(1);
    /// let mut map = WeakMap::from([(&object, object.clone())]);
    /// let graph = Cycles::new().with(&mut map).holders(&object).to_dot();
    /// assert!(graph.starts_with("digraph holders {"));
    /// ```
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut text = String::from("digraph holders {\n");
        let (mut objects, mut edges) = (BTreeSet::new(), BTreeSet::new());
        for (number, path) in self.paths.iter().enumerate() {
            let entry = format!("entry{number}");
            _ = writeln!(text, "  {entry} [shape=box, label={:?}];", path.entry());
            let mut from = None;
            for step in &path.steps {
                let to = step.object;
                if objects.insert(to) {
                    _ = writeln!(text, "  object{to} [label={:?}];", step.name);
                }
                let label = &step.field;
                match from.replace(to) {
                    None => _ = writeln!(text, "  {entry} -> object{to} [label={label:?}];"),
                    Some(from) if edges.insert((from, to, label)) => {
                        _ = writeln!(text, "  object{from} -> object{to} [label={label:?}];");
                    }
                    Some(_) => {}
                }
            }
        }
        text + "}\n"
    }
}

impl HolderPath {
    /// Returns the addresses of the entry's keys, to tell the entries of a map apart: as
    /// `Strong::as_ptr` of a key, for example.
    #[must_use]
    pub fn key_addresses(&self) -> &[usize] {
        &self.keys
    }

    fn entry(&self) -> String {
        let own = if self.own { " (its own key)" } else { "" };
        format!("entry of {}{own}", self.map)
    }
}

impl fmt::Display for HolderPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.entry())?;
        for step in &self.steps {
            if !step.field.is_empty() {
                write!(f, " {}", step.field)?;
            }
            write!(f, " -> {}", step.name)?;
        }
        Ok(())
    }
}

impl fmt::Display for Holders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(count) = self.count else {
            return writeln!(f, "{}: no strong handle found", self.name);
        };
        let (name, found) = (&self.name, self.paths.len());
        writeln!(f, "{name}: {count} strong handles, {found} found")?;
        for path in &self.paths {
            writeln!(f, "  held by {path}")?;
        }
        Ok(())
    }
}

/// Returns the name of a type without its modules.
fn short(name: &str) -> String {
    let mut text = String::new();
    let mut word = 0;
    for letter in name.chars() {
        if letter == ':' {
            text.truncate(word);
        } else {
            text.push(letter);
            if !(letter.is_alphanumeric() || letter == '_') {
                word = text.len();
            }
        }
    }
    text
}
