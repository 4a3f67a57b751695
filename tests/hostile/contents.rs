//! Contents with arbitrary `Hash` and `Eq`: they change, lie, panic or kill.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::common::subject::single::quietly;
use crate::common::subject::{Life, Single, Subject};
use crate::common::wild::{Code, Wild};
use crate::common::{downgrade, is_alive, panics, quiet_panic, scaled};
use crate::lists::for_each_by_content;
use crate::rest;

const MANY: usize = scaled(200, 5);

/// How contents answer, and what they do besides: can be changed while they are in a collection.
#[derive(Default)]
struct Mood {
    /// Mixed into every hash.
    salt: Cell<usize>,
    /// The state of the dice, if equality is random.
    dice: Cell<Option<u64>>,
    /// How many calls are left before one panics, if one is to.
    patience: Cell<Option<u32>>,
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

    fn wear(&self) {
        match self.patience.get() {
            Some(0) => {
                self.patience.take();
                quiet_panic();
            }
            Some(left) => self.patience.set(Some(left - 1)),
            None => {}
        }
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

fn mood(of: &Wild) -> Rc<Mood> {
    MOODS.with_borrow(|moods| moods[of.mark].clone())
}

impl Code for Moody {
    fn hash(&self, of: &Wild) -> usize {
        let mood = mood(of);
        mood.wear();
        let hash = of.number ^ mood.salt.get();
        // When they lie, use few hashes, so that unequal ones collide.
        match mood.dice.get() {
            Some(_) => hash % 8,
            None => hash,
        }
    }

    fn eq(&self, one: &Wild, other: &Wild) -> bool {
        let mood = mood(one);
        mood.wear();
        act(&mood.on_eq);
        match mood.roll(2) {
            Some(equal) => equal == 1,
            None => one.number == other.number,
        }
    }

    fn clone(&self, of: &Wild) -> Wild {
        Wild::with(&Moody, of.number, of.mark)
    }

    fn drop(&self, of: &Wild) {
        act(&mood(of).on_drop);
    }
}

fn moody<L: Life<Wild>>(mood: &Rc<Mood>, numbers: std::ops::Range<usize>) -> Vec<L> {
    let mark = MOODS.with_borrow_mut(|moods| {
        moods.push(mood.clone());
        moods.len() - 1
    });
    let object = |number| L::from(Wild::with(&Moody, number, mark));
    numbers.map(object).collect()
}

/// Its counts are right and it takes new entries, now that all answers are honest and all the objects are dead.
fn assert_usable<F: Single<Wild>>(face: &mut F) {
    assert_eq!(rest(face), (0, 0, 0));
    let objects = moody::<F::Life>(&Rc::default(), 0..MANY);
    for object in &objects {
        assert!(face.enter(object, &quietly()) && face.has(object));
    }
    assert_eq!(rest(face), (MANY, MANY, 0));
    drop(objects);
    face.clear();
    assert_eq!(rest(face), (0, 0, 0));
}

/// Whatever its hash is by now, its notice finds its entry: growth moves the entries.
fn hash_that_changes<F: Single<Wild>>() {
    let mood = Rc::<Mood>::default();
    let objects = moody::<F::Life>(&mood, 0..MANY);
    let mut face = F::default();
    for object in &objects {
        mood.salt.set(object.number);
        face.enter(object, &quietly());
    }
    let len = face.len();
    mood.salt.set(MANY);
    face.reserve(8 * MANY);
    face.shrink_to_fit();
    assert_eq!(face.len(), len);
    drop(objects);
    assert_usable(&mut face);
}

/// Both at random, while objects come and go. (But the hash stays the same during an operation: an interner
/// detects a change, and panics.)
fn hash_and_eq_that_lie<F: Single<Wild>>() {
    for seed in 0..scaled(16, 1) as u64 {
        let mood = Rc::<Mood>::default();
        mood.dice.set(Some(seed));
        let mut face = F::default();
        let mut objects = Vec::new();
        for number in 0..MANY {
            mood.salt.set(mood.roll(8).unwrap_or_default() as usize);
            objects.extend(moody::<F::Life>(&mood, number..number + 1));
            face.enter(&objects[objects.len() - 1], &quietly());
            face.has(&objects[number / 2 % objects.len()]);
            match mood.roll(12) {
                Some(0) => _ = face.leave(&objects[0]),
                Some(1) => face.reserve(MANY),
                Some(2) => face.shrink_to_fit(),
                Some(3..6) => drop(objects.swap_remove(number % objects.len())),
                _ => {}
            }
            assert!(face.len() <= number + 1 && face.pending_dead() <= number + 1);
        }
        drop(objects);
        mood.dice.take();
        assert_usable(&mut face);
    }
}

/// Wherever the panic comes, the collection is unchanged, except for the dead it has reclaimed.
fn hash_and_eq_that_panic<F: Single<Wild>>() {
    type Act<F> = fn(&mut F, &[<F as Subject<Wild>>::Life]);
    let acts: [Act<F>; 5] = [
        |face, objects| _ = face.enter(&objects[MANY], &quietly()),
        |face, objects| _ = face.enter(&objects[0], &quietly()),
        |face, objects| _ = face.leave(&objects[1]),
        |face, objects| _ = face.has(&objects[2]),
        |face, _| face.reserve(8 * MANY),
    ];
    let mood = Rc::<Mood>::default();
    let mut caught = 0;
    for act in acts {
        for patience in 0..scaled(4, 2) as u32 {
            let mut objects = moody::<F::Life>(&mood, 0..MANY + 1);
            let mut face = F::of(&objects[..MANY], &quietly());
            mood.patience.set(Some(patience));
            if panics(|| act(&mut face, &objects)) {
                caught += 1;
                assert_eq!((face.len(), face.len_live()), (MANY, MANY));
                assert!(objects[..MANY].iter().all(|object| face.has(object)));
            }
            mood.patience.take();
            objects.clear();
            assert_usable(&mut face);
        }
    }
    assert!(caught >= scaled(4, 2));
}

/// `Eq` drops the last handles of all objects, including the one it compares: that one dies at the end of the
/// lookup, or during it. Its destructor then runs an action. Returns the collection, and whether anything
/// panicked.
fn killed_by_eq<F: Single<Wild>>(lookup: Lookup<F>, end: Box<dyn Fn()>) -> (F, bool) {
    let object = |number| moody::<F::Life>(&Rc::default(), number..number + 1).remove(0);
    let objects: Vec<_> = (0..MANY).map(object).collect();
    let mut face = F::of(&objects, &quietly());
    let weak: Vec<_> = objects.iter().map(downgrade).collect();
    let (target, same) = (&objects[3], object(3));
    *mood(target).on_drop.borrow_mut() = Some(Box::new(end));
    let killed = Rc::new(Cell::new(Some(objects)));
    let kill = killed.clone();
    *mood(&same).on_eq.borrow_mut() = Some(Box::new(move || drop(kill.take())));
    let panicked = panics(|| lookup(&mut face, &same));
    assert!(killed.take().is_none(), "nothing was compared");
    assert!(!weak.iter().any(is_alive));
    drop(same);
    assert_eq!(face.len_live(), 0);
    (face, panicked)
}

type Lookup<F> = fn(&mut F, &<F as Subject<Wild>>::Life);

fn lookups<F: Single<Wild>>() -> [Lookup<F>; 3] {
    [
        |face, same| _ = face.has(same),
        |face, same| _ = face.leave(same),
        |face, same| _ = face.enter(same, &quietly()),
    ]
}

fn eq_that_kills<F: Single<Wild>>() {
    for lookup in lookups::<F>() {
        let (mut face, panicked) = killed_by_eq(lookup, Box::new(|| ()));
        assert!(!panicked);
        assert_usable(&mut face);
    }
}

/// The handle that a lookup owns turns out to be the last, and the destructor panics.
fn death_at_the_end_of_a_lookup_panics<F: Single<Wild>>() {
    for lookup in lookups::<F>() {
        let (mut face, panicked) = killed_by_eq(lookup, Box::new(|| quiet_panic()));
        assert!(panicked);
        assert_usable(&mut face);
    }
}

/// As before, and the destructor changes other collections.
fn death_at_the_end_of_a_lookup_uses_others<F: Single<Wild> + 'static>() {
    for lookup in lookups::<F>() {
        let others = moody::<F::Life>(&Rc::default(), 0..MANY);
        let other = Rc::new(RefCell::new(F::of(&others[1..], &quietly())));
        let (theirs, used) = (other.clone(), Rc::new(Cell::new(0)));
        let count = used.clone();
        let others = RefCell::new(others);
        let (mut face, panicked) = killed_by_eq(
            lookup,
            Box::new(move || {
                let mut other = theirs.borrow_mut();
                assert!(other.enter(&others.borrow()[0], &quietly()));
                others.take();
                other.purge();
                count.set(count.get() + 1);
            }),
        );
        assert!(!panicked);
        assert_eq!(used.get(), 1);
        assert_usable(&mut face);
        assert_usable(&mut *other.borrow_mut());
    }
}

for_each_by_content!(
    <crate::common::wild::Wild>
    hash_that_changes,
    hash_and_eq_that_lie,
    hash_and_eq_that_panic,
    eq_that_kills,
    death_at_the_end_of_a_lookup_panics,
    death_at_the_end_of_a_lookup_uses_others,
);
