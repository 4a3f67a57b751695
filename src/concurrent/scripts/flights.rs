//! Flights of threads and of tasks.

use core::future::{Future, poll_fn};
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::boxed::Box;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::vec::Vec;

use shuttle::future::block_on;
use shuttle::thread;

use super::super::watch::{SharedWatchFor, UpgradesOne, WatchesOne};
use super::super::way::Failed;
use super::super::way::Way;
use super::*;
use crate::flight::Reservation;
use crate::hash::HashValue;

type Watch = SharedWatchFor<Strong<Named>>;
type Object = Strong<Named>;

const KEYS: u32 = 3;

/// A map of objects that flights make.
#[derive(Default)]
struct World {
    map: Map,
    live: Live,
    gate: Gate,
}

impl World {
    /// The object of a key, by a flight of the thread or without a reservation. The making may
    /// fail, may panic, and may ask for any key: for its own key, too, which is an error.
    fn ask(&self, key: u32, may_panic: bool, depth: usize) -> Result<Object, Failed<()>> {
        let hash = HashValue::of(&BuildHasherDefault::<DefaultHasher>::default(), &key);
        let make = || match below(8) {
            0 => Err(()),
            1 if may_panic => resume_unwind(Box::new(())),
            2..5 if depth != 0 => {
                let other = self.ask(below(KEYS), may_panic, depth - 1);
                other.map(|_| self.live.object(key)).map_err(drop)
            }
            _ => Ok(self.live.object(key)),
        };
        self.map.table.get_or_make(
            (hash, &key),
            if below(6) == 0 {
                Way::RACES
            } else {
                Way::WAITS
            },
            |watch, ()| watch.upgrade(),
            make,
            |object, core| (Watch::registered(object, hash, core), ()),
        )
    }

    /// Inserts an object, or removes a key.
    fn change(&self, key: u32) {
        match below(2) {
            0 => drop(self.map.remove(&key)),
            _ => drop(self.map.insert(key, &self.live.object(key))),
        }
    }

    /// The end of a script: no flight is left, and nothing is left but the map.
    fn end(self: Arc<Self>) {
        for key in 0..KEYS {
            let object = self.map.get_or_insert_with(key, |_| self.live.object(key));
            assert_eq!(object.name, key, "an entry of another key");
        }
        assert_eq!((self.map.len(), self.live.count()), (0, 0));
    }
}

/// Threads ask for the same few keys. The makings fail, panic, and ask for each other. Values are
/// inserted and removed meanwhile.
#[test]
fn flights_of_threads() {
    check(|| {
        let world = Arc::new(World::default());
        let all = Arc::clone(&world);
        on_threads(3, move |at| {
            let mut held = None;
            for _ in 0..3 {
                let key = below(KEYS);
                // (One thread only: while it unwinds, each thread finds itself panicking.)
                let asks = || all.ask(key, at == 0, 2);
                match below(5) {
                    0 => all.change(key),
                    _ => match catch_unwind(AssertUnwindSafe(asks)) {
                        Ok(Ok(object)) => {
                            assert_eq!(object.name, key, "an entry of another key");
                            held = Some(object);
                        }
                        Ok(Err(_)) => held = None,
                        Err(_) => assert_eq!(at, 0),
                    },
                }
            }
            drop(held);
            assert!(Reservation::current().is_none(), "a frame is left");
        });
        world.end();
    });
}

/// Something for which computations wait.
#[derive(Default)]
struct Gate(Mutex<(bool, Vec<Waker>)>);

impl Gate {
    fn open(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        let wakers = core::mem::take(&mut state.1);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    async fn wait(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap();
            if state.0 {
                return Poll::Ready(());
            }
            state.1.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Pends once, and wakes the task.
async fn yields() {
    let mut pends = true;
    poll_fn(|context| {
        if !core::mem::replace(&mut pends, false) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

type Asked = Pin<Box<dyn Future<Output = Result<Object, ()>> + Send>>;

impl World {
    fn flight(self: &Arc<Self>, key: u32) -> Asked {
        let world = Arc::clone(self);
        Box::pin(async move {
            let its = Arc::clone(&world);
            (world.map)
                .try_get_or_insert_async(key, move |key| its.compute(key))
                .await
        })
    }

    /// A computation. It asks only for larger keys, so no computation needs itself.
    async fn compute(self: Arc<Self>, key: u32) -> Result<Object, ()> {
        for _ in 0..below(3) {
            match below(5) {
                0 => return Err(()),
                1 => self.gate.wait().await,
                2 if key + 1 < KEYS => _ = self.flight(key + 1).await?,
                _ => yields().await,
            }
        }
        Ok(self.live.object(key))
    }
}

/// Tasks ask for the same few keys, and some tasks give up after a poll. A thread waits for a value
/// that tasks make, or makes a value itself. Values are inserted and removed meanwhile.
#[test]
fn flights_of_tasks() {
    check(|| {
        let world = Arc::new(World::default());
        let all = Arc::clone(&world);
        on_threads(4, move |at| {
            if at == 0 {
                (0..below(20)).for_each(|_| thread::yield_now());
                return all.gate.open();
            }
            for _ in 0..3 {
                let key = below(KEYS);
                let got = match below(8) {
                    0 => {
                        all.change(key);
                        continue;
                    }
                    1 => all.map.get_or_insert_with(key, |_| all.live.object(key)),
                    2..4 => {
                        let mut context = Context::from_waker(Waker::noop());
                        match all.flight(key).as_mut().poll(&mut context) {
                            Poll::Ready(Ok(got)) => got,
                            _ => continue,
                        }
                    }
                    _ => match block_on(all.flight(key)) {
                        Ok(got) => got,
                        Err(()) => continue,
                    },
                };
                assert_eq!(got.name, key, "an entry of another key");
            }
        });
        world.end();
    });
}
