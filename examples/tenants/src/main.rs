//! A server of tenants on tokio and hyper, and its clients, in one process. Tenants are loaded by name, once for all
//! requests that wait, also if some of these hang up or the load fails; kept while somebody uses them, and the latest of them longer; and
//! closed by four tasks. It checks itself: `cargo run -p weakly-tenants`

mod clients;
mod server;
mod tenant;

use std::future::{Future, poll_fn};
use std::{panic, process, sync::Arc, task::Poll, time::Duration};

use hyper::StatusCode;
use tokio::time::sleep;
use tokio::{net::TcpListener, runtime::Runtime, task::JoinSet};

use server::{BYTES, CLOSERS, ENTRIES, GENERATIONS, Server};
use tenant::{HANGING, notes};

const ROUNDS: u64 = 6;
const CLIENTS: u64 = 16;
const REQUESTS: usize = 100;

/// Waits until the server has ended what clients have left, and closed what nobody has. Only these requests go on.
async fn rest(server: &Server, watches: &mut JoinSet<()>) {
    let rests = |watching: usize| {
        let now = notes();
        let are_left = [now.connections, now.in_use.len()] == [watching; 2];
        let are_loaded = now.in_use.iter().all(|it| it.1 != 0);
        are_left && are_loaded && now.loads - now.closed == server.tenants.len()
    };
    while !rests(watches.len()) {
        sleep(Duration::from_millis(1)).await;
        while watches.try_join_next().is_some() {}
    }
}

/// At rest, compares what is noted with what the library says.
fn compare(server: &Server, phase: &str) {
    let (tenants, kept, lines) = (&server.tenants, &server.kept, &server.lines);
    let bytes = tenants.values().map(|it| it.data.len()).sum::<usize>();
    let are_kept = tenants.values().filter(|it| kept.contains(it));
    let kept_bytes = are_kept.map(|it| it.data.len()).sum::<usize>();
    let now = notes();
    assert_eq!(now.loads, now.closed + tenants.len(), "closed and alive");
    assert_eq!(now.bytes, bytes, "bytes alive");
    assert_eq!(kept.retained_weight(), kept_bytes, "the retained weight");
    assert!(lines.len() <= tenants.len(), "results of what is gone");
    let is_within = kept.len() <= ENTRIES && kept_bytes <= BYTES;
    assert!(is_within, "more is kept than the limit allows");
    let served = now.hits + now.waits + now.refused;
    assert!((now.answers..=now.requests).contains(&served), "the hits");
    print!("{phase:9}{:9}{:9}{:9}", now.requests, now.hits, now.loads);
    print!("{:9}{:9}{:9}", now.refused, now.evicted, now.closed);
    println!("{:9}{kept_bytes:9}{bytes:9}", now.in_use.len());
}

async fn run() {
    print!("          requests     hits    loads  refused");
    println!("  evicted   closed   in use     kept    alive");
    let server = Arc::new(Server::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let to = listener.local_addr().expect("an address");
    tokio::spawn(Arc::clone(&server).serve(listener));
    for _ in 0..CLOSERS {
        tokio::spawn(Arc::clone(&server).close());
    }
    let mut watches = JoinSet::new();
    for round in 1..=ROUNDS {
        watches.shutdown().await; // they hang up
        let timer = tokio::spawn(Arc::clone(&server).tick());
        let mut working = JoinSet::new();
        for random in (1..=CLIENTS).map(|client| round * CLIENTS + client) {
            watches.spawn(clients::watch(to, random));
            working.spawn(clients::work(to, REQUESTS, random));
        }
        working.join_all().await;
        timer.abort();
        let _ = timer.await; // it is over
        server.kept.advance();
        rest(&server, &mut watches).await;
        compare(&server, &format!("round {round}"));
    }
    (0..=GENERATIONS).for_each(|_| server.kept.advance()); // nobody asks any more
    rest(&server, &mut watches).await;
    compare(&server, "idle");
    assert!(server.kept.is_empty(), "something is kept");
    let at_a_time = notes().most_closing;
    assert!((2..=CLOSERS).contains(&at_a_time), "closed at a time");
    watches.shutdown().await;
    rest(&server, &mut watches).await;
    compare(&server, "shut down");
    fail_together(&server).await;
    assert!(server.tenants.is_empty(), "something is open");
}

/// 64 requests for a tenant whose query hangs: the first loads, and all get its answer when its time is up.
async fn fail_together(server: &Server) {
    let mut requests: Vec<_> = (0..64).map(|_| Box::pin(server.tenant(HANGING))).collect();
    poll_fn(|cx| {
        requests.retain_mut(|request| match request.as_mut().poll(cx) {
            Poll::Ready(answer) => {
                assert_eq!(answer.err(), Some(StatusCode::GATEWAY_TIMEOUT));
                false
            }
            Poll::Pending => true,
        });
        if requests.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    assert_eq!(notes().timed_out, 1, "one query for all");
}

/// Panics when nothing has happened for a minute, however long the whole takes.
async fn goes_on() {
    let count = || {
        let now = notes();
        now.requests + now.answers + now.loads + now.closed + now.connections
    };
    let mut before = usize::MAX;
    while before != count() {
        before = count();
        sleep(Duration::from_secs(60)).await;
    }
    panic!("every request ends, and every tenant is closed");
}

fn main() {
    panic::set_hook(Box::new(|why| {
        eprintln!("{why}"); // in whatever task it is
        process::exit(1);
    }));
    let runtime = Runtime::new().expect("a runtime");
    runtime.spawn(goes_on());
    runtime.block_on(run());
}
