//! Contents with arbitrary `Hash` and `Eq`: they change, lie, panic or kill.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::common::custom::{Code, Custom};
use crate::common::subject::single::{Collection, Handle, quietly};
use crate::common::{panics, quiet_panic, scaled};
use crate::lists::for_each_by_content;
use crate::{Customs, rest};

const MANY: usize = scaled(200, 5);

/// How contents answer, and what they do besides: can be changed while they are in a collection.
#[derive(Default)]
struct Mood {
    /// Mixed into every hash.
    salt: Cell<usize>,
    /// The state of the dice, if equality is random.
    dice: Cell<Option<u64>>,
    /// Run by the next comparison.
    on_eq: RefCell<Option<Box<dyn FnOnce()>>>,
    /// Run by the next destructor.
    on_drop: RefCell<Option<Box<dyn FnOnce()>>>,
}

impl Mood {
    /// A face of `sides`, if the dice are in use.
    fn roll(&self, sides: u64) -> Option<u64> {
        let dice = self.dice.get()?;
        let dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.dice.set(Some(dice));
        Some((dice >> 33) % sides)
    }
}

fn act(place: &RefCell<Option<Box<dyn FnOnce()>>>) {
    let act = place.borrow_mut().take();
    if let Some(act) = act {
        act();
    }
}

/// A number with a mood: its mark is the place of that among the moods of its thread.
struct Moody;

thread_local! {
    static MOODS: RefCell<Vec<Rc<Mood>>> = const { RefCell::new(Vec::new()) };
}

fn mood(of: &Custom) -> Rc<Mood> {
    MOODS.with_borrow(|moods| moods[of.mark].clone())
}

impl Code for Moody {
    fn hash(&self, of: &Custom) -> usize {
        let mood = mood(of);
        let hash = of.number ^ mood.salt.get();
        // When they lie, use few hashes, so that unequal ones collide.
        match mood.dice.get() {
            Some(_) => hash % 8,
            None => hash,
        }
    }

    fn eq(&self, one: &Custom, other: &Custom) -> bool {
        let mood = mood(one);
        act(&mood.on_eq);
        match mood.roll(2) {
            Some(equal) => equal == 1,
            None => one.number == other.number,
        }
    }

    fn clone(&self, of: &Custom) -> Custom {
        Custom::with(&Moody, of.number, of.mark)
    }

    fn drop(&self, of: &Custom) {
        act(&mood(of).on_drop);
    }
}

fn moody(kit: Customs, mood: &Rc<Mood>, numbers: std::ops::Range<usize>) -> Vec<Handle<Custom>> {
    let mark = MOODS.with_borrow_mut(|moods| {
        moods.push(mood.clone());
        moods.len() - 1
    });
    let object = |number| kit.living(Custom::with(&Moody, number, mark));
    numbers.map(object).collect()
}

/// Its counts are right and it takes new entries, now that all answers are honest and all the objects are dead.
fn assert_usable(kit: Customs, all: &mut dyn Collection<Custom>) {
    assert_eq!(rest(all), (0, 0, 0));
    let objects = moody(kit, &Rc::default(), 0..MANY);
    for object in &objects {
        assert!(all.enter(object, &quietly()) && all.has(object));
    }
    assert_eq!(rest(all), (MANY, MANY, 0));
    drop(objects);
    all.clear();
    assert_eq!(rest(all), (0, 0, 0));
}

/// B29: Whatever its hash is by now, its notice finds its entry: growth moves the entries.
fn hash_that_changes(kit: Customs) {
    let mood = Rc::<Mood>::default();
    let objects = moody(kit, &mood, 0..MANY);
    let mut all = kit.empty();
    for object in &objects {
        mood.salt.set(object.number);
        all.enter(object, &quietly());
    }
    let len = all.len();
    mood.salt.set(MANY);
    all.reserve(8 * MANY);
    all.shrink_to_fit();
    assert_eq!(all.len(), len);
    drop(objects);
    assert_usable(kit, &mut *all);
}

/// 181: Both at random, while objects come and go. (But the hash stays the same during an operation: an interner
/// detects a change, and panics.)
fn hash_and_eq_that_lie(kit: Customs) {
    for seed in 0..scaled(16, 1) as u64 {
        let mood = Rc::<Mood>::default();
        mood.dice.set(Some(seed));
        let mut all = kit.empty();
        let mut objects = Vec::new();
        for number in 0..MANY {
            mood.salt.set(mood.roll(8).unwrap_or_default() as usize);
            objects.extend(moody(kit, &mood, number..number + 1));
            all.enter(&objects[objects.len() - 1], &quietly());
            all.has(&objects[number / 2 % objects.len()]);
            match mood.roll(12) {
                Some(0) => _ = all.leave(&objects[0]),
                Some(1) => all.reserve(MANY),
                Some(2) => all.shrink_to_fit(),
                Some(3..6) => drop(objects.swap_remove(number % objects.len())),
                _ => {}
            }
            assert!(all.len() <= number + 1 && all.pending_dead() <= number + 1);
        }
        drop(objects);
        mood.dice.take();
        assert_usable(kit, &mut *all);
    }
}

/// C55, 181: `Eq` drops the last handles of all objects, including the one it compares: that one dies at the end of the
/// lookup, or during it. Its destructor does nothing, or panics.
fn eq_that_kills(kit: Customs) {
    type Lookup = fn(&mut dyn Collection<Custom>, &Handle<Custom>);
    let lookups: [Lookup; 3] = [
        |all, same| _ = all.has(same),
        |all, same| _ = all.leave(same),
        |all, same| _ = all.enter(same, &quietly()),
    ];
    for (lookup, end_panics) in lookups.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let object = |number| moody(kit, &Rc::default(), number..number + 1).remove(0);
        let objects: Vec<_> = (0..MANY).map(object).collect();
        let mut all = kit.of(&objects, &quietly());
        let weak: Vec<_> = objects.iter().map(Handle::downgrade).collect();
        let (target, same) = (&objects[3], object(3));
        if end_panics {
            *mood(target).on_drop.borrow_mut() = Some(Box::new(|| quiet_panic()));
        }
        let killed = Rc::new(Cell::new(Some(objects)));
        let kill = killed.clone();
        *mood(&same).on_eq.borrow_mut() = Some(Box::new(move || drop(kill.take())));
        assert_eq!(panics(|| lookup(&mut *all, &same)), end_panics);
        assert!(killed.take().is_none(), "nothing was compared");
        assert!(!weak.iter().any(|weak| weak.is_alive()));
        drop(same);
        assert_eq!(all.len_live(), 0);
        assert_usable(kit, &mut *all);
    }
}

for_each_by_content!(
    kit<crate::common::custom::Custom>:
    hash_that_changes,
    hash_and_eq_that_lie,
    eq_that_kills,
);
