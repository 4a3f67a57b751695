//! Scripts for the pointers: handles of every kind come and go in any order, against a model that counts them.

use std::marker::PhantomData;
use std::mem::take;

use super::payload::{Event, Log, Payload, Tested};
use crate::common::{STEP, pick};
use weakly::ptr::{self, FinalizerToken, Flavour};

/// An operation on one of a few places, each with at most one object.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    place: u8,
    what: What,
}

/// The action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    New,
    NewCyclic,
    Clone,
    Drop,
    DropAll,
    Downgrade,
    CloneWeak,
    DropWeak,
    Upgrade,
    IntoRaw,
    FromRaw,
    Finalize,
    FinalizeAndForget,
    Detach,
    RunNow,
    DropToken,
    GetMut,
    MakeMut,
    TryUnwrap,
    IntoInner,
    UnwrapOrClone,
}

use What::*;

const ALL: [What; 25] = [
    New,
    New,
    NewCyclic,
    Clone,
    Clone,
    Drop,
    Drop,
    DropAll,
    Downgrade,
    CloneWeak,
    DropWeak,
    DropWeak,
    Upgrade,
    IntoRaw,
    FromRaw,
    Finalize,
    FinalizeAndForget,
    Detach,
    RunNow,
    DropToken,
    GetMut,
    MakeMut,
    TryUnwrap,
    IntoInner,
    UnwrapOrClone,
];

impl Op {
    pub fn decode([what, place, ..]: [u8; STEP]) -> Self {
        Op {
            place,
            what: pick(&ALL, what),
        }
    }
}

struct Finalizer<F: Flavour> {
    number: usize,
    token: Option<FinalizerToken<F>>,
}

/// A place, and the model of its object: exactly the handles in these lists exist.
struct Place<T: ?Sized, F: Flavour> {
    number: usize,
    /// Weak handles of a `Probe` inside itself.
    inner_weaks: usize,
    handles: Vec<ptr::Strong<T, F>>,
    raws: Vec<*const T>,
    weaks: Vec<ptr::Weak<T, F>>,
    /// Those that have not run, oldest first.
    pending: Vec<Finalizer<F>>,
    /// Tokens of those that have.
    spent: Vec<FinalizerToken<F>>,
    ghosts: Vec<ptr::Weak<T, F>>,
}

struct World<P: Payload<F>, F: Tested> {
    places: Vec<Place<P::Target, F>>,
    log: Log,
    expected: Vec<Event>,
    numbers: usize,
    payload: PhantomData<P>,
}

/// Runs a script.
pub fn run<P: Payload<F>, F: Tested>(ops: impl IntoIterator<Item = Op>) {
    let place = |_| Place {
        number: 0,
        inner_weaks: 0,
        handles: Vec::new(),
        raws: Vec::new(),
        weaks: Vec::new(),
        pending: Vec::new(),
        spent: Vec::new(),
        ghosts: Vec::new(),
    };
    let mut world = World::<P, F> {
        places: (0..4).map(place).collect(),
        log: Log::default(),
        expected: Vec::new(),
        numbers: 0,
        payload: PhantomData,
    };
    for Op { place, what } in ops {
        let place = usize::from(place) % world.places.len();
        world.apply(place, what);
        world.verify(place);
    }
    for place in 0..world.places.len() {
        world.apply(place, DropAll);
        world.verify(place);
    }
}

impl<P: Payload<F>, F: Tested> World<P, F> {
    fn apply(&mut self, at: usize, what: What) {
        match what {
            New | NewCyclic => return self.renew(at, what),
            DropAll => {
                self.take_all_back(at);
                while !self.places[at].handles.is_empty() {
                    self.apply(at, Drop);
                }
                return;
            }
            _ => {}
        }
        let place = &mut self.places[at];
        let strong = place.handles.len() + place.raws.len();
        let weak = place.weaks.len() + place.inner_weaks;
        let alive = strong > 0;
        match what {
            // Operations that need no owner.
            CloneWeak => place.weaks.extend(place.weaks.last().cloned()),
            DropWeak => drop(place.weaks.pop()),
            Upgrade => {
                let upgraded = place.weaks.last().and_then(ptr::Weak::upgrade);
                assert_eq!(upgraded.is_some(), alive && !place.weaks.is_empty());
                place.handles.extend(upgraded);
            }
            FromRaw => place.take_one_back(),
            Detach | RunNow | DropToken => self.use_token(at, what),
            _ => {
                let Some(mut handle) = place.handles.pop() else {
                    return;
                };
                match what {
                    Clone => place.handles.push(handle.clone()),
                    Downgrade => place.weaks.push(ptr::Strong::downgrade(&handle)),
                    Finalize | FinalizeAndForget => {
                        self.numbers += 1;
                        let (number, log) = (self.numbers, self.log.clone());
                        let note = move || log.note(Event::Finalized(number));
                        let token = Some(F::finalize(&handle, note));
                        let token = token.filter(|_| what == Finalize);
                        place.pending.push(Finalizer { number, token });
                    }
                    GetMut => {
                        let unique = ptr::Strong::get_mut(&mut handle).is_some();
                        assert_eq!(unique, strong == 1 && weak == 0);
                    }
                    IntoRaw => {
                        place.raws.push(ptr::Strong::into_raw(handle));
                        return;
                    }
                    Drop => {
                        if strong == 1 {
                            self.died(at);
                            self.finalized(at);
                        }
                        return drop(handle);
                    }
                    _ if P::SIZED => return self.apart(at, handle, what),
                    _ => {}
                }
                self.places[at].handles.push(handle);
            }
        }
    }

