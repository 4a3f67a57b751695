//! Random scripts, on one thread. (The package `tests-async` runs them on executors with several.)
//! `WEAKLY_SCRIPTS=1000000 cargo test --release --test flight random` runs a million.

use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Wake, Waker};

use super::script::{Job, Random, Runtime, Task, hush, script};
use super::seeds::seeds;

/// Polls tasks in random order, on the thread that runs the script.
struct Single {
    /// Polls also tasks that were not woken.
    spurious: bool,
    /// With another waker each time; only the last one counts.
    fresh: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tasks: Vec<Slot>,
    jobs: Vec<Job>,
}

struct Slot {
    /// None while it is polled, and at its end.
    task: Option<Task>,
    over: bool,
    woken: bool,
    waker: Option<Waker>,
    /// Of the last waker.
    number: usize,
}

struct Woken {
    runs: Weak<Single>,
    at: usize,
    number: usize,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        let Some(runs) = self.runs.upgrade() else {
            return;
        };
        let slot = &mut runs.state.lock().unwrap().tasks[self.at];
        slot.woken |= slot.number == self.number;
    }
}

impl Single {
    fn add(&self, task: Task) -> usize {
        let mut state = self.state.lock().unwrap();
        state.tasks.push(Slot {
            task: Some(task),
            over: false,
            woken: true,
            waker: None,
            number: 0,
        });
        state.tasks.len() - 1
    }

    fn end(&self, at: usize) {
        let mut state = self.state.lock().unwrap();
        let slot = &mut state.tasks[at];
        slot.over = true;
        let gone = (slot.task.take(), slot.waker.take());
        drop(state);
        drop(gone);
    }

    fn poll(self: &Arc<Self>, at: usize) {
        let mut state = self.state.lock().unwrap();
        let slot = &mut state.tasks[at];
        slot.woken = false;
        let Some(mut task) = slot.task.take() else {
            return;
        };
        if self.fresh {
            slot.number += 1;
            slot.waker = None;
        }
        let number = slot.number;
        let waker = slot.waker.get_or_insert_with(|| {
            let runs = Arc::downgrade(self);
            Waker::from(Arc::new(Woken { runs, at, number }))
        });
        let waker = waker.clone();
        drop(state);
        if task
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
        {
            drop(task);
            self.end(at);
        } else {
            self.state.lock().unwrap().tasks[at].task = Some(task);
        }
    }

    /// Until nothing is left to do. The error is what was wrong.
    fn run(self: &Arc<Self>, random: &mut Random) -> Result<(), String> {
        for _ in 0..1_000_000 {
            let mut state = self.state.lock().unwrap();
            let tasks = || state.tasks.iter().enumerate();
            let left: Vec<_> = tasks()
                .filter(|(_, slot)| !slot.over)
                .map(|(at, _)| at)
                .collect();
            let woken: Vec<_> = tasks()
                .filter(|(_, slot)| slot.woken && !slot.over)
                .map(|(at, _)| at)
                .collect();
            if left.is_empty() && state.jobs.is_empty() {
                return Ok(());
            }
            let choices = woken.len() + state.jobs.len();
            if choices == 0 {
                return Err(format!("{} tasks wait, and nobody wakes them", left.len()));
            }
            if self.spurious && !left.is_empty() && random.one_in(4) {
                drop(state);
                self.poll(left[random.below(left.len())]);
                continue;
            }
            let choice = random.below(choices);
            if choice < woken.len() {
                drop(state);
                self.poll(woken[choice]);
            } else {
                let job = state.jobs.swap_remove(choice - woken.len());
                drop(state);
                job();
            }
        }
        Err("it does not end".into())
    }
}

struct OnOne(Arc<Single>);

impl Runtime for OnOne {
    fn spawn(&self, task: Task) -> Job {
        let at = self.0.add(task);
        let runs = Arc::clone(&self.0);
        Box::new(move || runs.end(at))
    }

    fn soon(&self, job: Job) {
        self.0.state.lock().unwrap().jobs.push(job);
    }

    fn blocking(&self, _: Job) {
        unreachable!("nothing blocks the only thread")
    }

    fn has_threads(&self) -> bool {
        false
    }
}

fn on_one_thread(seed: u64) -> Result<(), String> {
    let mut random = Random(!seed);
    let single = Arc::new(Single {
        spurious: random.one_in(3),
        fresh: random.one_in(2),
        state: Mutex::default(),
    });
    let ended = Arc::new(Mutex::new(None));
    let outcome = Arc::clone(&ended);
    let runtime = Arc::new(OnOne(Arc::clone(&single)));
    single.add(Box::pin(async move {
        let ended = script(runtime, seed).await;
        *outcome.lock().unwrap() = Some(ended);
    }));
    single.run(&mut random)?;
    let ended = ended.lock().unwrap().take();
    ended.expect("the script has ended")
}

/// 254: On one thread, in any order: what was not woken is not polled, or is polled for nothing.
#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn on_one_thread_each_script_ends() {
    hush();
    for seed in seeds(4000) {
        if let Err(wrong) = on_one_thread(seed) {
            panic!("wrong with WEAKLY_SCRIPT={seed}: {wrong}");
        }
    }
}
