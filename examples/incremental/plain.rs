//! The same facts once more, from scratch, with nothing kept and in other ways: what the memos are held
//! against.

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

        let (circle_of, circles) = self.circles();
        let mut members = vec![Vec::new(); circles];
        for (function, &circle) in circle_of.iter().enumerate() {
            members[circle].push(function);
        }
        // The circles come callers first.
        let mut chains = vec![0; circles];
        let mut inlined = vec![0_u64; circles];
        for circle in (0..circles).rev() {
            let mut deepest = 0;
            for &member in &members[circle] {
                let size = u64::from(functions[member].body.size);
                inlined[circle] = inlined[circle].saturating_add(size);
                for &callee in &self.calls[member] {
                    let other = circle_of[callee];
                    if other != circle {
                        deepest = deepest.max(chains[other]);
                        inlined[circle] = inlined[circle].saturating_add(inlined[other]);
                    }
                }
            }
            chains[circle] = deepest + 1;
        }
        (0..functions.len())
            .map(|function| Figures {
                chain: chains[circle_of[function]],
                inlined: inlined[circle_of[function]],
                panics: panics[function],
            })
            .collect()
    }

    /// Which circle each function is in, and how many there are (Kosaraju's algorithm).
    fn circles(&self) -> (Vec<usize>, usize) {
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
        let mut circle_of = vec![none; all];
        let mut circles = 0;
        for &root in ended.iter().rev() {
            if circle_of[root] != none {
                continue;
            }
            circle_of[root] = circles;
            let mut ahead = vec![root];
            while let Some(function) = ahead.pop() {
                for &caller in &self.callers[function] {
                    if circle_of[caller] == none {
                        circle_of[caller] = circles;
                        ahead.push(caller);
                    }
                }
            }
            circles += 1;
        }
        (circle_of, circles)
    }

    /// Itself, and all that call it, directly or not: whose facts depend on it.
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
        // Pairs of the same first come together.
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

/// What can be reached from these, themselves included.
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
