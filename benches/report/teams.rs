//! Work by one thread, or by several at the same time.
//!
//! The threads live as long as their side and wait between its samples, so that caches, allocator and the
//! thread's slot in a collection are warm, with one thread as with two. Threads that are more than one have a
//! processor each, as far as there are some: where the scheduler had two on one, they would take turns.

use std::fs::File;
use std::hint::spin_loop;
use std::io::{Read, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::duel::{NEVER, Sample};

/// What a side does.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) threads: usize,
    /// The number of live objects, of all threads together.
    pub(crate) size: usize,
    /// Operations of each thread, in a sample.
    pub(crate) operations: usize,
    pub(crate) clock: Clock,
}

impl Plan {
    /// Where a thread starts in the common list.
    pub(crate) fn start(&self, number: usize) -> usize {
        number * self.size / self.threads
    }
}

/// Which time a sample measures.
#[derive(Clone, Copy)]
pub(crate) enum Clock {
    /// The processor time of a thread for one of its operations, the mean of all threads: the cost of the work.
    /// Other processes do not count, nor does sleeping on a lock. On Linux; elsewhere the wall-clock time. Only
    /// samples in which the threads [overlap](Team::overlap) count.
    Processor,
    /// The time from the first start to the last end, divided by the operations of all threads together: the
    /// throughput.
    Total,
}

/// A spinning barrier: a thread that had to be woken would start when the others are done, perhaps on the same
/// processor, and they would never overlap.
struct StartLine {
    threads: usize,
    arrivals: AtomicUsize,
}

impl StartLine {
    /// Some milliseconds: threads that have a processor each start without the scheduler.
    const SPINS: usize = 100_000;

    /// Returns when all have arrived.
    fn wait(&self) {
        // AcqRel, with the loads of the waiting threads: all preparations have happened before they start.
        let before = self.arrivals.fetch_add(1, AcqRel);
        let all = (before / self.threads + 1) * self.threads;
        let mut spins = 0;
        while self.arrivals.load(Acquire) < all {
            if spins < Self::SPINS {
                spins += 1;
                spin_loop();
            } else {
                // There are more threads than processors.
                thread::yield_now();
            }
        }
    }
}

/// A thread's share in a sample.
pub(crate) struct Share {
    start: Instant,
    end: Instant,
    /// The nanoseconds in which it ran.
    ran: f64,
    /// Those in which it waited for a processor.
    waited: f64,
}

impl Share {
    /// The nanoseconds in which it slept, on a lock.
    fn slept(&self) -> f64 {
        (nanoseconds(self.start, self.end) - self.ran - self.waited).max(0.0)
    }
}

fn nanoseconds(start: Instant, end: Instant) -> f64 {
    end.duration_since(start).as_nanos() as f64
}

/// A thread's clock, and the barrier at which its team starts.
pub(crate) struct Watch {
    barrier: Arc<StartLine>,
    /// Where Linux reports how long the thread has run and waited, if that is measured.
    schedule: Option<File>,
}

impl Watch {
    /// The clock of the calling thread.
    fn new(barrier: Arc<StartLine>, clock: Clock) -> Self {
        let schedule = match clock {
            Clock::Processor => File::open("/proc/thread-self/schedstat").ok(),
            Clock::Total => None,
        };
        // A kernel without these statistics always reports zero.
        let schedule = schedule.filter(|file| scheduled(file)[0] > 0.0);
        Watch { barrier, schedule }
    }

    /// The time of some work, which all threads start together.
    pub(crate) fn time(&self, work: impl FnOnce()) -> Share {
        self.barrier.wait();
        let before = self.schedule.as_ref().map(scheduled);
        let start = Instant::now();
        work();
        let end = Instant::now();
        let after = self.schedule.as_ref().map(scheduled);
        let [ran, waited] = match (before, after) {
            (Some(before), Some(after)) => [after[0] - before[0], after[1] - before[1]],
            _ => [nanoseconds(start, end), 0.0],
        };
        Share {
            start,
            end,
            ran,
            waited,
        }
    }
}

/// The time of some work of the calling thread, in nanoseconds, but for what other processes have taken of it, where Linux
/// reports that: the elapsed time if they took nothing, since that is exact, and the processor time otherwise. For samples:
/// it costs some microseconds beside.
pub(crate) fn alone(work: impl FnOnce()) -> f64 {
    let barrier = StartLine {
        threads: 1,
        arrivals: AtomicUsize::new(0),
    };
    let share = Watch::new(Arc::new(barrier), Clock::Processor).time(work);
    share.ran.min(nanoseconds(share.start, share.end))
}

