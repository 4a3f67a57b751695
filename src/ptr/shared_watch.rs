//! Watches: how an entry of a collection that threads share keeps its registration with an object,
//! and a share of the object's block.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::flavour::{Atomic, Variable};
use super::gate::Gate;
use super::header::Block;
use super::hook::{HookRef, Off};
use super::object_ref::ObjectRef;
use super::recipient::Recipient;
use super::record::{RecordRef, RecordSlot};
use super::register::Registration;
use super::shared::{CoreRef, Counted, RegistrationId};
use super::state::{State, dead, weak};
use super::stripe::LINK;
use super::strong::Strong;
use super::weak::Weak;
use crate::sync::{AtomicPtr, Ordering::*};

/// The registration has ended, and the watch still has a share.
const ENDED: usize = 2;
/// The watch of an entry on an object. It has a share of the block, so whoever finds the entry may
/// look at the block: while the state is `SHARED`, the one that this stands for; of a record its
/// registration, and then a reference (R1).
///
/// The place of the block leads to it, and the block to the record: a look at the entry alone reads
/// neither. (The type of the place does not matter.)
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
pub struct SharedWatch<T: ?Sized = ()> {
    place: NonNull<T>,
    /// Null before the registration, and if another watch has [inherited](Self::inherit) it: then
    /// there is no share. The [id](RegistrationId) of the registration, until that ends; then
    /// `ENDED`, or a link.
    word: AtomicPtr<()>,
}

// SAFETY: a block, a record, its gate and a core are made for many threads; the object is not
// touched.
unsafe impl<T: ?Sized> Send for SharedWatch<T> {}
// SAFETY: likewise; the thread that has unlinked the entry, or has the lock of its bucket, changes
// the word.
unsafe impl<T: ?Sized> Sync for SharedWatch<T> {}

/// A watch that can be upgraded to a strong pointer.
pub(crate) struct SharedWatchOf<T: ?Sized> {
    watch: SharedWatch<T>,
    /// It crosses threads as a weak pointer does.
    marker: PhantomData<Weak<T, Atomic>>,
}

/// A promise: the object of a watch that is about to be registered is kept alive meanwhile, and no
/// other thread uses the watch.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
pub struct Promise(());

impl Promise {
    /// # Safety
    /// It is true.
    #[inline]
    pub(crate) unsafe fn given() -> Self {
        Promise(())
    }
}

