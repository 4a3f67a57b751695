//! Hash-consed terms: equal terms are one object, so that however deep they are, building one again
//! makes nothing, comparing is comparing addresses, and what nobody uses is gone. All on a stack of
//! 128 KiB, on which nothing can recurse through a term of depth a million: neither hashing, nor
//! comparing, nor dropping. It checks itself: `cargo run --release --example hash_cons`

use std::io::Write;
use std::process::ExitCode;
use std::{mem, thread};

use weakly::{ByIdentity, Interner, Strong, WeakMap, dismantle};

const STACK: usize = 128 << 10;
/// Without optimisation a million takes ten seconds.
const DEPTH: usize = if cfg!(debug_assertions) {
    100_000
} else {
    1_000_000
};
const LEVELS: usize = 64;

/// `Hash` and `Eq` look at the operator and at the addresses of the children, no deeper: these are
/// interned, so the same address is the same term.
#[derive(PartialEq, Eq, Hash)]
struct Term {
    operator: &'static str,
    children: [Option<ByIdentity<Strong<Term>>>; 2],
}

impl Term {
    fn new<const N: usize>(operator: &'static str, children: [&Strong<Term>; N]) -> Self {
        let mut children = children.into_iter().cloned().map(ByIdentity);
        let children = [(); 2].map(|()| children.next());
        Term { operator, children }
    }

    /// Moves the children out.
    fn take_children(&mut self) -> impl Iterator<Item = Strong<Term>> + use<> {
        let children = mem::take(&mut self.children).into_iter().flatten();
        children.map(|ByIdentity(child)| child)
    }
}

/// Left to itself, a term would drop its children, these theirs, and so on: as deep as the term.
impl Drop for Term {
    fn drop(&mut self) {
        let children = self.take_children();
        dismantle(children, Strong::into_inner, Term::take_children);
    }
}

type Terms = Interner<Strong<Term>>;

/// `s(s(s(… 0)))`
fn tower(terms: &mut Terms) -> Strong<Term> {
    let zero = terms.intern(Term::new("0", []));
    (0..DEPTH).fold(zero, |below, _| terms.intern(Term::new("s", [&below])))
}

/// `x + x` where `x` is `y + y` where …
fn shared(terms: &mut Terms) -> Strong<Term> {
    let one = terms.intern(Term::new("1", []));
    (0..LEVELS).fold(one, |x, _| terms.intern(Term::new("+", [&x, &x])))
}

/// The leaves of a term, as if nothing were shared; each object is asked once.
fn leaves(term: &Strong<Term>, known: &mut WeakMap<Strong<Term>, u128>) -> u128 {
    if let Some(&leaves) = known.get(term) {
        return leaves;
    }
    let children = term.children.iter().flatten();
    let below: u128 = children.map(|child| leaves(child, known)).sum();
    let leaves = below.max(1);
    known.insert(term, leaves);
    leaves
}

fn check(holds: bool, what: &str) -> Result<(), String> {
    let refuse = || format!("not true: {what}");
    holds.then_some(()).ok_or_else(refuse)
}

/// Builds a term of so many objects, and builds it again.
fn twice(
    terms: &mut Terms,
    build: fn(&mut Terms) -> Strong<Term>,
    objects: usize,
) -> Result<Strong<Term>, String> {
    let one = build(terms);
    check(terms.len() == objects, "an object for each level")?;
    let other = build(terms);
    let same = Strong::ptr_eq(&one, &other);
    check(same, "the same term is the same object")?;
    let none_new = terms.len() == objects && terms.pending_dead() == 0;
    check(none_new, "and no part of it was made again")?;
    Ok(other)
}

/// Drops the last handle to a term of so many objects.
fn end(terms: &mut Terms, term: Strong<Term>, objects: usize) -> Result<(), String> {
    drop(term);
    check(terms.is_empty(), "all goes with the last handle")?;
    let all_told = terms.pending_dead() == objects;
    check(all_told, "each object tells of its death")?;
    terms.purge();
    check(terms.pending_dead() == 0, "and the interner has heard it")
}

fn run() -> Result<String, String> {
    let mut terms = Terms::new();
    let deep = twice(&mut terms, tower, DEPTH + 1)?;
    end(&mut terms, deep, DEPTH + 1)?;

    let wide = twice(&mut terms, shared, LEVELS + 1)?;
    let mut known = WeakMap::new();
    let size = leaves(&wide, &mut known);
    check(size == 1 << LEVELS, "it unfolds to 2^64 leaves")?;
    end(&mut terms, wide, LEVELS + 1)?;
    check(known.is_empty(), "and nothing is known of it any more")?;

    Ok(format!(
        "a term of depth {DEPTH}: an object for each level, built twice, gone (checked)\n\
         a term of {size} leaves: an object for each level, built twice, gone (checked)"
    ))
}

fn main() -> ExitCode {
    let worker = thread::Builder::new().stack_size(STACK).spawn(run);
    let result = worker.expect("a thread").join().expect("no panic");
    let (Ok(told) | Err(told)) = &result;
    let _ = writeln!(std::io::stdout(), "{told}"); // if nobody listens, there is nobody to tell
    ExitCode::from(u8::from(result.is_err()))
}
