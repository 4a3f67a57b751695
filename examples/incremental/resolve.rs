//! From names as written to functions. Nothing here knows types: an ambiguous call is skipped.

use std::collections::HashMap;
use std::ops::Range;

use crate::code::{Body, Name};
use crate::read::{Call, Found, Qualifier};

/// The owner, and the name.
type QualifiedName<'f> = (Owner<'f>, &'f str);

#[derive(PartialEq, Eq, Hash)]
enum Owner<'f> {
    None,
    Type(&'f str),
    Receiver,
}

/// The result of resolving the calls.
#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) resolved: usize,
    /// Calls of functions that are not here, as far as can be seen, or that are ambiguous.
    pub(crate) skipped: usize,
}

/// The bodies of all functions, in order, file by file. Edits do not change names, and add or remove no
/// function; so no fact depends on the absence of a name.
pub(crate) fn resolve(files: &[Vec<Found>]) -> (Vec<Body>, Calls) {
    let mut known: HashMap<QualifiedName<'_>, Vec<Name>> = HashMap::new();
    let mut count = 0;
    for found in files.iter().flatten() {
        let name = Name::nth(count);
        count += 1;
        let mut is = |owner| known.entry((owner, &found.name)).or_default().push(name);
        match &found.owner {
            None => is(Owner::None),
            Some(owner) => {
                is(Owner::Type(owner));
                is(Owner::Receiver);
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
            calls.skipped += found.calls.len() - named.len();
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
fn one_of(
    known: &HashMap<QualifiedName<'_>, Vec<Name>>,
    call: &Call,
    here: &Range<usize>,
) -> Option<Name> {
    let owner = match &call.qualifier {
        Qualifier::None => Owner::None,
        Qualifier::Type(name) => Owner::Type(name),
        Qualifier::Receiver => Owner::Receiver,
    };
    let all = known.get(&(owner, call.name.as_str()))?;
    let before = |end: usize| all.partition_point(|name| name.index() < end);
    match (&all[before(here.start)..before(here.end)], &all[..]) {
        ([one], _) | ([], [one]) => Some(*one),
        _ => None,
    }
}
