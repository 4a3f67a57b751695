//! The server. The first request for a tenant spawns its load, which serves all requests that come meanwhile, and goes on
//! if their clients hang up. The tenant stays while a request uses it, then for a while in the floor, and is closed by one
//! of a few tasks.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{self, JoinSet};
use tokio::time::interval;
use weakly::concurrent::{KeepAlive, WeakValueMap};
use weakly::{Memo, ReferenceQueue, Strong, keep::Limit};

use crate::tenant::{Tenant, Use, notes};

/// What the floor keeps.
pub(crate) const ENTRIES: usize = 200;
pub(crate) const BYTES: usize = 400 << 10;
pub(crate) const GENERATIONS: u32 = 5;
/// How many tenants are closed at a time: each task closes one.
pub(crate) const CLOSERS: usize = 4;

pub(crate) struct Server {
    /// In an `Arc`, of which each load has a share.
    pub(crate) tenants: Arc<WeakValueMap<String, Strong<Tenant>>>,
    pub(crate) kept: KeepAlive<Strong<Tenant>>,
    /// Counted once for a tenant, and gone with it.
    pub(crate) lines: Memo<Strong<Tenant>, usize>,
    /// Gets each tenant with its last handle.
    closing: ReferenceQueue<Tenant>,
}

impl Server {
    pub(crate) fn new() -> Self {
        let tenants = Arc::new(WeakValueMap::new());
        let limit = Limit::entries(ENTRIES).weight(BYTES);
        let limit = limit.generations(GENERATIONS);
        let kept = tenants.set_keep_alive(limit, |tenant: &Strong<Tenant>| tenant.data.len());
        kept.set_listener(|_, _| notes().evicted += 1);
        Server {
            tenants,
            kept,
            lines: Memo::new(),
            closing: ReferenceQueue::new(),
        }
    }

    /// Returns the tenant of a name. All who have it at the same time have the same one.
    /// If the load fails, all who wait for it get its answer.
    pub(crate) async fn tenant(&self, name: &str) -> Result<Strong<Tenant>, StatusCode> {
        if let Some(tenant) = self.tenants.get(name) {
            notes().hits += 1;
            return Ok(tenant);
        }
        let closing = self.closing.clone();
        let load = |name: String| async move {
            let tenant = Tenant::load(name).await?;
            Ok(Strong::new_returning(tenant, &closing))
        };
        let spawn = |load| _ = tokio::spawn(load);
        let tenants = Arc::clone(&self.tenants);
        let name = name.to_owned();
        let loaded = WeakValueMap::try_get_or_insert_shared_spawned(tenants, name, load, spawn);
        let loaded = loaded.await.inspect(|_| notes().waits += 1);
        loaded.inspect_err(|_| notes().refused += 1)
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<String, StatusCode> {
        let path: Vec<_> = request.uri().path().split('/').collect();
        let ["", "tenants", name, what] = path[..] else {
            return Err(StatusCode::NOT_FOUND);
        };
        let tenant = self.tenant(name).await?;
        let _use = Use::begin(name, tenant.load);
        match (request.method(), what) {
            (&Method::GET, "lines") => {
                // Awaited directly: a count that a client leaves is not worth its end.
                let count = |_, _| tenant.count_lines();
                let lines = self.lines.get_or_compute_async(&tenant, count).await;
                return Ok(lines.to_string());
            }
            (&Method::GET, "change") => tenant.changed.notified().await, // perhaps for long
            (&Method::POST, "change") => tenant.changed.notify_waiters(),
            _ => return Err(StatusCode::NOT_FOUND),
        }
        Ok(String::new())
    }

    /// What this task has begun ends with it.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener) {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(Arc::clone(&self).connection(stream));
            while connections.try_join_next().is_some() {}
        }
    }

    async fn connection(self: Arc<Self>, stream: TcpStream) {
        let answer = async |request| {
            let answer = self.answer(request).await;
            let status = answer.as_ref().err().copied();
            let response = Response::builder().status(status.unwrap_or_default());
            response.body(answer.unwrap_or_default())
        };
        let connection = http1::Builder::new();
        let connection = connection.serve_connection(TokioIo::new(stream), service_fn(answer));
        let _ = connection.await; // an error: the client has hung up
        notes().connections -= 1;
    }

    /// Has those tenants go for which nobody has asked in a while.
    pub(crate) async fn tick(self: Arc<Self>) {
        let mut ticks = interval(Duration::from_millis(100));
        loop {
            ticks.tick().await;
            self.kept.advance();
        }
    }

    /// Closes the tenants that nobody has any more. Meanwhile they may be loaded again. The queue's
    /// content has no weight: if tenants were evicted faster than closed, only this queue would grow.
    pub(crate) async fn close(self: Arc<Self>) {
        notes().closers.extend(task::try_id());
        loop {
            self.closing.next().await.close().await;
        }
    }
}
