//! A row of a table: two sides that do the same, measured alternately.

use std::fmt;
use std::time::Instant;

pub(crate) use crate::scale::Scale;

/// Measures one side once, in the row's unit.
pub(crate) type Sample = Box<dyn FnMut() -> f64>;

/// What a sample returns if its threads never overlapped: then the row has no figures.
pub(crate) const NEVER: f64 = f64::NAN;

/// How often samples are repeated.
#[derive(Clone, Copy)]
pub(crate) struct Course {
    /// An odd number, for the median.
    pub(crate) rounds: usize,
    /// Rounds before these that do not count: they warm caches and predictors, and grow tables to their final
    /// size.
    pub(crate) cold: usize,
    /// How often the sides alternate in a round, which is the mean of that many samples of each side.
    pub(crate) turns: usize,
}

impl Course {
    /// Measures the sides alternately. For each round, the means of all sides; no round if a sample is [`NEVER`].
    pub(crate) fn run(self, scale: Scale, sides: &mut [Sample]) -> Vec<Vec<f64>> {
        let (cold, warm, turns) = match scale {
            Scale::Full => (self.cold, self.rounds, self.turns),
            Scale::Tiny => (0, 1, 1),
        };
        let mut round = || {
            let mut sums = vec![0.0; sides.len()];
            for _ in 0..turns {
                for (side, sum) in sides.iter_mut().zip(&mut sums) {
                    *sum += Some(side()).filter(|sample| !sample.is_nan())?;
                }
            }
            Some(sums.iter().map(|sum| sum / turns as f64).collect())
        };
        let rounds: Option<Vec<_>> = (0..cold + warm).map(|_| round()).collect();
        rounds.map_or(Vec::new(), |mut rounds| rounds.split_off(cold))
    }

    /// The median of each side.
    pub(crate) fn medians(self, scale: Scale, mut sides: Vec<Sample>) -> Vec<f64> {
        let rounds = self.run(scale, &mut sides);
        let side = |at: usize| median(rounds.iter().map(|sides| sides[at]).collect());
        (0..sides.len()).map(side).collect()
    }
}

/// What a row measures.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Nanoseconds,
    Bytes,
}

/// Sets both sides up, ours first.
type Sides = dyn FnOnce(Scale) -> [Sample; 2];

/// A line of the table.
pub(crate) struct Row {
    operation: String,
    peer: &'static str,
    /// The number of objects, if it matters.
    size: Option<usize>,
    unit: Unit,
    course: Course,
    sides: Box<Sides>,
}

/// The head of a table.
pub(crate) const HEAD: &str = "\
| operation                                       | size | ours     | peer                      | ratio |
|-------------------------------------------------|-----:|---------:|--------------------------:|------:|";

/// A measured line of the table, as texts.
pub(crate) struct Line {
    operation: String,
    size: String,
    ours: String,
    peer: String,
    ratio: String,
}

impl Line {
    /// Whether this is the line of an operation on so many objects, against a peer.
    pub(crate) fn is(&self, operation: &str, size: &str, peer: &str) -> bool {
        self.operation == operation && self.size == size && self.peer.starts_with(peer)
    }

    pub(crate) fn table<'l>(lines: impl IntoIterator<Item = &'l Line>) -> String {
        let lines = lines.into_iter().map(|line| format!("\n{line}"));
        HEAD.to_owned() + &lines.collect::<String>()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Line {
            operation,
            size,
            ours,
            peer,
            ratio,
        } = self;
        write!(
            f,
            "| {operation:<47} | {size:>4} | {ours:>8} | {peer:>25} | {ratio:>5} |"
        )
    }
}

impl Row {
    /// A row of times, without a size.
    pub(crate) fn new(
        operation: impl Into<String>,
        peer: &'static str,
        sides: impl FnOnce(Scale) -> [Sample; 2] + 'static,
    ) -> Self {
        Row {
            operation: operation.into(),
            peer,
            size: None,
            unit: Unit::Nanoseconds,
            course: Course {
                rounds: 201,
                cold: 1,
                turns: 1,
            },
            sides: Box::new(sides),
        }
    }

    pub(crate) fn size(self, size: usize) -> Self {
        Row {
            size: Some(size),
            ..self
        }
    }

    /// An odd number, for the median.
    pub(crate) fn rounds(mut self, rounds: usize) -> Self {
        self.course.rounds = rounds;
        self
    }

    /// The first round counts: for a sample that takes seconds, and so needs no warm-up.
    pub(crate) fn at_once(mut self) -> Self {
        self.course.cold = 0;
        self
    }

    /// A round is the mean of that many samples of each side, alternately: work that one of them does only now
    /// and then has its share in a round, and noise affects both.
    pub(crate) fn turns(mut self, turns: usize) -> Self {
        self.course.turns = turns;
        self
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
    pub(crate) fn run(self, scale: Scale) -> Line {
        let (size, operation, peer) = (self.label(), self.operation, self.peer);
        let mut sides = (self.sides)(scale);
        let rounds = self.course.run(scale, &mut sides);
        if rounds.is_empty() {
            return Line {
                operation,
                size,
                ours: "no overlap".to_owned(),
                peer: peer.to_owned(),
                ratio: String::new(),
            };
        }
        let median_of =
            |of: fn(&[f64]) -> f64| median(rounds.iter().map(|sides| of(sides)).collect());
        let (our, their) = (median_of(|sides| sides[0]), median_of(|sides| sides[1]));
        let ratio = median_of(|sides| sides[0] / sides[1]);
        Line {
            operation,
            size,
            ours: self.unit.show(our),
            peer: format!("{peer} {}", self.unit.show(their)),
            // There is no ratio to zero.
            ratio: match their {
                0.0 => String::new(),
                _ => format!("{ratio:.3}"),
            },
        }
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
    pub(crate) fn show(self, amount: f64) -> String {
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
pub(crate) fn median(mut samples: Vec<f64>) -> f64 {
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
