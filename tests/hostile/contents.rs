//! Contents with arbitrary `Hash` and `Eq`: they change, and lie.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::common::custom::{Code, Custom};
use crate::common::scaled;
use crate::common::subject::single::{Collection, Handle, quietly};
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
        match mood.roll(2) {
            Some(equal) => equal == 1,
            None => one.number == other.number,
        }
    }

    fn clone(&self, of: &Custom) -> Custom {
        Custom::with(&Moody, of.number, of.mark)
    }

    fn drop(&self, _: &Custom) {}
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

for_each_by_content!(
    kit<crate::common::custom::Custom>:
    hash_that_changes,
    hash_and_eq_that_lie,
);
