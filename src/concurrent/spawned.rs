//! The spawned form: a *load*, which an executor runs as a task of its own, leads the reservation.
//! The caller only waits for the load. So a caller that is not polled any more delays no
//! other caller, and a caller that gives up ends no load.
//!
//! * **L1** The caller reserves the value, and polls the load once before the executor gets the
//!   load. In this poll the load takes the reservation over. From then on the drop of the load
//!   frees the reservation, whether the executor has polled the load or not.
//! * **L2** The load has its own share of the collection: a pointer of the user's, whose `Clone`
//!   and `Deref` may lie. The load dereferences the pointer once, and borrows the table until the
//!   end of the load. The first poll compares this table with the table that the caller borrows
//!   meanwhile.
//! * **L3** The load drops the computation, the parts of the entry and the leader before the share.
//!
//! In the graph of waits, a load is a computation within which its leader leads: the caller waits
//! for the load, and so for whatever the leader waits for.

use core::future::{Future, poll_fn};
use core::panic::AssertUnwindSafe;
use core::pin::{Pin, pin};
use core::ptr;
use core::task::{Context, Poll, Waker};
use std::boxed::Box;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use super::leader::{Leader, Stage};
use super::node::Compare;
use super::table::Table;
use super::way::cycle;
use crate::flight::{Edge, Reservation, Wait};
use crate::sync::Mutex;

/// A load, for an executor.
pub(crate) type Load = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The way of a result from the load to its caller.
pub(crate) struct Loading<R> {
    /// Complete when the load has ended, or was dropped. (The reservation of the value is complete
    /// as soon as another caller inserts a value: F5.)
    end: Arc<Reservation>,
    result: Mutex<Option<thread::Result<R>>>,
}

impl<R> Loading<R> {
    /// Waits for the result of the load.
    ///
    /// # Panics
    /// With the panic of the load, or because the load was dropped or waits for its caller.
    pub(crate) async fn result<K, V>(&self) -> R {
        if Wait::new(&self.end).await.is_err() {
            cycle::<K, V>()
        }
        match self.result.replace(None) {
            Some(Ok(result)) => result,
            Some(Err(panic)) => resume_unwind(panic),
            None => panic!(
                "the load of a value ({}) was dropped before its end: its executor has shut down, or \
                 refused the load",
                core::any::type_name::<V>()
            ),
        }
    }
}

/// The side of the load. The drop ends the wait of the caller.
struct LoadEnd<R>(Arc<Loading<R>>);

impl<R> LoadEnd<R> {
    /// Leaves the result to the caller, and ends the wait of the caller.
    ///
    /// # Panics
    /// As the load has panicked, if the caller is gone.
    fn end_with(self, result: thread::Result<R>) {
        let loading = Arc::clone(&self.0);
        loading.result.replace(Some(result));
        drop(self);
        let left = Arc::into_inner(loading).and_then(|loading| loading.result.replace(None));
        if let Some(Err(panic)) = left {
            resume_unwind(panic);
        }
    }
}

impl<R> Drop for LoadEnd<R> {
    fn drop(&mut self) {
        self.0.end.complete();
    }
}

/// Runs a future as the code of a computation, and catches its panic.
async fn caught<R>(of: Arc<Reservation>, running: impl Future<Output = R>) -> thread::Result<R> {
    let mut running = pin!(running);
    poll_fn(|context| {
        let _frame = Reservation::frame(&of);
        match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}

impl<S: Compare + 'static> Leader<'_, S>
where
    Table<S>: Sync,
{
    /// Makes a load that leads in the place of this leader, and passes the load to `spawn`. The
    /// load has a share of the collection, whose table is `table`, runs the computation, and ends
    /// with `end`.
    pub(crate) fn spawn<M, F, V, R, E>(
        mut self,
        (share, table): (M, impl FnOnce(&M) -> &Table<S> + Send + 'static),
        computing: F,
        split: impl FnOnce(F::Output) -> Result<V, E> + Send + 'static,
        end: impl FnOnce(Leader<'_, S>, Result<V, E>) -> Result<R, E> + Send + 'static,
        spawn: impl FnOnce(Load),
    ) -> Arc<Loading<Result<R, E>>>
    where
        M: Send + 'static,
        F: Future + Send + 'static,
        V: Send + 'static,
        R: Send + 'static,
        E: Send + 'static,
    {
        let loading = Arc::new(Loading {
            end: Reservation::new(),
            result: Mutex::new(None),
        });
        let ends = LoadEnd(Arc::clone(&loading));
        let (ended, reservation) = (Arc::clone(&loading.end), Arc::clone(self.reservation()));
        let role = self.role.clone();
        let (hash, known) = (self.hash, ptr::from_ref(self.table).addr());
        let load = async move {
            // L3: the locals are dropped in the reverse order.
            let share = share;
            let table = table(&share);
            // L2
            assert!(
                ptr::from_ref(table).addr() == known,
                "a clone of the pointer to a collection has led to another collection"
            );
            let leader = Leader::new(table, hash, (reservation, None), role);
            // L1
            let pauses = true;
            leader.make(pauses, || computing, split, end).await
        };
        let mut load: Load = Box::pin(async move { ends.end_with(caught(ended, load).await) });
        let first = {
            let _frame = self.frame();
            let _edge = Edge::of_leader(&loading.end);
            load.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        };
        if first.is_pending() {
            self.stage = Stage::HandedOver;
            drop(self);
            // `spawn` may run the load.
            let _edge = Edge::of_leader(&loading.end);
            spawn(load);
        }
        loading
    }
}
