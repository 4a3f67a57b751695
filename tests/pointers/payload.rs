//! The objects of the pointer scripts, and what they log.

use std::mem::take;
use std::sync::{Arc, Mutex};

use super::script::What;
use weakly::{
    ptr::{self, Atomic, FinalizerToken, Flavour, Local},
    unsize,
};

/// Events: deaths of payloads, and calls of finalizers, by number.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<Event>>>);

/// See [`Log`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Died,
    Finalized(usize),
}

impl Log {
    pub fn note(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }

    pub fn take(&self) -> Vec<Event> {
        take(&mut self.0.lock().unwrap())
    }
}

/// A flavour in a script: `finalize` has two signatures.
pub trait Tested: Flavour {
    fn finalize<T: ?Sized>(
        this: &ptr::Strong<T, Self>,
        f: impl FnOnce() + Send + 'static,
    ) -> FinalizerToken<Self>;
}

impl Tested for Atomic {
    fn finalize<T: ?Sized>(
        this: &ptr::Strong<T, Self>,
        f: impl FnOnce() + Send + 'static,
    ) -> FinalizerToken<Self> {
        ptr::Strong::<T, Atomic>::finalize(this, f)
    }
}

impl Tested for Local {
    fn finalize<T: ?Sized>(
        this: &ptr::Strong<T, Self>,
        f: impl FnOnce() + Send + 'static,
    ) -> FinalizerToken<Self> {
        ptr::Strong::<T, Local>::finalize(this, f)
    }
}

/// A payload in a script.
pub trait Payload<F: Flavour> {
    type Target: ?Sized;
    /// Whether it logs its death.
    const LOGS: bool;
    /// Whether `apart` is supported.
    const SIZED: bool = false;

    fn make(number: usize, log: &Log) -> ptr::Strong<Self::Target, F>;
    fn make_cyclic(number: usize, log: &Log) -> ptr::Strong<Self::Target, F> {
        Self::make(number, log)
    }
    fn number(target: &Self::Target) -> usize;
    /// Runs the operations that only sized payloads have, and returns the handle if one is left.
    fn apart(
        handle: ptr::Strong<Self::Target, F>,
        _: What,
    ) -> Option<ptr::Strong<Self::Target, F>> {
        Some(handle)
    }
}

/// A sized payload.
pub struct Probe<F: Flavour> {
    number: usize,
    log: Log,
    me: ptr::Weak<Self, F>,
}

impl<F: Flavour> Probe<F> {
    fn new(number: usize, log: &Log, me: ptr::Weak<Self, F>) -> Self {
        let log = log.clone();
        Probe { number, log, me }
    }
}

impl<F: Flavour> Clone for Probe<F> {
    fn clone(&self) -> Self {
        Probe::new(self.number, &self.log, ptr::Weak::new())
    }
}

impl<F: Flavour> Drop for Probe<F> {
    fn drop(&mut self) {
        assert!(
            self.me.upgrade().is_none(),
            "nothing is made or revived here"
        );
        self.log.note(Event::Died);
    }
}

impl<F: Flavour> Payload<F> for Probe<F> {
    type Target = Self;
    const LOGS: bool = true;
    const SIZED: bool = true;

    fn make(number: usize, log: &Log) -> ptr::Strong<Self, F> {
        ptr::Strong::new(Probe::new(number, log, ptr::Weak::new()))
    }

    fn make_cyclic(number: usize, log: &Log) -> ptr::Strong<Self, F> {
        ptr::Strong::new_cyclic(|me| {
            assert!(me.upgrade().is_none());
            Probe::new(number, log, me.clone())
        })
    }

    fn number(target: &Self) -> usize {
        target.number
    }

    fn apart(mut handle: ptr::Strong<Self, F>, what: What) -> Option<ptr::Strong<Self, F>> {
        match what {
            What::MakeMut => {
                ptr::Strong::make_mut(&mut handle);
                Some(handle)
            }
            What::TryUnwrap => ptr::Strong::try_unwrap(handle).err(),
            What::IntoInner => {
                drop(ptr::Strong::into_inner(handle));
                None
            }
            _ => {
                drop(ptr::Strong::unwrap_or_clone(handle));
                None
            }
        }
    }
}

/// A payload behind a trait.
pub enum Dyn {}

/// Its methods.
pub trait Numbered {
    fn number(&self) -> usize;
}

impl<F: Flavour> Numbered for Probe<F> {
    fn number(&self) -> usize {
        self.number
    }
}

impl<F: Flavour> Payload<F> for Dyn {
    type Target = dyn Numbered;
    const LOGS: bool = true;

    fn make(number: usize, log: &Log) -> ptr::Strong<dyn Numbered, F> {
        if number % 2 == 0 {
            unsize!(Probe::make(number, log) => dyn Numbered)
        } else {
            let boxed: Box<dyn Numbered> = Box::new(Probe::<F>::new(number, log, ptr::Weak::new()));
            boxed.into()
        }
    }

    fn number(target: &dyn Numbered) -> usize {
        target.number()
    }
}

/// A string as payload.
pub enum Text {}

impl<F: Flavour> Payload<F> for Text {
    type Target = str;
    const LOGS: bool = false;

    fn make(number: usize, _: &Log) -> ptr::Strong<str, F> {
        number.to_string().into()
    }

    fn number(target: &str) -> usize {
        target.parse().unwrap()
    }
}
