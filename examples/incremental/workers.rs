//! Work shared by all processors.

use std::io;
use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use weakly::{Memo, Strong};

use crate::syntax;

pub(crate) struct Workers {
    pub(crate) threads: usize,
}

impl Workers {
    /// As many as there are processors, and at least two: one thread would prove little.
    pub(crate) fn new() -> io::Result<Self> {
        let threads = thread::available_parallelism().map_or(2, NonZero::get);
        let workers = Workers {
            threads: threads.max(2),
        };
        workers.warm_up()?;
        Ok(workers)
    }

    /// Libraries allocate some memory once and for ever, for the first threads that use them: have them do so
    /// before memory is counted.
    fn warm_up(&self) -> io::Result<()> {
        let all_here = Barrier::new(self.threads);
        let memo = Memo::<Strong<()>, ()>::new();
        let key = Strong::new(());
        memo.get_or_compute(&key, |_| ());
        self.each(|| {
            memo.get_or_compute(&Strong::new(()), |_| ());
            all_here.wait();
        })
    }

    /// Runs `work` on each thread, to its end, on a stack large enough for recursion.
    pub(crate) fn each(&self, work: impl Fn() + Sync) -> io::Result<()> {
        let work = &work;
        thread::scope(|scope| {
            let mut started = Vec::with_capacity(self.threads);
            for _ in 0..self.threads {
                let worker = thread::Builder::new().stack_size(syntax::STACK);
                let no_thread = |why| io::Error::other(format!("cannot start a thread: {why}"));
                started.push(worker.spawn_scoped(scope, work).map_err(no_thread)?);
            }
            // Joined one by one: then the threads are gone, with all their memory, and not only done.
            for worker in started {
                worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
            Ok(())
        })
    }

    /// Runs work for the numbers up to the total, some at a time.
    pub(crate) fn share(
        &self,
        all: usize,
        piece: usize,
        work: impl Fn(Range<usize>) + Sync,
    ) -> io::Result<()> {
        let next = AtomicUsize::new(0);
        self.each(|| {
            loop {
                let first = next.fetch_add(piece, Relaxed);
                if first >= all {
                    break;
                }
                work(first..all.min(first + piece));
            }
        })
    }
}
