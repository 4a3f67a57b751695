//! Very many objects, and values that own the next object: nothing recurses, and each value is dropped once.

use weakly::{Attribute, AttributeKey, Attributes, Strong};

use crate::common::{on_a_stack_of, scaled};
use crate::for_each_pointer;
use crate::tools::{Count, Pointer, Witness, objects};

/// A tenth without optimisation, where a million steps take long.
const MANY: usize = scaled(
    if cfg!(debug_assertions) {
        10_000
    } else {
        100_000
    },
    50,
);

/// Without notices, a chain takes one sweep for each of its links.
fn many<P: Pointer>(linked: bool) -> usize {
    if linked && !P::NOTIFIES {
        scaled(1_000, 50)
    } else {
        MANY
    }
}

/// The next object, and a witness of the value's drop.
struct Next<P>(#[allow(dead_code)] Option<P>, #[allow(dead_code)] Witness);

struct Link<P>(std::marker::PhantomData<P>);

impl<P: Pointer> AttributeKey for Link<P> {
    type Value = Next<P>;
}

fn link<P>() -> Link<P> {
    Link(std::marker::PhantomData)
}

/// Attributes that store the next object of each object.
trait Links<P>: Sized + Send + 'static {
    fn none() -> Self;
    fn set_next(&self, of: &P, next: Next<P>);
    fn purge(&self);
    fn clear(&self);
    fn len(&self) -> usize;
}

macro_rules! links {
    ($type:ty, $self:ident, $of:ident, $next:ident => $set_next:expr) => {
        impl<P: Pointer> Links<P> for $type {
            fn none() -> Self {
                <$type>::new()
            }
            fn set_next(&$self, $of: &P, $next: Next<P>) {
                $set_next;
            }
            fn purge(&self) {
                self.purge();
            }
            fn clear(&self) {
                self.clear();
            }
            fn len(&self) -> usize {
                self.len()
            }
        }
    };
}

links!(Attribute<P, Next<P>>, self, of, next => self.set(of, next));
links!(Attributes<P>, self, of, next => self.set(of, link(), next));

/// Ends attributes of many objects, each of which owns the next if they are `linked`.
fn ends<P: Pointer, S: Links<P>>(linked: bool, end: fn(&S, Vec<P>)) {
    let destroyed = Count::default();
    let many = many::<P>(linked);
    let (links, all) = (S::none(), objects::<P>(many));
    for (at, object) in all.iter().enumerate() {
        let next = all.get(at + 1).filter(|_| linked).cloned();
        links.set_next(object, Next(next, destroyed.witness()));
    }
    assert_eq!((links.len(), destroyed.get()), (many, 0));
    // On a stack too small for recursion.
    let run = move || {
        end(&links, all);
        drop(links);
    };
    on_a_stack_of(64 * 1024 * scaled(1, 8), run);
    assert_eq!(destroyed.get(), many);
}

fn all_ends<P: Pointer, S: Links<P>>() {
    let ways: [fn(&S, Vec<P>); 4] = [
        // All at the end of the attribute.
        |_, all| drop(all),
        // First the deaths, then their consequences.
        |links, all| {
            drop(all);
            links.purge();
            assert_eq!(links.len(), 0);
        },
        // All at once, while the objects live.
        |links, all| {
            links.clear();
            assert_eq!(links.len(), 0);
            drop(all);
        },
        // All at once, while only the values of other objects keep them alive.
        |links, all| {
            drop(all);
            links.clear();
            assert_eq!(links.len(), 0);
        },
    ];
    for linked in [false, true] {
        for way in ways {
            ends::<P, S>(linked, way);
        }
    }
}

/// 168: Of one attribute.
fn of_one_attribute<P: Pointer>() {
    all_ends::<P, Attribute<P, Next<P>>>();
}

/// 168: Of a namespace.
fn of_a_namespace<P: Pointer>() {
    all_ends::<P, Attributes<P>>();
}

for_each_pointer!(of_one_attribute, of_a_namespace);

/// 168: Changes find the deaths, a few at a time.
#[test]
fn a_chain_is_drained_by_changes() {
    let (attribute, destroyed) = (Attribute::new(), Count::default());
    let all = objects::<Strong<usize>>(scaled(1_000, 20));
    for (at, object) in all.iter().enumerate() {
        let next = all.get(at + 1).cloned();
        attribute.set(object, Next(next, destroyed.witness()));
    }
    let count = all.len();
    drop(all);
    let other = Strong::new(0);
    let mut turns = 0;
    while destroyed.get() < count {
        let before = destroyed.get();
        attribute.set(&other, Next(None, Witness::idle()));
        assert!(destroyed.get() > before, "each change drains some");
        turns += 1;
    }
    assert!(turns > 1);
    assert_eq!((attribute.len(), attribute.pending_dead()), (1, 0));
}