    fn renew(&mut self, at: usize, what: What) {
        self.apply(at, DropAll);
        let place = &mut self.places[at];
        place.ghosts.append(&mut place.weaks);
        place.ghosts.truncate(8);
        place.spent.clear();
        self.numbers += 1;
        place.number = self.numbers;
        let cyclic = what == NewCyclic && P::SIZED;
        place.inner_weaks = usize::from(cyclic);
        let make = if cyclic { P::make_cyclic } else { P::make };
        place.handles.push(make(place.number, &self.log));
    }

    fn take_all_back(&mut self, at: usize) {
        while !self.places[at].raws.is_empty() {
            self.places[at].take_one_back();
        }
    }

    fn use_token(&mut self, at: usize, what: What) {
        let place = &mut self.places[at];
        for token in &place.spent {
            assert!(token.detach().is_none() && !token.run_now());
        }
        // The oldest, which is at the end of the list in the record.
        let Some(index) = place.pending.iter().position(|one| one.token.is_some()) else {
            return;
        };
        if what == DropToken {
            place.pending[index].token = None;
            return;
        }
        let Finalizer { number, token } = place.pending.remove(index);
        let token = token.expect("it has one");
        if what == Detach {
            assert!(token.detach().is_some());
        } else {
            self.expected.push(Event::Finalized(number));
            assert!(token.run_now());
        }
        place.spent.push(token);
    }

    /// Moves a sized payload out of its object, or fails to.
    fn apart(&mut self, at: usize, handle: ptr::Strong<P::Target, F>, what: What) {
        let place = &mut self.places[at];
        let last = place.handles.len() + place.raws.len() == 0;
        let unwatched = place.weaks.len() + place.inner_weaks == 0;
        let old = ptr::Strong::as_ptr(&handle);
        let rest = P::apart(handle, what);
        match (what, rest) {
            (MakeMut, Some(handle)) if last && unwatched => {
                assert!(std::ptr::addr_eq(ptr::Strong::as_ptr(&handle), old));
                return place.handles.push(handle);
            }
            (MakeMut, Some(handle)) => {
                assert_eq!(
                    (
                        ptr::Strong::strong_count(&handle),
                        ptr::Strong::weak_count(&handle)
                    ),
                    (1, 0)
                );
                assert_eq!(P::number(&handle), place.number);
            }
            (TryUnwrap, Some(handle)) => {
                assert!(!last);
                return place.handles.push(handle);
            }
            (_, rest) => assert!(rest.is_none()),
        }
        // Finalizers run when the object ends, before the payload that was moved out is dropped.
        if last {
            self.finalized(at);
        }
        if last || what != IntoInner {
            self.died(at);
        }
    }

    fn died(&mut self, _: usize) {
        if P::LOGS {
            self.expected.push(Event::Died);
        }
    }

    fn finalized(&mut self, at: usize) {
        let place = &mut self.places[at];
        for Finalizer { number, token } in place.pending.drain(..).rev() {
            self.expected.push(Event::Finalized(number));
            place.spent.extend(token);
        }
        place.inner_weaks = 0;
    }

    fn verify(&mut self, at: usize) {
        assert_eq!(self.log.take(), take(&mut self.expected));
        let place = &self.places[at];
        let strong = place.handles.len() + place.raws.len();
        let weak = place.weaks.len() + place.inner_weaks;
        for handle in &place.handles {
            assert_eq!(P::number(handle), place.number);
            assert_eq!(ptr::Strong::strong_count(handle), strong);
            #[cfg(feature = "holders")]
            assert_eq!(ptr::Strong::holders(handle).len(), strong);
            assert_eq!(ptr::Strong::weak_count(handle), weak);
            assert!(ptr::Strong::ptr_eq(handle, &place.handles[0]));
        }
        for handle in &place.weaks {
            assert_eq!(handle.is_expired(), strong == 0);
            assert_eq!(handle.strong_count(), strong);
            assert_eq!(handle.weak_count(), if strong == 0 { 0 } else { weak });
            assert!(*handle == place.weaks[0]);
            assert!(place.ghosts.iter().all(|ghost| ghost != handle));
        }
        for ghost in &place.ghosts {
            assert!(ghost.is_expired() && ghost.upgrade().is_none());
        }
        let tokens = place.pending.iter().filter_map(|one| one.token.as_ref());
        assert!(tokens.into_iter().all(FinalizerToken::is_pending));
        assert!(!place.spent.iter().any(FinalizerToken::is_pending));
    }
}

impl<T: ?Sized, F: Flavour> Place<T, F> {
    #[allow(unsafe_code)]
    fn take_one_back(&mut self) {
        // SAFETY: from `into_raw`, and out of the list.
        let handle = self
            .raws
            .pop()
            .map(|raw| unsafe { ptr::Strong::from_raw(raw) });
        self.handles.extend(handle);
    }
}
