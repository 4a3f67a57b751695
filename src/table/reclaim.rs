//! When a collection destroys what its dead entries own.

/// When a collection destroys what its dead entries own: the values of dead keys, the keys of dead
/// values. Set it with the collection's `set_reclaim`. The policy does not change when an entry is
/// dead: from the moment of the death no lookup finds it, and, with [`Strong`](crate::Strong),
/// `len` does not count it.
///
/// Use [`OnRequest`](Self::OnRequest) for collections that are in a
/// [`RefCell`](core::cell::RefCell) or behind a lock, and own things whose destructors use the same
/// collection. With [`OnUse`](Self::OnUse) an `insert` may destroy such a thing while the
/// collection is borrowed for the insert, and the destructor finds it borrowed. On request, no
/// destructor runs while the collection is borrowed, if you take out what the dead leave and drop
/// it after the borrow has ended:
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
    /// Operations that may change the collection destroy it, a few entries at a time. (For `Arc`,
    /// which sends no notices, reads of collections that threads share occasionally do so too.)
    #[default]
    OnUse,
    /// Only `purge`, `purge_some`, `purge_cycles`, `drain_dead` (which returns it), `clear` and the
    /// end of the collection destroy it. Other operations keep it. (The end: dropping the
    /// collection, or turning it into an iterator. Going back to [`OnUse`](Self::OnUse) ends the
    /// policy, and destroys what has been kept, and what has died since.)
    ///
    /// The entries themselves are still removed, so the table does not grow because of the dead.
    /// But what they own takes memory until it is asked for. Keeping it is O(1) amortised;
    /// `pending_dead` counts it.
    OnRequest,
}
