//! Recursion: which functions call each other in circles.
//!
//! A computation must not come to need itself, and calls do go in circles. So what a fact follows are the
//! calls between circles, which cannot: all functions of a circle have the same facts, computed for the
//! first of them. That is exact, where to leave out the calls that go "backwards" in some fixed order would
//! be simpler and would miss what is behind them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::code::Name;

pub(crate) struct Circles {
    /// In order. None for a function alone, which most are, whether or not it calls itself.
    of: Vec<Option<Arc<[Name]>>>,
}

/// A function that has been met, after so many others.
struct Met {
    number: usize,
    /// The first of the open ones that can be reached from here, as far as is known.
    low: usize,
    /// Whether its circle is not complete.
    open: bool,
}

impl Circles {
    pub(crate) fn new(functions: usize) -> Self {
        Circles {
            of: vec![None; functions],
        }
    }

    pub(crate) fn of(&self, name: Name) -> Option<&[Name]> {
        self.of[name.index()].as_deref()
    }

    /// Finds the circles of all that can be reached from here (Tarjan's algorithm, without recursion);
    /// gives these out, callees first. After an edit it is enough to begin with those that were in one
    /// circle with the function: in a circle without it, before and after, nobody has changed.
    pub(crate) fn mend<'c>(
        &mut self,
        roots: &[Name],
        calls: impl Fn(Name) -> &'c [Name],
    ) -> Vec<Name> {
        let mut met: HashMap<Name, Met> = HashMap::new();
        let mut open: Vec<Name> = Vec::new();
        let mut done = Vec::new();
        for &root in roots {
            // Where we are, and which call comes next.
            let mut path: Vec<(Name, usize)> = Vec::new();
            let mut ahead = (!met.contains_key(&root)).then_some(root);
            loop {
                if let Some(name) = ahead.take() {
                    let number = met.len();
                    let new = Met {
                        number,
                        low: number,
                        open: true,
                    };
                    met.insert(name, new);
                    open.push(name);
                    path.push((name, 0));
                }
                let Some((name, next)) = path.last_mut() else {
                    break;
                };
                let name = *name;
                if let Some(&callee) = calls(name).get(*next) {
                    *next += 1;
                    match met.get(&callee) {
                        None => ahead = Some(callee),
                        Some(it) if it.open => lower(&mut met, name, callee),
                        Some(_) => {}
                    }
                    continue;
                }
                path.pop();
                if let Some(&(caller, _)) = path.last() {
                    lower(&mut met, caller, name);
                }
                if met[&name].low == met[&name].number {
                    let first = open.iter().rposition(|&it| it == name);
                    let first = first.expect("open until now");
                    self.close(&open[first..]);
                    for name in open.drain(first..) {
                        met.entry(name).and_modify(|it| it.open = false);
                        done.push(name);
                    }
                }
            }
        }
        done
    }

    fn close(&mut self, circle: &[Name]) {
        let mut circle = circle.to_vec();
        circle.sort_unstable();
        let shared: Option<Arc<[Name]>> = (circle.len() > 1).then(|| circle.as_slice().into());
        for name in circle {
            self.of[name.index()].clone_from(&shared);
        }
    }
}

/// What the callee can reach, the caller can.
fn lower(met: &mut HashMap<Name, Met>, caller: Name, callee: Name) {
    let low = met[&callee].low;
    met.entry(caller).and_modify(|it| it.low = it.low.min(low));
}
