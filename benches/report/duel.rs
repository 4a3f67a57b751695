//! A row of the table: two sides that do the same, measured alternately.

use std::iter;
use std::time::Instant;

/// How much work a row does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Full,
    /// Enough to check that it runs.
    Tiny,
}

impl Scale {
    /// A number of objects or operations.
    pub(crate) fn of(self, full: usize) -> usize {
        match self {
            Scale::Full => full,
            Scale::Tiny => full.min(64),
        }
    }
}

/// Measures one side once, in the row's unit.
pub(crate) type Sample = Box<dyn FnMut() -> f64>;

/// What a row measures.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Nanoseconds,
    Bytes,
}

/// The goal of a row.
#[derive(Clone, Copy)]
enum Goal {
    /// The ratio of ours to the peer's, at most.
    Ratio(f64),
    /// The amount of ours alone, at most.
    Amount(f64),
}

/// Sets both sides up, ours first.
type Sides = dyn FnOnce(Scale) -> [Sample; 2];

/// A line of the table.
pub(crate) struct Row {
    operation: String,
    peer: &'static str,
    /// The number of objects, if it matters.
    size: Option<usize>,
    goal: Option<Goal>,
    unit: Unit,
    rounds: usize,
    /// Rounds before these that do not count.
    cold: usize,
    /// How often the sides alternate in a round.
    turns: usize,
    sides: Box<Sides>,
}

/// The head of the table.
pub(crate) const HEAD: &str = "\
| operation                                       | size | ours     | peer                  | ratio |   goal | met? |
|-------------------------------------------------|-----:|---------:|----------------------:|------:|-------:|------|";

impl Row {
    /// A row of times, without a goal and without a size.
    pub(crate) fn new(
        operation: impl Into<String>,
        peer: &'static str,
        sides: impl FnOnce(Scale) -> [Sample; 2] + 'static,
    ) -> Self {
        Row {
            operation: operation.into(),
            peer,
            size: None,
            goal: None,
            unit: Unit::Nanoseconds,
            rounds: 201,
            cold: 1,
            turns: 1,
            sides: Box::new(sides),
        }
    }

    pub(crate) fn size(self, size: usize) -> Self {
        Row {
            size: Some(size),
            ..self
        }
    }

    /// The largest acceptable ratio to the peer.
    pub(crate) fn goal(self, ratio: f64) -> Self {
        Row {
            goal: Some(Goal::Ratio(ratio)),
            ..self
        }
    }

    /// The largest acceptable amount, whatever the peer's is.
    pub(crate) fn at_most(self, amount: f64) -> Self {
        Row {
            goal: Some(Goal::Amount(amount)),
            ..self
        }
    }

    /// An odd number, for the median.
    pub(crate) fn rounds(self, rounds: usize) -> Self {
        Row { rounds, ..self }
    }

    /// The first round counts: for a sample that takes seconds, and so needs no warm-up.
    pub(crate) fn at_once(self) -> Self {
        Row { cold: 0, ..self }
    }

    /// A round is the mean of that many samples of each side, alternately: work that one of them does only now
    /// and then has its share in a round, and noise affects both.
    pub(crate) fn turns(self, turns: usize) -> Self {
        Row { turns, ..self }
    }

    pub(crate) fn unit(self, unit: Unit) -> Self {
        Row { unit, ..self }
    }

    /// Its name in the progress output.
    pub(crate) fn name(&self) -> String {
        let label = self.label();
        let of = if label.is_empty() { "" } else { ", " };
        format!("{}{of}{label}, {}", self.operation, self.peer)
    }

    /// Whether a filter selects this row: all its words, joined by `+`, are in the row's text.
    pub(crate) fn mentions(&self, filter: &str) -> bool {
        let text = format!("{} {} {}", self.operation, self.label(), self.peer).to_lowercase();
        let filter = filter.to_lowercase();
        filter.split('+').all(|word| text.contains(word.trim()))
    }

    /// Measures, and returns the line.
    pub(crate) fn run(self, scale: Scale) -> String {
        let (label, operation, peer) = (self.label(), self.operation, self.peer);
        let [mut ours, mut theirs] = (self.sides)(scale);
        let mut rounds = Vec::new();
        // A cold round warms caches and predictors, and grows tables to their final size.
        let (cold, warm, turns) = match scale {
            Scale::Full => (self.cold, self.rounds, self.turns),
            Scale::Tiny => (0, 1, 1),
        };
        for round in 0..cold + warm {
            let samples = iter::repeat_with(|| (ours(), theirs())).take(turns);
            let (our, their) =
                samples.fold((0.0, 0.0), |sum, sides| (sum.0 + sides.0, sum.1 + sides.1));
            if round >= cold {
                rounds.push((our / turns as f64, their / turns as f64));
            }
        }
        let median_of = |side: fn(&(f64, f64)) -> f64| median(rounds.iter().map(side).collect());
        let (our, their) = (median_of(|sides| sides.0), median_of(|sides| sides.1));
        let ratio = median_of(|(ours, theirs)| ours / theirs);
        let (goal, is_met) = match self.goal {
            None => (String::new(), None),
            Some(Goal::Ratio(most)) => (format!("{most}"), Some(ratio <= most)),
            Some(Goal::Amount(most)) => (self.unit.show(most), Some(our <= most)),
        };
        let met = is_met.map_or("", |met| if met { "yes" } else { "NO" });
        // There is no ratio to zero.
        let ratio = match their {
            0.0 => String::new(),
            _ => format!("{ratio:.3}"),
        };
        format!(
            "| {operation:<47} | {label:>4} | {:>8} | {:>21} | {ratio:>5} | {goal:>6} | {met:<4} |",
            self.unit.show(our),
            format!("{peer} {}", self.unit.show(their)),
        )
    }

    fn label(&self) -> String {
        match self.size {
            None => String::new(),
            Some(size) if size > 1 && size == 10_usize.pow(size.ilog10()) => {
                format!("10^{}", size.ilog10())
            }
            Some(size) => size.to_string(),
        }
    }
}

impl Unit {
    fn show(self, amount: f64) -> String {
        let (step, names) = match self {
            Unit::Nanoseconds => (1000.0, ["ns", "µs", "ms", "s"]),
            Unit::Bytes => (1024.0, ["B", "KiB", "MiB", "GiB"]),
        };
        let mut amount = amount;
        let mut names = names.into_iter();
        let mut name = names.next();
        while let Some(larger) = names.next().filter(|_| amount >= step) {
            amount /= step;
            name = Some(larger);
        }
        let digits = usize::from(amount > 0.0 && amount < 100.0);
        format!("{amount:.digits$} {}", name.unwrap_or_default())
    }
}

/// The middle one.
fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// The time of some work, in nanoseconds.
pub(crate) fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// The time of one operation out of many.
pub(crate) fn time_each(operations: usize, mut operation: impl FnMut()) -> f64 {
    time(|| (0..operations).for_each(|_| operation())) / operations as f64
}
