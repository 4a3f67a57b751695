//! A progress bar: only on a terminal, only for long phases, removed at the end.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const PATIENCE: Duration = Duration::from_millis(300);
/// Redraws per second.
const HERTZ: u8 = 10;
/// Narrower than most terminals.
const LINE: &str = "{msg:>30!} [{bar:30}] {percent:>3} %";

/// The progress of a phase. Removes its bar when dropped.
pub(crate) struct Progress {
    phase: &'static str,
    done: usize,
    total: usize,
    /// When the bar appears; `None` if standard error is not a terminal.
    due: Option<Instant>,
    /// Created only then, so that a run without a bar does not account for its memory.
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(phase: &'static str, total: usize) -> Self {
        let is_seen = io::stderr().is_terminal();
        Progress {
            phase,
            done: 0,
            total,
            due: is_seen.then(|| Instant::now() + PATIENCE),
            bar: None,
        }
    }

    pub(crate) fn advance(&mut self, by: usize) {
        self.done += by;
        if self.due.is_some_and(|due| due <= Instant::now()) {
            self.due = None;
            self.bar = Some(bar(self.phase, self.total));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
        }
    }

    /// As `advance`; `message` replaces the name of the phase.
    pub(crate) fn advance_with(&mut self, by: usize, message: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(message());
        }
        self.advance(by);
    }

    /// Runs `write`, which writes to standard error, without the bar in its way.
    pub(crate) fn suspend(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

fn bar(phase: &'static str, total: usize) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(HERTZ);
    let style = ProgressStyle::with_template(LINE).expect("a valid template");
    ProgressBar::with_draw_target(Some(total as u64), target)
        .with_style(style.progress_chars("#-"))
        .with_message(phase)
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
