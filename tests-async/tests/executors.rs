//! Random scripts of tasks and threads, on tokio and on smol's executor.
//! `WEAKLY_SCRIPTS=1000000 cargo test --release -p weakly-tests-async` runs a million on each.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use async_executor::{Executor, Task as Spawned};

#[path = "../../tests/flight/script.rs"]
mod script;
#[path = "../../tests/flight/seeds.rs"]
mod seeds;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../tests/flight/tools.rs"]
mod tools;
#[path = "../../tests/common/watchdog.rs"]
mod watchdog;

use script::{Job, Runtime, Task, hush, script};

/// How many scripts run at a time.
const AT_A_TIME: usize = 4;

/// Runs the scripts. If nobody wakes anybody any more, the program ends, and says which are running.
fn run(runtime: Arc<dyn Runtime>) {
    hush();
    let seeds = Mutex::new(seeds::seeds(20_000));
    let next = || seeds.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(seed) = next() {
                    let _watched = watchdog::watched(format!("WEAKLY_SCRIPT={seed}"));
                    let running = script(Arc::clone(&runtime), seed);
                    let ended = catch_unwind(AssertUnwindSafe(|| tools::block_on(running)));
                    match ended.map_err(tools::message) {
                        Ok(Ok(())) => {}
                        Ok(Err(wrong)) | Err(wrong) => {
                            panic!("wrong with WEAKLY_SCRIPT={seed}: {wrong}")
                        }
                    }
                }
            });
        }
    });
}

struct Tokio(tokio::runtime::Handle);

impl Runtime for Tokio {
    fn spawn(&self, task: Task) -> Job {
        let task = self.0.spawn(task);
        Box::new(move || task.abort())
    }

    fn soon(&self, job: Job) {
        self.0.spawn(async { job() });
    }

    fn blocking(&self, job: Job) {
        self.0.spawn_blocking(job);
    }

    fn has_threads(&self) -> bool {
        true
    }
}

/// 254: On tokio, each script ends, one computes at a time, and nothing is left.
#[test]
fn scripts_on_tokio() {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).build().expect("a runtime");
    run(Arc::new(Tokio(runtime.handle().clone())));
}

struct Smol(Arc<Executor<'static>>);

/// A task that goes on when this is dropped.
struct Goes(Option<Spawned<()>>);

impl Drop for Goes {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Spawned::detach);
    }
}

impl Runtime for Smol {
    fn spawn(&self, task: Task) -> Job {
        let mut task = Goes(Some(self.0.spawn(task)));
        Box::new(move || drop(task.0.take()))
    }

    fn soon(&self, job: Job) {
        self.0.spawn(async { job() }).detach();
    }

    fn blocking(&self, job: Job) {
        thread::spawn(job);
    }

    fn has_threads(&self) -> bool {
        true
    }
}

/// 254: On the executor of smol, likewise.
#[test]
fn scripts_on_smol() {
    let executor = Arc::new(Executor::new());
    for _ in 0..2 {
        let executor = Arc::clone(&executor);
        thread::spawn(move || futures_lite::future::block_on(executor.run(pending::<()>())));
    }
    run(Arc::new(Smol(executor)));
}
