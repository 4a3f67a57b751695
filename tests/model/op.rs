//! The operations of the scripts for collections.

use super::routes::{Change, Insert, Keep, Remove, Take};
use super::{STEP, pick};
use weakly::Reclaim;

/// An operation. Numbers are reduced to the existing ones. Where values are weak too, the places from 128 on are
/// those of their owners.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Drops the object in the place, and makes a new one there, likely at the address of one that has just
    /// died. It may own another object.
    NewOwner {
        slot: u8,
        content: u8,
        heir: Option<u8>,
    },
    CloneOwner(u8),
    DropOwner(u8),
    /// Drops that many owners in a row; of keys and of values, if both exist.
    DropOwners {
        slot: u8,
        count: u8,
        both: bool,
    },
    /// Fills the empty places.
    Refill,
    /// Its object never dies.
    ForgetOwner(u8),
    /// Keeps a weak handle, which outlives the object.
    Watch(u8),
    /// Makes an owner from it.
    Upgrade(u8),
    /// The value that the collection will own may own another object.
    Insert {
        key: u8,
        how: Insert,
        value: u8,
        heir: Option<u8>,
    },
    /// The objects of all places, with the values of the places `step` ahead; what the collection will own may
    /// own the objects there.
    InsertAll {
        how: Insert,
        step: u8,
        heirs: bool,
    },
    Remove(u8, Remove),
    Change(u8, Change),
    /// Keeps the keys whose number modulo four is not this.
    Keep(Keep, u8),
    Pop,
    Purge,
    PurgeSome(u8),
    DrainDead(u8),
    Reserve(u8),
    ShrinkTo(u8),
    Clear,
    Take(Take),
    /// The second collection becomes a copy of the first.
    Copy,
    /// The first gets all entries of the second.
    Absorb,
    Swap,
    /// Of both collections: whether what the dead own is kept until it is requested.
    SetReclaim(Reclaim),
}

impl Op {
    pub fn decode([op, a, b, c]: [u8; STEP]) -> Self {
        match op % 40 {
            0..3 => Op::NewOwner {
                slot: a,
                content: b,
                heir: (c >= 192).then_some(c),
            },
            3 => Op::CloneOwner(a),
            4..7 => Op::DropOwner(a),
            7..9 => Op::DropOwners {
                slot: a,
                count: b % 64,
                both: b >= 128,
            },
            9..12 => Op::Refill,
            12 => Op::Watch(a),
            13 if b >= 224 => Op::ForgetOwner(a),
            13 => Op::Upgrade(a),
            14..20 => Op::Insert {
                key: a,
                how: pick(&Insert::ALL, b),
                value: c,
                heir: (c >= 128).then_some(b.wrapping_add(c)),
            },
            20..23 => Op::InsertAll {
                how: pick(&Insert::ALL, b),
                step: a,
                heirs: c >= 192,
            },
            23..26 => Op::Remove(a, pick(&Remove::ALL, b)),
            26 => Op::Change(a, pick(&Change::ALL, b)),
            27 | 28 => Op::Keep(pick(&Keep::ALL, a), b % 4),
            29 => Op::Pop,
            30 if a >= 128 => Op::PurgeSome(a % 32),
            30 => Op::Purge,
            31 => Op::DrainDead(a % 32),
            32 => Op::Reserve(a),
            33 => Op::ShrinkTo(a % 64),
            34 => Op::Clear,
            35 => Op::Take(pick(&Take::ALL, a)),
            36 => Op::Copy,
            37 => Op::Absorb,
            38 if a >= 64 => Op::SetReclaim(Reclaim::OnRequest),
            38 => Op::SetReclaim(Reclaim::OnUse),
            _ => Op::Swap,
        }
    }

    /// The operations of a fuzzer's script, without those that leak: these would fill the memory in a long run.
    pub fn without_leaks(script: &[u8]) -> impl Iterator<Item = Self> {
        let steps = script.chunks_exact(STEP);
        let steps = steps.map(|step| step.try_into().expect("it is as long as a step"));
        steps.map(Op::decode).filter(|op| !op.leaks())
    }

    /// Whether it does not touch the collections.
    pub fn is_about_owners(self) -> bool {
        matches!(
            self,
            Op::NewOwner { .. }
                | Op::CloneOwner(_)
                | Op::DropOwner(_)
                | Op::DropOwners { .. }
                | Op::Refill
                | Op::ForgetOwner(_)
                | Op::Watch(_)
                | Op::Upgrade(_)
        )
    }

    /// Whether it is meant to drop what the dead own, wherever that is kept; or ends a collection.
    pub fn reclaims(self) -> bool {
        matches!(
            self,
            Op::Purge
                | Op::PurgeSome(_)
                | Op::DrainDead(_)
                | Op::Clear
                | Op::Take(_)
                | Op::Copy
                | Op::Absorb
                | Op::SetReclaim(_)
                // Entries that die while an iterator is open are dropped with it.
                | Op::Keep(Keep::Drain | Keep::Forget | Keep::IntoIter, _)
        )
    }

    /// Whether memory is leaked for good.
    pub fn leaks(self) -> bool {
        matches!(self, Op::Keep(Keep::Forget, _) | Op::ForgetOwner(_))
    }
}
