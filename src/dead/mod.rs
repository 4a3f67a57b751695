//! The dead queue of a map: how a death becomes known to it.
//!
//! A [`Watch`] is an entry's hook on an object. At the death the hook itself goes into the queue of
//! the map, as its notice; it names the entry, since an entry is the only one with that hook, and an
//! entry that has gone meanwhile is simply not found. So a late notice never removes a newer entry.
//!
//! Invariants:
//!
//! * **D1** A watch that has ended (dropped or settled) is no longer registered: its hook is unlinked, or it
//!   has been pushed (a push happens under the gate of the side table, and who finds the gate closed
//!   finds the push done).
//! * **D2** The queue is freed when its [`DeadQueue`] is dropped and no watch is registered: then
//!   every hook that names it has been unlinked, or pushed and popped. If a watch is left, because
//!   somebody forgot an iterator or a destructor panicked, the queue is leaked: a later death still
//!   has where to push.
//! * **D3** A watch and its queue always have the same owner. The counters below are that owner's;
//!   deaths on other threads use nothing of the queue but `notices`.

mod joint;
#[cfg(all(test, weakly_loom))]
mod models;
#[cfg(feature = "std")]
#[cfg_attr(weakly_loom, allow(dead_code, unreachable_pub))]
mod shared;
mod stack;

use core::marker::PhantomData;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;

use crate::ptr::{
    Atomic, Call, Flavour, Handle, HookRef, KeptHook, Side, Watcher, WeakHandle, Word, upgrade,
};
use crate::sync::{self, Live, Ordering::*};
use alloc::boxed::Box;
use joint::{Joint, Route, push_first};
use stack::Stack;

pub(crate) use joint::Inputs;
#[cfg(all(feature = "std", not(weakly_loom)))]
pub(crate) use shared::{HookId, SharedQueue, Tie, TieTo};

// Aligned as a joint is, whose address is told from this one's by its marks.
#[repr(align(4))]
struct Shared<F: Flavour> {
    notices: Stack<F>,
    /// Watches that have this queue.
    registered: F::Word,
    /// Notices that are on their way or here, whose watch is gone.
    orphans: F::Word,
    live: Live,
}

impl<F: Flavour> Shared<F> {
    fn boxed() -> NonNull<Self> {
        let shared = Box::new(Shared {
            notices: Stack::new(),
            registered: F::Word::new(0),
            orphans: F::Word::new(0),
            live: Live::new(),
        });
        // SAFETY: a box is not null.
        unsafe { NonNull::new_unchecked(Box::into_raw(shared)) }
    }
}

/// The owner's end of a queue of notices. Made at the first watch, so that an empty map allocates
/// nothing.
pub struct DeadQueue<F: Flavour>(Option<NonNull<Shared<F>>>);

// SAFETY: D3; the queue itself is made for many threads. The counters are atomics in this flavour, so
// that not even a mistake in D3 is a data race. Whether a *map* may cross threads follows from its
// keys and values, not from here.
unsafe impl Send for DeadQueue<Atomic> {}
// SAFETY: likewise.
unsafe impl Sync for DeadQueue<Atomic> {}

/// What an entry holds of an object: the hook, which leads to its side table, and its address. The
/// weak handle of the table, so to speak, with a postman.
pub(crate) struct Watch<T: ?Sized, F: Flavour> {
    /// None once it has ended.
    hook: Option<KeptHook<F>>,
    ptr: NonNull<T>,
    /// It can be upgraded, like a weak handle.
    like: PhantomData<WeakHandle<T, F>>,
}

// SAFETY: what a watch can do is what a weak handle can do, and to unlink a hook, which the gate makes
// safe on any thread.
unsafe impl<T: ?Sized + Send + Sync> Send for Watch<T, Atomic> {}
// SAFETY: likewise.
unsafe impl<T: ?Sized + Send + Sync> Sync for Watch<T, Atomic> {}

// A queue and a watch are whole between any two calls; what a panic can leave half done is the payload.
impl<F: Flavour> UnwindSafe for DeadQueue<F> {}
impl<F: Flavour> RefUnwindSafe for DeadQueue<F> {}
impl<T: ?Sized + RefUnwindSafe, F: Flavour> UnwindSafe for Watch<T, F> {}
impl<T: ?Sized + RefUnwindSafe, F: Flavour> RefUnwindSafe for Watch<T, F> {}

