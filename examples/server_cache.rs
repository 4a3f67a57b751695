//! A cache in a server, without the server. Threads ask for tenants, for a few of them often and for most rarely, as clients do,
//! and some requests take long. A tenant is loaded when somebody asks for it and nobody has it. A weak map alone
//! forgets a tenant with its last request, and soon loads it again. With a floor under it, the tenants that SIEVE
//! chooses stay, within a number, a sum of bytes, and a number of ticks of a timer without a request.
//!
//! After each tick, when all threads rest, loads, hits, closed tenants and bytes are compared with what is counted
//! apart; and at all times, who asks for a tenant that another thread uses must get the same object.
//! It checks itself: `cargo run --release --example server_cache`

#[path = "common/mod.rs"]
mod common;

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

use common::{report::Report, same};
use weakly::concurrent::{KeepAlive, WeakValueMap};
use weakly::{Strong, keep::Limit};

const THREADS: usize = 3;
const TENANTS: usize = 2_000;
/// What each thread asks for between two ticks.
const REQUESTS: usize = 1_000;
const TICKS: usize = [200, 10][cfg!(debug_assertions) as usize];
/// One request in so many takes long: until the thread has had so many others like it.
const LONG: usize = 10;
const AT_A_TIME: usize = 5;

/// What the floor keeps.
const ENTRIES: usize = 400;
const BYTES: usize = 1 << 20;
const GENERATIONS: u32 = 5;

/// What has happened to the tenants of a server.
#[derive(Default)]
struct Counts {
    loads: AtomicUsize,
    hits: AtomicUsize,
    closed: AtomicUsize,
    /// Of the tenants that live.
    bytes: AtomicUsize,
}

impl Counts {
    fn now(&self) -> [usize; 4] {
        [&self.loads, &self.hits, &self.closed, &self.bytes].map(|count| count.load(Relaxed))
    }
}

struct Tenant {
    number: usize,
    /// Which of all loads has made it.
    load: usize,
    data: Vec<u8>,
    counts: Arc<Counts>,
}

impl Tenant {
    /// Stands for a connection, and queries.
    fn load(number: usize, counts: &Arc<Counts>) -> Strong<Self> {
        let data = vec![0; 1_000 + number * 977 % 4_000];
        counts.bytes.fetch_add(data.len(), Relaxed);
        Strong::new(Tenant {
            number,
            load: counts.loads.fetch_add(1, Relaxed),
            data,
            counts: Arc::clone(counts),
        })
    }
}

impl Drop for Tenant {
    fn drop(&mut self) {
        self.counts.closed.fetch_add(1, Relaxed);
        self.counts.bytes.fetch_sub(self.data.len(), Relaxed);
    }
}

/// Who uses a tenant now: how many requests, and of which load it is.
type Users = Mutex<(usize, usize)>;

struct Server {
    tenants: WeakValueMap<usize, Strong<Tenant>>,
    kept: Option<KeepAlive<Strong<Tenant>>>,
    users: Vec<Users>,
    counts: Arc<Counts>,
}

impl Server {
    fn new(limit: Option<Limit>) -> Self {
        let tenants = WeakValueMap::new();
        let weigh = |tenant: &Strong<Tenant>| tenant.data.len();
        let kept = limit.map(|limit| tenants.set_keep_alive(limit, weigh));
        Server {
            tenants,
            kept,
            users: (0..TENANTS).map(|_| Users::default()).collect(),
            counts: Arc::default(),
        }
    }

    fn tenant(&self, number: usize) -> Strong<Tenant> {
        let mut is_hit = true;
        let tenant = self.tenants.get(&number).unwrap_or_else(|| {
            self.tenants.get_or_insert_with(number, |number| {
                is_hit = false;
                Tenant::load(*number, &self.counts)
            })
        });
        self.counts.hits.fetch_add(is_hit.into(), Relaxed);
        tenant
    }

