//! A bar for those who wait: only on a terminal, only when it takes long, gone when done.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// How far a phase has come. Takes itself away when dropped.
pub(crate) struct Progress {
    phase: &'static str,
    done: usize,
    total: usize,
    /// When to draw next; never if nobody looks.
    due: Option<Instant>,
    drawn: bool,
}

impl Progress {
    pub(crate) fn new(phase: &'static str, total: usize) -> Self {
        let looked_at = io::stderr().is_terminal();
        Progress {
            phase,
            done: 0,
            total,
            due: looked_at.then(|| Instant::now() + PATIENCE),
            drawn: false,
        }
    }

    pub(crate) fn advance(&mut self, by: usize) {
        let phase = self.phase;
        self.advance_saying(by, || phase.into());
    }

    /// Likewise; before the bar stands what there is to say, instead of the name of the phase.
    pub(crate) fn advance_saying(&mut self, by: usize, what: impl FnOnce() -> String) {
        self.done += by;
        let Some(due) = self.due else { return };
        if Instant::now() >= due {
            self.draw(&what());
            self.due = Some(Instant::now() + PAUSE);
        }
    }

    /// Before something else is written to standard error.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            // As wide as the bar. If the terminal does not want it, nothing is lost.
            let _ = write!(io::stderr(), "\r{:1$}\r", "", WIDTH + 40);
        }
    }

    fn draw(&mut self, what: &str) {
        let (done, total) = (self.done.min(self.total), self.total.max(1));
        let full = done * WIDTH / total;
        let (bar, rest) = ("#".repeat(full), "-".repeat(WIDTH - full));
        let percent = done * 100 / total;
        self.drawn = true;
        // Never wider than most terminals: a line that has been broken cannot be written over.
        let _ = write!(io::stderr(), "\r{what:>30.30} [{bar}{rest}] {percent:>3} %");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
