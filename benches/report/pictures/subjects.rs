//! Maps of one owner that several pictures show, each with its own objects.

use std::cell::RefCell;
use std::rc::Rc;

use super::draw::Look;
use crate::chance::Numbers;
use crate::collections::Herd;
use crate::duel::Sample;
use crate::peers::{Map, Object};
use crate::rows::{Ours, Theirs, sweep};
use crate::subjects::Share;
use crate::theirs::{ByHandWithRetain, Floor};

/// A map with its live objects.
pub(super) trait Grown {
    fn look(&self) -> Look;
    /// The number of inserts after which it has done all it does periodically.
    fn period(&self, size: usize) -> usize;
    /// Whether its dead objects leave it.
    fn churns(&self) -> bool;
    fn get(&self, operations: usize) -> Sample;
    fn churn(&self, operations: usize) -> Sample;
    /// The nanoseconds of each step of churn.
    fn pauses(&self, operations: usize) -> Vec<u32>;
}

/// How a map appears in the pictures.
#[derive(Clone, Copy)]
struct Habit {
    look: Look,
    period: fn(usize) -> usize,
    churns: bool,
}

struct Subject<C: Map> {
    herd: Share<Herd<C>>,
    habit: Habit,
}

impl<C: Map<Object: Object<Payload = u64>>> Grown for Subject<C> {
    fn look(&self) -> Look {
        self.habit.look
    }
    fn period(&self, size: usize) -> usize {
        (self.habit.period)(size)
    }
    fn churns(&self) -> bool {
        self.habit.churns
    }
    fn get(&self, operations: usize) -> Sample {
        Herd::get(self.herd.clone(), operations)
    }
    fn churn(&self, operations: usize) -> Sample {
        Herd::churn(self.herd.clone(), operations)
    }
    fn pauses(&self, operations: usize) -> Vec<u32> {
        self.herd.borrow_mut().pauses(operations)
    }
}

/// Objects that are being made, in turn with those of the other maps: so that none has the better layout.
trait Growing {
    fn make(&mut self, number: u64);
    fn gather(self: Box<Self>, known: &[u64], numbers: Numbers) -> Box<dyn Grown>;
}

struct Nursery<C: Map> {
    objects: Vec<C::Object>,
    habit: Habit,
}

impl<C: Map<Object: Object<Payload = u64>>> Growing for Nursery<C> {
    fn make(&mut self, number: u64) {
        self.objects.push(C::Object::new(number));
    }
    fn gather(self: Box<Self>, known: &[u64], numbers: Numbers) -> Box<dyn Grown> {
        let herd = Herd::<C>::gather(self.objects, known, numbers);
        Box::new(Subject {
            herd: Rc::new(RefCell::new(herd)),
            habit: self.habit,
        })
    }
}

fn nursery<C>(look: Look, period: fn(usize) -> usize, churns: bool) -> Box<dyn Growing>
where
    C: Map<Object: Object<Payload = u64>>,
{
    let habit = Habit {
        look,
        period,
        churns,
    };
    Box::new(Nursery::<C> {
        objects: Vec::new(),
        habit,
    })
}

/// All maps, of one size.
pub(super) fn grown(size: usize) -> Vec<Box<dyn Grown>> {
    let mut nurseries = [
        nursery::<Ours>(Look::OURS, |_| 0, true),
        nursery::<Theirs>(Look::WEAK_TABLE, sweep, true),
        nursery::<ByHandWithRetain>(Look::BY_HAND, |size| size, true),
        nursery::<Floor>(Look::FLOOR, |_| 0, false),
    ];
    let mut numbers = Numbers::default();
    let known = numbers.take(size);
    let count = nurseries.len();
    for (turn, &number) in known.iter().enumerate() {
        for at in 0..count {
            nurseries[(turn + at) % count].make(number);
        }
    }
    let gathered = nurseries
        .into_iter()
        .map(|nursery| nursery.gather(&known, numbers.clone()));
    gathered.collect()
}
