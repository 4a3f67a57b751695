//! The policy that decides when a collection destroys the remains of dead entries.

/// Decides when a collection destroys the remains of dead entries: the values of dead keys,
/// and the keys of dead values. Set the policy with the collection's `set_reclaim`. The policy does
/// not change the time at which an entry is dead: from the moment of the death, no lookup finds the
/// entry, and, with [`Strong`](crate::Strong), `len` does not count it.
///
/// Use [`OnRequest`](Self::OnRequest) for a collection that is in a
/// [`RefCell`](core::cell::RefCell) or behind a lock, and owns values whose destructors use the
/// same collection. With [`OnUse`](Self::OnUse), an `insert` may destroy such a value while the
/// collection is borrowed for the insertion, and the destructor finds the collection borrowed. With
/// `OnRequest`, take the remains out, and drop them after the borrow has ended: then no destructor
/// runs while the collection is borrowed.
///
/// ```
/// use std::cell::RefCell;
/// use std::rc::{Rc, Weak};
/// use weakly::{Reclaim, WeakMap, local::Strong};
///
/// type Textures = RefCell<WeakMap<Strong<&'static str>, Texture>>;
///
/// struct Texture { all: Weak<Textures>, last: Rc<RefCell<bool>> }
///
/// impl Drop for Texture {
///     fn drop(&mut self) {
///         if let Some(all) = self.all.upgrade() {
///             *self.last.borrow_mut() = all.borrow_mut().is_empty(); // panics if it is borrowed
///         }
///     }
/// }
///
/// let all = Rc::new(Textures::default());
/// all.borrow_mut().set_reclaim(Reclaim::OnRequest);
/// let last = Rc::new(RefCell::new(false));
/// let texture = || Texture { all: Rc::downgrade(&all), last: last.clone() };
///
/// let (window, other) = (Strong::new("window"), Strong::new("other"));
/// all.borrow_mut().insert(&window, texture());
/// drop(window);
/// all.borrow_mut().insert(&other, texture()); // destroys nothing
/// drop(other);
///
/// let dead: Vec<_> = all.borrow_mut().drain_dead().collect();
/// assert_eq!(dead.len(), 2);
/// drop(dead); // the map is not borrowed: it may be used
/// assert!(*last.borrow());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reclaim {
    /// Operations that may change the collection destroy the remains, a few entries at a time. (For
    /// `Arc`, which sends no notices, reads of collections that threads share occasionally destroy
    /// remains, too.)
    #[default]
    OnUse,
    /// Only `purge`, `purge_some`, `purge_cycles`, `clear` and the end of the collection destroy
    /// the remains, and `drain_dead`, `drain_cycles` and `take_dead` return them. Other operations
    /// keep them. (The collection ends when it is dropped or turned into an iterator. Returning to
    /// [`OnUse`](Self::OnUse) ends the policy, and destroys all kept remains and all dead entries
    /// with pending notices. `Arc` and `Rc` send no notices: a later sweep finds their dead
    /// entries.)
    ///
    /// The entries themselves are still removed, so dead entries do not make the table grow. But
    /// their remains take memory until the program asks for them. Keeping the remains of an entry
    /// is O(1) amortised; `pending_dead` counts the entry.
    OnRequest,
}
