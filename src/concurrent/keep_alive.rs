//! What threads keep alive together.

use core::fmt;
use core::panic::RefUnwindSafe;
use core::ptr;
use std::boxed::Box;
use std::sync::Arc;

use super::bound::{Bound, Floor, Weigh};
use super::identity::Address;
use super::key::ByKey;
use super::node::{KeyKind, Node};
use super::raw::Entry;
use super::table::Table;
use super::turn::Turn;
use super::watch::{SharedRef, SharedWatchFor, UpgradesOne, WatchesOne};
use crate::keep::ring::{Going, Outcome, Ring};
use crate::keep::shared::{Listener, SharedRing, weight_of};
use crate::keep::{Gone, Limit};
use crate::panics::FirstPanic;
use crate::reference::{Identify, WeakKey};

/// Strong handles to the latest objects, within a [`Limit`], shared between threads behind `&self`:
/// nobody else needs to use them, and they live on for a while. A clone is a handle to the same
/// ones.
///
/// It is the *floor* under a weak collection, or several, which [keep in
/// it](super::WeakValueMap::keep_in) what they insert and find. What is in use is never missing,
/// since the collection finds it; what nobody uses is found as long as it is kept. What goes from
/// here is not destroyed if somebody uses it: strong becomes weak, and the next lookup that finds
/// the object keeps it again.
///
/// See [`keep::KeepAlive`](crate::keep::KeepAlive) for what goes first, and for the one of a single
/// owner; the chapter [`keep`](crate::guide::keep) of the guide for servers.
///
/// A lock is taken for a few instructions, under which no code of yours runs: neither destructors
/// nor the listener nor weights. What goes is destroyed by the operation because of which it goes,
/// and after it. A destructor may use all of it: what goes because of that, the operation destroys
/// that runs it, one after the other.
///
/// Its handles count: [`holders`](crate::guide::back_pointers) name them, and for
/// [`purge_cycles`](super::WeakMap::purge_cycles) what it keeps is in use.
///
/// ```
/// use weakly::{Strong, concurrent::{KeepAlive, WeakValueMap}, keep::Limit};
///
/// let budget = KeepAlive::weighing(Limit::none().weight(100), |text: &Strong<str>| text.len());
/// let (pages, styles) = (WeakValueMap::new(), WeakValueMap::new());
/// pages.keep_in(&budget);
/// styles.keep_in(&budget);
/// for n in 0..10 {
///     pages.insert(n, &Strong::from("a page"));
///     styles.insert(n, &Strong::from("a style, which is longer"));
/// }
/// assert_eq!(budget.retained_weight(), 90); // three of each: they arrive in turns
/// assert!(pages.get(&9).is_some() && pages.get(&0).is_none());
/// ```
pub struct KeepAlive<P: SharedRef>(Arc<Inner<P>>);

type Hears<P> = dyn Fn(&P, Gone) + Send + Sync;

struct Inner<P: SharedRef> {
    ring: SharedRing<P>,
    weigh: Option<Box<Weigh<P>>>,
    listener: Listener<Hears<P>>,
    /// The weights of those that went, with [`count_live`](Limit::count_live), and
    /// [when](Going::turn).
    evicted: Table<ByKey<Address, true>, SharedWatchFor<P>, (usize, u64)>,
}

