//! Hash-consed terms: equal terms are one object, so that however deep they are, building one again
//! makes nothing, comparing is comparing addresses, and what nobody uses is gone. Each is simplified once; a
//! term that is as simple as can be is its own result, which keeps nobody alive. All on a stack of
//! 256 KiB, on which nothing can recurse through a term of depth a million: neither hashing, nor
//! comparing, nor dropping. It checks itself: `cargo run --release --example hash_cons`

use std::io::Write;
use std::process::ExitCode;
use std::{mem, thread};

use weakly::{ByIdentity, Interner, Memo, Rewritten, Strong, WeakMap, dismantle};

const STACK: usize = 256 << 10;
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

/// `(x + x) + 0` where `x` is `(y + y) + 0` where …
fn padded(terms: &mut Terms) -> Strong<Term> {
    let one = terms.intern(Term::new("1", []));
    let zero = terms.intern(Term::new("0", []));
    (0..LEVELS).fold(one, |x, _| {
        let sum = terms.intern(Term::new("+", [&x, &x]));
        terms.intern(Term::new("+", [&sum, &zero]))
    })
}

/// What terms are simplified to: perhaps to themselves.
type Simplified = Memo<Strong<Term>, Rewritten<Strong<Term>>>;

/// `x + 0` is `x`, everywhere in a term; each object is asked once.
fn simplify(term: &Strong<Term>, terms: &mut Terms, known: &Simplified) -> Strong<Term> {
    known.get_or_rewrite(term, |_| {
        let children = term.children.each_ref().map(|child| {
            let child = child.as_ref()?;
            Some(ByIdentity(simplify(child, terms, known)))
        });
        match (term.operator, children) {
            ("+", [Some(x), Some(zero)]) if zero.operator == "0" => x.0,
            // If no child has changed, this is the term itself.
            (operator, children) => terms.intern(Term { operator, children }),
        }
    })
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

fn rewrite(terms: &mut Terms) -> Result<(), String> {
    let known = Simplified::new();
    let wide = shared(terms);
    let simple = simplify(&wide, terms, &known);
    let same = Strong::ptr_eq(&simple, &wide);
    check(same, "there is nothing to simplify")?;
    drop(simple);
    check(known.len() == LEVELS + 1, "which is known of each object")?;
    end(terms, wide, LEVELS + 1)?;
    known.purge();
    check(known.is_empty(), "and has kept none of them")?;

    let long = padded(terms);
    let simple = simplify(&long, terms, &known);
    let same = Strong::ptr_eq(&simple, &shared(terms));
    check(same, "without the zeros it is the other term")?;
    let asked = known.statistics().misses;
    let again = simplify(&long, terms, &known);
    let none_new = known.statistics().misses == asked;
    check(Strong::ptr_eq(&again, &simple) && none_new, "known by now")?;
    drop((long, simple, again));
    known.purge();
    check(known.is_empty(), "what is simplified goes")?;
    check(terms.is_empty(), "and what it was simplified to")?;
    terms.purge();
    Ok(())
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
    rewrite(&mut terms)?;

    Ok(format!(
        "a term of depth {DEPTH}: an object for each level, built twice, gone (checked)\n\
         a term of {size} leaves: an object for each level, built twice, gone (checked)\n\
         the same with zeros: simplified once, remembered, gone (checked)"
    ))
}

fn main() -> ExitCode {
    let worker = thread::Builder::new().stack_size(STACK).spawn(run);
    let result = worker.expect("a thread").join().expect("no panic");
    let (Ok(told) | Err(told)) = &result;
    let _ = writeln!(std::io::stdout(), "{told}"); // if nobody listens, there is nobody to tell
    ExitCode::from(u8::from(result.is_err()))
}
