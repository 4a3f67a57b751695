//! A collection, described once for all tests: what both families have, those of one owner and those that threads
//! share ([`Upkeep`], [`Subject`]), and what changes them ([`Single`], [`Shared`]). A test runs for a list of collections
//! and kinds of pointers, which [`subjects!`] makes. It takes a [`Kit`](single::Kit), and is compiled once; or it is
//! written over one of these traits, where the type is its point, and compiled for each.
//!
//! An entry lives as long as its *life*: the one object that the test keeps alive. That is the key of a `WeakMap`, the
//! value of a `WeakValueMap`, either side of a `WeakPairMap`. What a collection owns of an entry is an [`Owned`].

use std::borrow::Borrow;
use std::collections::TryReserveError;
use std::hash::{BuildHasher, Hash};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

#[cfg(feature = "std")]
use weakly::concurrent::SharedRef;
use weakly::{
    Reclaim, local,
    reference::{StrongRef, WeakKey, WeakRef},
};

use super::Count;
pub use super::owned::{Content, Ends, Owned};
pub use paired::{ByKey, ByValue, Paired};

/// A handle to an object that entries live as long as.
pub trait Life<T = usize>:
    StrongRef<Target = T> + Clone + Deref<Target = T> + Borrow<T> + From<T> + PartialEq + 'static
{
    /// Whether deaths are notified.
    const NOTIFIES: bool;
    /// How many strong handles and how many weak ones (with entries) an object has.
    fn counts(&self) -> (usize, usize);

    fn is(&self, other: &Self) -> bool {
        Self::addr(self) == Self::addr(other)
    }
}

macro_rules! lives {
    ($($strong:ty, $notifies:expr;)*) => {$(
        impl<T: Content> Life<T> for $strong {
            const NOTIFIES: bool = $notifies;
            fn counts(&self) -> (usize, usize) {
                (Self::strong_count(self), Self::weak_count(self))
            }
        }
    )*};
}

lives! {
    weakly::Strong<T>, true;
    local::Strong<T>, true;
    Arc<T>, false;
    Rc<T>, false;
}

/// The objects `0..n`.
pub fn new_lives<L: Life>(n: usize) -> Vec<L> {
    (0..n).map(Into::into).collect()
}

impl<E: Ends, T: Content> Owned<E, T> {
    /// Whether it is what was inserted with this life.
    pub fn is(&self, life: &impl Deref<Target = T>) -> bool {
        self.number.number() == life.number()
    }
}

