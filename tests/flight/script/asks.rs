//! How the askers of a script ask.

use std::ops::Deref;

use super::*;

/// How a flight has ended for its asker.
pub(super) enum Ended<R> {
    Answered(R),
    Panicked(Box<dyn Any + Send>),
    Given,
}

/// Asks, and checks the answer.
pub(super) fn ask<'a>(world: &'a Arc<World>, plan: Plan) -> Boxed<'a, ()> {
    match plan.of {
        Of::Slot(slot) => Box::pin(async move {
            let (key, control) = (world.key(slot), plan.control);
            let work = world.work(plan, Some(&key));
            let (asker, id) = (work.asker, work.id);
            if work.spawns() {
                let memo = MemoOf(Arc::clone(world));
                let load = move |_, inside| work.run(Some(inside), World::made);
                let spawn = |load| world.load(load);
                let flight = Memo::try_get_or_compute_spawned(memo, &key, load, spawn);
                let ended = follow(world, flight, control).await;
                world.check(ended, |made| made.id == id, asker);
            } else if work.plan.end == End::Fail {
                let flight = world.memo.try_get_or_compute_async(&key, move |_, inside| {
                    work.run(Some(inside), World::made)
                });
                let ended = follow(world, flight, control).await;
                world.check(ended, |made| made.id == id, asker);
            } else {
                let flight = world.memo.get_or_compute_async(&key, move |_, inside| {
                    work.begin();
                    infallible(work.run(Some(inside), World::made))
                });
                let ended = follow(world, flight, control).await.ok();
                world.check(ended, |made| made.id == id, asker);
            }
        }),
        Of::Name(name) => Box::pin(async move {
            let (control, holds) = (plan.control, plan.holds);
            let work = world.work(plan, None);
            let asker = work.asker;
            let named = |world: &Arc<World>, _: &Plan, name| world.thing(name as usize);
            let is = |thing: &Strong<Thing>| {
                if holds {
                    world.kept.lock().unwrap().1.push(thing.clone());
                }
                thing.name == name
            };
            if work.spawns() {
                let names = NamesOf(Arc::clone(world));
                let load = move |_| work.run(None, named);
                let spawn = |load| world.load(load);
                let flight = WeakValueMap::try_get_or_insert_spawned(names, name, load, spawn);
                world.check(follow(world, flight, control).await, is, asker);
            } else if work.plan.end == End::Fail {
                let flight =
                    (world.names).try_get_or_insert_async(name, move |_| work.run(None, named));
                world.check(follow(world, flight, control).await, is, asker);
            } else {
                let flight = world.names.get_or_insert_async(name, move |_| {
                    work.begin();
                    infallible(work.run(None, named))
                });
                world.check(follow(world, flight, control).await.ok(), is, asker);
            }
        }),
        Of::Own => Box::pin(async move {
            let key = world.new_key();
            let token = Token::new(&world.live);
            let flight = {
                world
                    .memo
                    .get_or_compute_async(&key, move |_, _| async move {
                        let _token = token;
                        yields(2).await;
                        std::future::pending().await
                    })
            };
            follow(world, flight, plan.control).await;
            world.forgotten.fetch_add(1, SeqCst);
        }),
    }
}

/// A share of the memo, for a load.
#[derive(Clone)]
struct MemoOf(Arc<World>);

impl Deref for MemoOf {
    type Target = Memo<Strong<Key>, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0.memo
    }
}

/// A share of the names, for a load.
#[derive(Clone)]
struct NamesOf(Arc<World>);

impl Deref for NamesOf {
    type Target = WeakValueMap<usize, Strong<Thing>>;

    fn deref(&self) -> &Self::Target {
        &self.0.names
    }
}

impl Work {
    /// Whether a load computes, for each second asker. (Nothing counts what the load of a forgotten caller leaves.)
    fn spawns(&self) -> bool {
        self.asker.number % 2 == 0 && !matches!(self.plan.control, Control::Forget(_))
    }
}

impl World {
    /// The panic of a load whose caller has gone ends the load.
    fn load(&self, mut load: Task) {
        drop(self.spawn(Box::pin(poll_fn(move |context| {
            let polled = catch_unwind(AssertUnwindSafe(|| load.as_mut().poll(context)));
            polled.unwrap_or(Poll::Ready(()))
        }))));
    }
}

impl<R> Ended<R> {
    /// Of what cannot fail.
    fn ok(self) -> Ended<Result<R, Failure>> {
        match self {
            Ended::Answered(made) => Ended::Answered(Ok(made)),
            Ended::Panicked(payload) => Ended::Panicked(payload),
            Ended::Given => Ended::Given,
        }
    }
}

