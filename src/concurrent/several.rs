//! The watches of an entry of several objects: a tuple of watches, or a list. The entry ends with
//! the first death among its objects.

use std::boxed::Box;

use super::watch::{ObjectState, Unplaced, Watches};
use crate::ptr::{Off, RegistrationId};
use crate::raw::Registered;
use crate::sync::AtomicPtr;

impl<'k, A, B> Unplaced<'k, (A, B)> {
    /// Joins two registered watches.
    #[inline]
    pub(crate) fn pair(one: Unplaced<'k, A>, other: Unplaced<'k, B>) -> Self {
        Unplaced::new((one.into_inner(), other.into_inner()))
    }
}

/// Whether entries have to be polled, if they have both watches.
const fn either_swept(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), Some(false)) => Some(false),
        (Some(true), _) | (_, Some(true)) => Some(true),
        _ => None,
    }
}

/// Ends all registrations of an entry, except the registration with the given id: the death that
/// has unlinked the entry ends the registration with the id. The deaths of the remaining objects do
/// not find the entry any more.
fn end_unless(watch: &impl Registered, id: RegistrationId, off: &mut Off) {
    if watch.named(id).is_none() {
        watch.end(off);
    } else {
        watch.end_others(id, off);
    }
}

macro_rules! several {
    ($([$($Watch:ident $at:tt)*] $swept:expr;)*) => {$(
        impl<$($Watch: Watches),*> Watches for ($($Watch,)*) {
            const SWEPT: Option<bool> = $swept;

            #[inline]
            fn any_is(&self, _state: ObjectState) -> bool {
                false $(|| self.$at.any_is(_state))*
            }

            fn objects(&self, _each: &mut dyn FnMut(*const ())) {
                $(self.$at.objects(_each);)*
            }
        }

        impl<$($Watch: Registered),*> Registered for ($($Watch,)*) {
            type Of = ();

            fn is_registered(&self) -> bool {
                true $(&& self.$at.is_registered())*
            }

            fn named(&self, _id: RegistrationId) -> Option<&AtomicPtr<()>> {
                None $(.or_else(|| self.$at.named(_id)))*
            }

            fn link(&self) -> Option<&AtomicPtr<()>> {
                None $(.or_else(|| self.$at.link()))*
            }

            fn end_others(&self, _id: RegistrationId, _off: &mut Off) {
                $(end_unless(&self.$at, _id, _off);)*
            }

            fn memory_usage(&self) -> usize {
                0 $(+ self.$at.memory_usage())*
            }

            fn end(&self, _off: &mut Off) {
                $(self.$at.end(_off);)*
            }
        }
    )*};
}

several! {
    [] Some(false);
    [A 0] A::SWEPT;
    [A 0 B 1] either_swept(A::SWEPT, B::SWEPT);
    [A 0 B 1 C 2] either_swept(A::SWEPT, <(B, C)>::SWEPT);
    [A 0 B 1 C 2 D 3] either_swept(A::SWEPT, <(B, C, D)>::SWEPT);
}

impl<T: Watches> Watches for Box<[T]> {
    const SWEPT: Option<bool> = T::SWEPT;

    fn any_is(&self, state: ObjectState) -> bool {
        self.iter().any(|watch| watch.any_is(state))
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        self.iter().for_each(|watch| watch.objects(each));
    }
}

impl<T: Registered> Registered for Box<[T]> {
    type Of = ();

    fn is_registered(&self) -> bool {
        self.iter().all(T::is_registered)
    }

    fn named(&self, id: RegistrationId) -> Option<&AtomicPtr<()>> {
        self.iter().find_map(|watch| watch.named(id))
    }

    fn link(&self) -> Option<&AtomicPtr<()>> {
        self.iter().find_map(T::link)
    }

    fn end_others(&self, id: RegistrationId, off: &mut Off) {
        self.iter().for_each(|watch| end_unless(watch, id, off));
    }

    fn memory_usage(&self) -> usize {
        size_of_val(&**self) + self.iter().map(T::memory_usage).sum::<usize>()
    }

    fn end(&self, off: &mut Off) {
        self.iter().for_each(|watch| watch.end(off));
    }
}
