//! The operations of the scripts for collections.

use super::routes::{Change, Insert, Keep, Remove};
use super::{STEP, pick};

/// An operation. Numbers are reduced to what there is.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Lets go of what is in the place, and makes a new object there, as like as not at the address
    /// of one that has just died.
    NewOwner(u8),
    CloneOwner(u8),
    DropOwner(u8),
    /// Drops so many owners in a row.
    DropOwners(u8, u8),
    /// Fills the empty places.
    Refill,
    /// Keeps a weak handle, which outlives the object.
    Watch(u8),
    /// Makes an owner from it.
    Upgrade(u8),
    /// The value may own another object.
    Insert {
        key: u8,
        how: Insert,
        heir: Option<u8>,
    },
    /// The objects of all places; each value owns the object of the place that is `step` ahead.
    InsertAll {
        how: Insert,
        step: Option<u8>,
    },
    Remove(u8, Remove),
    Change(u8, Change),
    /// Keeps the objects whose number has not this rest modulo four.
    Keep(Keep, u8),
    Pop,
    Purge,
    DrainDead(u8),
    Reserve(u8),
    ShrinkTo(u8),
    Clear,
    Take,
    /// The second collection becomes a copy of the first.
    Copy,
    /// The first gets all that is in the second.
    Absorb,
    Swap,
}

impl Op {
    pub fn decode([op, a, b, c]: [u8; STEP]) -> Self {
        match op % 40 {
            0..3 => Op::NewOwner(a),
            3 => Op::CloneOwner(a),
            4..7 => Op::DropOwner(a),
            7..9 => Op::DropOwners(a, b % 64),
            9..12 => Op::Refill,
            12 => Op::Watch(a),
            13 => Op::Upgrade(a),
            14..20 => Op::Insert {
                key: a,
                how: pick(&Insert::ALL, b),
                heir: (c >= 128).then_some(c),
            },
            20..23 => Op::InsertAll {
                how: pick(&Insert::ALL, b),
                step: (c >= 192).then_some(a),
            },
            23..26 => Op::Remove(a, pick(&Remove::ALL, b)),
            26 => Op::Change(a, pick(&Change::ALL, b)),
            27 | 28 => Op::Keep(pick(&Keep::ALL, a), b % 4),
            29 => Op::Pop,
            30 => Op::Purge,
            31 => Op::DrainDead(a % 32),
            32 => Op::Reserve(a),
            33 => Op::ShrinkTo(a % 64),
            34 => Op::Clear,
            35 => Op::Take,
            36 => Op::Copy,
            37 => Op::Absorb,
            _ => Op::Swap,
        }
    }
}
