//! What one key of any shared collection is, when operations on it happen one after the other; and the search for an order
//! in which they could have.
//!
//! A key has an entry, or none, or a mark that its value is being made. An operation on it is two things: what it showed of
//! the key before it, and what it made of that. So all collections have one specification, and each says only what its
//! operations show and do.

use std::collections::HashSet;
use std::fmt::Write;

/// Objects, by their numbers.
pub type Objects = u128;

pub fn only(object: u32) -> Objects {
    1 << object
}

/// What a key leads to, and the objects that the entry ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The number of what is owned, or of the object that is the value or the element.
    pub value: u32,
    pub lives: Objects,
}

/// A value that is being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Flight {
    number: u32,
    /// What it is known to depend on.
    lives: Objects,
}

/// What an operation showed.
#[derive(Clone, Copy, Debug)]
pub enum Was {
    /// It does not say.
    Any,
    Nothing,
    Something,
    /// This value, and if it showed that, of an entry of this object.
    Seen(u32, Option<u32>),
    NothingOr(u32),
    Not(u32),
    /// No entry ends with this object.
    Without(u32),
    Alive(u32),
    Dead(u32),
    /// Only an operation that [may miss](Event::may_miss) shows this.
    Impossible,
}

impl From<bool> for Was {
    fn from(was_there: bool) -> Self {
        if was_there {
            Was::Something
        } else {
            Was::Nothing
        }
    }
}

impl From<Option<u32>> for Was {
    fn from(value: Option<u32>) -> Self {
        value.map_or(Was::Nothing, |value| Was::Seen(value, None))
    }
}

/// With the object of a key.
impl From<Option<(u32, u32)>> for Was {
    fn from(entry: Option<(u32, u32)>) -> Self {
        entry.map_or(Was::Nothing, |(life, value)| Was::Seen(value, Some(life)))
    }
}

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Nothing,
    Put(Entry),
    /// Also no value that is being made will be kept.
    Clear,
    /// One that is being made will.
    Empty,
    /// Its value is being made: the first half of a flight.
    Begin(u32, Objects),
    /// What is made depends on this object too.
    Depend(u32, u32),
    /// It is made, and kept unless something has come between.
    Keep(u32, Entry),
    /// It is not made.
    Fail(u32),
    /// The entries with this value go.
    ClearValue(u32),
    /// What depends on this object goes; what is being made of whatever, too, if this is so.
    Invalidate(u32, bool),
    Die(u32),
}

/// An operation on a key, which happened at one moment between two.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub from: u64,
    pub to: u64,
    pub thread: usize,
    pub name: &'static str,
    pub was: Was,
    pub then: Then,
    /// It is documented to miss what others change meanwhile: then it may have shown and done nothing.
    pub may_miss: bool,
}

impl Event {
    /// Whether it may replace an entry, or bring one.
    fn brings(&self) -> bool {
        matches!(self.then, Then::Put(_) | Then::Keep(..) | Then::Begin(..))
    }

    /// Whether it may happen again: a `clear` that an insertion overlaps may take the new entry, too, after an older one, if the
    /// table grows meanwhile.
    fn may_repeat(&self) -> bool {
        self.may_miss && self.then == Then::Clear
    }

