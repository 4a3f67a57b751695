//! Maps of one owner that several pictures show, each with its own objects.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use weakly::Strong;

use super::draw::Look;
use crate::chance::Numbers;
use crate::collections::Herd;
use crate::duel::Sample;
use crate::peers::{Map, Object};
use crate::rows::{Ours, Theirs, sweep};
use crate::theirs::{ByHandWithRetain, Floor};

/// A map with its live objects.
pub(super) struct Subject {
    pub(super) look: Look,
    /// The number of inserts after which it has done all it does periodically.
    pub(super) period: usize,
    /// Whether its dead objects leave it.
    pub(super) churns: bool,
    pub(super) get: Box<dyn Fn(usize) -> Sample>,
    pub(super) churn: Box<dyn Fn(usize) -> Sample>,
    /// The nanoseconds of each step of churn.
    pub(super) pauses: Box<dyn Fn(usize) -> Vec<u32>>,
}

/// All maps, of one size.
pub(super) fn grown(size: usize) -> [Subject; 4] {
    let mut numbers = Numbers::default();
    let known = numbers.take(size);
    // In turns: so that none has the better layout.
    let (mut ours, mut theirs) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for (turn, &number) in known.iter().enumerate() {
        for at in (turn..turn + 4).map(|at| at % 4) {
            match at % 2 {
                0 => ours[at / 2].push(Strong::new(number)),
                _ => theirs[at / 2].push(Arc::new(number)),
            }
        }
    }
    let ([of_map, of_floor], [of_table, by_hand]) = (ours, theirs);
    [
        subject(
            Herd::<Ours>::gather(of_map, &known, numbers.clone()),
            Look::OURS,
            0,
            true,
        ),
        subject(
            Herd::<Theirs>::gather(of_table, &known, numbers.clone()),
            Look::WEAK_TABLE,
            sweep(size),
            true,
        ),
        subject(
            Herd::<ByHandWithRetain>::gather(by_hand, &known, numbers.clone()),
            Look::BY_HAND,
            size,
            true,
        ),
        subject(
            Herd::<Floor>::gather(of_floor, &known, numbers),
            Look::FLOOR,
            0,
            false,
        ),
    ]
}

fn subject<C>(herd: Herd<C>, look: Look, period: usize, churns: bool) -> Subject
where
    C: Map<Object: Object<Payload = u64>>,
{
    let herd = Rc::new(RefCell::new(herd));
    let [of_get, of_churn] = [herd.clone(), herd.clone()];
    Subject {
        look,
        period,
        churns,
        get: Box::new(move |operations| Herd::get(of_get.clone(), operations)),
        churn: Box::new(move |operations| Herd::churn(of_churn.clone(), operations)),
        pauses: Box::new(move |operations| herd.borrow_mut().pauses(operations)),
    }
}