/// A dead entry's notice, taken from the queue. Dropping it retires the hook.
pub struct Notice<'a, F: Flavour> {
    hook: HookRef<F>,
    queue: &'a Shared<F>,
}

/// The call of a map's hook: push it into the queue.
///
/// # Safety
/// As for every [`Call`]; under the gate.
unsafe fn push<F: Flavour>(hook: HookRef<F>) {
    // SAFETY: the hook is ours; its watch is or was registered, and if it has gone since, it has
    // taken the gate before us and unlinked the hook. So the queue is there (D1, D2).
    let queue = unsafe { &*hook.call().context.cast::<Shared<F>>() };
    queue.live.check();
    queue.notices.count();
    // SAFETY: fired, counted, and from here on the queue's.
    unsafe { queue.notices.link(hook) };
}

impl<F: Flavour> DeadQueue<F> {
    pub(crate) const fn new() -> Self {
        DeadQueue(None)
    }

    fn shared(&self) -> Option<&Shared<F>> {
        // SAFETY: D2, we own it.
        let shared = self.0.map(|shared| unsafe { shared.as_ref() });
        if let Some(shared) = shared {
            shared.live.check();
        }
        shared
    }

    /// Whether nothing is pending. A death pushes its notice before the object's memory is freed:
    /// so if this is true, no watch of this queue has the address of an object that came later.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.shared().is_none_or(|shared| shared.notices.is_idle())
    }

    /// Watches whose object has announced its death.
    #[inline]
    pub(crate) fn announced(&self) -> usize {
        self.shared().map_or(0, |shared| {
            // Both only change by the owner's hand, but for pushes, which can only add.
            shared
                .notices
                .len()
                .saturating_sub(shared.orphans.load(Relaxed))
        })
    }

    /// Takes a notice out. One load if there is none.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Notice<'_, F>> {
        let queue = self.shared()?;
        // SAFETY: D3, we are the owner, and borrowed exclusively.
        let hook = unsafe { queue.notices.pop() }?;
        Some(Notice { hook, queue })
    }

    /// Watches an object: its death will send a notice with this hash, unless another of the entry's
    /// inputs has died before it.
    #[inline]
    pub(crate) fn watch<T: ?Sized>(
        &mut self,
        strong: &Handle<T, F>,
        hash: u64,
        inputs: &mut Inputs,
    ) -> Watch<T, F> {
        let shared = *self.0.get_or_insert_with(Shared::boxed);
        let call = Call {
            fire: if inputs.are_joined() {
                push_first::<F>
            } else {
                push::<F>
            },
            context: inputs.route(shared),
            tag: hash,
        };
        let hook = Side::watch(&strong.header().side, Watcher::Map, call);
        // SAFETY: D2, we own it.
        adjust(unsafe { &shared.as_ref().registered }, 1);
        Watch {
            // SAFETY: the object is alive, so its hooks are.
            hook: Some(unsafe { KeptHook::new(hook) }),
            ptr: strong.payload(),
            like: PhantomData,
        }
    }
}

/// Adds to a counter of one owner (D3): no read-modify-write. Relaxed: whoever owns the map next has
/// synchronised with us.
#[inline]
fn adjust<W: Word>(counter: &W, by: isize) {
    counter.store(counter.load(Relaxed).wrapping_add_signed(by), Relaxed);
}

impl<F: Flavour> Drop for DeadQueue<F> {
    fn drop(&mut self) {
        let Some(shared) = self.0 else { return };
        // SAFETY: D2, we own it.
        if unsafe { shared.as_ref() }.registered.load(Relaxed) != 0 {
            return;
        }
        while let Some(notice) = self.pop() {
            notice.orphaned();
        }
        // SAFETY: D2: no watch is left, so no hook is, so nobody pushes.
        unsafe {
            shared.as_ref().live.end();
            sync::free(shared);
        }
    }
}

impl<T: ?Sized, F: Flavour> Watch<T, F> {
    #[inline]
    fn side(&self) -> Option<NonNull<Side<F>>> {
        // SAFETY: our hook is not retired: only a notice does that, which takes us with it, or we.
        self.hook.map(|hook| unsafe { hook.side() })
    }

