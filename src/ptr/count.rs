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

#[cfg(all(test, weakly_loom, not(weakly_no_loans)))]
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

/// Counts an upgraded handle, and settles what becomes of the unit that its maker holds.
#[inline]
pub(super) fn join<F: Flavour>(header: &Header<F>, side: &Side<F>) {
    // The handle is counted, and the unit lent to its group, in one. Relaxed: as in `clone`.
    let before = header.count.fetch_add(1 + F::LOAN, Relaxed);
    let others = handles::<F>(before);
    if others > max_handles::<F>() {
        abort();
    }
    if !F::SHARED {
        return;
    }
    if others == 0 {
        // The old group has ended, and the unit is the new group's own: no loan. Relaxed: the group does
        // not end before this, since our handle is in it; and payments always leave one loan.
        if F::LOAN != 0 {
            header.count.fetch_sub(F::LOAN, Relaxed);
        }
    } else if F::LOAN == 0 {
        // The group has a unit, and keeps it while we are in it: ours goes back, and is never the
        // last. Release: pairs with the acquire of `ask`, which must see that we are counted.
        side.strong.fetch_sub(1, Release);
    } else if lent::<F>(before) >= LIMIT {
        pay_back(header, side);
    }
}

/// Pays the loans of a group back, if they are many; all but one: who has just begun a group looks, for a
/// moment, like a loan, and is not one (see `join`).
#[cold]
#[inline(never)]
fn pay_back<F: Flavour>(header: &Header<F>, side: &Side<F>) {
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
