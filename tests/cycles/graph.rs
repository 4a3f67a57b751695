//! Graphs of a few objects, two maps and shared `Rc`s, made from a sequence of choices; and what should become of them,
//! by brute force. The fuzzer uses them too.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use weakly::{
    WeakMap,
    cycles::{Cycles, Trace, Tracer},
    local,
    reference::{StrongRef, WeakKey, WeakRef},
};

/// What a value or an object shows of what it owns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Shows {
    /// All, once.
    Honest,
    /// All, three times.
    Thrice,
    /// Not all.
    Hiding,
    /// Also pointers that it makes for that.
    Temporaries,
    /// Also pointers that others own.
    Foreign,
    /// All, once: the `Rc`s as references to objects that another language counts.
    Counted,
    /// The same, with a count that is too high.
    TooHigh,
    /// The same, with a count that is too low.
    TooLow,
}

pub(crate) const ALL: [Shows; 8] = [
    Shows::Honest,
    Shows::Thrice,
    Shows::Hiding,
    Shows::Temporaries,
    Shows::Foreign,
    Shows::Counted,
    Shows::TooHigh,
    Shows::TooLow,
];

/// Which pointers the objects have.
pub(crate) trait Family: Sized + 'static {
    type Pointer: StrongRef<Target = Object<Self>> + Trace + Clone;
    /// Whether the maps have to be at rest for a verdict.
    const AT_REST: bool = false;
    fn new(object: Object<Self>) -> Self::Pointer;
    fn object(pointer: &Self::Pointer) -> &Object<Self>;
}

macro_rules! families {
    ($($name:ident: $path:ident, $at_rest:literal;)*) => {$(
        pub(crate) struct $name;

        impl Family for $name {
            type Pointer = $path<Object<Self>>;
            const AT_REST: bool = $at_rest;

            fn new(object: Object<Self>) -> Self::Pointer {
                $path::new(object)
            }

            fn object(pointer: &Self::Pointer) -> &Object<Self> {
                pointer
            }
        }
    )*};
}

type Shared<T> = weakly::Strong<T>;
type Local<T> = local::Strong<T>;

families! {
    Ours: Shared, false;
    Single: Local, false;
    Counted: Rc, false;
    Atomic: Arc, true;
}

pub(crate) struct Object<F: Family> {
    number: usize,
    fields: RefCell<Vec<Field<F>>>,
    /// The references that a trace has made of it.
    upgraded: Cell<usize>,
    dead: Rc<RefCell<BTreeSet<usize>>>,
}

impl<F: Family> Drop for Object<F> {
    fn drop(&mut self) {
        self.dead.borrow_mut().insert(self.number);
    }
}

/// What objects and values own.
struct Field<F: Family> {
    shows: Cell<Shows>,
    hidden: bool,
    /// What this owns, and what a foreign one shows.
    what: Owned<F>,
    foreign: Rc<RefCell<Vec<F::Pointer>>>,
}

enum Owned<F: Family> {
    Object(F::Pointer),
    /// Shared with others, by number.
    Rc(Rc<Object<F>>),
}

impl<F: Family> Trace for Field<F> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        let mut show = || match &self.what {
            Owned::Object(pointer) => pointer.trace(tracer),
            Owned::Rc(object) => object.trace(tracer),
        };
        match self.shows.get() {
            Shows::Hiding if self.hidden => {}
            Shows::Honest | Shows::Hiding => show(),
            Shows::Thrice => (0..3).for_each(|_| show()),
            Shows::Temporaries => {
                show();
                if let Owned::Object(pointer) = &self.what {
                    let first = pointer.clone();
                    let second = first.clone();
                    first.trace(tracer);
                    second.trace(tracer);
                }
            }
            Shows::Foreign => {
                show();
                self.foreign.borrow().trace(tracer);
            }
            lie @ (Shows::Counted | Shows::TooHigh | Shows::TooLow) => match &self.what {
                Owned::Object(pointer) => pointer.trace(tracer),
                Owned::Rc(object) => {
                    let count = Rc::strong_count(object) - object.upgraded.get();
                    let weak = Rc::downgrade(object);
                    let lie =
                        isize::from(lie == Shows::TooHigh) - isize::from(lie == Shows::TooLow);
                    let count = count.saturating_add_signed(lie);
                    tracer.foreign(Rc::as_ptr(object).addr(), count, move |tracer| {
                        let object = weak.upgrade().unwrap();
                        object.upgraded.set(1);
                        Object::trace(&object, tracer);
                        object.upgraded.set(0);
                    });
                }
            },
        }
    }
}