impl<P: SharedRef> KeepAlive<P> {
    /// Keeps nothing yet. For collections that [keep in it](super::WeakValueMap::keep_in), each
    /// object weighs 1.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self::with(limit, None)
    }

    /// The same; for collections that keep in it, the closure says what an object weighs. It is
    /// called for each that comes, or comes back, and for each entry before that is inserted, under
    /// no lock.
    #[must_use]
    pub fn weighing(limit: Limit, weigh: impl Fn(&P) -> usize + Send + Sync + 'static) -> Self {
        Self::with(limit, Some(Box::new(weigh)))
    }

    fn with(limit: Limit, weigh: Option<Box<Weigh<P>>>) -> Self {
        let evicted = Table::new();
        // No call of a user purges this table, so no thread gathers its removed entries.
        evicted.nodes.be_prompt();
        KeepAlive(Arc::new(Inner {
            ring: SharedRing::new(Ring::new(limit)),
            weigh,
            listener: Listener::new(),
            evicted,
        }))
    }

    /// Returns the limit.
    pub fn limit(&self) -> Limit {
        self.0.ring.with(|ring| ring.limit())
    }

    /// Sets another limit. What is beyond it goes at once: O(what goes); and O(kept) if generations
    /// come to count, all of which begin with this one.
    pub fn set_limit(&self, limit: Limit) {
        let turn = self.0.ring.set_limit(limit, |ring| {
            (!limit.counts_live).then(|| ring.set_all_removed())
        });
        let mut panics = FirstPanic::default();
        panics.catch(|| self.0.settle());
        if let Some(turn) = turn {
            panics.catch(|| self.0.uncount_all(turn));
        }
        panics.resume();
    }

    /// Sets the listener: it is told each object that goes, and why, under no lock. If it was the
    /// last handle, the object dies after that. The listener may use this and the collections
    /// above, as a destructor may. If it panics, the panic goes to who has called, after all others
    /// that had to go are gone. What is there at the end of this is not told. But a collection
    /// removes its objects from its floor when it is dropped, and the listener hears of these as
    /// [`Gone::Removed`]; if it panics, the drop does. A listener that keeps again what goes never
    /// ends; one that has a handle to this keeps it alive for ever.
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

    /// Keeps an object alive, as the newest, and returns whether it does: not if it is heavier than
    /// the limit, or the limit is of 0 entries. One that is kept already is touched, and has this
    /// weight from now on. O(1) amortised, and what goes instead.
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

    /// Notes that a kept object is in use: it goes later. Returns whether it is kept. O(1).
    pub fn touch<Q: ?Sized + Identify<P>>(&self, object: &Q) -> bool {
        let addr = Q::addr(object).addr();
        self.0.ring.with(|ring| ring.touch(addr))
    }

    /// Returns whether an object is kept. O(1). This is no use of it.
    #[must_use]
    pub fn contains<Q: ?Sized + Identify<P>>(&self, object: &Q) -> bool {
        let addr = Q::addr(object).addr();
        self.0.ring.with(|ring| ring.get(addr).is_some())
    }

    /// Keeps an object no more, and returns the handle to it, if it was kept. O(1). A collection
    /// that finds the object keeps it again.
    pub fn release<Q: ?Sized + Identify<P>>(&self, object: &Q) -> Option<P> {
        let addr = Q::addr(object).addr();
        let (released, turn) = self.0.ring.with(|ring| ring.release(addr));
        self.0.uncount(addr, turn);
        let released = released?;
        self.0.tell(&released, Gone::Removed);
        Some(released)
    }

    /// Begins the next generation: what was neither kept nor touched in the [last
    /// ones](Limit::generations) goes. O(what goes). Threads that do so at once begin one each.
    pub fn advance(&self) {
        self.0.ring.with(Ring::advance);
        self.0.settle();
    }

    /// Lets objects go until the others weigh no more than this; returns how many went. O(what
    /// goes) amortised. For memory that is wanted elsewhere: the limit stays.
    pub fn shrink_to(&self, weight: usize) -> usize {
        let gone = self.0.ring.with(|ring| ring.let_go_above(weight));
        self.0.settle();
        gone
    }

    /// Returns the number of kept objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.ring.with(|ring| ring.len())
    }

    /// Returns whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of the weights of what is kept; `usize::MAX` if it is larger.
    #[must_use]
    pub fn retained_weight(&self) -> usize {
        self.0.ring.with(|ring| ring.weight())
    }

    /// Returns the weight of what is kept, and, with [`count_live`](Limit::count_live), also of
    /// what has gone from here and is still in use. What was [released](Self::release) or removed
    /// counts no more. Exact while no thread changes anything: the death of an object ends its
    /// weight. O(gone and in use).
    ///
    /// ```
    /// use weakly::{Strong, concurrent::KeepAlive, keep::Limit};
    ///
    /// let pages = KeepAlive::new(Limit::none().weight(4).count_live());
    /// let (page, other) = (Strong::new(1), Strong::new(2));
    /// pages.keep(&page, 3);
    /// pages.keep(&other, 2);
    /// assert_eq!((pages.retained_weight(), pages.live_weight()), (2, 5));
    /// drop(page);
    /// assert_eq!(pages.live_weight(), 2);
    /// ```
    #[must_use]
    pub fn live_weight(&self) -> usize {
        let mut sum = self.retained_weight();
        let evicted = &self.0.evicted;
        evicted.each(|_, _, (weight, _)| sum = sum.saturating_add(*weight));
        sum
    }

    /// Lets everything go: the objects that are kept when this is called lose their handles here,
    /// and the listener hears of each as [`Gone::Removed`]. Objects that nobody else uses die in
    /// this call; the others stay in their collections, and the next lookup that finds one keeps it
    /// again. What went before counts in [`live_weight`](Self::live_weight) no more. An object that
    /// another thread keeps during the call may stay. O(what goes).
    ///
    /// # Panics
    /// If a destructor or the listener panics, after all of them have run.
    pub fn clear(&self) {
        let mut panics = FirstPanic::default();
        let turn = self.0.ring.with(Ring::let_all_go);
        panics.catch(|| self.0.settle());
        panics.catch(|| self.0.uncount_all(turn));
        panics.resume();
    }
}

