//! The same facts, recomputed from scratch and with other algorithms: what the memos are compared with.

use crate::code::{Code, Name};
use crate::facts::{Facts, Figures};

pub(crate) struct Plain {
    calls: Vec<Vec<usize>>,
    callers: Vec<Vec<usize>>,
    figures: Vec<Figures>,
}

impl Plain {
    pub(crate) fn of(code: &Code) -> Self {
        let functions = code.functions();
        let mut plain = Plain {
            calls: Vec::with_capacity(functions.len()),
            callers: vec![Vec::new(); functions.len()],
            figures: Vec::new(),
        };
        for (caller, function) in functions.iter().enumerate() {
            let calls: Vec<_> = function.body.calls.iter().map(|it| it.index()).collect();
            for &callee in &calls {
                plain.callers[callee].push(caller);
            }
            plain.calls.push(calls);
        }
        plain.figures = plain.all_figures(code);
        plain
    }

    fn all_figures(&self, code: &Code) -> Vec<Figures> {
        let functions = code.functions();
        let panicking: Vec<_> = (0..functions.len())
            .filter(|&it| functions[it].body.panics)
            .collect();
        let panics = reached(&self.callers, &panicking);

        let (cycle_of, cycles) = self.cycles();
        let mut members = vec![Vec::new(); cycles];
        for (function, &cycle) in cycle_of.iter().enumerate() {
            members[cycle].push(function);
        }
        // The cycles come callers first.
        let mut chains = vec![0; cycles];
        let mut inlined = vec![0_u64; cycles];
        for cycle in (0..cycles).rev() {
            let mut deepest = 0;
            for &member in &members[cycle] {
                let size = u64::from(functions[member].body.size);
                inlined[cycle] = inlined[cycle].saturating_add(size);
                for &callee in &self.calls[member] {
                    let other = cycle_of[callee];
                    if other != cycle {
                        deepest = deepest.max(chains[other]);
                        inlined[cycle] = inlined[cycle].saturating_add(inlined[other]);
                    }
                }
            }
            chains[cycle] = deepest + 1;
        }
        (0..functions.len())
            .map(|function| Figures {
                chain: chains[cycle_of[function]],
                inlined: inlined[cycle_of[function]],
                panics: panics[function],
            })
            .collect()
    }

    /// The cycle of each function, and the number of cycles (Kosaraju's algorithm).
    fn cycles(&self) -> (Vec<usize>, usize) {
        let all = self.calls.len();
        let mut ended = Vec::with_capacity(all);
        let mut seen = vec![false; all];
        for root in 0..all {
            let mut path = Vec::new();
            if !std::mem::replace(&mut seen[root], true) {
                path.push((root, self.calls[root].iter()));
            }
            while let Some((function, calls)) = path.last_mut() {
                match calls.next() {
                    Some(&callee) => {
                        if !std::mem::replace(&mut seen[callee], true) {
                            path.push((callee, self.calls[callee].iter()));
                        }
                    }
                    None => {
                        ended.push(*function);
                        path.pop();
                    }
                }
            }
        }
        let none = usize::MAX;
        let mut cycle_of = vec![none; all];
        let mut cycles = 0;
        for &root in ended.iter().rev() {
            if cycle_of[root] != none {
                continue;
            }
            cycle_of[root] = cycles;
            let mut ahead = vec![root];
            while let Some(function) = ahead.pop() {
                for &caller in &self.callers[function] {
                    if cycle_of[caller] == none {
                        cycle_of[caller] = cycles;
                        ahead.push(caller);
                    }
                }
            }
            cycles += 1;
        }
        (cycle_of, cycles)
    }

    /// The function itself and all that call it, directly or not: their facts depend on it.
    pub(crate) fn dependents(&self, name: Name) -> Vec<bool> {
        reached(&self.callers, &[name.index()])
    }

    /// Asks for all facts, and compares.
    pub(crate) fn check(
        &self,
        code: &Code,
        facts: &Facts,
        pairs: &[(Name, Name)],
        title: impl Fn(Name) -> String,
    ) -> Result<(), String> {
        for function in code.functions() {
            let name = function.name;
            let (is, expected) = (facts.figures(code, name), self.figures[name.index()]);
            if is != expected {
                let title = title(name);
                return Err(format!("{title}: {is:?}, but expected {expected:?}"));
            }
        }
        // Pairs with the same first function are adjacent.
        let mut last = None;
        for &(from, to) in pairs {
            let (_, reached) = match last.take() {
                Some((first, reached)) if first == from => (first, reached),
                _ => (from, reached(&self.calls, &self.calls[from.index()])),
            };
            let (is, expected) = (facts.reaches(code, from, to), reached[to.index()]);
            if is != expected {
                let (from, to) = (title(from), title(to));
                return Err(format!(
                    "{from} reaches {to}: {is}, but expected {expected}"
                ));
            }
            last = Some((from, reached));
        }
        Ok(())
    }
}

/// All that can be reached from these, themselves included.
fn reached(ways: &[Vec<usize>], from: &[usize]) -> Vec<bool> {
    let mut reached = vec![false; ways.len()];
    let mut ahead = from.to_vec();
    while let Some(at) = ahead.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            ahead.extend(&ways[at]);
        }
    }
    reached
}