impl<F: Family> Trace for Object<F> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.fields.trace(tracer);
    }
}

/// A sequence of choices.
pub(crate) struct Choices<I>(pub(crate) I);

impl<I: Iterator<Item = usize>> Choices<I> {
    fn below(&mut self, end: usize) -> usize {
        self.0.next().unwrap_or(0) % end
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn some(&mut self, most: usize, of: usize) -> Vec<usize> {
        (0..self.below(most + 1)).map(|_| self.below(of)).collect()
    }
}

/// An entry as the test knows it: its keys, and what its value owns.
type Entry = (Vec<usize>, Vec<usize>);

/// The graph as the test knows it. Objects up to `keys` are behind a `Pointer`, the others behind an `Rc`.
#[derive(Default, Clone, Debug)]
pub(crate) struct Known {
    keys: usize,
    /// What each object owns.
    pub(crate) owns: Vec<Vec<usize>>,
    /// The entries of each map.
    pub(crate) entries: [Vec<Entry>; 2],
    /// Objects that the test holds.
    pub(crate) held: BTreeSet<usize>,
}

/// Everything that `from` leads to.
fn reach(owns: &[Vec<usize>], from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    let mut work: Vec<usize> = from.into_iter().collect();
    while let Some(object) = work.pop() {
        if all.insert(object) {
            work.extend(&owns[object]);
        }
    }
    all
}

impl Known {
    /// `more`: further keys of each entry, at most.
    pub(crate) fn random(
        random: &mut Choices<impl Iterator<Item = usize>>,
        rcs: usize,
        more: usize,
    ) -> Self {
        let keys = 1 + random.below(8);
        let objects = keys + random.below(rcs + 1);
        let mut known = Known {
            keys,
            owns: (0..objects).map(|_| random.some(2, objects)).collect(),
            ..Known::default()
        };
        for entries in &mut known.entries {
            for key in 0..keys {
                if !random.chance(3) {
                    let mut all = vec![key];
                    all.extend(random.some(more, keys));
                    entries.push((all, random.some(2, objects)));
                }
            }
        }
        known.held = (0..objects).filter(|_| random.chance(5)).collect();
        known
    }

    /// Lets everything die that nobody owns.
    pub(crate) fn settle(&mut self) {
        loop {
            let owned = self.alive();
            let mut changed = false;
            for (object, owns) in self.owns.iter_mut().enumerate() {
                if !owned.contains(&object) && !owns.is_empty() {
                    owns.clear();
                    changed = true;
                }
            }
            for entries in &mut self.entries {
                let before = entries.len();
                entries.retain(|(keys, _)| keys.iter().all(|key| owned.contains(key)));
                changed |= entries.len() != before;
            }
            if !changed {
                break;
            }
        }
    }

    /// Objects that are alive now.
    pub(crate) fn alive(&self) -> BTreeSet<usize> {
        let mut owned = self.held.clone();
        owned.extend(self.owns.iter().flatten());
        owned.extend(self.values());
        owned
    }

    /// What the entries own.
    fn values(&self) -> impl Iterator<Item = &usize> {
        self.entries.iter().flatten().flat_map(|entry| &entry.1)
    }

