//! The collections as subjects of a script, by every route there is. They have the same methods, but no trait in
//! common: each macro implements one trait's worth of routes, for any type that has these methods.

mod maps;
#[cfg(feature = "std")]
pub mod memo;
mod sets;
#[cfg(feature = "std")]
mod shared_maps;
#[cfg(feature = "std")]
mod shared_sets;
mod single_maps;
#[cfg(feature = "std")]
mod snapshots;

use std::borrow::Borrow;
use std::rc::Rc;

use super::world::{Content, Item, Key};
use crate::common::{Kind, new};
use weakly::Hashed;

// Each of these also makes what else finds a key of its kind: `find_weak` or `find_content`.

/// Looks a key up by identity.
macro_rules! by_identity {
    (@beside $contains:ident, |$this:ident, $content:ident| $found:expr) => {
        fn find_weak(&self, key: &<Key<P> as WeakKey>::Weak) -> Option<bool> {
            Some(self.$contains(key))
        }
    };
    ($by:expr, $key:expr, $all:expr, |$query:ident| $look:expr) => {
        by_identity!(@only [Strong Weak Plain Addr] $by, $key, $all, |$query| $look)
    };
    // The routes know no other lookup of this kind.
    (@only [$($way:ident)+] $by:expr, $key:expr, $all:expr, |$query:ident| $look:expr) => {
        match $by {
            $(By::$way => {
                let $query = by_identity!(@query $way $key);
                $look
            })+
            #[allow(unreachable_patterns)]
            by => unreachable!("no route is by {by:?}"),
        }
    };
    (@query Strong $key:expr) => {
        $key
    };
    (@query Weak $key:expr) => {
        &downgrade($key)
    };
    (@query Plain $key:expr) => {
        $key as &Item
    };
    (@query Addr $key:expr) => {
        &Addr::of(&**$key)
    };
}

/// Looks a weak key up by content.
macro_rules! by_content {
    (@beside $contains:ident, |$this:ident, $content:ident| $found:expr) => {
        fn find_content(&self, content: usize) -> Option<Found> {
            let ($this, $content) = (self, &content);
            let found = $found;
            assert_eq!(found.is_some(), self.$contains(&by_handle(content)));
            found
        }
    };
    ($by:expr, $key:expr, $all:expr, |$query:ident| $look:expr) => {
        by_content!(@only [Strong Weak Plain Addr] $by, $key, $all, |$query| $look)
    };
    (@only $ways:tt $by:expr, $key:expr, $all:expr, |$query:ident| $look:expr) => {
        by_content!(@or $ways $by, $key, $all, ($key as &Item), |$query| $look)
    };
    // With the key itself where it is none of these.
    (@or [$($way:ident)+] $by:expr, $key:expr, $all:expr, $object:tt, |$query:ident| $look:expr) => {
        match $by {
            $(By::$way => {
                let $query = by_content!(@query $way $key, $all, $object);
                $look
            })+
            #[allow(unreachable_patterns)]
            by => unreachable!("no route is by {by:?}"),
        }
    };
    (@query Strong $key:expr, $all:expr, ($($object:tt)+)) => {
        $($object)+
    };
    (@query Addr $key:expr, $all:expr, $object:tt) => {
        &by_hash($all.hasher().hash_one($key.content.number), $key.content.number)
    };
    (@query Weak $key:expr, $all:expr, $object:tt) => {
        &$key.content
    };
    (@query Plain $key:expr, $all:expr, $object:tt) => {
        &$key.content.number
    };
}

/// Finds a content by a hash made beforehand.
fn by_hash<T: Borrow<usize>>(hash: u64, number: usize) -> Hashed<impl Fn(&T) -> bool> {
    Hashed(hash, move |there: &T| *there.borrow() == number)
}

/// Finds a content by another object that has it, behind another kind of handle.
fn by_handle(number: usize) -> Rc<Item> {
    Rc::new(Item::new(Content::unlogged(number), None))
}

/// An object that is no object of the script, for a moment.
fn elsewhere<P: Kind>() -> Key<P> {
    new::<P, _>(Item::new(Content::unlogged(usize::MAX), None))
}

/// Looks an owned key up.
macro_rules! by_owned {
    (@beside $contains:ident, |$this:ident, $content:ident| $found:expr) => {
        fn find_content(&self, content: usize) -> Option<Found> {
            let ($this, $content) = (self, &content);
            $found
        }
    };
    ($by:expr, $key:expr, $all:expr, |$query:ident| $look:expr) => {
        by_owned!(@only [Strong Weak Plain Addr] $by, $key, $all, |$query| $look)
    };
    (@only $ways:tt $by:expr, $key:expr, $all:expr, |$query:ident| $look:expr) => {
        by_content!(@or $ways $by, $key, $all, (&Value::unlogged($key.content.number)), |$query| $look)
    };
}

/// A collection of one owner shows its memory.
macro_rules! memory {
    () => {
        fn memory(&mut self) -> Option<&mut dyn Memory> {
            Some(self)
        }
    };
}

/// What a collection can be made of, and compared with.
macro_rules! copies {
    () => {
        fn copy(&self) -> Self {
            self.clone()
        }

        fn equals(&self, other: &Self) -> bool {
            self == other
        }
    };
}

use {by_content, by_identity, by_owned, copies, memory};
