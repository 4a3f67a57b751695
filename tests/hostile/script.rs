//! Scripts in which the code that collections call panics, or uses the collections itself: `Hash`, `Eq`, `Clone` and `Drop` of
//! contents and of values, and closures. An operation lays a fuse: the n-th call from then on panics, or is the script's next
//! operation, in the middle of the other one. Iterators, guards and handles are forgotten besides. Whatever happened, each
//! collection finds what it shows, and nothing else, and nothing is destroyed twice. The fuzzer uses it too.

#[path = "script/attributes.rs"]
mod attributes;
#[path = "script/ways.rs"]
mod ways;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::mem::{ManuallyDrop, take};
use std::rc::Rc;
use std::sync::Arc;

use weakly::keep::Limit;
use weakly::memo::Value;
use weakly::{Attributes, Memo, Reclaim, Strong, local};

use crate::common::custom::{Code, Custom};
use crate::common::subject::{Content, Life, Subject, shared, single};
use crate::common::{quiet_panic, unless_panics};
use ways::{Kept, SharedWays, Ways, abandon, fly, kept};

// === What is called ===

/// The script, to which the code of users belongs.
trait Stage {
    fn user_code(&self);
}

thread_local! {
    static STAGE: RefCell<Option<Rc<dyn Stage>>> = const { RefCell::new(None) };
    /// What was made and is not destroyed.
    static LIVE: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    static MADE: Cell<usize> = const { Cell::new(0) };
    /// The contents that closures are making, where threads would wait for them.
    static FLYING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    /// Whether iterators, guards and handles are forgotten.
    pub(crate) static FORGETS: Cell<bool> = const { Cell::new(true) };
    /// Whether a destructor may never run.
    static LEAKS: Cell<bool> = const { Cell::new(false) };
    static WISH: Cell<u8> = const { Cell::new(0) };
}

fn user_code() {
    let stage = STAGE.with_borrow(Clone::clone);
    if let Some(stage) = stage {
        stage.user_code();
    }
}

/// What a closure is asked for: twice of three times.
fn wish() -> bool {
    user_code();
    WISH.set(WISH.get().wrapping_add(1));
    WISH.get() % 3 != 0
}

/// The code is the script's. The mark of each object is its own.
struct Scripted;

/// A number whose code is the script's.
fn wild(number: usize) -> Custom {
    let id = MADE.replace(MADE.get() + 1);
    LIVE.with_borrow_mut(|live| live.insert(id));
    Custom::with(&Scripted, number, id)
}

impl Code for Scripted {
    fn clone(&self, of: &Custom) -> Custom {
        user_code();
        wild(of.number)
    }

    fn drop(&self, of: &Custom) {
        let lived = LIVE.with_borrow_mut(|live| live.remove(&of.mark));
        assert!(lived, "it was destroyed twice");
        user_code();
    }

    fn eq(&self, one: &Custom, other: &Custom) -> bool {
        user_code();
        one.number == other.number
    }

    fn hash(&self, of: &Custom) -> usize {
        user_code();
        of.number
    }
}

// === Collections in a script ===

/// A collection: whatever is done to it may be in the middle of another operation of it.
trait Play: Default + 'static {
    type Life: Life<Custom>;
    fn play(&self, way: usize, n: usize, life: &Self::Life);
    /// Nothing is under way.
    fn check(&self, lives: &[Self::Life]);
}

/// A collection of one owner. While it is lent, nobody else uses it.
#[derive(Default)]
struct Alone<F>(RefCell<F>);

/// One that threads share. Another may take its place while it is in use.
#[derive(Default)]
struct Together<F>(RefCell<Rc<F>>);

/// What each collection has.
macro_rules! play {
    ($all:ident, $ways:expr, $quietly:expr, $way:ident, $n:ident, $life:ident) => {
        match $way {
            0..5 => _ = $all.enter($life, &$quietly),
            5..7 => _ = $all.leave($life),
            7 => _ = $all.has($life),
            8 => {
                let numbers = $all.iter().map(|life| life.number());
                _ = numbers.sum::<usize>();
            }
            9 => _ = $all.purge(),
            10 => _ = $all.purge_some($n),
            11 => $all.clear(),
            12 => $all.set_reclaim([Reclaim::OnRequest, Reclaim::OnUse][$n % 2]),
            13 => abandon($all.iter()),
            _ => {
                let ways = $ways;
                ways[$n % ways.len()]($all, $life);
            }
        }
    };
}

/// It finds what it shows, each once, and nothing else.
fn check<F: Subject<Custom>>(all: &F, shown: &[F::Life], lives: &[F::Life]) {
    assert_eq!(shown.len(), all.len_live());
    for (at, one) in shown.iter().enumerate() {
        let same = |other: &F::Life| match F::BY_CONTENT {
            true => other.number() == one.number(),
            false => other.is(one),
        };
        assert!(all.has(one) && !shown[..at].iter().any(same));
    }
    for life in lives {
        let is_shown = shown.iter().any(|shown| shown.is(life));
        assert_eq!(all.has(life), is_shown);
    }
}

