//! The clients ask for a few tenants often, and for most rarely. Some hang up before the answer.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};

use crate::tenant::{TENANTS, notes};

/// The connection ends with what this returns.
async fn connect(to: SocketAddr) -> SendRequest<String> {
    let stream = TcpStream::connect(to).await.expect("the server listens");
    notes().connections += 1;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a connection");
    tokio::spawn(connection);
    sender
}

async fn ask(to: &mut SendRequest<String>, method: Method, path: String) -> StatusCode {
    notes().requests += 1;
    let request = Request::builder().method(method).uri(path);
    let request = request.header("host", "localhost").body(String::new());
    to.ready().await.expect("a connection");
    let response = to
        .send_request(request.expect("a path"))
        .await
        .expect("an answer");
    let status = response.status();
    response.into_body().collect().await.expect("all of it");
    notes().answers += 1;
    status
}

/// Zipf's law: the n-th tenant comes as often as the first in 1/n of all cases.
fn next(random: &mut u64) -> usize {
    *random = random.wrapping_mul(0x5851_F42D_4C95_7F2D) + 1;
    let power = (*random >> 11) as f64 / (1_u64 << 53) as f64;
    (TENANTS as f64).powf(power) as usize - 1
}

/// One request after the other.
pub(crate) async fn work(to: SocketAddr, requests: usize, mut random: u64) {
    let mut connection = connect(to).await;
    for n in 1..=requests {
        let name = next(&mut random);
        let (method, name, what) = match n % 20 {
            1 => (Method::GET, TENANTS - 1 - name, "lines"),
            2 => (Method::GET, TENANTS + name, "lines"),
            3 => (Method::POST, name, "change"),
            _ => (Method::GET, name, "lines"),
        };
        let answer = ask(&mut connection, method, format!("/tenants/{name}/{what}"));
        if n % 20 != 1 {
            assert_eq!(answer.await == StatusCode::OK, name < TENANTS);
        } else if timeout(Duration::from_millis(1), answer).await.is_err() {
            connection = connect(to).await; // the other hangs up
        }
    }
}

/// Waits until a tenant changes.
pub(crate) async fn watch(to: SocketAddr, mut random: u64) {
    let path = format!("/tenants/{}/change", next(&mut random));
    let status = ask(&mut connect(to).await, Method::GET, path).await;
    assert_eq!(status, StatusCode::OK);
}