impl<P: SharedRef> Inner<P> {
    fn weigh(&self, object: &P) -> usize {
        self.weigh.as_ref().map_or(1, |weigh| weigh(object))
    }

    fn keep(&self, object: P, weight: usize) -> bool {
        let addr = WeakKey::addr(&object).addr();
        Turn::with(&self.ring, 1, |turn| {
            let (kept, going) = self.ring.with_room(addr, |ring| {
                let kept = ring.keep(addr, weight, object);
                (kept, turn.and_then(|_| Self::next(ring)))
            });
            let mut panics = FirstPanic::default();
            panics.catch(|| self.uncount_kept(addr, &kept));
            let is_kept = !matches!(kept, Outcome::Refused(_));
            panics.catch(|| drop(kept));
            if let Some(turn) = turn {
                self.let_go(turn, going, &mut panics);
            }
            panics.resume();
            is_kept
        })
    }

    /// What is kept again is not counted apart.
    fn uncount_kept<X>(&self, addr: usize, kept: &Outcome<X>) {
        if let Outcome::New { turn } = kept {
            self.uncount(addr, *turn);
        }
    }

    /// What was counted of an object up to a turn counts no more. If the object was going at that
    /// turn, the thread that counts it hears of the turn (Q5 of the ring).
    fn uncount(&self, addr: usize, until: u64) {
        if self.evicted.is_new() {
            return;
        }
        let (hash, address) = Address::of(ptr::without_provenance(addr));
        let wanted = |entry: Option<(&_, &(usize, u64))>| {
            entry.and_then(|(_, (_, turn))| (*turn <= until).then_some(()))
        };
        let is_it = |node: &Node<ByKey<_, true>, _, _>| *node.key() == address;
        self.evicted
            .remove_where(hash, is_it, wanted, |(), _, _| ());
    }

    /// The same, for all objects.
    fn uncount_all(&self, until: u64) {
        self.evicted.retain(|_, _, (_, turn)| *turn > until);
    }

    /// Lets go what has to.
    fn settle(&self) {
        Turn::with(&self.ring, 1, |turn| {
            let Some(turn) = turn else { return };
            let mut panics = FirstPanic::default();
            let first = self.ring.with(Self::next);
            self.let_go(turn, first, &mut panics);
            panics.resume();
        });
    }

    /// The next that has to go. While it is counted, it is going (Q5 of the ring).
    fn next(ring: &mut Ring<P>) -> Option<Going<P>> {
        if ring.limit().counts_live {
            ring.next_going()
        } else {
            ring.next_to_go()
        }
    }