    #[inline]
    fn record(&self) -> Option<&Side<F>> {
        // SAFETY: the hook holds a reference to the record.
        self.side().map(|side| unsafe { side.as_ref() })
    }

    /// The address of the object.
    #[inline]
    pub(crate) fn addr(&self) -> *const () {
        self.ptr.as_ptr().cast_const().cast()
    }

    /// The hash that was given to [`DeadQueue::watch`]; none once it has ended.
    #[inline]
    pub(crate) fn hash(&self) -> Option<u64> {
        // SAFETY: as in `side`.
        self.hook.map(|hook| unsafe { hook.hook().call() }.tag)
    }

    /// Whether this is a watch on this very object, and not on one that was there before it.
    #[inline]
    pub(crate) fn is_on(&self, strong: &Handle<T, F>) -> bool {
        self.side().is_some() && self.side() == strong.side()
    }

    /// Whether the object has announced its death. Its address may be another's by now.
    #[inline]
    pub(crate) fn is_announced(&self) -> bool {
        self.record().is_none_or(Side::is_closed)
    }

    /// Whether an upgrade would fail.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.record().is_none_or(Side::is_expired)
    }

    #[inline]
    pub(crate) fn upgrade(&self) -> Option<Handle<T, F>> {
        // SAFETY: the record of this object.
        unsafe { upgrade(self.ptr, self.record()?) }
    }

    pub(crate) fn downgrade(&self) -> WeakHandle<T, F> {
        match self.side() {
            // SAFETY: the record of this object, with a reference more for the handle.
            Some(side) => unsafe {
                side.as_ref().add_ref();
                WeakHandle::from_counted(self.ptr, side)
            },
            None => WeakHandle::expired(self.ptr),
        }
    }

    /// Whether this is the watch that the notice is about.
    #[inline]
    pub(crate) fn is_named_by(&self, notice: &Notice<'_, F>) -> bool {
        self.hook.map(KeptHook::hook) == Some(notice.hook)
    }

    /// Ends the watch that `notice` is about; the hook goes with the notice.
    #[inline]
    pub(crate) fn settle(mut self, notice: Notice<'_, F>) {
        debug_assert!(self.is_named_by(&notice));
        if let Some(hook) = self.hook.take().map(KeptHook::hook) {
            adjust(&notice.queue.registered, -1);
            // SAFETY: D2, J2: until here we were registered; D3, its owner is ours.
            unsafe {
                if let Some((joint, _)) = Route::<F>::of(hook.call().context).joint {
                    Joint::leave(joint);
                }
            }
        }
        // It has ended.
        core::mem::forget(self);
    }

    /// Ends the watch. O(1).
    #[inline]
    pub(crate) fn end(&mut self) {
        let (Some(side), Some(hook)) = (self.side(), self.hook.take()) else {
            return;
        };
        let hook = hook.hook();
        // SAFETY: D2, D3, J2: we are registered, so queue and joint are there, and their owner is ours.
        // A hook that is neither unlinked nor pushed is ours to retire.
        unsafe {
            let Route { queue, joint } = Route::<F>::of(hook.call().context);
            let queue = queue.as_ref();
            queue.live.check();
            adjust(&queue.registered, -1);
            // If it is dead already, the hook is in the queue (D1), and the notice will find nothing;
            // unless the other one's death was the first.
            if !Side::unlink(side, hook, || true) {
                if joint.is_none_or(|(joint, side)| joint.as_ref().was_announced_by(side)) {
                    adjust(&queue.orphans, 1);
                } else {
                    hook.retire();
                }
            }
            if let Some((joint, _)) = joint {
                Joint::leave(joint);
            }
        }
    }
}

impl<T: ?Sized, F: Flavour> Drop for Watch<T, F> {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

impl<F: Flavour> Notice<'_, F> {
    /// The hash that was given to [`DeadQueue::watch`].
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        // SAFETY: not retired before our end.
        unsafe { self.hook.call() }.tag
    }

    /// The watch is gone: the notice came late.
    #[inline]
    pub(crate) fn orphaned(self) {
        debug_assert_ne!(self.queue.orphans.load(Relaxed), 0, "its watch is there");
        adjust(&self.queue.orphans, -1);
    }
}

impl<F: Flavour> Drop for Notice<'_, F> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: fired, popped, ours; the watch is settled or gone.
        unsafe { self.hook.retire() };
    }
}