impl<T: ?Sized> SharedWatch<T> {
    /// A watch that is not registered yet. The caller of [`register`](Self::register) still keeps
    /// the object alive.
    #[inline]
    pub(crate) fn new<'a>(object: impl Into<ObjectRef<'a, T, Atomic>>) -> Self
    where
        T: 'a,
    {
        SharedWatch {
            place: object.into().place(),
            word: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Registers, unless that has been done: the object's death unlinks the entry of this hash, or
    /// of that of its address. Returns whether it did: the caller counts it. O(1); allocates if
    /// there are weak pointers, other entries or finalizers.
    #[inline]
    pub(crate) fn register(&self, core: CoreRef, hash: Option<u32>, _: &Promise) -> bool {
        // Relaxed, also below: ours alone.
        if !self.word.load(Relaxed).is_null() {
            return false;
        }
        let block = self.block();
        // SAFETY: the promise.
        let id = unsafe {
            match block.register(Recipient::Core(core), hash) {
                Registration::Block => RegistrationId::of_block(block),
                Registration::Second => RegistrationId::of_second(block.known_record().as_ptr()),
                Registration::Hook(hook) => RegistrationId::of_hook(hook),
            }
        };
        self.word.store(id.as_ptr(), Relaxed);
        true
    }

    /// As [`register`](Self::register), if nothing is registered with the object, and no weak
    /// pointer refers to it: then no collection has an entry of it. The hash is that of the
    /// address.
    #[inline]
    pub(crate) fn register_first(&self, core: CoreRef, _: &Promise) -> bool {
        let block = self.block();
        // SAFETY: the promise.
        let is_first = unsafe { block.register_first(Recipient::Core(core), None) }.is_ok();
        if is_first {
            // Relaxed: ours alone.
            let id = RegistrationId::of_block(block);
            self.word.store(id.as_ptr(), Relaxed);
        }
        is_first
    }

    /// A watch that is registered before there is an entry. A death that finds none leaves it at
    /// that: so who links the entry looks whether the [registration has
    /// ended](Self::is_registered).
    pub(crate) fn registered<'a>(
        object: impl Into<ObjectRef<'a, T, Atomic>>,
        counted: Counted,
        hash: u32,
    ) -> Self
    where
        T: 'a,
    {
        let watch = Self::new(object);
        // SAFETY: the caller keeps the object alive; nobody else knows the watch.
        let kept = unsafe { Promise::given() };
        // It may allocate, and a failure unwind: then `counted` is counted off.
        watch.register(counted.core(), Some(hash), &kept);
        counted.keep();
        watch
    }

    /// Ends the registration of a watch that has no entry, and whose collection may be gone. The
    /// caller keeps the object alive, and is under no lock.
    pub(crate) fn leave(self) {
        self.end_with(&mut Off::new(), |core| drop(Counted::of_ended(core)));
    }

    /// The same watch, without its type.
    #[inline]
    pub(crate) fn untyped(self) -> SharedWatch {
        let this = ManuallyDrop::new(self);
        // Relaxed: we own it.
        let word = AtomicPtr::new(this.word.load(Relaxed));
        let place = this.place.cast();
        SharedWatch { place, word }
    }

    #[inline]
    fn block(&self) -> Block<Atomic> {
        // SAFETY: the place of a block, in which we have a share (or which the object keeps).
        unsafe { Block::of_place(self.place.cast()) }
    }

    /// Whether both watch the same object.
    #[inline]
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.place.addr() == other.place.addr()
    }

    /// The place of the object's block. No other object has it as long as this watch has a share.
    #[inline]
    pub(crate) fn place(&self) -> usize {
        self.place.addr().get()
    }

    /// Whether it could [inherit](Self::inherit).
    #[inline]
    pub(crate) fn is_unregistered(&self) -> bool {
        // Relaxed: ours alone.
        self.word.load(Relaxed).is_null()
    }

    /// Takes over the registration of the entry that this one's replaces, with the share. The
    /// caller has the lock of the bucket, the other is linked there, and both are
    /// [alike](Self::is_like).
    ///
    /// Who looks at the other entry may go on: its block stays until this one's grace period has
    /// ended, which begins later.
    #[inline]
    pub(crate) fn inherit(&self, other: &Self) {
        // Relaxed: deaths look under the lock.
        self.word.store(other.word.load(Relaxed), Relaxed);
        other.word.store(ptr::null_mut(), Relaxed);
    }

    /// The word, if this is the watch with that registration: for the link, once its death has
    /// unlinked the entry. The caller has the lock of the bucket, or has unlinked the entry.
    #[inline]
    pub(crate) fn named(&self, id: RegistrationId) -> Option<&AtomicPtr<()>> {
        // Relaxed: as above.
        ptr::eq(self.word.load(Relaxed), id.as_ptr()).then_some(&self.word)
    }

    /// The word, if it is a link. The caller has taken the entry from a list.
    #[inline]
    pub(crate) fn link(&self) -> Option<&AtomicPtr<()>> {
        // Relaxed: written under the lock of the stripe.
        (self.word.load(Relaxed).addr() & LINK != 0).then_some(&self.word)
    }

    /// Whether the death has not ended the registration. If it does after this call, it looks for
    /// the entry after that.
    pub(crate) fn is_registered(&self) -> bool {
        // Acquire: with the death: if it has looked for the entry before this call, it had ended
        // the registration.
        match State::<Atomic>::decode(self.block().header().state.load(Acquire)) {
            State::Shared(_) => true,
            State::Record(record) => record.is_open(),
            _ => false,
        }
    }

    /// Ends the registration, unless that has been done, or is left to the object's death. The
    /// entry is unlinked, or there is none. O(1).
    #[inline]
    pub(crate) fn end(&self, off: &mut Off) {
        self.end_with(off, CoreRef::count_off);
    }

    #[inline]
    fn end_with(&self, off: &mut Off, count_off: impl FnOnce(CoreRef)) {
        // Relaxed: one thread has unlinked the entry.
        let word = self.word.load(Relaxed);
        if word.addr() & (ENDED | LINK) != 0 || word.is_null() {
            return;
        }
        self.word.store(ptr::without_provenance_mut(ENDED), Relaxed);
        let state = &self.block().header().state;
        let mut now = state.first_load(dead(ptr::null_mut()));
        loop {
            let to = match State::<Atomic>::decode(now) {
                // One share is the object's, the other ours.
                State::Shared(_) | State::Dead => weak(2),
                // The death has given up its share.
                State::Weak(_) => return,
                State::Record(record) => {
                    // SAFETY: C1, the registration is ours to end.
                    return unsafe { self.end_in(record, word, off, count_off) };
                }
                State::None | State::Thin(_) | State::Locked => {
                    unreachable!("the entry is registered")
                }
            };
            // Release: what was done to the block, for the thread that frees it. Acquire: likewise,
            // if that is us; and on failure the record.
            match state.compare_exchange(now, to, AcqRel, Acquire) {
                Ok(_) => {
                    if let State::Shared(core) = State::<Atomic>::decode(now) {
                        count_off(core);
                    }
                    return;
                }
                Err(other) => now = other,
            }
        }
    }

    /// # Safety
    /// C1: the registration is the caller's to end.
    unsafe fn end_in(
        &self,
        record: RecordRef<Atomic>,
        word: *mut (),
        off: &mut Off,
        count_off: impl FnOnce(CoreRef),
    ) {
        // R4: otherwise the death has ended it, and frees the hook.
        let Some(gate) = record.lock().filter(Gate::is_open) else {
            return;
        };
        let slot = if word == self.block().as_ptr() {
            Some(RecordSlot::First)
        } else {
            (word == record.as_ptr()).then_some(RecordSlot::Second)
        };
        let target = if let Some(slot) = slot {
            let target = gate.target(slot);
            gate.set_target(slot, None);
            target
        } else {
            // SAFETY: H1, a hook, which is in the list.
            unsafe {
                let hook = HookRef::from_ptr(NonNull::new_unchecked(word));
                gate.unlink(hook);
                let target = hook.target();
                off.add(hook);
                Some(target)
            }
        };
        gate.keep_share();
        drop(gate);
        if let Some(Recipient::Core(core)) = target {
            count_off(core);
        }
    }

    /// The address of the object, live or dead.
    pub(crate) fn addr(&self) -> *const () {
        self.block().payload().as_ptr().cast_const().cast()
    }

    /// Whether an upgrade would fail.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.block().is_expired()
    }
}

