//! The protocols that docs/PROTOCOLS.md argues, as transition systems: every state that a few threads can reach is searched. A
//! second kind of model beside those of loom. These are of the text and not of the code, so they know no bound on preemptions,
//! and a rule can be taken out of them: then the invariant breaks that the text says.

// This runs no code of the library.
#![cfg(not(miri))]

#[path = "protocol/claim.rs"]
mod claim;
#[path = "protocol/grace.rs"]
mod grace;
#[path = "protocol/life.rs"]
mod life;
#[path = "protocol/memory.rs"]
mod memory;
#[path = "protocol/search.rs"]
mod search;

use claim::{Claim, Rule as ClaimRule, User};
use grace::{Grace, Rule as GraceRule, Scene};
use life::{Life, Op::*, Rule as LifeRule, Script};
use search::Model;

const READS: Script = (1, 0, &[Read, Drop]);
const CHANGES: Script = (1, 0, &[GetMut, Drop]);
const UPGRADES: Script = (0, 1, &[Upgrade, Read, Drop, DropWeak]);
const COMES_BACK: Script = (
    1,
    0,
    &[Downgrade, Read, Drop, Upgrade, Read, Drop, DropWeak],
);
const FINALIZES: Script = (1, 0, &[Finalize, Drop, DropToken]);
/// Its weak pointer lasts longer than its token.
const KEEPS: Script = (1, 0, &[Finalize, Downgrade, Drop, DropToken, Upgrade, Read]);
const IDLE: Script = (0, 0, &[]);

/// The sum of the states. The text has it, with commas.
fn assert_stated(model: &str, states: impl Iterator<Item = usize>) {
    let text = include_str!("../docs/PROTOCOLS.md");
    let sum: usize = states.sum();
    let stated = format!("{},{:03} states", sum / 1000, sum % 1000);
    let row = text.lines().find(|line| line.contains(model));
    assert!(
        row.is_some_and(|row| row.contains(&stated)),
        "docs/PROTOCOLS.md does not say of {model}: {stated}"
    );
}

fn life(without: Option<LifeRule>, record: bool, threads: [Script; 3]) -> Life {
    Life {
        without,
        record,
        threads,
    }
}

#[test]
fn a_life_is_sound() {
    let scenes = [
        [READS, READS, READS],
        [READS, UPGRADES, UPGRADES],
        [CHANGES, READS, UPGRADES],
        [CHANGES, COMES_BACK, UPGRADES],
        [CHANGES, FINALIZES, UPGRADES],
        [CHANGES, KEEPS, IDLE],
    ];
    let all = [false, true]
        .into_iter()
        .flat_map(|record| scenes.map(|threads| life(None, record, threads)));
    assert_stated("`life.rs`", all.map(|life| life.search().unwrap()));
}

#[test]
fn a_life_needs_its_rules() {
    use LifeRule::*;
    for (rule, record, threads, broken) in [
        (DropReleases, false, [READS, READS, IDLE], "count"),
        (LastDropAcquires, false, [READS, READS, IDLE], "count"),
        (ZeroIsFinal, false, [READS, UPGRADES, IDLE], "count"),
        (GetMutLocks, false, [CHANGES, COMES_BACK, IDLE], "get_mut"),
        (LockAcquires, false, [CHANGES, UPGRADES, IDLE], "get_mut"),
        (CountAcquires, false, [CHANGES, READS, IDLE], "get_mut"),
        (CountAcquires, true, [CHANGES, READS, IDLE], "get_mut"),
        (
            CountUnderLock,
            false,
            [CHANGES, COMES_BACK, IDLE],
            "get_mut",
        ),
        (CheckAcquires, true, [CHANGES, UPGRADES, IDLE], "get_mut"),
        (DowngradeWaits, true, [CHANGES, COMES_BACK, IDLE], "get_mut"),
        (TokenLeavesFirst, true, [CHANGES, KEEPS, IDLE], "get_mut"),
        (ShareReleases, false, [READS, UPGRADES, IDLE], "B1"),
        (ShareReleases, true, [READS, UPGRADES, IDLE], "B1"),
        (LastShareAcquires, false, [READS, UPGRADES, IDLE], "B1"),
        (LastShareAcquires, true, [READS, UPGRADES, IDLE], "B1"),
        (ObjectGivesUpLast, false, [READS, UPGRADES, IDLE], "B1"),
        (ObjectGivesUpLast, true, [READS, UPGRADES, IDLE], "B1"),
    ] {
        assert_breaks(rule, life(Some(rule), record, threads).search(), broken);
    }
    // As the text says.
    let unneeded = life(Some(UnlockReleases), false, [CHANGES, COMES_BACK, UPGRADES]);
    assert!(unneeded.search().is_ok());
}

