//! The shared floor: strong handles that keep objects alive for a while.

use core::fmt;
use core::panic::RefUnwindSafe;
use std::boxed::Box;
use std::sync::Arc;

use super::bound::{Bound, Floor, Weigh};
use super::schema::Schema;
use super::table::Table;
use super::watch::{SharedRef, UpgradesOne, WatchesOne};
use crate::keep::ring::{Outcome, Ring};
use crate::keep::shared::{Listener, Membership, RingUsage, SharedRing};
use crate::keep::{Gone, Limit};
use crate::panics::FirstPanic;
use crate::raw::NestedCall;
use crate::reference::{Identify, WeakKey};

/// Strong handles to the objects that were used last, within a [`Limit`], shared between threads
/// behind `&self`: the objects live on for a while although nobody uses them. A clone is a handle
/// to the same `KeepAlive`.
///
/// A `KeepAlive` is the *floor* under one or several weak collections, which [keep in
/// it](super::WeakValueMap::keep_in) the objects that they insert and find. The chapter
/// [`keep`](crate::guide::keep) of the guide says which objects are found, kept and evicted.
///
/// See [`keep::KeepAlive`](crate::keep::KeepAlive) for the choice of the victim, and for the
/// `KeepAlive` of a single owner.
///
/// Each operation takes a lock for a few instructions, under which no code of yours runs: no
/// destructor, no listener and no weight closure. The operation that causes an eviction destroys
/// the victim, after its own work. A destructor may use the `KeepAlive`: if this causes further
/// evictions, the operation that runs the destructor destroys these victims, too, one after the
/// other.
///
/// The handles here count as strong handles: [`holders`](crate::guide::back_pointers) reports them,
/// and for [`purge_cycles`](super::WeakMap::purge_cycles) a kept object is in use.
///
/// ```
/// use weakly::{Strong, concurrent::{KeepAlive, WeakValueMap}, keep::Limit};
///
/// let keep_alive = KeepAlive::weighing(Limit::none().weight(100), |text: &Strong<str>| text.len());
/// let (pages, styles) = (WeakValueMap::new(), WeakValueMap::new());
/// pages.keep_in(&keep_alive);
/// styles.keep_in(&keep_alive);
/// for n in 0..10 {
///     pages.insert(n, &Strong::from("a page"));
///     styles.insert(n, &Strong::from("a style, which is longer"));
/// }
/// assert_eq!(keep_alive.retained_weight(), 90); // three of each: they arrive in turns
/// assert!(pages.get(&9).is_some() && pages.get(&0).is_none());
/// ```
pub struct KeepAlive<P: SharedRef>(Arc<Inner<P>>);

type Hears<P> = dyn Fn(&P, Gone) + Send + Sync;

struct Inner<P: SharedRef> {
    ring: SharedRing<P>,
    weigh: Box<Weigh<P>>,
    listener: Listener<Hears<P>>,
}