/// Polls a future as long as its asker wants.
async fn follow<F: Future>(world: &World, asked: F, control: Control) -> Ended<F::Output> {
    let (mut asked, mut polls, mut stalled) = (Some(Box::pin(asked)), 0, 0);
    let ended = poll_fn(|context| {
        let Some(future) = &mut asked else {
            unreachable!("it is polled until it ends")
        };
        match control {
            Control::Cancel(after, false) if polls >= after => {
                asked = None;
                return Poll::Ready(Ended::Given);
            }
            Control::Stall(after, turns) if polls >= after && stalled < turns => {
                stalled += 1;
                world.stalled.store(true, SeqCst);
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Control::Forget(after) if polls >= after => {
                mem::forget(asked.take());
                return Poll::Ready(Ended::Given);
            }
            _ => {}
        }
        polls += 1;
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let ended = match polled {
            Ok(Poll::Ready(answer)) => Ended::Answered(answer),
            Ok(Poll::Pending) => match control {
                Control::Cancel(after, true) if polls >= after => Ended::Given,
                Control::Forget(after) if polls >= after => {
                    mem::forget(asked.take());
                    Ended::Given
                }
                _ => return Poll::Pending,
            },
            Err(payload) => Ended::Panicked(payload),
        };
        asked = None;
        Poll::Ready(ended)
    })
    .await;
    if matches!(ended, Ended::Given) {
        world.gave_up.store(true, SeqCst);
    }
    ended
}

/// A part of a task that is polled when it was woken.
struct Part {
    woken: AtomicBool,
    whole: Mutex<Option<Waker>>,
}

impl Wake for Part {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, SeqCst);
        let whole = self.whole.lock().unwrap().clone();
        whole.into_iter().for_each(Waker::wake);
    }
}

pub(super) async fn join(world: &Arc<World>, plans: Vec<Plan>, unordered: bool) {
    let parts = plans.into_iter().map(|plan| {
        let part = Arc::new(Part {
            woken: AtomicBool::new(true),
            whole: Mutex::new(None),
        });
        (Some(ask(world, plan)), part)
    });
    let mut parts: Vec<_> = parts.collect();
    poll_fn(|context| {
        for (asked, part) in &mut parts {
            let Some(future) = asked else { continue };
            let polled = if unordered {
                *part.whole.lock().unwrap() = Some(context.waker().clone());
                if !part.woken.swap(false, SeqCst) {
                    continue;
                }
                let waker = Waker::from(Arc::clone(part));
                future.as_mut().poll(&mut Context::from_waker(&waker))
            } else {
                future.as_mut().poll(context)
            };
            if polled.is_ready() {
                *asked = None;
            }
        }
        match parts.iter().all(|(asked, _)| asked.is_none()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

/// Asks by a call that blocks.
pub(super) fn ask_blocking(world: &Arc<World>, plan: Plan, timeout: Option<Duration>) {
    let (of, holds) = (plan.of, plan.holds);
    match of {
        Of::Slot(slot) => {
            let key = world.key(slot);
            let work = world.work(plan, Some(&key));
            let (asker, id) = (work.asker, work.id);
            let fails = work.plan.end == End::Fail;
            let ended = catch_unwind(AssertUnwindSafe(|| {
                let compute = |cx: &Computation<'_>| {
                    work.begin();
                    work.block(Some(Inside::Thread(cx)), timeout, World::made)
                };
                // What cannot fail panics instead.
                let made = |made: Result<Value, Failure>| match made {
                    Ok(made) => made,
                    Err(failure) => resume_unwind(Box::new(Boom(failure.0))),
                };
                match timeout {
                    Some(timeout) => {
                        let made = world
                            .memo
                            .get_or_compute_timeout(&key, timeout, |cx| made(compute(cx)));
                        made.ok().map(Ok)
                    }
                    None if fails => Some(world.memo.try_get_or_compute(&key, compute)),
                    None => Some(Ok(world.memo.get_or_compute(&key, |cx| made(compute(cx))))),
                }
            }));
            let ended = match ended {
                Ok(Some(answer)) => Ended::Answered(answer),
                Ok(None) => Ended::Given,
                Err(payload) => Ended::Panicked(payload),
            };
            world.check(ended, |made| made.id == id, asker);
        }
        // Which has no time.
        Of::Name(name) if timeout.is_none() => {
            let work = world.work(plan, None);
            let asker = work.asker;
            let ended = catch_unwind(AssertUnwindSafe(|| {
                (world.names).try_get_or_insert_with(name, |_| {
                    work.begin();
                    work.block(None, timeout, |world, _, name| world.thing(name as usize))
                })
            }));
            let ended = ended.map_or_else(Ended::Panicked, Ended::Answered);
            let is = |thing: &Strong<Thing>| {
                if holds {
                    world.kept.lock().unwrap().1.push(thing.clone());
                }
                thing.name == name
            };
            world.check(ended, is, asker);
        }
        Of::Name(_) | Of::Own => {}
    }
}