impl<F: Ways> Play for Alone<F> {
    type Life = F::Life;
    fn play(&self, way: usize, n: usize, life: &F::Life) {
        if way == 14 {
            // It ends while nobody has it.
            let all = self.0.try_borrow_mut().map(|mut all| take(&mut *all));
            drop(all);
        } else if let Ok(mut all) = self.0.try_borrow_mut() {
            let all = &mut *all;
            match way {
                15 => all.reserve(n * 8),
                16 => all.shrink_to_fit(),
                11 => {
                    // Whatever a destructor does: what it kills sends no notice, and if it panics, nothing is left.
                    let cleared = unless_panics(|| all.clear());
                    assert_eq!(all.counts(), (0, 0, 0));
                    cleared.unwrap_or_else(|| quiet_panic());
                }
                _ => play!(all, F::WAYS, single::quietly(), way, n, life),
            }
        }
    }

    fn check(&self, lives: &[F::Life]) {
        let all = self.0.borrow();
        check(&*all, &all.iter().collect::<Vec<_>>(), lives);
    }
}

impl<F: SharedWays> Play for Together<F> {
    type Life = F::Life;
    fn play(&self, way: usize, n: usize, life: &F::Life) {
        let all = self.0.borrow().clone();
        if way == 14 {
            drop((self.0.take(), all));
        } else {
            let all = &*all;
            play!(all, F::WAYS, shared::quietly(), way, n, life);
        }
    }

    fn check(&self, lives: &[F::Life]) {
        let all = self.0.borrow();
        check(&**all, &all.iter().collect::<Vec<_>>(), lives);
    }
}

/// A memo, whose plain values have the script's code too.
struct Asked(Memo<(Strong<Custom>, Value<Custom>), Kept>, Cell<bool>);

impl Default for Asked {
    fn default() -> Self {
        Asked(Memo::new(), Cell::new(false))
    }
}

impl Play for Asked {
    type Life = Strong<Custom>;
    fn play(&self, way: usize, n: usize, life: &Strong<Custom>) {
        let Asked(memo, is_bounded) = self;
        let plain = &wild(n % 4);
        let key = (life, plain);
        match way {
            0..8 => fly(life.number * 4 + n % 4, || {
                let kept = memo.get_or_compute(key, |cx| {
                    cx.depends_on(life);
                    kept(n)
                });
                drop(kept);
            }),
            8 => fly(life.number * 4 + n % 4, || {
                let failed =
                    memo.try_get_or_compute(key, |_| if wish() { Ok(kept(n)) } else { Err(()) });
                drop(failed);
            }),
            9 => _ = memo.purge(),
            10 => _ = memo.purge_some(n),
            11 => memo.clear(),
            12 => memo.set_reclaim([Reclaim::OnRequest, Reclaim::OnUse][n % 2]),
            13 | 14 => _ = memo.invalidate(life),
            15 | 16 => _ = memo.insert(key, kept(n)),
            17 | 18 => _ = memo.remove(key),
            19 => {
                // Refused if there is one already.
                let limit = Limit::entries(n).weight(2 * n);
                if !is_bounded.replace(true) {
                    memo.set_ceiling(limit, |kept| {
                        user_code();
                        kept.number.number
                    });
                    memo.set_listener(|_, _, _| user_code());
                } else {
                    memo.set_limit(limit);
                }
            }
            20 => memo.advance(),
            21 => _ = memo.shrink_to(n),
            _ => _ = memo.get(key),
        }
    }

    fn check(&self, lives: &[Strong<Custom>]) {
        let plain = (0..4).map(wild).collect::<Vec<_>>();
        let found = || {
            let keys = lives
                .iter()
                .flat_map(|life| plain.iter().map(move |plain| (life, plain)));
            keys.filter(|key| self.0.get(*key).is_some()).count()
        };
        // Where its weight panicked, an entry counts from the next hit on, and may go with it.
        found();
        assert_eq!(found(), self.0.len());
    }
}

// === The script ===

const SLOTS: usize = 12;

struct World<P: Play> {
    choices: RefCell<Box<dyn Iterator<Item = usize>>>,
    /// After how many calls, and whether it then panics.
    fuse: Cell<Option<(usize, bool)>>,
    depth: Cell<usize>,
    all: [P; 2],
    lives: RefCell<[Option<P::Life>; SLOTS]>,
    forgotten: RefCell<Vec<ManuallyDrop<P::Life>>>,
}

impl<P: Play> Stage for World<P> {
    fn user_code(&self) {
        let Some((calls, panics)) = self.fuse.get() else {
            return;
        };
        self.fuse.set((calls > 0).then(|| (calls - 1, panics)));
        if calls > 0 {
            return;
        }
        if panics {
            if !std::thread::panicking() {
                quiet_panic();
            }
        } else if self.depth.get() < 4 {
            self.depth.set(self.depth.get() + 1);
            let depth = Deeper(&self.depth);
            // A panic in a destructor that runs because of a panic would end the process.
            if std::thread::panicking() {
                _ = unless_panics(|| self.step());
            } else {
                self.step();
            }
            drop(depth);
        }
    }
}