impl<P: SharedRef> KeepAlive<P> {
    /// Creates a `KeepAlive` that keeps nothing yet. For collections that [keep in
    /// it](super::WeakValueMap::keep_in), each object weighs 1.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self::weighing(limit, |_| 1)
    }

    /// Creates a `KeepAlive` with weights: for collections that keep in it, the closure returns the
    /// weight of an object, [as the guide says](crate::guide::keep#limits-and-weights).
    #[must_use]
    pub fn weighing(limit: Limit, weigh: impl Fn(&P) -> usize + Send + Sync + 'static) -> Self {
        KeepAlive(Arc::new(Inner {
            ring: SharedRing::new(limit),
            weigh: Box::new(weigh),
            listener: Listener::new(),
        }))
    }

    /// Returns the limit.
    pub fn limit(&self) -> Limit {
        self.0.ring.with(|ring| ring.limit())
    }

    /// Sets another limit, and evicts the objects beyond the limit at once: O(evicted objects).
    pub fn set_limit(&self, limit: Limit) {
        self.0.ring.set_limit(limit);
        self.0.evict_victims();
    }

    /// Sets the listener, which is called for each evicted object, with the cause of the removal,
    /// under no lock. If the handle here is the last handle, the object dies after the call. The
    /// listener may use the `KeepAlive` and its collections, as a destructor may. If the listener
    /// panics, all other victims are removed first, and then the panic goes to the caller of the
    /// operation. Objects that are kept when the last handle to the `KeepAlive` is dropped are not
    /// reported. But a collection removes its objects from its floor when the collection is
    /// dropped, and the listener gets these objects with [`Gone::Removed`]; if the listener panics
    /// then, the drop does. A listener that keeps evicted objects again never ends. A listener that
    /// owns a handle to its `KeepAlive` keeps the `KeepAlive` alive for ever.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use weakly::{Strong, concurrent::KeepAlive, keep::{Gone, Limit}};
    ///
    /// static GONE: Mutex<Vec<(i32, Gone)>> = Mutex::new(Vec::new());
    ///
    /// let latest = KeepAlive::new(Limit::entries(2));
    /// latest.set_listener(|number: &Strong<i32>, why| GONE.lock().unwrap().push((**number, why)));
    /// for number in [1, 2, 3] {
    ///     latest.keep(&Strong::new(number), 1);
    /// }
    /// latest.shrink_to(1);
    /// assert_eq!(*GONE.lock().unwrap(), [(1, Gone::Entries), (2, Gone::Weight)]);
    /// ```
    pub fn set_listener(&self, listener: impl Fn(&P, Gone) + Send + Sync + 'static) {
        self.0.listener.set(Some(Arc::new(listener)));
    }

    /// Keeps an object alive as the newest, and returns true. An object that is kept already is
    /// touched, and gets the new weight. Returns false, and does not keep the object, if the object
    /// is heavier than the limit, or the limit is 0 entries. O(1) amortised, and O(evicted
    /// objects).
    ///
    /// # Panics
    /// If a destructor or the listener panics.
    #[track_caller]
    pub fn keep(&self, object: &P, weight: usize) -> bool
    where
        P: Clone,
    {
        self.0.keep(object.clone(), weight)
    }

    /// Notes a use of a kept object, so that its eviction comes later. Returns whether the object
    /// is kept. O(1).
    pub fn touch<Q: ?Sized + Identify<P>>(&self, object: &Q) -> bool {
        let addr = Q::addr(object).addr();
        self.0.ring.with(|ring| ring.touch(addr))
    }

    /// Returns whether an object is kept. Does not count as a use of the object. O(1).
    #[must_use]
    pub fn contains<Q: ?Sized + Identify<P>>(&self, object: &Q) -> bool {
        let addr = Q::addr(object).addr();
        self.0.ring.with(|ring| ring.get(addr).is_some())
    }

    /// Stops keeping an object, and returns the handle to the object if it was kept. O(1). A
    /// collection that finds the object keeps it again.
    pub fn release<Q: ?Sized + Identify<P>>(&self, object: &Q) -> Option<P> {
        let addr = Q::addr(object).addr();
        let released = self.0.ring.with(|ring| ring.release(addr))?;
        self.0.tell(&released, Gone::Removed);
        Some(released)
    }

    /// Begins the next generation: evicts the objects that were neither kept nor touched in the
    /// [last generations](Limit::generations). O(evicted objects). Several threads that call
    /// `advance` at once begin a generation each.
    pub fn advance(&self) {
        self.0.ring.with(Ring::advance);
        self.0.evict_victims();
    }

    /// Evicts objects until the remaining objects weigh at most `weight`, and returns the number of
    /// evicted objects. The limit stays as it is: the method is for a moment when memory is needed
    /// elsewhere. O(evicted objects) amortised.
    pub fn shrink_to(&self, weight: usize) -> usize {
        let gone = self.0.ring.with(|ring| ring.let_go_above(weight));
        self.0.evict_victims();
        gone
    }

    /// Returns the number of kept objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.ring.with(|ring| ring.len())
    }

    /// Returns whether no object is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of the weights of the kept objects, or `usize::MAX` if the sum is larger.
    #[must_use]
    pub fn retained_weight(&self) -> usize {
        self.0.ring.with(|ring| ring.weight())
    }

    /// Frees the memory that is not needed for the kept objects. O(kept objects). Without this
    /// method, a `KeepAlive` has room for at most four times as many objects as it keeps.
    pub fn shrink_to_fit(&self) {
        self.0.ring.shrink_to_fit();
    }

    /// Releases all objects that are kept at the time of the call. The listener gets each object
    /// with [`Gone::Removed`]. Objects without other handles die in the call; the other objects
    /// stay in their collections, and the next lookup that finds an object keeps it again. An
    /// object that another thread keeps during the call may stay. O(released objects).
    ///
    /// # Panics
    /// If a destructor or the listener panics, after all of them have run.
    pub fn clear(&self) {
        self.0.ring.with(Ring::let_all_go);
        self.0.evict_victims();
    }
}

