//! A memo with a ceiling, and a map with a floor below it, driven by a sequence of choices and compared with what plain
//! lists say. Objects live while somebody uses them, the floor keeps them, or a result owns them; computations declare, fail,
//! panic, and use both. What goes is chosen by the library: the model knows when it may go, and is told why. The fuzzer
//! uses it too.

#[path = "script/events.rs"]
mod events;
#[path = "script/keys.rs"]
mod keys;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use weakly::concurrent::{KeepAlive, WeakValueMap};
use weakly::keep::{Gone, Limit};
use weakly::memo::{Computation, untracked};
use weakly::{Reclaim, Strong, Weak};

use crate::asked::Memo;
use crate::common::{quiet_panic, unless_panics};
use crate::tools::Doomed;

pub(crate) use keys::{Lists, One, Shape, Two};

type Object = Strong<usize>;

#[derive(Clone, PartialEq)]
struct Asked {
    objects: Vec<usize>,
    text: &'static str,
}

/// A result, as the model sees it.
struct Entry {
    asked: Asked,
    declared: Vec<usize>,
    result: usize,
    weight: usize,
    /// The generation in which it was last used.
    used: usize,
}

impl Entry {
    fn inputs(&self) -> impl Iterator<Item = usize> {
        self.asked.objects.iter().chain(&self.declared).copied()
    }
}

/// A computation under way.
struct Running {
    asked: Asked,
    declared: Vec<usize>,
    /// Whether the memo will not keep what it returns.
    is_spoilt: bool,
}

enum Event {
    /// The floor comes to keep an object, unless that is too heavy.
    Kept(usize),
    LetGo(usize, Gone),
    Told(usize, Gone),
    Ended(usize),
}

type Log = Arc<Mutex<Vec<Event>>>;

/// What a result weighs, of which this is the number.
fn weight_of_result(result: usize) -> usize {
    [0, 1, 2, 7, 30][result % 5]
}

#[derive(Clone, Copy)]
struct Bounds {
    entries: usize,
    weight: usize,
    generations: Option<usize>,
}

impl Bounds {
    fn limit(self) -> Limit {
        let limit = Limit::entries(self.entries).weight(self.weight);
        match self.generations {
            Some(generations) => limit.generations(generations as u32),
            None => limit,
        }
    }

    fn is_old(self, used: usize, now: usize) -> bool {
        self.generations
            .is_some_and(|generations| used + generations < now)
    }

    fn refuses(self, weight: usize) -> bool {
        self.entries == 0 || weight > self.weight
    }
}

const SLOTS: usize = 8;
const TEXTS: [&str; 4] = ["", "a", "b", "ab"];

/// What an object weighs.
fn weight_of(object: usize) -> usize {
    [0, 1, 2, 9][object % 4]
}

struct World<S: Shape> {
    choices: RefCell<Box<dyn Iterator<Item = usize>>>,
    depth: Cell<usize>,
    log: Log,
    memo: Memo<S::Key, Doomed>,
    entries: RefCell<Vec<Entry>>,
    running: RefCell<Vec<Running>>,
    bounds: Cell<Option<Bounds>>,
    generation: Cell<usize>,
    on_request: Cell<bool>,
    /// What results that are not destroyed own.
    owned: RefCell<BTreeMap<usize, Option<usize>>>,
    made: Cell<usize>,
    /// Results that the script removed and that are not told yet.
    removed: RefCell<Vec<usize>>,
    names: WeakValueMap<usize, Object>,
    named: RefCell<[Option<usize>; SLOTS]>,
    floor: KeepAlive<Object>,
    floor_bounds: Cell<Bounds>,
    floor_generation: Cell<usize>,
    /// What the floor keeps, and when that was last used.
    kept: RefCell<BTreeMap<usize, usize>>,
    users: RefCell<[Option<Object>; SLOTS]>,
    objects: RefCell<Vec<Weak<usize>>>,
}

