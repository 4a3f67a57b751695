//! The memory that is held while keys die.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use weakly::WeakMap;

use super::draw::{Axis, Chart, Curve, Look, Panel};
use crate::chance::shuffle;
use crate::duel::{Scale, Unit};
use crate::machine::Machine;
use crate::memory::Count;
use crate::peers::{Collection, Object};
use crate::rows::Ours;
use crate::theirs::WeakTable;

type Payload = [u8; 1024];

const SIZE: usize = 100_000;
/// Deaths for each insert.
const DEATHS: usize = 10;
/// Points of a curve.
const POINTS: usize = 50;

pub(super) fn chart(scale: Scale, _: &Machine) -> Chart {
    let size = scale.of(SIZE);
    let curves = vec![
        Curve {
            look: Look::OURS,
            points: held::<Ours<Payload>>(size),
        },
        Curve {
            look: Look::OF_ARC,
            points: held::<WeakMap<Arc<Payload>, u64>>(size),
        },
        Curve {
            look: Look::WEAK_TABLE,
            points: held::<WeakTable<Weak<Payload>>>(size),
        },
        Curve {
            look: Look::LIVE,
            points: steps(size)
                .map(|deaths| {
                    (
                        deaths as f64,
                        (live(size, deaths) * size_of::<Payload>()) as f64,
                    )
                })
                .collect(),
        },
    ];
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let panel = Panel {
        title: "bytes held by objects and map; one new key for ten that die".to_owned(),
        x: Axis::linear("deaths", 1.0, all().map(|point| point.0), thousands),
        y: Axis::linear("bytes", MIB, all().map(|point| point.1), bytes),
        curves,
    };
    Chart {
        title: "Memory while 100,000 keys of 1 KiB die".to_owned(),
        panels: vec![panel],
    }
}

const MIB: f64 = (1 << 20) as f64;

/// Numbers of deaths.
fn steps(size: usize) -> impl Iterator<Item = usize> {
    (0..=POINTS).map(move |point| size * point / POINTS / DEATHS * DEATHS)
}

/// How many objects are alive after so many deaths.
fn live(size: usize, deaths: usize) -> usize {
    size - deaths + deaths / DEATHS
}

/// The bytes that are held after some deaths, which come in random order.
fn held<C>(size: usize) -> Vec<(f64, f64)>
where
    C: Collection<Object: Object<Payload = Payload>>,
{
    let new = || C::Object::new([7; size_of::<Payload>()]);
    let mut objects = VecDeque::with_capacity(size + size / DEATHS);
    let count = Count::all();
    let mut collection = C::with_capacity(size);
    let mut numbers = 0..;
    let mut insert = |objects: &mut VecDeque<C::Object>| {
        let object = new();
        collection.insert(&object, numbers.next().unwrap_or_default());
        objects.push_back(object);
    };
    for _ in 0..size {
        insert(&mut objects);
    }
    shuffle(objects.make_contiguous());
    let mut dead = 0;
    let points = steps(size).map(|deaths| {
        while dead < deaths {
            objects.drain(..DEATHS);
            insert(&mut objects);
            dead += DEATHS;
        }
        (deaths as f64, count.bytes())
    });
    points.collect()
}

/// Without the fraction of a round number.
pub(super) fn bytes(value: f64) -> String {
    Unit::Bytes.show(value).replace(".0 ", " ")
}

pub(super) fn thousands(value: f64) -> String {
    match value as usize {
        small @ 0..1_000 => small.to_string(),
        large => format!("{},{:03}", thousands((large / 1_000) as f64), large % 1_000),
    }
}
