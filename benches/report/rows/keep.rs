//! Rows of floors, ceilings and what keeps objects alive.

use weakly::concurrent::KeepAlive;
use weakly::{Strong, concurrent};

use super::shared::{EVICT, Side, row};
use super::{K3, K5};
use crate::duel::Row;
use crate::kept::{Floored, FullCeiling, FullFloor, MokaOfHandles, Values};
use crate::shared::Locked;
use crate::together::{arrive, churn, get};

const GET: &str = "floor: get, hit";

pub(super) fn all() -> Vec<Row> {
    type Map = concurrent::WeakMap<Strong<u64>, u64>;

    let floor = format!("floor: {EVICT}");
    let ceiling = format!("ceiling: {EVICT}");
    let mut rows = Vec::new();
    for size in [K3, K5] {
        for threads in [1, 2] {
            let sides: [Side; 2] = [get::<Floored>, get::<Values>];
            rows.push(row(GET, "no floor", threads, size, sides).goal(1.05));
        }
        let row = |operation: &str, peer, sides| row(operation, peer, 1, size, sides);
        rows.extend([
            row(GET, "moka", [get::<Floored>, get::<MokaOfHandles>]).goal(0.3),
            row(&floor, "churn", [arrive::<FullFloor>, churn::<Values>]).goal(1.2),
            row(&ceiling, "churn", [churn::<FullCeiling>, churn::<Map>]).goal(1.2),
        ]);
    }
    let sides: [Side; 2] = [get::<KeepAlive<Strong<u64>>>, get::<Locked>];
    rows.push(row("KeepAlive: touch", "locked map", 1, K3, sides));
    rows
}
