//! The collections as subjects of a script, by every route there is. They have the same methods, but no trait in
//! common: each macro implements one trait's worth of routes, for any type that has these methods.

mod maps;
pub mod memo;
mod owned;
mod sets;
mod shared_maps;
mod shared_sets;
mod snapshots;
mod weak;

/// Looks a key up by identity.
macro_rules! by_identity {
    ($by:expr, $key:expr, |$query:ident| $look:expr) => {
        match $by {
            By::Strong => {
                let $query = $key;
                $look
            }
            By::Weak => {
                let $query = &downgrade($key);
                $look
            }
            By::Plain => {
                let $query: &Item = $key;
                $look
            }
            By::Addr => {
                let $query = &Addr::of(&**$key);
                $look
            }
        }
    };
}

/// Looks a weak key up by content.
macro_rules! by_content {
    ($by:expr, $key:expr, |$query:ident| $look:expr) => {
        by_content!(@or $by, $key, $key => &Item, |$query| $look)
    };
    // With the key itself where it is neither of these.
    (@or $by:expr, $key:expr, $object:expr => $type:ty, |$query:ident| $look:expr) => {
        match $by {
            By::Strong | By::Addr => {
                let $query: $type = $object;
                $look
            }
            By::Weak => {
                let $query = &$key.content;
                $look
            }
            By::Plain => {
                let $query = &$key.content.number;
                $look
            }
        }
    };
}

/// Looks an owned key up.
macro_rules! by_owned {
    ($by:expr, $key:expr, |$query:ident| $look:expr) => {
        by_content!(@or $by, $key, &Value::unlogged($key.content.number) => &Value, |$query| $look)
    };
}

/// The methods of every collection about its entries as a whole. (`self.purge()` would be this one, where the
/// collection's own takes `&self`.)
macro_rules! housekeeping {
    () => {
        fn len(&self) -> usize {
            self.len()
        }

        fn is_empty(&self) -> bool {
            self.is_empty()
        }

        fn len_live(&self) -> usize {
            self.len_live()
        }

        fn pending_dead(&self) -> usize {
            self.pending_dead()
        }

        fn set_reclaim(&mut self, reclaim: weakly::Reclaim) {
            Self::set_reclaim(self, reclaim);
            assert_eq!(self.reclaim(), reclaim);
        }

        fn purge(&mut self) {
            Self::purge(self);
        }

        fn clear(&mut self) {
            Self::clear(self);
        }
    };
}

/// The methods of a collection of one owner about its memory.
macro_rules! memory {
    () => {
        fn shrink_to(&mut self, min_capacity: usize) {
            if min_capacity == 0 {
                self.shrink_to_fit();
            } else {
                self.shrink_to(min_capacity);
            }
        }

        fn capacity(&self) -> Option<usize> {
            Some(self.capacity())
        }

        fn reserve(&mut self, additional: usize) {
            self.reserve(additional);
        }

        fn try_reserve(&mut self, additional: usize) -> bool {
            self.try_reserve(additional).is_ok()
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

use {by_content, by_identity, by_owned, copies, housekeeping, memory};
