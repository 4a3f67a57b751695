//! A foreign program: terms of the lambda calculus, hash-consed as in the example of the crate `hashconsing`.
//! Programs are built with sharing, simplified, and dropped. Each store of terms runs the same steps.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Weak};

use ahash::RandomState;
use hashconsing::{HConsed, HConsign, HashConsign};
use weak_table::WeakHashSet;
use weakly::{ByIdentity, Interner, Strong, local};

use crate::chance::Numbers;
use crate::duel::{Course, Sample, Scale, Unit, time};
use crate::memory::Count;

/// Nodes of a layer.
const WIDTH: usize = 512;
/// Each node of a layer refers to nodes of the two layers before it.
const LAYERS: usize = 16;
/// How many programs are alive at a time.
const ALIVE: usize = 16;
/// Distinct variables.
const VARIABLES: u64 = 256;

/// A node, whose children are handles: equal and hashed by identity, since equal children are one object.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Node<T> {
    Variable(u64),
    Lambda(T),
    Apply(T, T),
}

/// A program: each step makes a node, from nodes that earlier steps have made.
struct Program(Vec<Node<usize>>);

impl Program {
    /// Layer by layer. Every other step repeats an earlier one of its layer.
    fn random(numbers: &mut Numbers) -> Self {
        let mut steps: Vec<Node<usize>> = Vec::with_capacity(LAYERS * WIDTH);
        for layer in 0..LAYERS {
            let start = layer * WIDTH;
            let earlier = start.saturating_sub(2 * WIDTH);
            for (at, number) in numbers.take(WIDTH).into_iter().enumerate() {
                let pick = |bits: u64| earlier + (bits % (start - earlier) as u64) as usize;
                let step = match number % 8 {
                    1 | 3 | 5 | 7 if at > 0 => steps[start + (number >> 8) as usize % at].clone(),
                    _ if layer == 0 => Node::Variable((number >> 8) % VARIABLES),
                    0 => Node::Lambda(pick(number >> 8)),
                    _ => Node::Apply(pick(number >> 8), pick(number >> 32)),
                };
                steps.push(step);
            }
        }
        Program(steps)
    }
}

/// One handle for each live term.
trait Terms: Default + 'static {
    type Term: Clone + PartialEq + 'static;
    fn make(&mut self, node: Node<Self::Term>) -> Self::Term;
    fn node(term: &Self::Term) -> &Node<Self::Term>;
}

macro_rules! ours {
    ($($term:ident, $pointer:ty);*) => {$(
        #[derive(Clone, PartialEq, Eq, Hash)]
        struct $term(ByIdentity<$pointer>);

        impl Terms for Interner<$pointer> {
            type Term = $term;
            #[inline]
            fn make(&mut self, node: Node<$term>) -> $term {
                $term(ByIdentity(self.intern(node)))
            }
            #[inline]
            fn node(term: &$term) -> &Node<$term> {
                &term.0.0
            }
        }
    )*};
}

ours! {
    Shared, Strong<Node<Shared>>;
    Local, local::Strong<Node<Local>>;
    Counted, Arc<Node<Counted>>
}

/// When a table that only its user cleans is cleaned: as soon as it has twice the entries that were left then.
struct Limit(usize);

impl Default for Limit {
    fn default() -> Self {
        Limit(1024)
    }
}

impl Limit {
    fn check(&mut self, len: usize, clean: impl FnOnce() -> usize) {
        if len >= self.0 {
            self.0 = (2 * clean()).max(1024);
        }
    }
}

/// As one writes it by hand: a plain map. Its keys own their children, so a sweep makes more entries dead.
#[derive(Default)]
struct ByHand {
    map: HashMap<Node<Counted>, Weak<Node<Counted>>, RandomState>,
    limit: Limit,
}

impl Terms for ByHand {
    type Term = Counted;
    fn make(&mut self, node: Node<Counted>) -> Counted {
        if let Some(term) = self.map.get(&node).and_then(Weak::upgrade) {
            return Counted(ByIdentity(term));
        }
        let term = Arc::new(node.clone());
        self.map.insert(node, Arc::downgrade(&term));
        let map = &mut self.map;
        self.limit.check(map.len(), || {
            loop {
                let before = map.len();
                map.retain(|_, term| term.strong_count() > 0);
                if map.len() == before {
                    return before;
                }
            }
        });
        Counted(ByIdentity(term))
    }
    fn node(term: &Counted) -> &Node<Counted> {
        &term.0.0
    }
}

/// `weak-table`, which sweeps by itself.
#[derive(Default)]
struct WeakTable(WeakHashSet<Weak<Node<Counted>>, RandomState>);

impl Terms for WeakTable {
    type Term = Counted;
    fn make(&mut self, node: Node<Counted>) -> Counted {
        let term = self.0.get(&node).unwrap_or_else(|| {
            let new = Arc::new(node);
            self.0.insert(new.clone());
            new
        });
        Counted(ByIdentity(term))
    }
    fn node(term: &Counted) -> &Node<Counted> {
        &term.0.0
    }
}

/// The crate `hashconsing`, whose user also decides when it collects.
struct Consign {
    consign: HConsign<Node<Consed>, RandomState>,
    limit: Limit,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Consed(HConsed<Node<Consed>>);

impl Default for Consign {
    fn default() -> Self {
        Consign {
            consign: HConsign::with_hasher(RandomState::new()),
            limit: Limit::default(),
        }
    }
}

impl Terms for Consign {
    type Term = Consed;
    fn make(&mut self, node: Node<Consed>) -> Consed {
        let term = self.consign.mk(node);
        let consign = &mut self.consign;
        self.limit.check(consign.len(), || {
            consign.collect();
            consign.len()
        });
        Consed(term)
    }
    fn node(term: &Consed) -> &Node<Consed> {
        term.0.get()
    }
}

/// A store of terms and the roots of the programs that are alive.
struct Session<S: Terms> {
    terms: S,
    roots: VecDeque<Vec<S::Term>>,
    numbers: Numbers,
}

impl<S: Terms> Session<S> {
    fn new() -> Self {
        let mut session = Session {
            terms: S::default(),
            roots: VecDeque::new(),
            numbers: Numbers::default(),
        };
        // A program dies with each that is run.
        session.roots.resize(ALIVE, Vec::new());
        session
    }