fn assert_breaks(
    rule: impl std::fmt::Debug,
    found: Result<usize, search::Broken>,
    invariant: &str,
) {
    let broken = found.err().and_then(|broken| broken.split(':').next());
    assert_eq!(broken, Some(invariant), "without {rule:?}");
}

fn claim(without: Option<ClaimRule>, user: User, visitor: bool) -> Claim {
    Claim {
        without,
        user,
        visitor,
    }
}

#[test]
fn a_death_claims_soundly() {
    let all = [User::Removes, User::Grows, User::Ends]
        .into_iter()
        .flat_map(|user| [false, true].map(|visitor| claim(None, user, visitor)));
    assert_stated("`claim.rs`", all.map(|claim| claim.search().unwrap()));
}

#[test]
fn a_claim_needs_its_rules() {
    use ClaimRule::*;
    for (rule, user, visitor, broken) in [
        (DeathClaims, User::Removes, true, "B1"),
        (DeathClaims, User::Removes, false, "C4"),
        (OneCounts, User::Removes, false, "C4"),
        (DeathLeavesAShare, User::Removes, false, "B1"),
        (LeavesByAnUpdate, User::Removes, false, "B1"),
        (UnlockIsLast, User::Ends, false, "C4"),
        (Passes, User::Grows, false, "C3"),
        (EndCloses, User::Ends, false, "C4"),
        (LateDeathCounts, User::Ends, false, "C4"),
        (Grace, User::Removes, true, "D2"),
    ] {
        assert_breaks(rule, claim(Some(rule), user, visitor).search(), broken);
    }
    // As the text says.
    assert!(
        claim(Some(EndsTheOther), User::Removes, true)
            .search()
            .is_ok()
    );
}

fn grace(without: Option<GraceRule>, scene: Scene) -> Grace {
    Grace { without, scene }
}

#[test]
fn grace_is_sound() {
    let all = [
        Scene::TwoVisits,
        Scene::TwoReaders,
        Scene::Batch { unlinks: false },
        Scene::Batch { unlinks: true },
    ];
    let all = all.into_iter().map(|scene| grace(None, scene));
    assert_stated("`grace.rs`", all.map(|grace| grace.search().unwrap()));
}

#[test]
fn grace_needs_its_rules() {
    use GraceRule::*;
    for (rule, scene, broken) in [
        (EnterBarrier, Scene::TwoVisits, "D1"),
        (UnlinkBarrier, Scene::TwoVisits, "D1"),
        (LeaveReleases, Scene::TwoVisits, "D1"),
        (VisitsAcquire, Scene::TwoVisits, "D1"),
        (BatchBarrier, Scene::Batch { unlinks: true }, "D1"),
        (BagLocks, Scene::Batch { unlinks: false }, "D1"),
        (IncludedFirst, Scene::Batch { unlinks: true }, "D1"),
        (LeaveReleases, Scene::Batch { unlinks: true }, "D1"),
        (VisitsAcquire, Scene::Batch { unlinks: true }, "D1"),
    ] {
        assert_breaks(rule, grace(Some(rule), scene).search(), broken);
    }
    // As the text says.
    assert!(grace(Some(LooksAgain), Scene::TwoReaders).search().is_ok());
}