impl<P: SharedRef> Inner<P> {
    fn keep(&self, object: P, weight: usize) -> bool {
        let addr = WeakKey::addr(&object).addr();
        let outcome = (self.ring).with_room(addr, |ring| ring.keep(addr, weight, object));
        let is_kept = !matches!(outcome, Outcome::Refused(_));
        let mut panics = FirstPanic::default();
        panics.catch(|| drop(outcome));
        panics.catch(|| self.evict_victims());
        panics.resume();
        is_kept
    }

    /// Evicts objects as the limit requires. A nested call leaves the victims to the outer call.
    fn evict_victims(&self) {
        if !self.ring.has_victim() {
            return;
        }
        NestedCall::with(&self.ring, 1, |turn| {
            let mut panics = FirstPanic::default();
            while let Some(victim) = turn.and_then(|_| self.ring.next_victim()) {
                if victim.why != Gone::Removed {
                    self.ring.count_evicted();
                }
                panics.catch(|| self.tell(&victim.what, victim.why));
                panics.catch(|| drop(victim));
            }
            panics.resume();
        });
    }

    /// Calls the listener.
    fn tell(&self, what: &P, why: Gone) {
        if let Some(listener) = self.listener.get() {
            listener(what, why);
        }
    }
}

impl<P: SharedRef> Drop for Inner<P> {
    /// All destructors run, even if some panic; then the destructors of the kept objects. The
    /// listener is not called.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.listener.set(None));
        panics.catch(|| self.weigh = Box::new(|_| 1));
        panics.resume();
    }
}

/// The floor of a table: the objects watched by `T`.
struct FloorOf<P: SharedRef>(KeepAlive<P>);

impl<P: SharedRef> Drop for FloorOf<P> {
    /// Evicts the objects whose entries have ended with the table.
    fn drop(&mut self) {
        self.0.0.evict_victims();
    }
}

impl<T: UpgradesOne<Key = P>, P: SharedRef> Floor<T> for FloorOf<P> {
    fn weigh(&self, watch: &T) -> Option<usize> {
        Some((self.0.0.weigh)(&watch.upgrade()?))
    }

    fn admit(&self, watch: &T, membership: &Membership, weight: Option<usize>) {
        let Some(object) = watch.upgrade() else {
            return;
        };
        let (inner, addr) = (&*self.0.0, WeakKey::addr(&object).addr());
        let item = (object, |object: &P| (inner.weigh)(object));
        // In this round, an object that is too heavy would be refused again. An object without a
        // weight is weighed again.
        let refused = |ring: &mut Ring<P>, weight: Option<usize>, object| {
            if weight.is_some() {
                membership.report(ring);
            }
            Some(object)
        };
        (inner.ring).admit(addr, membership, weight, item, refused);
    }

    fn leave(&self, watch: &T) {
        // A dead object is not kept, and its address may belong to another object by now. So the
        // object has to stay alive until the call is done.
        if let Some(object) = watch.upgrade() {
            let (inner, addr) = (&*self.0.0, WeakKey::addr(&object).addr());
            inner.ring.with(|ring| ring.let_go(addr, Gone::Removed));
        }
    }

    fn evict_victims(&self) {
        self.0.0.evict_victims();
    }

    fn usage(&self) -> RingUsage {
        self.0.0.ring.usage()
    }
}

impl<S: Schema<Watch: UpgradesOne<Key: SharedRef>>> Table<S> {
    /// Makes the `KeepAlive` the floor of the table.
    #[track_caller]
    pub(super) fn keep_in(&self, keep_alive: &KeepAlive<<S::Watch as WatchesOne>::Key>)
    where
        <S::Watch as WatchesOne>::Key: 'static,
    {
        let floor = FloorOf(keep_alive.clone());
        self.set_bound(Bound::floor(keep_alive.0.ring.published(), floor));
    }
}

// The contents are consistent between any two calls, and no user code runs under the lock.
impl<P: SharedRef + RefUnwindSafe> RefUnwindSafe for Inner<P> {}

impl<P: SharedRef> Clone for KeepAlive<P> {
    fn clone(&self) -> Self {
        KeepAlive(Arc::clone(&self.0))
    }
}

impl<P: SharedRef> fmt::Debug for KeepAlive<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeepAlive")
            .field("len", &self.len())
            .field("retained_weight", &self.retained_weight())
            .field("limit", &self.limit())
            .finish()
    }
}
