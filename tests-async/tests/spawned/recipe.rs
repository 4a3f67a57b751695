use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::Poll;
use std::time::{Duration, Instant};
use weakly::{Memo, Strong, Weak, memo::Value};

struct Shop { database: Database, version: AtomicU64 }
struct Prices { since: Instant, list: Vec<u32> }

/// The list of a shop in a version.
static PRICES: Memo<(Strong<Shop>, Value<u64>), Arc<Prices>> = Memo::new();

async fn load(database: Database, shop: Weak<Shop>, version: Arc<u64>) -> Result<Arc<Prices>, Down> {
    let list = database.prices().await?; // takes long
    if let Some(shop) = shop.upgrade() {
        shop.version.fetch_max(*version, Relaxed);
        PRICES.remove((&shop, &version.wrapping_sub(2)));
    }
    Ok(Arc::new(Prices { since: Instant::now(), list }))
}

/// Returns the list at once, if there is one. If the list is older, a load makes the next list.
async fn prices(shop: &Strong<Shop>, older: Duration) -> Result<Arc<Prices>, Down> {
    let version = shop.version.load(Relaxed);
    let present = PRICES.get((shop, &version));
    let wanted = version + u64::from(present.is_some());
    let mut next = pin!(Memo::try_get_or_compute_spawned(
        &PRICES,
        (shop, &wanted),
        |(weak, version), _| load(shop.database.clone(), weak, version),
        |load| _ = tokio::spawn(load),
    ));
    match present {
        None => next.await,
        Some(present) if present.since.elapsed() < older => Ok(present),
        Some(present) => poll_fn(|cx| match next.as_mut().poll(cx) {
            Poll::Ready(next) => Poll::Ready(next),
            Poll::Pending => Poll::Ready(Ok(Arc::clone(&present))), // the load goes on
        })
        .await,
    }
}
