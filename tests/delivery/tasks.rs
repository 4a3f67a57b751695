//! More tasks that wait for one queue than it has room for at first, and tasks with a new waker at each poll.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use weakly::{ReferenceQueue, Strong};

/// An executor of so many tasks, each of which waits for one message.
struct Executor {
    queue: ReferenceQueue<()>,
    tasks: Vec<Arc<Task>>,
    ready: Ready,
    new_wakers: bool,
}

type Ready = Arc<Mutex<VecDeque<usize>>>;

struct Task {
    number: usize,
    is_queued: AtomicBool,
    ready: Ready,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if !self.is_queued.swap(true, SeqCst) {
            self.ready.lock().unwrap().push_back(self.number);
        }
    }
}

/// Not equal to any other waker.
struct Another(Arc<Task>);

impl Wake for Another {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
    }
}

impl Executor {
    fn new(tasks: usize, new_wakers: bool) -> Self {
        let ready = Ready::default();
        let task = |number| {
            Arc::new(Task {
                number,
                is_queued: AtomicBool::new(false),
                ready: ready.clone(),
            })
        };
        Executor {
            queue: ReferenceQueue::new(),
            tasks: (0..tasks).map(task).collect(),
            ready,
            new_wakers,
        }
    }

    /// Runs until all tasks wait. Returns how many have got a message. Panics after `most` polls.
    fn run(&self, most: usize) -> usize {
        let mut messages = 0;
        for _ in 0..=most {
            let Some(number) = self.ready.lock().unwrap().pop_front() else {
                return messages;
            };
            let task = &self.tasks[number];
            task.is_queued.store(false, SeqCst);
            let waker: Waker = if self.new_wakers {
                Arc::new(Another(task.clone())).into()
            } else {
                task.clone().into()
            };
            let mut context = Context::from_waker(&waker);
            if let Poll::Ready(()) = self.queue.poll_wait(&mut context) {
                messages += 1;
                task.wake_by_ref();
            }
        }
        panic!("the tasks wake each other");
    }

    fn wake_all(&self) {
        self.tasks.iter().for_each(Wake::wake_by_ref);
    }

    fn send(&self) {
        self.queue.register(&Strong::new(()), ());
    }
}

/// 591: They come to rest, a message wakes one of them at least, and they come to rest again.
#[test]
fn many_tasks() {
    let (sizes, messages) = if cfg!(miri) {
        (&[1, 65][..], 1)
    } else {
        (&[1, 64, 65, 200][..], 3)
    };
    for new_wakers in [false, true] {
        for &tasks in sizes {
            let executor = Executor::new(tasks, new_wakers);
            executor.wake_all();
            assert_eq!(executor.run(8 * tasks), 0);
            for _ in 0..messages {
                executor.send();
                assert_eq!(executor.run(8 * tasks), 1);
            }
        }
    }
}
