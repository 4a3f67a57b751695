//! Recursion: which functions call each other in cycles.
//!
//! A computation must not depend on itself, but calls do form cycles. So a fact depends on the facts of callees
//! in other cycles only, and these dependencies form no cycle: all functions of a cycle have the same facts,
//! computed for the first of them. This is exact; ignoring the calls that go "backwards" in some fixed order
//! would be simpler, but would miss what they lead to.

use std::collections::HashMap;
use std::sync::Arc;

use crate::code::Name;

pub(crate) struct Cycles {
    /// Sorted. `None` for a function alone, which is the usual case, whether or not it calls itself.
    of: Vec<Option<Arc<[Name]>>>,
}

/// A visited function, with the number of functions visited before it.
struct Visited {
    number: usize,
    /// The lowest number of an open function that can be reached from here, as far as is known.
    low: usize,
    /// Whether its cycle is incomplete.
    open: bool,
}

impl Cycles {
    pub(crate) fn new(functions: usize) -> Self {
        Cycles {
            of: vec![None; functions],
        }
    }

    pub(crate) fn of(&self, name: Name) -> Option<&[Name]> {
        self.of[name.index()].as_deref()
    }

    /// Finds the cycles of all functions that can be reached from the roots (Tarjan's algorithm, without
    /// recursion); returns these functions, callees first. After an edit, starting with the members of the
    /// function's old cycle is enough: a cycle without it, before and after, has not changed.
    pub(crate) fn update<'c>(
        &mut self,
        roots: &[Name],
        calls: impl Fn(Name) -> &'c [Name],
    ) -> Vec<Name> {
        let mut visited: HashMap<Name, Visited> = HashMap::new();
        let mut open: Vec<Name> = Vec::new();
        let mut done = Vec::new();
        for &root in roots {
            // The path to the current function, with the index of its next call.
            let mut path: Vec<(Name, usize)> = Vec::new();
            let mut ahead = (!visited.contains_key(&root)).then_some(root);
            loop {
                if let Some(name) = ahead.take() {
                    let number = visited.len();
                    let new = Visited {
                        number,
                        low: number,
                        open: true,
                    };
                    visited.insert(name, new);
                    open.push(name);
                    path.push((name, 0));
                }
                let Some((name, next)) = path.last_mut() else {
                    break;
                };
                let name = *name;
                if let Some(&callee) = calls(name).get(*next) {
                    *next += 1;
                    match visited.get(&callee) {
                        None => ahead = Some(callee),
                        Some(it) if it.open => lower(&mut visited, name, callee),
                        Some(_) => {}
                    }
                    continue;
                }
                path.pop();
                if let Some(&(caller, _)) = path.last() {
                    lower(&mut visited, caller, name);
                }
                if visited[&name].low == visited[&name].number {
                    let first = open.iter().rposition(|&it| it == name);
                    let first = first.expect("open until now");
                    self.close(&open[first..]);
                    for name in open.drain(first..) {
                        visited.entry(name).and_modify(|it| it.open = false);
                        done.push(name);
                    }
                }
            }
        }
        done
    }

    fn close(&mut self, cycle: &[Name]) {
        let mut cycle = cycle.to_vec();
        cycle.sort_unstable();
        let shared: Option<Arc<[Name]>> = (cycle.len() > 1).then(|| cycle.as_slice().into());
        for name in cycle {
            self.of[name.index()].clone_from(&shared);
        }
    }
}

/// Whatever the callee can reach, the caller can reach too.
fn lower(visited: &mut HashMap<Name, Visited>, caller: Name, callee: Name) {
    let low = visited[&callee].low;
    visited
        .entry(caller)
        .and_modify(|it| it.low = it.low.min(low));
}
