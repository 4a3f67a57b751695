//! What tasks make together: `tasks::work`, with its table, its flights and what one of them holds.

use core::convert::Infallible;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::sync::atomic::AtomicBool;
use core::task::{Context, Poll, Waker};
use std::sync::Mutex;

use super::super::flight::Making;
use super::super::gathered::Gathered;
use super::super::key::ByKey;
use super::super::table::Table;
use super::super::tasks::waiting;
use super::super::tasks::work::{Plan, Work, running};
use super::super::watch::{SharedWatchFor, Unplaced, UpgradesOne, WatchesOne};
use super::*;
use crate::Memo;
use crate::hash::HashValue;
use crate::ptr::CoreRef;
use crate::sync::{AtomicUsize, Ordering::Relaxed};

/// An executor of one task.
fn run<T>(future: impl Future<Output = T>) -> T {
    let (woken, mut future) = (Woken::new(), pin!(future));
    loop {
        if let Poll::Ready(made) = poll(future.as_mut(), &woken) {
            return made;
        }
        woken.wait();
        woken.take();
    }
}

fn poll<T>(future: impl Future<Output = T> + Unpin, woken: &Arc<Woken>) -> Poll<T> {
    pin!(future).poll(&mut Context::from_waker(&woken.waker().unwrap()))
}

/// A computation counts itself from its first poll to its end.
struct Computing(Arc<AtomicUsize>);

impl Computing {
    fn begin(all: &Arc<AtomicUsize>) -> Self {
        let others = all.fetch_add(1, Relaxed);
        assert_eq!(others, 0, "A6: two computations of one key");
        Computing(Arc::clone(all))
    }
}

impl Drop for Computing {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

type Flight<'m> = crate::concurrent::Flight<'m, Strong<Payload>>;

/// A map that is asked for an object, which is computed in so many polls, each of which but the
/// last wakes itself.
#[derive(Clone)]
struct Asked {
    map: Arc<Map>,
    maker: Maker,
    all: Arc<AtomicUsize>,
    polls: usize,
}

impl Asked {
    fn new(maker: &Maker, polls: usize) -> Self {
        Asked {
            map: Arc::default(),
            maker: maker.clone(),
            all: Arc::new(AtomicUsize::new(0)),
            polls,
        }
    }

