//! The word in the header: how many strong handles there are, and above them how many units of
//! `side.strong` their group has been lent by upgrades.
//!
//! An upgrade that joins a group has a unit that the group does not need. To give it back at once would
//! be one more read-modify-write; so it is lent to the group, in the same addition that counts the
//! handle, and who ends the group gives all back together. So that the loans never reach the top of
//! the word, they are paid back before (see `pay_back`).
//!
//! Where a word has no room for both (32 bits), and where nobody can come between (one thread), there are
//! no loans: [`Flavour::LOAN`] is zero.

#[cfg(all(test, weakly_loom))]
mod models;

use super::flavour::{Flavour, Word};
use super::header::Header;
use super::side::{Side, abort};
use crate::sync::Ordering::*;

/// At this many loans they are paid back. Far more often in the models.
const LIMIT: usize = if cfg!(weakly_loom) { 2 } else { 1 << 12 };

/// Past this many, threads in number are kept from paying: never seen, and the end of the process.
const OVERDUE: usize = 1 << 15;

/// The strong handles in a count.
#[inline(always)]
pub(super) fn handles<F: Flavour>(count: usize) -> usize {
    count & F::LOAN.wrapping_sub(1)
}

/// The units lent in a count.
#[inline(always)]
pub(super) fn lent<F: Flavour>(count: usize) -> usize {
    count.checked_div(F::LOAN).unwrap_or(0)
}

/// Past this many handles the process is aborted: only forgotten handles get there, and wrapping
/// around would free a live object.
pub(super) const fn max_handles<F: Flavour>() -> usize {
    F::LOAN.wrapping_sub(1) / 2
}

/// Pays the loans of a group back, if they are many; all but one: who has just begun a group looks, for a
/// moment, like a loan, and is not one (see `upgrade`).
#[cold]
#[inline(never)]
pub(super) fn pay_back<F: Flavour>(header: &Header<F>, side: &Side<F>) {
    // Relaxed, all of it: the release below makes the payment visible to who asks.
    let mut count = header.count.load(Relaxed);
    loop {
        let lent = lent::<F>(count);
        if lent < LIMIT {
            // Somebody else was here.
            return;
        }
        if lent > OVERDUE {
            abort();
        }
        let lent = lent - 1;
        let paid = count - lent * F::LOAN;
        match header.count.compare_exchange(count, paid, Relaxed, Relaxed) {
            Ok(_) => {
                // Never the last units: the caller is a handle, and its group has one. Release: pairs
                // with the acquire of `ask`, which must see the count without them, and all handles
                // that were counted when they were taken out.
                side.strong.fetch_sub(lent, Release);
                return;
            }
            Err(now) => count = now,
        }
    }
}

/// Whether a group that had this count before a loan owes so much that it should pay.
#[inline(always)]
pub(super) fn is_in_debt<F: Flavour>(count: usize) -> bool {
    lent::<F>(count) >= LIMIT
}
