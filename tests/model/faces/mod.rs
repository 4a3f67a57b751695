//! The collections as subjects of a script, by every route there is. They have the same methods, but no trait in
//! common: each macro implements one trait's worth of routes, for any type that has these methods.

mod maps;
mod owned;
mod sets;
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

/// The methods of every collection about its size and memory.
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

        fn capacity(&self) -> usize {
            self.capacity()
        }

        fn set_reclaim(&mut self, reclaim: weakly::Reclaim) {
            self.set_reclaim(reclaim);
        }

        fn purge(&mut self) {
            self.purge();
        }

        fn clear(&mut self) {
            self.clear();
        }

        fn reserve(&mut self, additional: usize) {
            self.reserve(additional);
        }

        fn try_reserve(&mut self, additional: usize) -> bool {
            self.try_reserve(additional).is_ok()
        }

        fn shrink_to(&mut self, min_capacity: usize) {
            if min_capacity == 0 {
                self.shrink_to_fit();
            } else {
                self.shrink_to(min_capacity);
            }
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

use {by_content, by_identity, by_owned, copies, housekeeping};
