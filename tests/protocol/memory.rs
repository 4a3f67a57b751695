//! The memory of C11, as far as a machine can step through it: a load returns any value that the thread has not seen
//! overwritten. Each thread has a *view*: of each location, the oldest value that it may still load. A release leaves the view
//! with the value; an acquire takes it over; an update hands on the view of the value that it replaces (release sequences). A
//! fence is `SeqCst`: fences have one order, and each sees, of atomics, what was seen before an earlier one.
//!
//! What is missing is that a load takes its value from a store that comes later (load buffering), as in loom and Miri.

/// How many locations there are.
pub(crate) const LOCATIONS: usize = 13;
/// The last locations stand for memory that is not atomic: each use is a store there. No fence orders them.
pub(crate) const USES: usize = 7;
pub(crate) const FIRST_USE: usize = LOCATIONS - USES;

type View = [u8; LOCATIONS];

#[derive(Clone, PartialEq, Eq, Hash)]
struct Value {
    value: u8,
    view: View,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Memory<const THREADS: usize> {
    values: [Vec<Value>; LOCATIONS],
    views: [View; THREADS],
    fences: View,
}

/// The ordering of an operation.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
}

impl Order {
    /// This ordering, unless its rule is dropped.
    pub(crate) fn if_(self, rule: bool) -> Self {
        if rule { self } else { Order::Relaxed }
    }

    fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel)
    }

    fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel)
    }
}

fn join(view: &mut View, other: &View) {
    for (one, other) in view.iter_mut().zip(other) {
        *one = (*one).max(*other);
    }
}

impl<const THREADS: usize> Memory<THREADS> {
    pub(crate) fn new(start: [u8; LOCATIONS]) -> Self {
        let first = |value| {
            let view = [0; LOCATIONS];
            vec![Value { value, view }]
        };
        Memory {
            values: start.map(first),
            views: [[0; LOCATIONS]; THREADS],
            fences: [0; LOCATIONS],
        }
    }

    /// The last value.
    pub(crate) fn last(&self, at: usize) -> u8 {
        self.values[at][self.values[at].len() - 1].value
    }

    /// The values that a load of this thread may return, each with the memory after it.
    pub(crate) fn loads(&self, thread: usize, at: usize, order: Order) -> Vec<(u8, Self)> {
        let oldest = usize::from(self.views[thread][at]);
        let load = |index: usize| {
            let mut after = self.clone();
            after.take(thread, at, index, order);
            (self.values[at][index].value, after)
        };
        (oldest..self.values[at].len()).map(load).collect()
    }

    fn take(&mut self, thread: usize, at: usize, index: usize, order: Order) {
        let Value { view, .. } = self.values[at][index];
        let mine = &mut self.views[thread];
        mine[at] = index as u8;
        if order.acquires() {
            join(mine, &view);
        }
    }

    pub(crate) fn store(&mut self, thread: usize, at: usize, value: u8, order: Order) {
        self.push(thread, at, value, order, [0; LOCATIONS]);
    }

    fn push(&mut self, thread: usize, at: usize, value: u8, order: Order, passed_on: View) {
        let mine = &mut self.views[thread];
        mine[at] = self.values[at].len() as u8;
        let mut view = passed_on;
        view[at] = mine[at];
        if order.releases() {
            join(&mut view, mine);
        }
        self.values[at].push(Value { value, view });
    }

    /// Replaces the last value; or only loads it, as a compare-exchange that fails.
    pub(crate) fn update(&mut self, thread: usize, at: usize, to: Option<u8>, order: Order) {
        let last = self.values[at].len() - 1;
        self.take(thread, at, last, order);
        if let Some(to) = to {
            let passed_on = self.values[at][last].view;
            self.push(thread, at, to, order, passed_on);
        }
    }

    pub(crate) fn fence(&mut self, thread: usize) {
        for at in 0..FIRST_USE {
            let newest = self.fences[at].max(self.views[thread][at]);
            (self.fences[at], self.views[thread][at]) = (newest, newest);
        }
    }

    /// Whether all that others have stored there happens before what this thread does next.
    pub(crate) fn has_seen(&self, thread: usize, at: usize) -> bool {
        usize::from(self.views[thread][at]) + 1 == self.values[at].len()
    }

    /// A thread does nothing more.
    pub(crate) fn end(&mut self, thread: usize) {
        self.views[thread] = std::array::from_fn(|at| self.values[at].len() as u8 - 1);
    }

    /// Forgets the values that no thread can load: so states that differ only in these are one.
    pub(crate) fn tidy(mut self) -> Self {
        for at in 0..LOCATIONS {
            let oldest = self.views.iter().map(|view| view[at]).min().unwrap_or(0);
            if oldest != 0 {
                self.values[at].drain(..usize::from(oldest));
                let views = self
                    .values
                    .iter_mut()
                    .flatten()
                    .map(|value| &mut value.view);
                for view in views.chain(&mut self.views).chain([&mut self.fences]) {
                    view[at] = view[at].saturating_sub(oldest);
                }
            }
        }
        self
    }
}