impl<T: ?Sized> Drop for SharedWatch<T> {
    fn drop(&mut self) {
        if self.is_unregistered() {
            return;
        }
        // Relaxed: as in `end`.
        if self.word.load(Relaxed).addr() & (ENDED | LINK) == 0 {
            self.end(&mut Off::new());
        }
        // Acquire: the thread that has made it so.
        let state = self.block().header().state.load(Acquire);
        // SAFETY: our share, which we give up. A block that is still `DEAD` is ours: its death has
        // unlinked our entry.
        unsafe {
            match State::<Atomic>::decode(state) {
                State::Dead => self.block().free(),
                _ => self.block().release_weak(),
            }
        }
    }
}

impl<T: ?Sized> SharedWatchOf<T> {
    #[inline]
    pub(crate) fn of(watch: SharedWatch<T>) -> Self {
        let marker = PhantomData;
        SharedWatchOf { watch, marker }
    }

    #[inline]
    pub(crate) fn watch(&self) -> &SharedWatch<T> {
        &self.watch
    }

    #[inline]
    pub(crate) fn upgrade(&self) -> Option<Strong<T, Atomic>> {
        let block = self.watch.block();
        // SAFETY: counted.
        block
            .upgrade()
            .then(|| unsafe { Strong::from_place(self.watch.place, block) })
    }

    /// The watch of an entry that is destroyed becomes a weak pointer to its object, live or dead:
    /// its share is the pointer's. `None` if another watch has [inherited](SharedWatch::inherit)
    /// that.
    pub(crate) fn into_weak(self) -> Option<Weak<T, Atomic>> {
        let watch = self.watch;
        if watch.is_unregistered() {
            return None;
        }
        // What was a registration is ended, or its death has unlinked the entry.
        watch.end(&mut Off::new());
        let (watch, alone) = (ManuallyDrop::new(watch), dead(ptr::null_mut()));
        let state = &watch.block().header().state;
        // A block that is `DEAD` is ours: as in `drop`. Acquire: likewise. On failure: it is `WEAK`
        // or `RECORD`, and the last share's owner acquires.
        _ = state.compare_exchange(alone, weak(1), Acquire, Relaxed);
        // SAFETY: our share, and the state is that of a block with weak pointers.
        Some(unsafe { Weak::from_counted(watch.place) })
    }

    /// A weak pointer to the object, unless that is dead and its entry not unlinked yet. For who
    /// keeps the entry from being destroyed.
    pub(crate) fn downgrade(&self) -> Option<Weak<T, Atomic>> {
        let block = self.watch.block();
        // SAFETY: the entry is looked at, so the share of its watch stays. The share that is made
        // is the weak pointer's.
        unsafe {
            let is_shared = block.downgrade_registered();
            is_shared.then(|| Weak::from_counted(self.watch.place))
        }
    }
}