    fn ask(&self) -> Flight<'_> {
        let (maker, all, mut left) = (self.maker.clone(), Arc::clone(&self.all), self.polls);
        self.map.get_or_insert_async(0, move |_| {
            let mut computing = None;
            poll_fn(move |context| {
                computing.get_or_insert_with(|| Computing::begin(&all));
                left -= 1;
                if left != 0 {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(maker.object())
            })
        })
    }
}

/// A3: Two tasks that ask at once get the same.
#[test]
fn two_tasks_share_what_is_made() {
    check_few(1, |maker| {
        let asked = Asked::new(maker, 1);
        let other = asked.clone();
        let (theirs, ours) = both(move || run(other.ask()), || run(asked.ask()));
        assert!(Strong::ptr_eq(&theirs, &ours));
    });
}

/// What a computation waits for. (loom need not see it: the table and the flight are to order what
/// depends on it.)
#[derive(Default)]
struct Event {
    has_come: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Event {
    fn come(&self) {
        self.has_come.store(true, Relaxed);
        let waker = self.waker.lock().unwrap().take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// An object, when it has come.
    async fn then(&self, maker: &Maker) -> Strong<Payload> {
        poll_fn(|context| {
            *self.waker.lock().unwrap() = Some(context.waker().clone());
            let has_come = self.has_come.load(Relaxed);
            has_come
                .then(|| maker.object())
                .map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// A2: The event for which a computation waits wakes the task that has polled last, and that goes:
/// the other one gets what is made.
#[test]
fn a_task_goes_that_was_woken() {
    check_few(1, |maker| {
        let (map, event) = (Arc::new(Map::default()), Arc::new(Event::default()));
        let (other, comes, maker) = (Arc::clone(&map), Arc::clone(&event), maker.clone());
        let ask = move |map: &Map, run: &mut dyn FnMut(Flight<'_>)| {
            let (event, maker) = (Arc::clone(&event), maker.clone());
            run(map.get_or_insert_async(0, move |_| async move { event.then(&maker).await }));
        };
        let its = ask.clone();
        both(
            move || {
                its(&other, &mut |mut made| {
                    _ = poll(&mut made, &Woken::new());
                    comes.come();
                });
            },
            || ask(&map, &mut |made| run(made).read()),
        );
    });
}

/// A1, A6: Two tasks go that have polled: the last destroys the computation, and whoever asks then
/// begins anew.
#[test]
fn both_tasks_go() {
    check_few(1, |maker| {
        // Two polls are not enough.
        let asked = Asked::new(maker, 3);
        let other = asked.clone();
        both(
            move || drop(poll(other.ask(), &Woken::new())),
            || drop(poll(asked.ask(), &Woken::new())),
        );
        assert_eq!(asked.all.load(Relaxed), 0, "a computation is left");
        run(asked.ask()).read();
    });
}

/// A thread makes the value, and a task wants it, or the other way round.
#[test]
fn a_thread_and_a_task() {
    check_few(1, |maker| {
        let asked = Asked::new(maker, 1);
        let other = asked.clone();
        let make = move || other.map.get_or_insert_with(0, |_| other.maker.object());
        let (theirs, ours) = both(make, || run(asked.ask()));
        assert!(Strong::ptr_eq(&theirs, &ours));
    });
}

/// F7: A value is inserted while a task makes the value of the key: the thread that waits for the
/// task finds the inserted value, and the task goes on.
#[test]
fn a_thread_that_waits_for_a_task_is_overtaken() {
    check_few(2, |maker| {
        let asked = Asked::new(maker, 2);
        let (other, inserted) = (asked.clone(), maker.object());
        let mut made = asked.ask();
        assert!(poll(&mut made, &Woken::new()).is_pending());
        let ask = move || (other.map).get_or_insert_with(0, |_| unreachable!("a value is there"));
        let (waited, _) = both(ask, || asked.map.insert(0, &inserted));
        assert!(Strong::ptr_eq(&waited, &inserted));
        assert!(!Strong::ptr_eq(&run(made), &inserted));
        assert!(
            asked
                .map
                .get(&0)
                .is_some_and(|there| Strong::ptr_eq(&there, &inserted))
        );
    });
}

/// A4: What a result depends on dies when it is computed: the result goes to who has asked, and is
/// not kept.
#[test]
fn a_result_against_the_death_of_what_it_depends_on() {
    check_some(2, |maker| {
        let memo = Memo::new();
        let (key, input) = (maker.object(), maker.object());
        let weak = Strong::downgrade(&input);
        let computing = memo.get_or_compute_async(&key, move |_, dependencies| async move {
            let input = weak.upgrade();
            input.map(|input| dependencies.depends_on(&input)).is_some()
        });
        let ((), depends) = both(move || drop(input), || run(computing));
        assert!(!depends || memo.get(&key).is_none(), "its input is dead");
    });
}

type Watch = SharedWatchFor<Strong<Payload>>;
type Made = Table<ByKey<u32, Watch, ()>>;

/// A plan of a table of the model's own.
struct Planned;

impl Plan for Planned {
    type Owner = Made;
    type Schema = ByKey<u32, Watch, ()>;
    type Made = Strong<Payload>;

    fn table(table: &Made) -> &Made {
        table
    }

    fn read(watch: &Watch, (): &()) -> Option<Strong<Payload>> {
        watch.upgrade()
    }

    fn entry(
        self,
        made: &Strong<Payload>,
        hash: HashValue,
        core: CoreRef,
        _: Gathered,
    ) -> (Unplaced<'static, Watch>, ()) {
        (Watch::registered(made, hash, core), ())
    }

    fn cycle() -> ! {
        unreachable!("nothing waits for itself")
    }
}

/// A8: A task has joined a flight, which is called off while the task is polled; then the
/// computation begins with another one. Whoever polls it, the task that waits for the second is
/// woken.
#[test]
fn a_task_that_has_joined_a_flight_that_is_called_off() {
    check_some(1, |maker| {
        let (table, event) = (Arc::new(Made::new()), Arc::new(Event::default()));
        let (maker, comes) = (maker.clone(), Arc::clone(&event));
        let computing =
            |_| running(move || async move { Ok::<_, Infallible>(event.then(&maker).await) });
        let work = Work::new(HashValue::of_short(1), 0, Planned);
        let first = Making::of_work(Arc::downgrade(&work) as _);
        let joined = Work::<Planned>::join(&first).expect("it has an owner");
        let (others, its) = (Arc::clone(&table), Arc::clone(&first));
        both(
            move || {
                let mut seat = None;
                let polled =
                    poll_fn(|context| joined.poll(&its, &mut seat, false, &others, context));
                assert!(run(polled).is_none());
                drop(seat);
                joined.leave(&others);
                comes.come();
            },
            || {
                first.complete();
                let mut waiting = waiting(&*table, None, work, computing);
                let made = run(poll_fn(|context| waiting.poll(context)));
                made.ok().expect("it cannot fail").read();
            },
        );
    });
}
