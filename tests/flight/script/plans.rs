//! What happens in a script.

use super::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Of {
    /// An object in this place.
    Slot(usize),
    Name(usize),
    /// An object that nobody else asks for.
    Own,
}

/// What the asker does with its flight.
#[derive(Clone, Copy, Debug)]
pub(super) enum Control {
    Await,
    /// Drops it after so many polls, at once or when it is to be polled again.
    Cancel(usize, bool),
    /// After so many polls it is not polled for so many turns of the task.
    Stall(usize, usize),
    Forget(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Value,
    /// A value whose destructor asks for this.
    Asks(usize),
    Panic,
    PanicAtOnce,
    Fail,
}

/// One question, and what computes the answer if nobody else does.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) of: Of,
    pub(super) control: Control,
    /// Whether the asker keeps the object alive.
    pub(super) holds: bool,
    pub(super) asks_when_gone: bool,
    /// Asked by a destructor, wherever that runs.
    pub(super) by_destructor: bool,
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Yield,
    /// Wakes itself twice.
    YieldTwice,
    /// Waits for what happens elsewhere.
    Event,
    Ask(Plan),
    Join(Vec<Plan>),
    /// Polls only those that were woken, each with a waker of its own.
    Unordered(Vec<Plan>),
    /// Blocks, but not for long.
    AskBriefly(Plan),
    /// Blocks a thread.
    AskBlocking(Plan),
    /// Drops what the world has of an object.
    Die(usize),
    /// The computation depends on an object, which dies at once, or at some time.
    DependOn(bool),
    /// What is kept for a while goes.
    Drop,
    Remove(usize),
    Invalidate(usize),
    Insert(usize),
}

impl Plan {
    /// What a destructor asks for.
    pub(super) fn of_destructor(of: Of) -> Self {
        Plan {
            of,
            control: Control::Await,
            holds: true,
            asks_when_gone: false,
            by_destructor: true,
            steps: Vec::new(),
            end: End::Value,
        }
    }
}

/// How many objects and names there are.
pub(super) const SLOTS: usize = 3;

pub(super) struct Author {
    pub(super) random: Random,
    pub(super) cyclic: bool,
    pub(super) loose: bool,
    pub(super) threads: bool,
    /// Whether destructors ask.
    pub(super) asks: bool,
}

impl Author {
    pub(super) fn of(&mut self, above: Option<Of>) -> Option<Of> {
        let of = match self.random.below(4) {
            0 => Of::Name(self.random.below(SLOTS)),
            _ => Of::Slot(self.random.below(SLOTS)),
        };
        let place = |of| match of {
            Of::Slot(at) => at,
            Of::Name(at) => SLOTS + at,
            Of::Own => usize::MAX,
        };
        let ordered = above.is_none_or(|above| place(of) > place(above));
        (ordered || self.cyclic).then_some(of)
    }

    pub(super) fn plan(&mut self, above: Option<Of>, depth: usize) -> Option<Plan> {
        let mut of = self.of(above)?;
        let n = self.random.below(4);
        let control = match self.random.below(12) {
            0 => Control::Cancel(n, true),
            1 => Control::Cancel(n, false),
            // A cycle is found when it is polled as a whole.
            2 if !(self.cyclic && self.threads) => Control::Stall(n, self.random.below(6)),
            3 if self.random.one_in(4) && above.is_none() => {
                of = Of::Own;
                Control::Forget(n)
            }
            _ => Control::Await,
        };
        let steps = (0..self.random.below(4))
            .filter_map(|_| self.step(Some(of), depth))
            .collect();
        let end = match self.random.below(16) {
            0 => End::Panic,
            1 => End::PanicAtOnce,
            2 | 3 => End::Fail,
            // Which waits for nothing that is above it.
            4 | 5 if self.asks && !self.cyclic => End::Asks(self.random.below(SLOTS)),
            _ => End::Value,
        };
        Some(Plan {
            of,
            control,
            holds: self.random.one_in(2),
            asks_when_gone: self.asks && self.random.one_in(8),
            by_destructor: false,
            steps,
            end,
        })
    }

    pub(super) fn plans(&mut self, above: Option<Of>, depth: usize) -> Vec<Plan> {
        let n = 1 + self.random.below(3);
        (0..n).filter_map(|_| self.plan(above, depth)).collect()
    }

    pub(super) fn step(&mut self, above: Option<Of>, depth: usize) -> Option<Step> {
        let inside = above.is_some();
        let step = match self.random.below(16) {
            0 | 1 => Step::Yield,
            2 => Step::YieldTwice,
            3 | 4 => Step::Event,
            5 if self.random.one_in(2) => {
                Step::AskBriefly(self.plan(above, depth.checked_sub(1)?)?)
            }
            6 => Step::Die(self.random.below(SLOTS)),
            7 => Step::Drop,
            8 if inside => Step::DependOn(self.random.one_in(2)),
            9 if self.loose => match self.random.below(3) {
                0 => Step::Remove(self.random.below(SLOTS)),
                1 => Step::Invalidate(self.random.below(SLOTS)),
                _ => Step::Insert(self.random.below(SLOTS)),
            },
            10 if self.threads && !inside => {
                Step::AskBlocking(self.plan(above, depth.checked_sub(1)?)?)
            }
            11 => Step::Join(self.plans(above, depth.checked_sub(1)?)),
            // Likewise.
            12 if !self.cyclic => Step::Unordered(self.plans(above, depth.checked_sub(1)?)),
            _ => Step::Ask(self.plan(above, depth.checked_sub(1)?)?),
        };
        Some(step)
    }
}