/// Runs a script, until there are no more choices.
pub(crate) fn run<S: Shape>(choices: impl Iterator<Item = usize> + 'static) {
    let log = Log::default();
    let floor_bounds = Bounds {
        entries: 3,
        weight: 20,
        generations: Some(2),
    };
    let world = World::<S> {
        choices: RefCell::new(Box::new(choices)),
        depth: Cell::new(0),
        log: log.clone(),
        memo: Memo::new(),
        entries: RefCell::default(),
        running: RefCell::default(),
        bounds: Cell::new(None),
        generation: Cell::new(0),
        on_request: Cell::new(false),
        owned: RefCell::default(),
        made: Cell::new(0),
        removed: RefCell::default(),
        names: WeakValueMap::new(),
        named: RefCell::default(),
        floor: KeepAlive::weighing(floor_bounds.limit(), |object: &Object| weight_of(**object)),
        floor_bounds: Cell::new(floor_bounds),
        floor_generation: Cell::new(0),
        kept: RefCell::default(),
        users: RefCell::default(),
        objects: RefCell::default(),
    };
    let hears = log.clone();
    world.floor.set_listener(move |object, why| {
        hears.lock().unwrap().push(Event::LetGo(**object, why));
    });
    world.names.keep_in(&world.floor);
    while world.step().is_some() {
        world.check();
    }
    world.users.take();
    world.check();
    let (owned, objects) = (world.owned.take().len(), world.objects.take());
    drop((world.names, world.floor, world.memo));
    let log = log.lock().unwrap();
    let ended = log.iter().filter(|event| matches!(event, Event::Ended(_)));
    assert_eq!(ended.count(), owned);
    assert!(objects.iter().all(Weak::is_expired));
}

impl<S: Shape> World<S> {
    fn choice(&self) -> Option<usize> {
        self.choices.borrow_mut().next()
    }

    fn below(&self, end: usize) -> Option<usize> {
        Some(self.choice()? % end)
    }

    fn note(&self, event: Event) {
        self.log.lock().unwrap().push(event);
    }