/// For how long the thread has run and waited for a processor. The kernel updates the former at its ticks, some
/// milliseconds apart, and whenever the thread yields its processor: then it is exact, and all of this costs a
/// microsecond.
fn scheduled(mut file: &File) -> [f64; 2] {
    thread::yield_now();
    let mut text = String::new();
    file.rewind().expect("it is there to be read again");
    file.read_to_string(&mut text)
        .expect("the kernel reports text");
    let mut numbers = text.split(' ').map(|number| number.parse().ok());
    [(); 2].map(|()| numbers.next().flatten().expect("a number"))
}

/// A thread's work for each sample: it prepares, and measures.
pub(crate) type Work = Box<dyn FnMut(&Watch) -> Share + Send>;

/// Threads that wait for the next sample.
pub(crate) struct Team {
    plan: Plan,
    /// For each thread, the channel that starts it, and the one that receives its share.
    members: Vec<(Sender<()>, Receiver<Share>)>,
    threads: Vec<JoinHandle<()>>,
}

impl Team {
    /// How often a sample is taken until the threads overlap.
    const TRIES: usize = 100;
    /// At most as much of its processor time may a thread miss of the time that the sample takes.
    const MISSED: f64 = 0.25;

    /// Each of the plan's threads does the work for its number.
    pub(crate) fn sample(plan: Plan, mut work: impl FnMut(usize) -> Work) -> Sample {
        let barrier = Arc::new(StartLine {
            threads: plan.threads,
            arrivals: AtomicUsize::new(0),
        });
        let (members, threads) = (0..plan.threads)
            .map(|number| {
                let (mut work, barrier) = (work(number), barrier.clone());
                let (start, starts) = mpsc::channel();
                let (end, ends) = mpsc::channel();
                let thread = thread::spawn(move || {
                    if plan.threads > 1 {
                        pin(number);
                    }
                    let watch = Watch::new(barrier, plan.clock);
                    for () in starts {
                        // The receiver is gone if another member has panicked.
                        let _ = end.send(work(&watch));
                    }
                });
                ((start, ends), thread)
            })
            .unzip();
        let team = Team {
            plan,
            members,
            threads,
        };
        Box::new(move || team.run())
    }

    fn run(&self) -> f64 {
        let Plan {
            threads,
            operations,
            clock,
            ..
        } = self.plan;
        let (threads, operations) = (threads as f64, operations as f64);
        match clock {
            Clock::Processor => {
                let mut tries = (0..Self::TRIES).map(|_| self.shares());
                let shares = tries.find(|shares| Self::overlap(shares));
                shares.map_or(NEVER, |shares| {
                    let ran: f64 = shares.iter().map(|share| share.ran).sum();
                    ran / threads / operations
                })
            }
            Clock::Total => Self::span(&self.shares()) / threads / operations,
        }
    }

    /// All do their work.
    fn shares(&self) -> Vec<Share> {
        const ALIVE: &str = "no work panics";
        for (start, _) in &self.members {
            start.send(()).expect(ALIVE);
        }
        let ends = self.members.iter().map(|(_, end)| end);
        ends.map(|end| end.recv().expect(ALIVE)).collect()
    }

    /// The time from the first start to the last end.
    fn span(shares: &[Share]) -> f64 {
        let start = shares.iter().map(|share| share.start).min();
        let end = shares.iter().map(|share| share.end).max();
        start
            .zip(end)
            .map_or(0.0, |(start, end)| nanoseconds(start, end))
    }

    /// Whether the threads were at work at the same time, from beginning to end: no other process had the processor
    /// of one of them. One alone always is.
    fn overlap(shares: &[Share]) -> bool {
        let span = Self::span(shares);
        shares.len() == 1
            || shares
                .iter()
                .all(|share| span - share.slept() <= (1.0 + Self::MISSED) * share.ran)
    }
}

/// The thread stays on a processor.
fn pin(number: usize) {
    let processors = core_affinity::get_core_ids().unwrap_or_default();
    if let Some(&processor) = processors.get(number % processors.len().max(1)) {
        core_affinity::set_for_current(processor);
    }
}

impl Drop for Team {
    /// The next row starts when all of this one is gone.
    fn drop(&mut self) {
        self.members.clear();
        for thread in self.threads.drain(..) {
            // If it panicked, its message is already printed.
            let _ = thread.join();
        }
    }
}