    fn overlaps(&self, other: &Event) -> bool {
        self.from < other.to && other.from < self.to
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct State {
    entry: Option<Entry>,
    flight: Option<Flight>,
    /// What any computation has named, also one whose mark is gone.
    named: Objects,
    dead: Objects,
}

impl State {
    fn is(&self, was: Was) -> bool {
        let value = self.entry.map(|entry| entry.value);
        let has = |object| self.entry.is_some_and(|it| it.lives & only(object) != 0);
        match was {
            Was::Any => true,
            Was::Nothing => value.is_none(),
            Was::Something => value.is_some(),
            Was::Seen(seen, life) => value == Some(seen) && life.is_none_or(has),
            Was::NothingOr(seen) => value.is_none_or(|value| value == seen),
            Was::Not(seen) => value != Some(seen),
            Was::Without(object) => !has(object),
            Was::Alive(object) => self.dead & only(object) == 0,
            Was::Dead(object) => self.dead & only(object) != 0,
            Was::Impossible => false,
        }
    }

    /// What comes of it, if that is possible.
    fn then(mut self, then: Then) -> Option<Self> {
        let flies = |number| self.flight.filter(|flight| flight.number == number);
        match then {
            Then::Nothing => {}
            Then::Put(entry) => {
                // Who inserts it has handles to all of them.
                if entry.lives & self.dead != 0 {
                    return None;
                }
                (self.entry, self.flight) = (Some(entry), None);
            }
            Then::Clear => (self.entry, self.flight) = (None, None),
            Then::Empty => self.entry = None,
            Then::Begin(number, lives) => {
                // One at a time.
                if self.entry.is_some() || self.flight.is_some() {
                    return None;
                }
                self.flight = Some(Flight { number, lives });
            }
            Then::Depend(number, object) => {
                self.named |= only(object);
                if let Some(flight) = self.flight.as_mut().filter(|it| it.number == number) {
                    flight.lives |= only(object);
                }
            }
            Then::Keep(number, mut entry) => {
                if let Some(flight) = flies(number) {
                    entry.lives |= flight.lives;
                    let lives = entry.lives & self.dead == 0;
                    (self.entry, self.flight) = (lives.then_some(entry), None);
                }
            }
            Then::Fail(number) => {
                if flies(number).is_some() {
                    self.flight = None;
                }
            }
            Then::ClearValue(value) => self.entry = self.entry.filter(|it| it.value != value),
            Then::Invalidate(object, all) => {
                let rests = |lives| lives & only(object) == 0;
                self.entry = self.entry.filter(|it| rests(it.lives));
                self.flight = self.flight.filter(|it| !all && rests(it.lives));
            }
            Then::Die(object) => {
                self.dead |= only(object);
                self.entry = self.entry.filter(|it| it.lives & only(object) == 0);
            }
        }
        Some(self)
    }
}

/// What else may come of it: an object is registered for a key, and not for one computation, so what one has named whose mark is
/// gone calls off the next one, too.
fn called_off(mut state: State, then: Then) -> Option<State> {
    let Then::Invalidate(object, _) = then else {
        return None;
    };
    let named = state.named & only(object) != 0;
    (named && state.flight.take().is_some()).then_some(state)
}

/// How far a search has come: all before the first are placed, and of the others those in the mask.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    first: usize,
    mask: u128,
    state: State,
}

impl Place {
    fn has(&self, at: usize) -> bool {
        at < self.first || at < self.first + 128 && self.mask >> (at - self.first) & 1 != 0
    }

    fn with(mut self, at: usize, state: State) -> Self {
        assert!(at < self.first + 128, "too many operations at a time");
        self.mask |= 1 << (at - self.first);
        while self.mask & 1 != 0 {
            self.mask >>= 1;
            self.first += 1;
        }
        self.state = state;
        self
    }
}

struct Search<'h> {
    history: &'h [Event],
    tried: HashSet<Place>,
}

impl Search<'_> {
    /// Wing and Gong's search: what is next has begun before anything that is left has ended. Places are not tried twice.
    fn goes_on(&mut self, place: Place) -> bool {
        let history = self.history;
        let mut next: Vec<usize> = Vec::new();
        let mut until = u64::MAX;
        for (at, event) in history.iter().enumerate().skip(place.first) {
            if event.from > until {
                break;
            }
            if !place.has(at) {
                until = until.min(event.to);
                next.push(at);
            }
        }
        if next.is_empty() {
            return true;
        }
        if !self.tried.insert(place) {
            return false;
        }
        next.retain(|&at| history[at].from <= until);
        // Most likely in the order in which they have ended.
        next.sort_unstable_by_key(|&at| history[at].to);
        next.into_iter().any(|at| {
            let (event, state) = (&history[at], place.state);
            let after = state.then(event.then).filter(|_| state.is(event.was));
            let also = after.and_then(|after| called_off(after, event.then));
            let missed = Some(state).filter(|_| event.may_miss);
            let mut ends = [after, also, missed].into_iter().flatten();
            ends.any(|end| self.goes_on(place.with(at, end)))
                || event.may_repeat()
                    && after.is_some_and(|state| self.goes_on(Place { state, ..place }))
        })
    }
}

/// Whether the operations on a key can have happened one after the other, each between its two moments.
pub fn check(mut history: Vec<Event>) -> Result<(), String> {
    history.sort_unstable_by_key(|event| event.from);
    let brings: Vec<Event> = history.iter().copied().filter(Event::brings).collect();
    for event in &mut history {
        event.may_miss &= brings.iter().any(|other| other.overlaps(event));
    }
    let place = Place {
        first: 0,
        mask: 0,
        state: State::default(),
    };
    let mut search = Search {
        history: &history,
        tried: HashSet::new(),
    };
    if search.goes_on(place) {
        return Ok(());
    }
    let mut text = String::from("these happened in no order:\n");
    for event in &history {
        let Event {
            from, to, thread, ..
        } = event;
        let (name, was, then) = (event.name, event.was, event.then);
        let miss = if event.may_miss { ", or misses" } else { "" };
        _ = writeln!(
            text,
            "{from:4} to {to:4}, {thread}: {name}: {was:?}, then {then:?}{miss}"
        );
    }
    Err(text)
}