/// What all collections have, whatever their entries are.
pub trait Upkeep {
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
    fn len_live(&self) -> usize;
    fn pending_dead(&self) -> usize;
    fn reclaim(&self) -> Reclaim;
    fn set_reclaim(&mut self, reclaim: Reclaim);
    fn set_waker(&mut self, waker: Option<Waker>);
    fn poll_pending(&mut self, context: &mut Context<'_>) -> Poll<()>;
    fn purge(&mut self) -> bool;
    fn purge_some(&mut self, n: usize) -> usize;
    fn clear(&mut self);
    fn shrink_to_fit(&mut self);

    fn counts(&self) -> (usize, usize, usize) {
        (self.len(), self.len_live(), self.pending_dead())
    }
}

/// What those of one owner have besides, about their memory.
pub trait Memory: Upkeep {
    fn capacity(&self) -> usize;
    fn reserve(&mut self, additional: usize);
    fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError>;
    fn shrink_to(&mut self, min_capacity: usize);
}

/// Methods that call those of the same name, of the collection itself or of one in a field.
#[macro_export]
macro_rules! forwards {
    ($inner:ty, $this:ident, $at:expr; $(& $name:ident() -> $result:ty;)*
     $(mut $change:ident($($new:ident: $type:ty)?) $(-> $changed:ty)?;)*) => {
        $(fn $name(&$this) -> $result {
            <$inner>::$name(&$at)
        })*
        $(fn $change(&mut $this $(, $new: $type)?) $(-> $changed)? {
            <$inner>::$change(&mut $at $(, $new)?)
        })*
    };
}

/// The methods of [`Upkeep`].
#[macro_export]
macro_rules! upkeep {
    ($inner:ty, $this:ident, $at:expr) => {
        $crate::forwards! {
            $inner, $this, $at;
            & len() -> usize;
            & is_empty() -> bool;
            & len_live() -> usize;
            & pending_dead() -> usize;
            & reclaim() -> weakly::Reclaim;
            mut set_reclaim(reclaim: weakly::Reclaim);
            mut set_waker(waker: Option<std::task::Waker>);
            mut poll_pending(context: &mut std::task::Context<'_>) -> std::task::Poll<()>;
            mut purge() -> bool;
            mut purge_some(n: usize) -> usize;
            mut clear();
            mut shrink_to_fit();
        }
    };
}

/// The methods of [`Memory`].
macro_rules! memory {
    ($inner:ty, $this:ident, $at:expr) => {
        forwards! {
            $inner, $this, $at;
            & capacity() -> usize;
            mut reserve(additional: usize);
            mut try_reserve(additional: usize) -> Result<(), TryReserveError>;
            mut shrink_to(min_capacity: usize);
        }
    };
}

macro_rules! upkeeps {
    ($($generics:tt $name:ty $(, $memory:ident)?;)*) => {$(
        upkeeps! { @one Upkeep, upkeep, $generics $name }
        $(upkeeps! { @one Memory, $memory, $generics $name })?
    )*};
    (@one $trait:ident, $methods:ident, [$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> $trait for $name {
            $methods!($name, self, *self);
        }
    };
}

/// A collection whose entries live as long as objects that contain a `T`.
pub trait Subject<T: Content = usize>: Upkeep + Default {
    type Life: Life<T>;
    /// Whether deaths are notified.
    const NOTIFIES: bool = Self::Life::NOTIFIES;
    /// Whether it owns something of each entry.
    const OWNS: bool;
    /// Whether entries are keyed by content, and not by the object that is their life.
    const BY_CONTENT: bool;
    /// How often an instalment counts an entry whose life has ended.
    const COUNTED: usize = 1;

    fn with_capacity(capacity: usize) -> Self;
    /// One that has an entry for each life, and counts the ends of what it owns.
    fn counted(lives: &[Self::Life], ends: &Count) -> Self;
    /// Whether a lookup by this life finds it.
    fn has(&self, life: &Self::Life) -> bool;
    /// Whether a lookup finds anything by what is left of a life that may be over.
    fn finds(&self, content: &T, weak: &<Self::Life as WeakKey>::Weak) -> bool;

    /// One that has an entry for each life.
    fn uncounted(lives: &[Self::Life]) -> Self {
        Self::counted(lives, &Count::default())
    }

    /// Whether it finds an object by what will be left of it.
    fn contains(&self, life: &Self::Life) -> bool {
        self.finds(life, &Self::Life::downgrade(life))
    }

    /// `n` if it owns something of each entry, else nothing.
    fn owned(n: usize) -> usize {
        if Self::OWNS { n } else { 0 }
    }

    /// `n` if deaths are notified, else nothing.
    fn notified(n: usize) -> usize {
        if Self::NOTIFIES { n } else { 0 }
    }
}

/// What changes a collection, and how its iterators are: alike in both families, but for `&mut self` and `&self`.
macro_rules! changes {
    ($(#[$doc:meta])* $name:ident($($mut:ident)?) [$($super:tt)*] $life:path, $iterators:ident $Ends:ty { $($more:tt)* }) => {
        $(#[$doc])*
        pub trait $name<T: Content = usize>: Subject<T, Life: $life> + $($super)* {
            /// Inserts an entry that lives as long as `life`, in the place of another of the same name; returns whether it
            /// is new. (An interner keeps the other.)
            fn enter(&$($mut)? self, life: &Self::Life, ends: &$Ends) -> bool;
            /// Removes an entry; returns whether it was there. (An interner, which removes none, is cleared.)
            fn leave(&$($mut)? self, life: &Self::Life) -> bool;
            /// The same by what is left of a life that may be over.
            fn leaves(&$($mut)? self, content: &T, weak: &<Self::Life as WeakKey>::Weak) -> bool;
            /// The lives of the entries.
            fn iter(&self) -> impl Iterator<Item = Self::Life> + $iterators;
            $($more)*

            /// One that has an entry for each life.
            fn of<'a>(lives: impl IntoIterator<Item = &'a Self::Life>, ends: &$Ends) -> Self {
                #[allow(unused_mut)] // where threads share it
                let mut all = Self::default();
                for life in lives {
                    all.enter(life, ends);
                }
                all
            }

            /// The numbers that an iterator shows, in order.
            fn numbers(&self) -> Vec<usize> {
                sorted(self.iter().map(|life| life.number()))
            }
        }
    };
}

changes! {
    /// A collection of one owner.
    Single(mut) [Memory] Life<T>, Clone single::Ends {}
}

#[cfg(feature = "std")]
changes! {
    /// A collection that threads share.
    Shared() [Send + Sync + 'static] SharedRef, Send shared::Ends {
        fn set_reclaim(&self, reclaim: Reclaim);
        fn purge(&self) -> bool;
        fn purge_some(&self, n: usize) -> usize;
        fn clear(&self);
    }
}

/// In order.
pub fn sorted(numbers: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut all = Vec::new();
    // (`collect` would be compiled for each type of iterator, of which there are hundreds.)
    for number in numbers {
        all.push(number);
    }
    all.sort_unstable();
    all
}

/// What an insertion or a removal returns.
pub trait Answer {
    fn is_new(&self) -> bool;
    fn was_there(&self) -> bool;
}

impl Answer for bool {
    fn is_new(&self) -> bool {
        *self
    }
    fn was_there(&self) -> bool {
        *self
    }
}

impl<V> Answer for Option<V> {
    fn is_new(&self) -> bool {
        self.is_none()
    }
    fn was_there(&self) -> bool {
        self.is_some()
    }
}

/// Interns a life; returns whether it has become the one of its content.
fn interns<T: Content, L: Life<T>>(life: &L, intern: impl FnOnce(L) -> L) -> bool {
    let before = life.counts().1;
    intern(life.clone()).is(life) && life.counts().1 > before
}

// These use the macros above, and those of the ones before.
mod paired;
#[macro_use]
mod describe;
#[macro_use]
mod kit;
mod lists;
#[cfg(feature = "std")]
pub mod shared;
pub mod single;
