//! From names as they are written to functions. Nothing here knows types: a call that could be one of
//! several functions is left out.

use std::collections::HashMap;
use std::ops::Range;

use crate::code::{Body, Name};
use crate::read::{Call, Found, Of};

/// Whose, and how it is called.
type Said<'f> = (Whose<'f>, &'f str);

#[derive(PartialEq, Eq, Hash)]
enum Whose<'f> {
    Nobody,
    Type(&'f str),
    Somebody,
}

/// How the calls were understood.
#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) resolved: usize,
    /// Of functions that are not here, as far as one can see, or that could be several.
    pub(crate) left_out: usize,
}

/// What all functions say, in order, file by file. Their names do not change when they are edited, and
/// none come or go; so nobody depends on there being no function of some name.
pub(crate) fn resolve(files: &[Vec<Found>]) -> (Vec<Body>, Calls) {
    let mut known: HashMap<Said<'_>, Vec<Name>> = HashMap::new();
    let mut count = 0;
    for found in files.iter().flatten() {
        let name = Name::nth(count);
        count += 1;
        let mut is = |whose| known.entry((whose, &found.name)).or_default().push(name);
        match &found.owner {
            None => is(Whose::Nobody),
            Some(owner) => {
                is(Whose::Type(owner));
                is(Whose::Somebody);
            }
        }
    }
    let mut calls = Calls::default();
    let mut bodies = Vec::with_capacity(count);
    for file in files {
        let here = bodies.len()..bodies.len() + file.len();
        for found in file {
            let of = |call| one_of(&known, call, &here);
            let mut named: Vec<Name> = found.calls.iter().filter_map(of).collect();
            calls.resolved += named.len();
            calls.left_out += found.calls.len() - named.len();
            named.sort_unstable();
            named.dedup();
            bodies.push(Body {
                size: found.size,
                panics: found.panics,
                calls: named.into(),
            });
        }
    }
    (bodies, calls)
}

/// The only one of that name in the file, or else the only one at all.
fn one_of(known: &HashMap<Said<'_>, Vec<Name>>, call: &Call, here: &Range<usize>) -> Option<Name> {
    let whose = match &call.of {
        Of::Nobody => Whose::Nobody,
        Of::Type(owner) => Whose::Type(owner),
        Of::Somebody => Whose::Somebody,
    };
    let all = known.get(&(whose, call.name.as_str()))?;
    let before = |end: usize| all.partition_point(|name| name.index() < end);
    match (&all[before(here.start)..before(here.end)], &all[..]) {
        ([one], _) | ([], [one]) => Some(*one),
        _ => None,
    }
}
