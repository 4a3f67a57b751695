//! A tenant stands for a connection to a database, and for what has been read there. What happens to it is noted, apart
//! from the library.

use std::future::pending;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use hyper::StatusCode;
use tokio::time::{sleep, timeout};
use tokio::{sync::Notify, task};

/// How many there are. Their names are numbers.
pub(crate) const TENANTS: usize = 500;

/// The tenant whose query hangs.
pub(crate) const HANGING: &str = "hanging";

#[derive(Default)]
pub(crate) struct Notes {
    /// Of clients; what they were answered; of these, with a tenant that was there, and with one that was loaded.
    pub(crate) requests: usize,
    pub(crate) answers: usize,
    pub(crate) hits: usize,
    pub(crate) waits: usize,
    /// Loads that have made a tenant; queries whose time was up; and requests that were refused.
    pub(crate) loads: usize,
    pub(crate) timed_out: usize,
    pub(crate) refused: usize,
    pub(crate) evicted: usize,
    pub(crate) closed: usize,
    /// Of what is loaded and not closed.
    pub(crate) bytes: usize,
    /// Of clients, until the server has ended them.
    pub(crate) connections: usize,
    /// For each request that uses a tenant: its name, and which load has made it. For each load under way, 0.
    pub(crate) in_use: Vec<(String, usize)>,
    /// The only tasks that may close; how many tenants they close now, and the most at a time.
    pub(crate) closers: Vec<task::Id>,
    pub(crate) closing: usize,
    pub(crate) most_closing: usize,
}

impl Notes {
    fn begin_closing(&mut self) {
        self.closing += 1;
        self.most_closing = self.most_closing.max(self.closing);
    }
}

pub(crate) fn notes() -> MutexGuard<'static, Notes> {
    static NOTES: LazyLock<Mutex<Notes>> = LazyLock::new(Mutex::default);
    NOTES.lock().expect("no panic")
}

/// A request uses what this load has made; or, with 0, a load is under way. Both until this is dropped.
pub(crate) struct Use((String, usize));

impl Use {
    pub(crate) fn begin(name: &str, load: usize) -> Self {
        let mut now = notes();
        let mut others = now.in_use.iter().filter(|it| it.0 == name);
        let is_one = others.all(|it| load != 0 && it.1 == load);
        assert!(is_one, "{name} is two objects, or is loaded twice");
        now.in_use.push((name.to_owned(), load));
        Use((name.to_owned(), load))
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut now = notes();
        let at = now.in_use.iter().position(|it| *it == self.0);
        now.in_use.swap_remove(at.expect("it has begun"));
    }
}

pub(crate) struct Tenant {
    pub(crate) data: Vec<u8>,
    pub(crate) changed: Notify,
    /// Which of all loads has made it.
    pub(crate) load: usize,
    is_closed: bool,
}

impl Tenant {
    pub(crate) async fn load(name: String) -> Result<Self, StatusCode> {
        let number = name.parse::<usize>().ok().filter(|it| *it < TENANTS);
        let _loading = Use::begin(&name, 0);
        let query = async {
            sleep(Duration::from_millis(3)).await;
            if name == HANGING {
                pending::<()>().await;
            }
        };
        let ended = timeout(Duration::from_millis(50), query).await;
        let mut now = notes();
        now.timed_out += usize::from(ended.is_err());
        ended.map_err(|_| StatusCode::GATEWAY_TIMEOUT)?;
        let number = number.ok_or(StatusCode::NOT_FOUND)?;
        let data = vec![b'.'; 1_000 + number * 977 % 4_000];
        now.loads += 1;
        now.bytes += data.len();
        Ok(Tenant {
            data,
            changed: Notify::new(),
            load: now.loads,
            is_closed: false,
        })
    }

    pub(crate) async fn count_lines(&self) -> usize {
        sleep(Duration::from_millis(1)).await; // a long text
        self.data.iter().filter(|it| **it == b'\n').count()
    }

    pub(crate) async fn close(mut self) {
        notes().begin_closing();
        sleep(Duration::from_millis(1)).await; // a message to the database
        self.is_closed = true;
    }
}

impl Drop for Tenant {
    fn drop(&mut self) {
        let mut now = notes();
        assert!(self.is_closed, "a tenant was dropped, and not closed");
        let is_closer = task::try_id().is_some_and(|id| now.closers.contains(&id));
        assert!(is_closer, "a task that closes");
        now.closing -= 1;
        now.closed += 1;
        now.bytes -= self.data.len();
    }
}