    /// `None` at the end of the script.
    fn step(&self) -> Option<()> {
        // By the limits under which it happened.
        self.digest();
        match self.choice()? % 32 {
            0..4 => self.find_or_make()?,
            4 => {
                // Another object gets the name.
                let name = self.below(SLOTS)?;
                let object = self.new_object();
                let there = self.there(name);
                self.note(Event::Kept(*object));
                self.named.borrow_mut()[name] = Some(*object);
                drop(self.names.insert(name, &object));
                self.is_kept_no_more(there);
                self.hand_out(name, object)?;
            }
            5 | 6 => {
                let name = self.below(SLOTS)?;
                let there = self.there(name);
                there.inspect(|object| self.note(Event::Kept(*object)));
                let found = self.names.get(&name);
                assert_eq!(found.as_deref().copied(), there);
                if let Some(object) = found {
                    self.hand_out(name, object)?;
                }
            }
            7 => {
                let name = self.below(SLOTS)?;
                let there = self.there(name);
                self.named.borrow_mut()[name] = None;
                let removed = self.names.remove(&name);
                assert_eq!(removed.as_deref().copied(), there);
                self.is_kept_no_more(there);
            }
            8 | 9 => {
                let user = self.below(SLOTS)?;
                let user = self.users.borrow_mut()[user].take();
                drop(user);
            }
            10 => {
                self.floor_generation.set(self.floor_generation.get() + 1);
                self.floor.advance();
            }
            11 => {
                let bounds = self.bounds()?;
                self.floor_bounds.set(bounds);
                self.floor.set_limit(bounds.limit());
                assert!(self.floor.limit() == bounds.limit());
            }
            12 => {
                let weight = self.below(24)?;
                self.floor.shrink_to(weight);
                assert!(self.depth.get() > 0 || self.floor.retained_weight() <= weight);
            }
            13 => {
                let user = self.below(SLOTS)?;
                let object = self.users.borrow()[user].clone();
                if let Some(object) = object {
                    let is_kept = self.floor.contains(&object);
                    assert_eq!(self.floor.release(&object).is_some(), is_kept);
                }
            }
            14 | 15 => self.ask(|asked| {
                let (found, there) = (self.get(&asked)?, self.find(&asked.1));
                assert_eq!(found.map(|found| found.number), there);
                Some(())
            })?,
            16..23 => self.ask(|asked| self.compute(&asked))?,
            23 => self.ask(|asked| {
                let value = self.make()?;
                self.drop_entry(&asked.1);
                self.spoil(|running| running.asked == asked.1);
                self.insert_entry(&asked.1, Vec::new(), &value);
                self.memo.insert(S::query(&asked.0, asked.1.text), value);
                Some(())
            })?,
            24 => self.ask(|asked| {
                let was = self.drop_entry(&asked.1);
                self.spoil(|running| running.asked == asked.1);
                let removed = self.memo.remove(S::query(&asked.0, asked.1.text));
                assert_eq!(removed.is_some(), was);
                Some(())
            })?,
            25 => {
                let user = self.below(SLOTS)?;
                let object = self.users.borrow()[user].clone();
                if let Some(object) = object {
                    let names_it = |entry: &Entry| entry.inputs().any(|input| input == *object);
                    let all: Vec<Asked> = self.live_entries(names_it);
                    all.iter().for_each(|asked| _ = self.drop_entry(asked));
                    self.spoil(|running| {
                        let mut inputs = running.asked.objects.iter().chain(&running.declared);
                        inputs.any(|input| *input == *object)
                    });
                    assert_eq!(self.memo.invalidate(&object), all.len());
                }
            }
            26 => {
                let bounds = self.bounds()?;
                if self.bounds.get().is_none() {
                    self.listen();
                }
                self.bounds.set(Some(bounds));
                self.memo.set_limit(bounds.limit());
            }
            27 => {
                self.generation.set(self.generation.get() + 1);
                self.memo.advance();
            }
            28 => {
                let weight = self.below(24)?;
                self.memo.shrink_to(weight);
                let is_bounded = self.bounds.get().is_some() && self.depth.get() == 0;
                assert!(!is_bounded || self.memo.retained_weight() <= weight);
            }
            29 => {
                let all = self.live_entries(|_| true);
                all.iter().for_each(|asked| _ = self.drop_entry(asked));
                self.spoil(|_| true);
                self.memo.clear();
            }
            30 => {
                self.on_request.set(self.below(2)? == 0);
                self.memo.set_reclaim(if self.on_request.get() {
                    Reclaim::OnRequest
                } else {
                    Reclaim::OnUse
                });
            }
            _ => self.purge(),
        }
        Some(())
    }

    // === Objects ===

    fn new_object(&self) -> Object {
        let mut objects = self.objects.borrow_mut();
        let object = Strong::new(objects.len());
        objects.push(Strong::downgrade(&object));
        object
    }

    /// The live object of a name.
    fn there(&self, name: usize) -> Option<usize> {
        self.named.borrow()[name].filter(|object| self.lives(*object))
    }

    fn lives(&self, object: usize) -> bool {
        !self.objects.borrow()[object].is_expired()
    }

    fn find_or_make(&self) -> Option<()> {
        let name = self.below(SLOTS)?;
        let there = self.there(name);
        there.inspect(|object| self.note(Event::Kept(*object)));
        let object = self.names.get_or_insert_with(name, |_| {
            assert_eq!(there, None);
            let object = self.new_object();
            self.note(Event::Kept(*object));
            object
        });
        self.named.borrow_mut()[name] = Some(*object);
        self.hand_out(name, object)
    }

    /// Somebody uses it now, perhaps.
    fn hand_out(&self, name: usize, object: Object) -> Option<()> {
        let user = if self.below(4)? == 0 {
            drop(object);
            None
        } else {
            self.users.borrow_mut()[name].replace(object)
        };
        drop(user);
        Some(())
    }