    fn next(&mut self) -> Program {
        Program::random(&mut self.numbers)
    }

    /// Builds a program, simplifies it, keeps the last layer of both, and drops the oldest. Returns how often it
    /// has asked for a node.
    fn run(&mut self, Program(steps): &Program) -> usize {
        let mut asked = steps.len();
        let mut built: Vec<S::Term> = Vec::with_capacity(steps.len());
        let mut simple: Vec<S::Term> = Vec::with_capacity(steps.len());
        for step in steps {
            let node = match *step {
                Node::Variable(name) => Node::Variable(name),
                Node::Lambda(body) => Node::Lambda(built[body].clone()),
                Node::Apply(function, value) => {
                    Node::Apply(built[function].clone(), built[value].clone())
                }
            };
            built.push(self.terms.make(node));
        }
        for (step, term) in steps.iter().zip(&built) {
            let node = match *step {
                Node::Variable(_) => {
                    simple.push(term.clone());
                    continue;
                }
                Node::Lambda(body) => Node::Lambda(simple[body].clone()),
                // No function uses its argument.
                Node::Apply(function, value) => match S::node(&simple[function]) {
                    Node::Lambda(body) => {
                        let body = body.clone();
                        simple.push(body);
                        continue;
                    }
                    _ => Node::Apply(simple[function].clone(), simple[value].clone()),
                },
            };
            asked += 1;
            simple.push(self.terms.make(node));
        }
        let last = steps.len() - WIDTH;
        let roots = built.drain(last..).chain(simple.drain(last..)).collect();
        self.roots.push_back(roots);
        self.roots.pop_front();
        asked
    }
}

/// The time of a node: of the mean program.
fn pace<S: Terms>() -> Sample {
    let mut session = Session::<S>::new();
    for _ in 0..ALIVE {
        let program = session.next();
        session.run(&program);
    }
    // The same program twice has the same roots.
    let program = session.next();
    session.run(&program);
    session.run(&program);
    assert!(session.roots[ALIVE - 2] == session.roots[ALIVE - 1]);
    Box::new(move || {
        let program = session.next();
        let mut asked = 0;
        let taken = time(|| asked = session.run(&program));
        taken / asked as f64
    })
}

/// The bytes held after each of some programs, once as many have run as are alive at a time.
fn held<S: Terms>(programs: usize) -> Vec<f64> {
    let count = Count::all();
    let mut session = Session::<S>::new();
    let held = (0..ALIVE + programs).map(|_| {
        let program = session.next();
        session.run(&program);
        drop(program);
        count.bytes()
    });
    held.skip(ALIVE).collect()
}

/// How many nodes are alive after the same programs.
fn live(programs: usize) -> Vec<f64> {
    let mut session = Session::<Interner<Strong<Node<Shared>>>>::new();
    let live = (0..ALIVE + programs).map(|_| {
        let program = session.next();
        session.run(&program);
        session.terms.len() as f64
    });
    live.skip(ALIVE).collect()
}

struct Store {
    name: &'static str,
    pace: fn() -> Sample,
    held: fn(usize) -> Vec<f64>,
}

/// What the reader of the table compares, `HashMap` by hand last.
fn stores() -> [Store; 6] {
    fn store<S: Terms>(name: &'static str) -> Store {
        Store {
            name,
            pace: pace::<S>,
            held: held::<S>,
        }
    }
    [
        store::<Interner<Strong<Node<Shared>>>>("`Interner<Strong<_>>`"),
        store::<Interner<local::Strong<Node<Local>>>>("`Interner<local::Strong<_>>`"),
        store::<Interner<Arc<Node<Counted>>>>("`Interner<Arc<_>>`"),
        store::<WeakTable>("`weak-table`"),
        store::<Consign>("`hashconsing`"),
        store::<ByHand>("`HashMap<_, Weak<_>>` and `retain`"),
    ]
}

const HEAD: &str = "\
| terms in                           | nodes a second | against `HashMap` | bytes a live node, mean | at most |
|------------------------------------|---------------:|------------------:|------------------------:|--------:|";

/// The whole table.
pub(crate) fn table(scale: Scale) -> String {
    let stores = stores();
    let course = Course {
        rounds: 51,
        cold: 16,
        turns: 8,
    };
    let times = course.medians(scale, stores.iter().map(|store| (store.pace)()).collect());
    let by_hand = times.last().copied().unwrap_or_default();
    let programs = scale.of(256);
    let live = live(programs);
    let mut lines = vec![HEAD.to_owned()];
    for (store, time) in stores.iter().zip(times) {
        let held = (store.held)(programs);
        let each = held.iter().zip(&live).map(|(bytes, nodes)| bytes / nodes);
        let (sum, most) = each.fold((0.0, 0.0_f64), |(sum, most), bytes| {
            (sum + bytes, most.max(bytes))
        });
        lines.push(format!(
            "| {:<34} | {:>12.1} M | {:>17.2} | {:>23} | {:>7} |",
            store.name,
            1000.0 / time,
            by_hand / time,
            Unit::Bytes.show(sum / programs as f64),
            Unit::Bytes.show(most),
        ));
    }
    lines.join("\n")
}
