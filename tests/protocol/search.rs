//! The search: breadth first, over all states that the threads of a model can reach.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

/// The invariant that is broken, by its name in the head of the file that it belongs to, and how.
pub(crate) type Broken = &'static str;

pub(crate) trait Model {
    type State: Clone + Eq + Hash;

    const THREADS: usize;

    fn start(&self) -> Self::State;

    /// The states after the next step of a thread. None, if it waits or has come to its end.
    fn next(&self, state: &Self::State, thread: usize) -> Result<Vec<Self::State>, Broken>;

    /// What must be true when no thread goes on.
    fn end(&self, state: &Self::State) -> Result<(), Broken>;

    /// How many states there are, or what is broken in one that takes the fewest steps.
    fn search(&self) -> Result<usize, Broken> {
        let start = self.start();
        let mut seen = HashSet::from([start.clone()]);
        let mut left = VecDeque::from([start]);
        while let Some(state) = left.pop_front() {
            let mut ends = true;
            for thread in 0..Self::THREADS {
                for next in self.next(&state, thread)? {
                    ends = false;
                    if seen.insert(next.clone()) {
                        left.push_back(next);
                    }
                }
            }
            if ends {
                self.end(&state)?;
            }
        }
        Ok(seen.len())
    }
}