    /// The objects that do not live by entries alone whose keys are such objects. What no value leads to is nobody's
    /// business, and counts as held.
    fn held_from_outside(&self) -> BTreeSet<usize> {
        let shown = reach(&self.owns, self.values().copied());
        let outside = self.alive().difference(&shown).copied().collect::<Vec<_>>();
        let mut live = reach(&self.owns, self.held.iter().copied().chain(outside));
        loop {
            let before = live.len();
            for (keys, value) in self.entries.iter().flatten() {
                if keys.iter().all(|key| live.contains(key)) {
                    live.extend(reach(&self.owns, value.iter().copied()));
                }
            }
            if live.len() == before {
                return live;
            }
        }
    }

    /// Without the entries that are not held, but for those whose keys are here.
    fn without(&self, held: &BTreeSet<usize>, back: &BTreeSet<usize>) -> Self {
        let mut without = self.clone();
        for entries in &mut without.entries {
            entries.retain(|(keys, _)| {
                let all_in = |set: &BTreeSet<usize>| keys.iter().all(|key| set.contains(key));
                all_in(held) || all_in(back)
            });
        }
        without
    }

    /// Removes the entries that only such entries keep alive, if that kills one of their keys: by trial. First without all
    /// of them; then those whose keys all live on come back, and with them perhaps others.
    pub(crate) fn purge(&mut self) -> (usize, usize) {
        let held = self.held_from_outside();
        let mut back = BTreeSet::new();
        loop {
            let mut trial = self.without(&held, &back);
            trial.settle();
            let alive = trial.alive();
            if alive == back {
                break;
            }
            back = alive;
        }
        let count = |known: &Self| known.entries.iter().map(Vec::len).sum::<usize>();
        let staying = self.without(&held, &back);
        let removed = count(self) - count(&staying);
        let kept = count(&staying) - count(&self.without(&held, &BTreeSet::new()));
        *self = staying;
        self.settle();
        (removed, kept)
    }

    /// The keys of each entry of a map.
    pub(crate) fn keys_of(&self, map: usize) -> BTreeSet<Vec<usize>> {
        let entries = self.entries[map].iter();
        entries.map(|entry| entry.0.clone()).collect()
    }
}

/// Entries of `before` whose keys are all alive after a purge.
pub(crate) fn still_keyed(
    before: &BTreeSet<Vec<usize>>,
    dead: &BTreeSet<usize>,
) -> BTreeSet<Vec<usize>> {
    let lives = |keys: &&Vec<usize>| keys.iter().all(|key| !dead.contains(key));
    before.iter().filter(lives).cloned().collect()
}

/// Weak pointers to all objects of either kind.
type AllWeak<F> = (
    Vec<<<F as Family>::Pointer as WeakKey>::Weak>,
    Vec<std::rc::Weak<Object<F>>>,
);

/// The same graph, of objects.
struct Real<F: Family> {
    maps: [WeakMap<F::Pointer, Vec<Field<F>>>; 2],
    held: Vec<Owned<F>>,
    dead: Rc<RefCell<BTreeSet<usize>>>,
    foreign: Rc<RefCell<Vec<F::Pointer>>>,
    /// All objects, to break the cycles that no map knows at the end.
    weak: AllWeak<F>,
}

impl<F: Family> Real<F> {
    fn new(
        known: &Known,
        shows: Shows,
        random: &mut Choices<impl Iterator<Item = usize>>,
        watched: bool,
    ) -> Self {
        let dead = Rc::new(RefCell::new(BTreeSet::new()));
        let foreign = Rc::new(RefCell::new(Vec::new()));
        let object = |number| Object {
            number,
            fields: RefCell::default(),
            upgraded: Cell::new(0),
            dead: Rc::clone(&dead),
        };
        let keys: Vec<F::Pointer> = (0..known.keys).map(|n| F::new(object(n))).collect();
        let rcs: Vec<Rc<Object<F>>> = (known.keys..known.owns.len())
            .map(|n| Rc::new(object(n)))
            .collect();
        let owned = |n: usize| match n.checked_sub(known.keys) {
            None => Owned::Object(keys[n].clone()),
            Some(at) => Owned::Rc(Rc::clone(&rcs[at])),
        };
        let mut fields = |numbers: &[usize]| -> Vec<Field<F>> {
            let mut field = |&n: &usize| Field {
                shows: Cell::new(shows),
                hidden: random.chance(3),
                what: owned(n),
                foreign: Rc::clone(&foreign),
            };
            numbers.iter().map(&mut field).collect()
        };
        for (n, owns) in known.owns.iter().enumerate() {
            let of = match n.checked_sub(known.keys) {
                None => F::object(&keys[n]),
                Some(at) => &rcs[at],
            };
            *of.fields.borrow_mut() = fields(owns);
        }
        let mut maps = [WeakMap::new(), WeakMap::new()];
        for (map, entries) in maps.iter_mut().zip(&known.entries) {
            for (key, owns) in entries {
                map.insert(&keys[key[0]], fields(owns));
            }
        }
        let held: Vec<_> = known.held.iter().map(|&n| owned(n)).collect();
        if shows == Shows::Foreign {
            let pointers = held.iter().filter_map(|held| match held {
                Owned::Object(pointer) => Some(pointer.clone()),
                Owned::Rc(_) => None,
            });
            foreign.borrow_mut().extend(pointers);
        }
        let mut weak = (Vec::new(), Vec::new());
        if watched {
            weak.0.extend(keys.iter().map(F::Pointer::downgrade));
            weak.1.extend(rcs.iter().map(Rc::downgrade));
        }
        Real {
            maps,
            held,
            dead,
            foreign,
            weak,
        }
    }