struct Deeper<'d>(&'d Cell<usize>);

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl<P: Play> World<P> {
    fn choice(&self) -> Option<usize> {
        self.choices.borrow_mut().next()
    }

    /// `None` at the end of the script.
    fn step(&self) -> Option<()> {
        let (what, n) = (self.choice()?, self.choice()?);
        if what >= 192 && self.fuse.get().is_none() {
            self.fuse.set(Some((n / 2 % 24, n % 2 == 0)));
            return Some(());
        }
        let (slot, n) = (n % SLOTS, n / SLOTS);
        match what % 64 {
            0..8 => {
                // Few contents, and so equal ones.
                let life = P::Life::from(wild(slot / 2));
                let old = self.lives.borrow_mut()[slot].replace(life);
                drop(old);
            }
            8..12 => {
                let old = self.lives.borrow_mut()[slot].take();
                drop(old);
            }
            12 => {
                let old = self.lives.borrow_mut()[slot].take();
                if let Some(old) = old.filter(|_| FORGETS.get()) {
                    LEAKS.set(true);
                    self.forgotten.borrow_mut().push(ManuallyDrop::new(old));
                }
            }
            13 => {
                let all = self.lives.take();
                drop(all);
            }
            way => {
                let life = self.lives.borrow()[slot].clone();
                if let Some(life) = life {
                    // The lives have the numbers below seven.
                    let what = match way / 2 {
                        7 | 28.. => n % 8,
                        what => what,
                    };
                    self.all[way % 2].play(what, n, &life);
                }
            }
        }
        Some(())
    }
}

fn run<P: Play>(choices: Box<dyn Iterator<Item = usize>>) {
    // A script must not depend on what ran before it.
    LEAKS.set(false);
    WISH.set(0);
    FLYING.take();
    let world = Rc::new(World::<P> {
        choices: RefCell::new(choices),
        fuse: Cell::new(None),
        depth: Cell::new(0),
        all: Default::default(),
        lives: RefCell::default(),
        forgotten: RefCell::default(),
    });
    loop {
        STAGE.set(Some(world.clone()));
        let step = unless_panics(|| world.step());
        // What follows calls nothing.
        STAGE.set(None);
        if step == Some(None) {
            break;
        }
        let mut lives: Vec<_> = world.lives.borrow().iter().flatten().cloned().collect();
        let forgotten = world.forgotten.borrow();
        lives.extend(forgotten.iter().map(|life| P::Life::clone(life)));
        world.all.iter().for_each(|all| all.check(&lives));
    }
    drop(world);
    let live = LIVE.take();
    assert!(LEAKS.get() || live.is_empty());
}

/// The library has one source for both: see `for_each_kind!`.
#[cfg(not(weakly_other_handles))]
type Std = Arc<Custom>;
#[cfg(weakly_other_handles)]
type Std = Rc<Custom>;

type Run = fn(Box<dyn Iterator<Item = usize>>);

/// A script on each collection.
pub(crate) const ALL: &[Run] = &[
    run::<Asked>,
    run::<Alone<single::Maps<Strong<Custom>>>>,
    run::<Alone<single::Maps<Rc<Custom>>>>,
    run::<Alone<single::Sets<local::Strong<Custom>>>>,
    run::<Alone<single::HashMaps<Strong<Custom>>>>,
    run::<Alone<single::HashMaps<Std>>>,
    run::<Alone<single::HashSets<local::Strong<Custom>>>>,
    run::<Alone<single::HashSets<Std>>>,
    run::<Alone<single::ValueMaps<Strong<Custom>>>>,
    run::<Alone<single::ValueMaps<Std>>>,
    run::<Alone<single::PairsTwice<local::Strong<Custom>>>>,
    run::<Alone<single::HashPairsTwice<Strong<Custom>>>>,
    run::<Alone<single::Interners<local::Strong<Custom>>>>,
    run::<Alone<single::Interners<Std>>>,
    run::<Together<shared::Maps<Strong<Custom>>>>,
    run::<Together<shared::Maps<Arc<Custom>>>>,
    run::<Together<shared::Sets<Strong<Custom>>>>,
    run::<Together<shared::HashMaps<Strong<Custom>>>>,
    run::<Together<shared::HashSets<Arc<Custom>>>>,
    run::<Together<shared::ValueMaps<Strong<Custom>>>>,
    run::<Together<shared::PairsTwice<Strong<Custom>>>>,
    run::<Together<shared::Interners<Strong<Custom>>>>,
    run::<Together<shared::Interners<Arc<Custom>>>>,
    run::<Together<Attributes<Strong<Custom>>>>,
];

/// Runs the script that bytes describe. The first one chooses the collection.
pub(crate) fn run_bytes(bytes: &[u8]) {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    let choices: Vec<_> = script.iter().map(|&byte| usize::from(byte)).collect();
    let (attributes, before) = ALL.split_last().expect("there are some");
    let run = match kind {
        // It came later, and has numbers that no kept input had: those mean what they meant.
        141..155 => attributes,
        _ => &before[usize::from(kind) % before.len()],
    };
    run(Box::new(choices.into_iter()));
}
