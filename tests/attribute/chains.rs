//! Very many objects, and values that own the next object: nothing recurses, and each value is destroyed
//! once.

use weakly::{Attribute, AttributeKey, Attributes, Strong};

use crate::common::{on_a_stack_of, scaled};
use crate::for_each_pointer;
use crate::tools::{Count, Pointer, Witness, objects};

/// A tenth without optimisation, where a million steps take their time.
const MANY: usize = scaled(
    if cfg!(debug_assertions) {
        10_000
    } else {
        100_000
    },
    50,
);

/// A chain of pointers that do not tell takes a round of asking for each of its links.
fn many<P: Pointer>(linked: bool) -> usize {
    if linked && !P::TELLS {
        scaled(1_000, 50)
    } else {
        MANY
    }
}

/// The next object, and what counts the value's end.
struct Next<P>(#[allow(dead_code)] Option<P>, #[allow(dead_code)] Witness);

struct Link<P>(std::marker::PhantomData<P>);

impl<P: Pointer> AttributeKey for Link<P> {
    type Value = Next<P>;
}

fn link<P>() -> Link<P> {
    Link(std::marker::PhantomData)
}

/// What says of objects which is next.
trait Says<P>: Sized + Send + 'static {
    fn none() -> Self;
    fn say(&self, of: &P, next: Next<P>);
    fn purge(&self);
    fn clear(&self);
    fn len(&self) -> usize;
}

macro_rules! says {
    ($type:ty, $self:ident, $of:ident, $next:ident => $say:expr) => {
        impl<P: Pointer> Says<P> for $type {
            fn none() -> Self {
                <$type>::new()
            }
            fn say(&$self, $of: &P, $next: Next<P>) {
                $say;
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

says!(Attribute<P, Next<P>>, self, of, next => self.set(of, next));
says!(Attributes<P>, self, of, next => self.set(of, link(), next));

/// Ends what is said of many objects, of which each owns the next if they are `linked`.
fn ends<P: Pointer, S: Says<P>>(linked: bool, end: fn(&S, Vec<P>)) {
    let destroyed = Count::default();
    let many = many::<P>(linked);
    let (says, all) = (S::none(), objects::<P>(many));
    for (at, object) in all.iter().enumerate() {
        let next = all.get(at + 1).filter(|_| linked).cloned();
        says.say(object, Next(next, destroyed.witness()));
    }
    assert_eq!((says.len(), destroyed.get()), (many, 0));
    // On a stack that bears no recursion.
    let run = move || {
        end(&says, all);
        drop(says);
    };
    on_a_stack_of(64 * 1024 * scaled(1, 8), run);
    assert_eq!(destroyed.get(), many);
}

fn all_ends<P: Pointer, S: Says<P>>() {
    let ways: [fn(&S, Vec<P>); 4] = [
        // All at the end of the attribute.
        |_, all| drop(all),
        // First the deaths, then what follows from them.
        |says, all| {
            drop(all);
            says.purge();
            assert_eq!(says.len(), 0);
        },
        // All at once, while the objects live.
        |says, all| {
            says.clear();
            assert_eq!(says.len(), 0);
            drop(all);
        },
        // All at once, though they are kept by what is said of others only.
        |says, all| {
            drop(all);
            says.clear();
            assert_eq!(says.len(), 0);
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

/// 168: The deaths are found by changes, a few at a time.
#[test]
fn a_chain_is_worked_off_by_changes() {
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
        assert!(destroyed.get() > before, "each change does some");
        turns += 1;
    }
    assert!(turns > 1);
    assert_eq!((attribute.len(), attribute.pending_dead()), (1, 0));
}
