//! The objects of the [`graph`](super::graph), and their floors.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use weakly::Strong;

use crate::graph::{EXTRAS, SLOTS, THINGS};

/// The content of an object is the stamp of its last change.
pub(crate) struct Body {
    pub(crate) stamp: AtomicU32,
    /// With which it came.
    pub(crate) first: u32,
    _life: Option<Life>,
}

impl Body {
    fn new(first: u32, _life: Option<Life>) -> Self {
        let stamp = AtomicU32::new(first);
        Body {
            stamp,
            first,
            _life,
        }
    }
}

/// An object that has no entries any more when this is dropped.
pub(crate) struct Life {
    thing: usize,
    /// The stamp with which it came.
    first: u32,
    floors: Arc<Floors>,
}

/// The floors of all things; and of each thing that has objects, the floors of those that live. The old object of a slot lives
/// while a computation has it, and so do results.
pub(crate) struct Floors {
    all: [AtomicU32; THINGS],
    alive: [Mutex<BTreeMap<u32, u32>>; SLOTS + EXTRAS],
}

impl Default for Floors {
    fn default() -> Self {
        Floors {
            all: std::array::from_fn(|_| AtomicU32::new(0)),
            alive: Default::default(),
        }
    }
}

impl Floors {
    pub(crate) fn now(&self) -> [u32; THINGS] {
        std::array::from_fn(|thing| self.all[thing].load(SeqCst))
    }

    pub(crate) fn raise(&self, thing: usize, floor: u32) {
        self.all[thing].fetch_max(floor, SeqCst);
    }

    pub(crate) fn change(&self, thing: usize, change: impl FnOnce(&mut BTreeMap<u32, u32>)) {
        let mut alive = self.alive[thing].lock().unwrap();
        change(&mut alive);
        if let Some(lowest) = alive.values().min() {
            self.raise(thing, *lowest);
        }
    }

    pub(crate) fn is_alone(&self, thing: usize) -> bool {
        self.alive[thing].lock().unwrap().len() == 1
    }
}

impl Life {
    fn begin(thing: usize, first: u32, floors: &Arc<Floors>) -> Self {
        floors.change(thing, |alive| _ = alive.insert(first, first));
        let floors = Arc::clone(floors);
        Life {
            thing,
            first,
            floors,
        }
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.floors
            .change(self.thing, |alive| _ = alive.remove(&self.first));
    }
}

pub(crate) type Object = Strong<Body>;

pub(crate) enum Extra {
    Notifies(Object),
    IsPolled(Arc<Body>),
}

impl Extra {
    pub(crate) fn body(&self) -> &Body {
        match self {
            Extra::Notifies(object) => object,
            Extra::IsPolled(object) => object,
        }
    }
}

impl Clone for Extra {
    fn clone(&self) -> Self {
        match self {
            Extra::Notifies(object) => Extra::Notifies(object.clone()),
            Extra::IsPolled(object) => Extra::IsPolled(object.clone()),
        }
    }
}

pub(crate) fn object(thing: usize, stamp: u32, floors: &Arc<Floors>) -> Object {
    let object = Strong::new(Body::new(stamp, None));
    // Finalizers run when no lookup finds the results any more.
    let life = Life::begin(thing, stamp, floors);
    Strong::finalize(&object, move || drop(life));
    object
}

pub(crate) fn extra(at: usize, stamp: u32, floors: &Arc<Floors>) -> Extra {
    let thing = SLOTS + at;
    if at < EXTRAS / 2 {
        Extra::Notifies(object(thing, stamp, floors))
    } else {
        // No lookup finds a result of an `Arc` that has no handles.
        let life = Life::begin(thing, stamp, floors);
        Extra::IsPolled(Arc::new(Body::new(stamp, Some(life))))
    }
}