    fn keys_of(&self, map: usize) -> BTreeSet<Vec<usize>> {
        let keys = self.maps[map].keys();
        keys.map(|key| vec![F::object(&key).number]).collect()
    }

    fn purge(&mut self) -> (usize, usize) {
        let [one, other] = &mut self.maps;
        let mut cycles = Cycles::new().with(one).with(other);
        if F::AT_REST {
            cycles = cycles.at_rest();
        }
        let purged = cycles.purge();
        (purged.removed, purged.kept)
    }
}

impl<F: Family> Drop for Real<F> {
    fn drop(&mut self) {
        self.maps.iter_mut().for_each(WeakMap::clear);
        let clear = |object: &Object<F>| {
            let fields = object.fields.take();
            drop(fields);
        };
        for key in self.weak.0.iter().filter_map(WeakRef::upgrade) {
            clear(F::object(&key));
        }
        for rc in self.weak.1.iter().filter_map(std::rc::Weak::upgrade) {
            clear(&rc);
        }
    }
}

/// Checks a purge, and a drain. `watched`: objects have weak pointers too.
pub(crate) fn check<F: Family, I: Iterator<Item = usize>>(
    shows: Shows,
    choices: impl Fn() -> I,
    watched: bool,
) {
    check_purge::<F>(shows, choices(), watched);
    check_drain::<F, I>(shows, choices);
}

/// Makes a graph, purges it, and compares.
fn check_purge<F: Family>(shows: Shows, choices: impl Iterator<Item = usize>, watched: bool) {
    let random = &mut Choices(choices);
    let mut known = Known::random(random, 2, 0);
    let mut real = Real::<F>::new(&known, shows, random, watched);
    known.settle();
    // Values of one map may own keys of the other.
    for _ in 0..10 {
        real.maps.iter_mut().for_each(|map| _ = map.purge());
    }
    let before: [_; 2] = [0, 1].map(|map| known.keys_of(map));
    assert_eq!(before, [0, 1].map(|map| real.keys_of(map)), "{known:?}");

    let graph = known.clone();
    let expected = known.purge();
    let purged = real.purge();
    let after = [0, 1].map(|map| real.keys_of(map));
    let right = [0, 1].map(|map| known.keys_of(map));
    match shows {
        Shows::Honest | Shows::Thrice | Shows::Counted => {
            assert_eq!((purged, &after), (expected, &right), "{graph:?}");
            let dead = known.owns.len() - known.alive().len();
            assert_eq!(real.dead.borrow().len(), dead, "{graph:?}");
        }
        Shows::Hiding | Shows::Temporaries | Shows::TooHigh => {
            for map in [0, 1] {
                assert!(after[map].is_superset(&right[map]), "{graph:?}");
                assert!(after[map].is_subset(&before[map]), "{graph:?}");
            }
        }
        Shows::Foreign | Shows::TooLow => {}
    }
    let dead = real.dead.borrow();
    if shows != Shows::Foreign && shows != Shows::TooLow {
        // Nothing that lives has lost an entry.
        for map in [0, 1] {
            assert_eq!(after[map], still_keyed(&before[map], &dead), "{graph:?}");
        }
    }
    let held = known
        .held
        .iter()
        .chain(real.held.iter().map(|held| match held {
            Owned::Object(pointer) => &F::object(pointer).number,
            Owned::Rc(object) => &object.number,
        }));
    for held in held {
        assert!(!dead.contains(held), "{held} is held: {graph:?}");
    }
    drop(dead);
    assert!(real.foreign.borrow().len() <= known.held.len());
}

/// Makes the same graph twice in one map, some of whose entries are dead, and compares `drain_cycles` with `purge_cycles`.
fn check_drain<F: Family, I: Iterator<Item = usize>>(shows: Shows, choices: impl Fn() -> I) {
    if [Shows::Temporaries, Shows::Foreign].contains(&shows) {
        return; // the verdict depends on addresses
    }
    let make = || {
        let random = &mut Choices(choices());
        let mut known = Known::random(random, 2, 0);
        known.entries[1].clear();
        (Real::<F>::new(&known, shows, random, true), known)
    };
    let [
        (mut purges, mut known),
        (mut drains, graph),
        (mut hidden, _),
    ] = [(); 3].map(|()| make());
    let purged = purges.maps[0].purge_cycles();
    let (drained, owned) = drains.maps[0].drain_cycles();
    assert_eq!(drained, purged, "{shows:?} {graph:?}");
    let all = Cycles::new().with(&mut hidden.maps[0]).drain();
    assert_eq!(
        (all.purged(), all.kept().len()),
        (purged, purged.kept),
        "{shows:?} {graph:?}"
    );
    assert_eq!(hidden.keys_of(0), drains.keys_of(0), "{shows:?} {graph:?}");
    drop(all);
    known.settle();
    known.purge();
    if [Shows::Honest, Shows::Thrice, Shows::Counted].contains(&shows) && !F::AT_REST {
        assert_eq!(drains.keys_of(0), known.keys_of(0), "{shows:?} {graph:?}");
    }
    // A key whose owner is returned, and does not show the key, dies now.
    drop(owned);
    for real in [&mut purges, &mut drains] {
        real.maps[0].purge();
    }
    assert_eq!(drains.keys_of(0), purges.keys_of(0), "{shows:?} {graph:?}");
    assert_eq!(drains.dead, purges.dead, "{shows:?} {graph:?}");
}

/// Purges the graph that bytes describe of cycles. The first one chooses the pointer, and what the objects show.
pub(crate) fn run_bytes(bytes: &[u8]) {
    let Some((&kind, choices)) = bytes.split_first() else {
        return;
    };
    let choices = || choices.iter().map(|&byte| usize::from(byte));
    let shows = ALL[usize::from(kind / 4) % ALL.len()];
    // Watched, so that no graph leaks: that would fill the memory of a long run.
    match kind % 4 {
        0 => check::<Ours, _>(shows, choices, true),
        1 => check::<Single, _>(shows, choices, true),
        2 => check::<Counted, _>(shows, choices, true),
        _ => check::<Atomic, _>(shows, choices, true),
    }
}
