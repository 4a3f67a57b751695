//! What the tests of floors and ceilings share.

#![allow(unreachable_pub)] // it is a part of one program

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use weakly::concurrent::{Interner, KeepAlive, WeakValueMap};
use weakly::keep::{Gone, Limit};
use weakly::{ByIdentity, Strong, Weak};

use crate::common::quiet_panic;

pub(crate) use crate::common::doomed::Doomed;
pub(crate) use crate::common::pointers::{Pointer, for_each_pointer};

/// Makes a `#[test]` of tests that are generic over the collection that has a floor: of each collection, with one of the kinds
/// of handles each.
macro_rules! for_each_floored {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            use weakly::Strong;
            use weakly::concurrent::{Interner, WeakValueMap};

            #[test]
            fn values_strong() {
                super::$test::<Strong<usize>, WeakValueMap<usize, Strong<usize>>>();
            }
            #[test]
            fn interner_arc() {
                super::$test::<std::sync::Arc<usize>, Interner<std::sync::Arc<usize>>>();
            }
        }
    )*};
}

pub(crate) use for_each_floored;

/// A collection that keeps numbers alive.
pub trait Floored<P: Pointer>: Default + Send + Sync + 'static {
    fn get(&self, number: usize) -> Option<P>;
    /// The object of a number, made if there is none.
    fn make(&self, number: usize) -> P;
    fn keep_in(&self, budget: &KeepAlive<P>);
    fn set_keep_alive(
        &self,
        limit: Limit,
        weigh: impl Fn(&P) -> usize + Send + Sync + 'static,
    ) -> KeepAlive<P>;
    fn purge(&self);
    fn len(&self) -> usize;
    fn clear(&self);
}

macro_rules! floored {
    ($($name:ty: |$all:ident, $number:ident| $make:expr;)*) => {$(
        impl<P: Pointer> Floored<P> for $name {
            fn get(&self, number: usize) -> Option<P> {
                self.get(&number)
            }
            fn make(&self, $number: usize) -> P {
                let $all = self;
                $make
            }
            fn keep_in(&self, budget: &KeepAlive<P>) {
                self.keep_in(budget);
            }
            fn set_keep_alive(
                &self,
                limit: Limit,
                weigh: impl Fn(&P) -> usize + Send + Sync + 'static,
            ) -> KeepAlive<P> {
                let weigh: Box<dyn Fn(&P) -> usize + Send + Sync> = Box::new(weigh);
                self.set_keep_alive(limit, weigh)
            }
            fn purge(&self) {
                self.purge();
            }
            fn len(&self) -> usize {
                self.len()
            }
            fn clear(&self) {
                self.clear();
            }
        }
    )*};
}

floored! {
    WeakValueMap<usize, P>: |all, number| all.get_or_insert_with(number, |number| P::from(*number));
    Interner<P>: |all, number| all.intern(number);
}

/// What a listener was told.
#[derive(Clone)]
pub struct Told<T>(Arc<Mutex<Vec<(T, Gone)>>>);

impl<T> Default for Told<T> {
    fn default() -> Self {
        Told(Arc::default())
    }
}

impl<T: Clone> Told<T> {
    pub fn tell(&self, what: &T, why: Gone) {
        self.0.lock().unwrap().push((what.clone(), why));
    }

    /// What was told since the last call.
    pub fn take(&self) -> Vec<(T, Gone)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// An object whose destructor runs an action.
pub type Object = Strong<Doomed>;
pub type Objects = WeakValueMap<usize, Object>;

pub fn object(end: impl FnOnce() + Send + 'static) -> Object {
    Strong::new(Doomed::new(end))
}

/// A key with the number of its name. It may own an object. Its `Hash` and `Eq` do what they like, and panic now and then,
/// if it has a mood.
#[derive(Clone)]
pub struct Name {
    pub number: usize,
    pub owns: Option<ByIdentity<Object>>,
    pub mood: Option<Arc<Mood>>,
}

#[derive(Default)]
pub struct Mood {
    calls: AtomicUsize,
    pub panics: AtomicBool,
}

weakly::impl_trace!(Name: owns);

impl Name {
    pub fn of(number: usize) -> Self {
        Name {
            number,
            owns: None,
            mood: None,
        }
    }

    fn asks(&self) -> Option<usize> {
        let mood = self.mood.as_ref()?;
        let call = mood.calls.fetch_add(1, SeqCst);
        if mood.panics.load(SeqCst) && call % 13 == 0 {
            quiet_panic();
        }
        // Without a short period: else a `compute` that searches again is told the same lies for ever.
        Some(((call as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize)
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.number % 3 + self.asks().unwrap_or(0) % 2).hash(state);
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        match self.asks().unwrap_or(2) % 4 {
            0 => false,
            1 => true,
            _ => self.number == other.number && self.owns == other.owns,
        }
    }
}

impl Eq for Name {}

/// Whether its object lives, without a handle to it for a moment.
pub fn lives<T: ?Sized>(weak: &Weak<T>) -> bool {
    !weak.is_expired()
}