    /// It has lost its name.
    fn is_kept_no_more(&self, object: Option<usize>) {
        self.digest();
        let kept = self.kept.borrow();
        assert!(object.is_none_or(|object| !kept.contains_key(&object)));
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds {
            entries: [0, 1, 2, 4, usize::MAX, usize::MAX][self.below(6)?],
            weight: [0, 3, 20, usize::MAX, usize::MAX][self.below(5)?],
            generations: [None, None, Some(0), Some(1), Some(3)][self.below(5)?],
        })
    }

    // === The memo ===

    /// From now on the memo has a limit, and tells.
    fn listen(&self) {
        self.memo
            .set_ceiling(Limit::none(), |value| weight_of_result(value.number));
        let hears = self.log.clone();
        self.memo.set_listener(move |_, value, why| {
            hears.lock().unwrap().push(Event::Told(value.number, why));
        });
        // What was gone before is not told.
        self.removed.borrow_mut().clear();
        let lives = |entry: &Entry| entry.inputs().all(|input| self.lives(input));
        self.entries.borrow_mut().retain(lives);
        let now = self.generation.get();
        let mut entries = self.entries.borrow_mut();
        entries.iter_mut().for_each(|entry| entry.used = now);
    }

    /// Something to ask for, and its key in the model.
    fn ask(&self, act: impl FnOnce((Vec<Object>, Asked)) -> Option<()>) -> Option<()> {
        let count = S::OBJECTS.start() + self.below(S::OBJECTS.count())?;
        let mut objects = Vec::new();
        for _ in 0..count {
            let user = self.below(SLOTS)?;
            objects.extend(self.users.borrow()[user].clone());
        }
        let text = if S::TEXT {
            TEXTS[self.below(TEXTS.len())?]
        } else {
            ""
        };
        if objects.len() < count {
            return Some(());
        }
        let asked = Asked {
            objects: objects.iter().map(|object| **object).collect(),
            text,
        };
        act((objects, asked))
    }

    fn get(&self, (objects, asked): &(Vec<Object>, Asked)) -> Option<Option<Doomed>> {
        self.touch(asked);
        Some(self.memo.get(S::query(objects, asked.text)))
    }

    fn touch(&self, asked: &Asked) {
        let mut entries = self.entries.borrow_mut();
        let its = entries.iter_mut().filter(|entry| entry.asked == *asked);
        its.for_each(|entry| entry.used = self.generation.get());
    }

    fn find(&self, asked: &Asked) -> Option<usize> {
        self.digest();
        let entries = self.entries.borrow();
        // Beside it there may be those that are dead and wait for a purge.
        let is_it =
            |entry: &&Entry| entry.asked == *asked && entry.inputs().all(|input| self.lives(input));
        entries.iter().find(is_it).map(|entry| entry.result)
    }

    fn live_entries(&self, wanted: impl Fn(&Entry) -> bool) -> Vec<Asked> {
        self.digest();
        let entries = self.entries.borrow();
        let live = |entry: &&Entry| entry.inputs().all(|input| self.lives(input)) && wanted(entry);
        entries
            .iter()
            .filter(live)
            .map(|entry| entry.asked.clone())
            .collect()
    }

    /// The result is about to be removed; returns whether there is one.
    fn drop_entry(&self, asked: &Asked) -> bool {
        let Some(result) = self.find(asked) else {
            return false;
        };
        self.entries
            .borrow_mut()
            .retain(|entry| entry.result != result);
        self.removed.borrow_mut().push(result);
        true
    }

    fn spoil(&self, wanted: impl Fn(&Running) -> bool) {
        let mut running = self.running.borrow_mut();
        let its = running.iter_mut().filter(|running| wanted(running));
        its.for_each(|running| running.is_spoilt = true);
    }

    fn insert_entry(&self, asked: &Asked, declared: Vec<usize>, value: &Doomed) {
        self.entries.borrow_mut().push(Entry {
            asked: asked.clone(),
            declared,
            result: value.number,
            weight: weight_of_result(value.number),
            used: self.generation.get(),
        });
    }

    /// A new result.
    fn make(&self) -> Option<Doomed> {
        let owns = match self.below(3 * SLOTS)? {
            owner if owner < SLOTS => self.users.borrow()[owner].clone(),
            _ => None,
        };
        let id = 5 * self.made.replace(self.made.get() + 1) + self.below(5)?;
        let owned = owns.as_deref().copied();
        self.owned.borrow_mut().insert(id, owned);
        let log = self.log.clone();
        let end = move || {
            log.lock().unwrap().push(Event::Ended(id));
            drop(owns);
        };
        Some(Doomed::new(end).numbered(id))
    }

    fn compute(&self, asked: &(Vec<Object>, Asked)) -> Option<()> {
        let (objects, asked) = asked;
        if self
            .running
            .borrow()
            .iter()
            .any(|running| running.asked == *asked)
        {
            return Some(()); // it would need itself
        }
        let there = self.find(asked);
        self.touch(asked);
        let (mut computed, mut made) = (false, None);
        let found = unless_panics(|| {
            let query = S::query(objects, asked.text);
            let found = self.memo.try_get_or_compute(query, |cx| {
                computed = true;
                self.running.borrow_mut().push(Running {
                    asked: asked.clone(),
                    declared: Vec::new(),
                    is_spoilt: false,
                });
                let value = unless_panics(|| self.computation(cx));
                let running = self.running.borrow_mut().pop().expect("it is there");
                let value = value.unwrap_or_else(|| quiet_panic())?;
                made = Some(value.number);
                let inputs_live = running.declared.iter().all(|input| self.lives(*input));
                if inputs_live && !running.is_spoilt {
                    self.insert_entry(asked, running.declared, &value);
                }
                Ok::<_, ()>(value)
            });
            found.ok().map(|found| found.number)
        });
        assert_eq!(computed, there.is_none());
        assert_eq!(found.flatten(), there.or(made));
        Some(())
    }

    /// What a computation does.
    fn computation(&self, cx: &Computation<'_>) -> Result<Doomed, ()> {
        let mut steps = self.below(4).ok_or(())?;
        while steps > 0 {
            steps -= 1;
            if self.below(2).ok_or(())? == 0 {
                let user = self.below(SLOTS).ok_or(())?;
                let object = self.users.borrow()[user].clone();
                if let Some(object) = object {
                    let mut running = self.running.borrow_mut();
                    let running = running.last_mut().expect("this");
                    running.declared.push(*object);
                    cx.depends_on(&object);
                }
            } else if self.depth.get() < 3 {
                self.depth.set(self.depth.get() + 1);
                let done = unless_panics(|| untracked(|| self.step()));
                self.depth.set(self.depth.get() - 1);
                done.flatten().ok_or(())?;
            }
        }
        match self.below(12).ok_or(())? {
            0 => quiet_panic(),
            1 => Err(()),
            _ => self.make().ok_or(()),
        }
    }

    fn purge(&self) {
        self.memo.purge();
        if self.depth.get() > 0 {
            return;
        }
        self.digest();
        // Nothing is left of the dead, nor of what was removed.
        let entries = self.entries.borrow();
        let mut there: Vec<_> = entries.iter().map(|entry| entry.result).collect();
        there.sort_unstable();
        assert!(self.owned.borrow().keys().copied().eq(there));
        assert_eq!(self.memo.pending_dead(), 0);
        assert!(self.bounds.get().is_none() || self.removed.borrow().is_empty());
        self.removed.borrow_mut().clear();
    }
}

/// Runs the script that bytes describe. The first one chooses the keys.
pub(crate) fn run_bytes(bytes: &[u8]) {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    let choices = Vec::from(script).into_iter().map(usize::from);
    match kind % 3 {
        0 => run::<One>(choices),
        1 => run::<Two>(choices),
        _ => run::<Lists>(choices),
    }
}
