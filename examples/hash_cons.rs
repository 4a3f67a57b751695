//! Hash-consed terms: equal terms are one object. However deep a term is, building it again allocates nothing,
//! comparing compares addresses, and unused terms are freed. Each term is simplified once; a term that is
//! already simple is its own result, which keeps nothing alive. Everything runs on a stack of 256 KiB, which is
//! too small to recurse through a term of depth one million: neither hashing, nor comparing, nor dropping
//! recurses. It checks itself: `cargo run --release --example hash_cons`

use std::io::Write;
use std::process::ExitCode;
use std::{mem, thread};

use weakly::{ByIdentity, Interner, Memo, Strong, WeakMap, dismantle};

const STACK: usize = 256 << 10;
/// Without optimisation a million would take ten seconds.
const DEPTH: usize = if cfg!(debug_assertions) {
    100_000
} else {
    1_000_000
};
const LEVELS: usize = 64;

/// `Hash` and `Eq` use only the operator and the addresses of the children: these are interned, so the same
/// address means the same term.
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

/// Without this, a term would drop its children, these theirs, and so on: recursion as deep as the term.
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

/// The simplified form of each term, unless it is the term itself.
type Simplified = Memo<Strong<Term>, Option<Strong<Term>>>;

/// `x + 0` is `x`, everywhere in a term; each object is simplified once.
fn simplify(term: &Strong<Term>, terms: &mut Terms, known: &Simplified) -> Strong<Term> {
    let simpler = known.get_or_compute(term, |_| {
        let children = term.children.each_ref().map(|child| {
            let child = child.as_ref()?;
            Some(ByIdentity(simplify(child, terms, known)))
        });
        let simple = match (term.operator, children) {
            ("+", [Some(x), Some(zero)]) if zero.operator == "0" => x.0,
            // If no child has changed, this is the term itself.
            (operator, children) => terms.intern(Term { operator, children }),
        };
        (!Strong::ptr_eq(&simple, term)).then_some(simple)
    });
    simpler.unwrap_or_else(|| term.clone())
}

/// The leaves of a term, as if nothing were shared; each object is visited once.
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

fn check(is_true: bool, what: &str) -> Result<(), String> {
    let refuse = || format!("not true: {what}");
    is_true.then_some(()).ok_or_else(refuse)
}

/// Builds a term of that many objects, and builds it again.
fn twice(
    terms: &mut Terms,
    build: fn(&mut Terms) -> Strong<Term>,
    objects: usize,
) -> Result<Strong<Term>, String> {
    let one = build(terms);
    check(terms.len() == objects, "there is one object for each level")?;
    let other = build(terms);
    let same = Strong::ptr_eq(&one, &other);
    check(same, "the same term is the same object")?;
    let none_new = terms.len() == objects && terms.pending_dead() == 0;
    check(none_new, "no part of it was built again")?;
    Ok(other)
}

/// Drops the last handle of a term of that many objects.
fn end(terms: &mut Terms, term: Strong<Term>, objects: usize) -> Result<(), String> {
    drop(term);
    check(terms.is_empty(), "dropping the last handle drops all")?;
    let all_notified = terms.pending_dead() == objects;
    check(all_notified, "each object notifies of its death")?;
    terms.purge();
    check(
        terms.pending_dead() == 0,
        "the interner has drained all notices",
    )
}

fn rewrite(terms: &mut Terms) -> Result<(), String> {
    let known = Simplified::new();
    let wide = shared(terms);
    let simple = simplify(&wide, terms, &known);
    let same = Strong::ptr_eq(&simple, &wide);
    check(same, "there is nothing to simplify")?;
    drop(simple);
    check(
        known.len() == LEVELS + 1,
        "the memo has a result for each object",
    )?;
    end(terms, wide, LEVELS + 1)?;
    known.purge();
    check(known.is_empty(), "the memo has kept none of them alive")?;

    let long = padded(terms);
    let simple = simplify(&long, terms, &known);
    let same = Strong::ptr_eq(&simple, &shared(terms));
    check(same, "without the zeros it is the same term as the other")?;
    let asked = known.statistics().misses;
    let again = simplify(&long, terms, &known);
    let none_new = known.statistics().misses == asked;
    check(
        Strong::ptr_eq(&again, &simple) && none_new,
        "the result is already in the memo",
    )?;
    drop((long, simple, again));
    known.purge();
    check(known.is_empty(), "the results are gone with their terms")?;
    check(terms.is_empty(), "so are the simplified terms")?;
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
    check(known.is_empty(), "no count of leaves is left")?;
    rewrite(&mut terms)?;

    Ok(format!(
        "a term of depth {DEPTH}: one object for each level, built twice, dropped (checked)\n\
         a term of {size} leaves: one object for each level, built twice, dropped (checked)\n\
         the same with zeros: simplified once, memoised, dropped (checked)"
    ))
}

fn main() -> ExitCode {
    let worker = thread::Builder::new().stack_size(STACK).spawn(run);
    let result = worker.expect("a thread").join().expect("no panic");
    let (Ok(message) | Err(message)) = &result;
    let _ = writeln!(std::io::stdout(), "{message}"); // nowhere left to report a failure
    ExitCode::from(u8::from(result.is_err()))
}