    fn begin(&self, number: usize) -> Result<Request<'_>, String> {
        let tenant = self.tenant(number);
        same("a tenant's number", tenant.number, number)?;
        let mut users = self.users[number].lock().expect("no panic");
        if users.0 != 0 {
            same("the object that others use", tenant.load, users.1)?;
        }
        *users = (users.0 + 1, tenant.load);
        drop(users);
        Ok(Request(self, tenant))
    }

    /// Called when all threads rest.
    fn check(&self, requests: usize) -> Result<(), String> {
        let [loads, hits, closed, bytes] = self.counts.now();
        same("loads and hits", loads + hits, requests)?;
        same("closed and alive", closed + self.tenants.len(), loads)?;
        let alive: Vec<_> = self.tenants.values().collect();
        let sum = |tenants: &[&Strong<Tenant>]| tenants.iter().map(|it| it.data.len()).sum();
        same("alive", sum(&alive.iter().collect::<Vec<_>>()), bytes)?;
        let Some(kept) = &self.kept else {
            return Ok(());
        };
        let are_kept: Vec<_> = alive.iter().filter(|it| kept.contains(*it)).collect();
        same("kept", kept.len(), are_kept.len())?;
        same("weight", kept.retained_weight(), sum(&are_kept))?;
        let within = kept.len() <= ENTRIES && kept.retained_weight() <= BYTES;
        same("within the limit", within, true)
    }

    fn row(&self, report: &mut Report, phase: &str) {
        let [loads, hits, closed, bytes] = self.counts.now();
        let kept = self.kept.as_ref().map_or(0, KeepAlive::len);
        report.row(phase, || [loads, hits, closed, kept, bytes]);
    }
}

struct Request<'s>(&'s Server, Strong<Tenant>);

impl Drop for Request<'_> {
    fn drop(&mut self) {
        let Request(server, tenant) = self;
        server.users[tenant.number].lock().expect("no panic").0 -= 1;
    }
}

/// A thread that serves requests, and what its clients ask for.
struct Worker<'s> {
    server: &'s Server,
    random: u64,
    /// Requests that take long.
    held: VecDeque<Request<'s>>,
}

impl Worker<'_> {
    /// Zipf's law: the n-th tenant is asked for as often as the first in 1/n of all cases.
    fn next(&mut self, sums: &[u64]) -> usize {
        self.random = self.random.wrapping_mul(0x5851_F42D_4C95_7F2D) + 1;
        let at = (self.random >> 16) % sums[TENANTS - 1];
        sums.partition_point(|sum| *sum <= at)
    }

    fn work(&mut self, sums: &[u64]) -> Result<(), String> {
        for n in 0..REQUESTS {
            let number = self.next(sums);
            let request = self.server.begin(number)?;
            if n % LONG == 0 {
                self.held.push_back(request);
                self.held.drain(..self.held.len().saturating_sub(AT_A_TIME));
            }
        }
        Ok(())
    }
}

/// All ask, and meanwhile a timer ticks.
fn serve(server: &Server) -> Result<(), String> {
    let mut sum = 0;
    let weights = (1..=TENANTS as u64).map(|n| (1 << 32) / n);
    let sums: Vec<u64> = weights.map(|weight| (sum += weight, sum).1).collect();
    let worker = |seed| Worker {
        server,
        random: seed,
        held: VecDeque::new(),
    };
    let mut workers: Vec<_> = (0..THREADS as u64).map(worker).collect();
    for tick in 1..=TICKS {
        thread::scope(|scope| {
            let work = |worker| scope.spawn(|| Worker::work(worker, &sums));
            let threads: Vec<_> = workers.iter_mut().map(work).collect();
            let timer = scope.spawn(|| server.kept.as_ref().map(KeepAlive::advance));
            timer.join().expect("no panic");
            let mut ends = threads.into_iter().map(|thread| thread.join());
            ends.try_for_each(|end| end.expect("no panic"))
        })?;
        server.check(tick * THREADS * REQUESTS)?;
    }
    Ok(())
}

fn run(report: &mut Report) -> Result<(), String> {
    let limit = Limit::entries(ENTRIES).weight(BYTES);
    let limit = limit.generations(GENERATIONS);
    let mut loads = Vec::new();
    for (limit, name) in [(None, "weak"), (Some(limit), "kept")] {
        let server = Server::new(limit);
        for number in (0..10).chain(0..10) {
            server.begin(number)?;
        }
        server.check(20)?;
        server.row(report, &format!("{name}: ten tenants, twice"));

        let server = Server::new(limit);
        serve(&server)?;
        loads.push(server.counts.now()[0]);
        server.row(report, &format!("{name}: {TICKS} ticks"));
        if let Some(kept) = &server.kept {
            (0..=GENERATIONS).for_each(|_| kept.advance()); // nobody asks any more
        }
        server.check(TICKS * THREADS * REQUESTS)?;
        same("alive at the end", server.tenants.len(), 0)?;
        server.row(report, &format!("{name}: at rest"));
    }
    same("a floor saves loads", 2 * loads[1] < loads[0], true)
}

fn main() -> ExitCode {
    common::checked(&["loads", "hits", "closed", "kept", "bytes"], run)
}