    fn let_go(&self, turn: &Turn, mut going: Option<Going<P>>, panics: &mut FirstPanic) {
        while let Some(one) = going {
            let more = one.more;
            panics.catch(|| self.destroy(one));
            let again = turn.is_wanted_again() || more;
            going = again.then(|| self.ring.with(Self::next)).flatten();
        }
    }

    /// Calls the listener.
    fn tell(&self, what: &P, why: Gone) {
        if let Some(listener) = self.listener.get() {
            listener(what, why);
        }
    }

    /// Counts what goes, until it dies.
    fn count(&self, going: &Going<P>) {
        let (hash, address) = Address::of(ptr::without_provenance(going.addr));
        let hold = |_: &_, _: &_| Some(());
        self.evicted.compute(hash, &address, hold, |there| {
            // Of two threads that count it, the later turn is right.
            let later = there.and_then(|(_, at)| (at.1 > going.turn).then_some(*at));
            let counted = later.unwrap_or((going.weight, going.turn));
            (Some((SharedWatchFor::<P>::new(&going.what), counted)), ())
        });
    }

    /// The end of what was kept: strong becomes weak.
    fn destroy(&self, going: Going<P>) {
        // A user's handle may make weak ones by code that panics; so may the other two.
        let mut panics = FirstPanic::default();
        let counts = going.at.is_some() && going.why != Gone::Removed;
        if counts {
            panics.catch(|| self.count(&going));
        }
        // It may be kept again already, or removed: who has done that may not have found what has
        // just been counted.
        if going.at.is_some() && !self.ring.with(|ring| ring.end_going(&going)) && counts {
            panics.catch(|| self.uncount(going.addr, going.turn));
        }
        panics.catch(|| self.tell(&going.what, going.why));
        panics.catch(|| drop(going.what));
        panics.resume();
    }
}

impl<P: SharedRef> Drop for Inner<P> {
    /// All destructors run, even if some panic; those of what is kept then. The listener is told
    /// nothing.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.listener.set(None));
        panics.catch(|| self.weigh = None);
        panics.resume();
    }
}

/// The floor of a table: objects that it watches with `T`.
struct FloorOf<P: SharedRef>(KeepAlive<P>);

impl<K: KeyKind, T: UpgradesOne<Key = P>, V, P: SharedRef> Floor<Node<K, T, V>> for FloorOf<P> {
    fn weigh(&self, node: &Node<K, T, V>) -> Option<usize> {
        Some(self.0.0.weigh(&node.watch()?.upgrade()?))
    }

    fn meet(&self, node: &Node<K, T, V>, weight: Option<usize>) -> bool {
        let Node::Ready { watch, stamp, .. } = node else {
            return false;
        };
        let Some(object) = watch.upgrade() else {
            return false;
        };
        let (inner, addr) = (&*self.0.0, WeakKey::addr(&object).addr());
        if inner.ring.tell(addr, stamp) {
            return false;
        }
        let (weight, mut panics) = weight_of(weight, || inner.weigh(&object));
        let (kept, due) = inner.ring.join(addr, weight, object, stamp);
        inner.uncount_kept(addr, &kept);
        panics.catch(|| drop(kept));
        panics.resume();
        due
    }

    fn leave(&self, node: &Node<K, T, V>) {
        // Of a dead object nothing is kept, and its address may be another's. So it has to live
        // until this is done.
        if let Some(object) = node.watch().and_then(T::upgrade) {
            let (inner, addr) = (&*self.0.0, WeakKey::addr(&object).addr());
            let turn = inner.ring.with(|ring| ring.let_go(addr, Gone::Removed));
            inner.uncount(addr, turn);
        }
    }

    fn settle(&self) {
        self.0.0.settle();
    }
}

impl<K: KeyKind, T: UpgradesOne, V> Table<K, T, V> {
    /// Keeps what is inserted and found, for as long as the budget does.
    #[track_caller]
    pub(super) fn keep_in(&self, budget: &KeepAlive<T::Key>)
    where
        T::Key: SharedRef + 'static,
    {
        let floor = FloorOf(budget.clone());
        self.set_bound(Bound::floor(budget.0.ring.round(), floor));
    }
}

// It is consistent between any two calls, and no code of users runs under its lock.
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
