//! No test fails because the machine is busy: what may take too long, or for ever, is limited by processor time and by
//! looks at the threads, not by the clock.
//!
//! Each program has one thread that looks at the others, ten times a second. It ends the program, with the names of
//! what is [`watched`],
//!
//! * if nobody goes on: at 200 looks no thread wanted a processor. (A thread that wants one, and does not get it, is
//!   runnable.) Tests run in parallel, so that is seen when the others have ended.
//! * or if it goes round: two minutes of processor time, as one of the threads that want it has its share.
//!
//! This is read from Linux's `/proc`. Elsewhere the limit is ten minutes of the clock, so long that only what never
//! ends exceeds it. Miri says itself if all threads wait for each other; one more that looks would prevent that.

#![allow(dead_code, unreachable_pub)] // each test program uses a part of it

use std::fmt::Display;
use std::io::Write;
// The unit tests of a crate without std have this, too.
use std::prelude::v1::*;
use std::sync::{LazyLock, Mutex, MutexGuard, Once};
use std::time::{Duration, Instant};
use std::{fs, process, thread};

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Looks at which nobody goes on.
const MOST_IDLE: usize = 200;
/// Where threads cannot be looked at.
const MOST_BLIND: usize = 6_000;
/// Ticks of the processor, of which a second has 100.
const MOST_TICKS: f64 = 12_000.0;

/// Something that is watched until this is dropped.
pub struct Watched(usize);

struct Entry {
    number: usize,
    name: String,
    idle: usize,
    blind: usize,
    ticks: f64,
}

static ENTRIES: Mutex<(usize, Vec<Entry>)> = Mutex::new((0, Vec::new()));

fn entries() -> MutexGuard<'static, (usize, Vec<Entry>)> {
    ENTRIES.lock().unwrap()
}

/// Watches what comes next, as long as the result lives. If it hangs, the program fails, and says this name.
#[must_use]
pub fn watched(name: impl Display) -> Watched {
    static WATCHDOG: Once = Once::new();
    if !cfg!(miri) {
        WATCHDOG.call_once(|| _ = thread::spawn(look_on));
    }
    let (made, all) = &mut *entries();
    *made += 1;
    all.push(Entry {
        number: *made,
        name: name.to_string(),
        idle: 0,
        blind: 0,
        ticks: 0.0,
    });
    Watched(*made)
}

impl Drop for Watched {
    fn drop(&mut self) {
        entries().1.retain(|entry| entry.number != self.0);
    }
}

/// What `/proc` says of a thread or a process: its state, and what it has used, in ticks.
fn stat(path: &str) -> Option<(char, f64)> {
    let text = fs::read_to_string(path).ok()?;
    // Its name is in brackets, and may contain any.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let mut times = fields.skip(10).map_while(|time| time.parse::<f64>().ok());
    Some((state, times.next()? + times.next()?))
}

/// How many other threads want a processor, or wait for a disk.
fn runnable() -> Option<usize> {
    let this = fs::read_link("/proc/thread-self").ok()?;
    let others = fs::read_dir("/proc/self/task").ok()?.flatten();
    let others = others.filter(|entry| Some(entry.file_name().as_os_str()) != this.file_name());
    let states = others.filter_map(|entry| stat(entry.path().join("stat").to_str()?));
    Some(states.filter(|(state, _)| "RDW".contains(*state)).count())
}

fn look_on() {
    let ticks = || stat("/proc/self/stat").map(|(_, ticks)| ticks);
    let mut before = ticks();
    loop {
        thread::sleep(BETWEEN_LOOKS);
        let (runnable, now) = (runnable(), ticks());
        let hang = entries().1.iter_mut().find_map(|entry| {
            match (runnable, now.zip(before)) {
                (Some(0), Some(_)) => entry.idle += 1,
                (Some(count), Some((now, before))) => entry.ticks += (now - before) / count as f64,
                _ => entry.blind += 1,
            }
            match entry {
                Entry { idle, .. } if *idle > MOST_IDLE => Some("nobody goes on"),
                Entry { ticks, .. } if *ticks > MOST_TICKS => Some("it goes round"),
                Entry { blind, .. } if *blind > MOST_BLIND => Some("it takes ten minutes"),
                _ => None,
            }
        });
        before = now;
        if let Some(how) = hang {
            // Not `eprintln`, whose output would be shown only at the end of a test.
            for entry in &entries().1 {
                _ = writeln!(std::io::stderr(), "{} does not end: {how}", entry.name);
            }
            process::exit(101);
        }
    }
}

/// The processor time that this thread has used, known every few milliseconds. Elsewhere than on Linux, the clock.
pub fn processor_time() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let used = || {
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok()
    };
    let used = if cfg!(miri) { None } else { used() };
    used.map_or_else(|| BEGAN.elapsed(), Duration::from_nanos)
}

/// Asserts that something takes at most so many times as long as something else did, in processor time.
#[track_caller]
pub fn assert_at_most(times: u32, unit: Duration, took: Duration) {
    // As exact as it is known.
    let unit = unit.max(Duration::from_millis(10));
    assert!(took < times * unit, "{took:?}, {unit:?}");
}
