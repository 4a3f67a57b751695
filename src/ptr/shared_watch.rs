//! Watches: an entry of a collection that threads share has a watch, which keeps the entry's
//! registration with an object, and a share of the object's block.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::flavour::{Atomic, Variable};
use super::found::RegistrationId;
use super::gate::Gate;
use super::header::Block;
use super::hook::{HookRef, LoneHook, Off};
use super::object_ref::ObjectRef;
use super::recipient::Recipient;
use super::record::{RecordRef, RecordSlot};
use super::register::Registration;
use super::shared::{CoreRef, Counted};
use super::state::{State, dead, entry, weak};
use super::stripe::LINK;
use super::strong::Strong;
use super::weak::Weak;
use crate::sync::{AtomicPtr, Ordering::*};

/// A mark in the word: the registration has ended, and the watch still has a share.
const ENDED: usize = 2;

/// The watch of an entry on an object. The watch has a share of the block, so a thread that finds
/// the entry may read the block. The state of the block says where the share is counted: `SHARED`
/// stands for a share of the object and a share of the watch; `WEAK` counts shares; a record counts
/// the registration and, after the end of the registration, a reference (R1).
///
/// The watch finds the block by the address of `place`, and the record through the block.
/// [`is_like`](Self::is_like) compares addresses, and reads neither. Only [`SharedWatchOf`] needs
/// the type `T`: it makes pointers to the payload.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
pub struct SharedWatch<T: ?Sized = ()> {
    place: NonNull<T>,
    /// Null before the registration, and after the share was given back by [`finish`](Self::finish)
    /// or passed to another watch by [`inherit`](Self::inherit): a watch with a null word has no
    /// share. During the registration: its [id](RegistrationId). After the registration: `ENDED`;
    /// or, if the object's death has unlinked the entry, the link to the next entry in the stripe's
    /// list of dead entries.
    word: AtomicPtr<()>,
}

// SAFETY: a block, a record, its gate and a core are made for many threads; the object is not
// touched.
unsafe impl<T: ?Sized> Send for SharedWatch<T> {}
// SAFETY: as for `Send`; the thread that has unlinked the entry, or has the lock of its
// bucket, changes the word.
unsafe impl<T: ?Sized> Sync for SharedWatch<T> {}

/// A watch that can be upgraded to a strong pointer.
pub(crate) struct SharedWatchOf<T: ?Sized> {
    watch: SharedWatch<T>,
    /// The watch crosses threads as a weak pointer does.
    marker: PhantomData<Weak<T, Atomic>>,
}

/// A promise: the object of a watch that is about to be registered is kept alive during the
/// registration, and no other thread uses the watch.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
pub struct Promise(());

impl Promise {
    /// # Safety
    /// The promise is true.
    #[inline]
    pub(crate) unsafe fn given() -> Self {
        Promise(())
    }
}

impl<T: ?Sized> SharedWatch<T> {
    /// Makes a watch that is not registered yet. The caller of [`register`](Self::register) still
    /// keeps the object alive.
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

    /// Registers the watch, unless it is registered already: the object's death unlinks the entry
    /// of this hash or, without a hash, of the hash of its address. Returns whether the watch was
    /// registered now, in which case the caller counts the registration. O(1); allocates if there
    /// are weak pointers, other entries or finalizers.
    #[inline]
    pub(crate) fn register(&self, core: CoreRef, hash: Option<u32>, _: &Promise) -> bool {
        // Relaxed, here and below: the word is ours alone.
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

    /// Registers the watch as [`register`](Self::register) does, if nothing is registered with the
    /// object, and no weak pointer refers to it: then no collection has an entry of the object. The
    /// hash is the hash of the address.
    #[inline]
    pub(crate) fn register_first(&self, core: CoreRef, _: &Promise) -> bool {
        let block = self.block();
        // SAFETY: the promise.
        let is_first = unsafe { block.register_first(Recipient::Core(core), None) }.is_ok();
        if is_first {
            // Relaxed: the word is ours alone.
            let id = RegistrationId::of_block(block);
            self.word.store(id.as_ptr(), Relaxed);
        }
        is_first
    }

    /// Makes the watch of a registration, which has a reference for the watch.
    #[inline]
    pub(super) fn of_registration(place: NonNull<T>, id: RegistrationId) -> Self {
        SharedWatch {
            place,
            word: AtomicPtr::new(id.as_ptr()),
        }
    }

    /// Makes a watch that is registered before its entry exists. A death that finds no entry does
    /// nothing further. So the thread that links the entry looks whether the [registration has
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
        // SAFETY: the caller keeps the object alive; no other thread knows the watch.
        let kept = unsafe { Promise::given() };
        // `register` may allocate, and a failure unwind: then `counted` is counted off.
        watch.register(counted.core(), Some(hash), &kept);
        counted.keep();
        watch
    }

    /// Ends the registration of a watch that has no entry, and whose collection may be gone. The
    /// caller keeps the object alive, and is under no lock.
    pub(crate) fn leave(self) {
        self.end_with(&mut Off::new(), |core| drop(Counted::of_ended(core)));
    }

    /// Returns the same watch, without its type.
    #[inline]
    pub(crate) fn untyped(self) -> SharedWatch {
        let this = ManuallyDrop::new(self);
        // Relaxed: the word is ours.
        let word = AtomicPtr::new(this.word.load(Relaxed));
        let place = this.place.cast();
        SharedWatch { place, word }
    }

    #[inline]
    fn block(&self) -> Block<Atomic> {
        // SAFETY: the place of a block, in which we have a share (or which the object keeps).
        unsafe { Block::of_place(self.place.cast()) }
    }

    /// Returns whether both watch the same object.
    #[inline]
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.place.addr() == other.place.addr()
    }

    /// Returns the place of the object's block. No other object has the place as long as this watch
    /// has a share.
    #[inline]
    pub(crate) fn place(&self) -> usize {
        self.place.addr().get()
    }

    /// Returns whether the watch has no registration, and so could [inherit](Self::inherit) one.
    #[inline]
    pub(crate) fn is_unregistered(&self) -> bool {
        // Relaxed: the word is ours alone.
        self.word.load(Relaxed).is_null()
    }

    /// Takes over the registration and the share of the `other` entry's watch, when this watch's
    /// entry replaces that entry. The caller has the lock of the bucket, the other entry is linked
    /// there, and both watches are [alike](Self::is_like).
    ///
    /// A thread that looks at the other entry may go on: the block stays until the grace period of
    /// this entry has ended, which begins later.
    #[inline]
    pub(crate) fn inherit(&self, other: &Self) {
        // Relaxed: deaths look under the lock.
        self.word.store(other.word.load(Relaxed), Relaxed);
        other.word.store(ptr::null_mut(), Relaxed);
    }

    /// Returns the word, if this is the watch with the registration `id`: for the link, once the
    /// object's death has unlinked the entry. The caller has the lock of the bucket, or has
    /// unlinked the entry.
    #[inline]
    pub(crate) fn named(&self, id: RegistrationId) -> Option<&AtomicPtr<()>> {
        // Relaxed: as in `inherit`.
        ptr::eq(self.word.load(Relaxed), id.as_ptr()).then_some(&self.word)
    }

    /// Returns the word, if the word is a link. The caller has taken the entry from a list.
    #[inline]
    pub(crate) fn link(&self) -> Option<&AtomicPtr<()>> {
        // Relaxed: written under the lock of the stripe.
        (self.word.load(Relaxed).addr() & LINK != 0).then_some(&self.word)
    }

    /// Returns the bytes of the registration's hook; 0 if the registration has no hook.
    pub(crate) fn memory_usage(&self) -> usize {
        // Relaxed: a moment's answer.
        let word = self.word.load(Relaxed);
        if word.is_null() || word.addr() & (ENDED | LINK) != 0 || word == self.block().as_ptr() {
            return 0;
        }
        // Acquire: with the thread that has made the record.
        match State::<Atomic>::decode(self.block().header().state.load(Acquire)) {
            State::Record(record) if record.as_ptr() != word => size_of::<LoneHook<Atomic>>(),
            _ => 0,
        }
    }

    /// Returns whether the death has not ended the registration. If the death ends the registration
    /// after this call, the death looks for the entry after this call, too.
    pub(crate) fn is_registered(&self) -> bool {
        // Acquire: with the death: if the death has looked for the entry before this call, it had
        // ended the registration before.
        match State::<Atomic>::decode(self.block().header().state.load(Acquire)) {
            State::Shared(_) => true,
            State::Record(record) => record.is_open(),
            _ => false,
        }
    }

    /// Ends the registration with the core and gives the share back, in one step, if the
    /// registration is the block's only one, and the object lives. Returns whether it did: then the
    /// watch has no share any more, and the caller counts the registration off. The entry is
    /// unlinked, and no thread looks at it.
    #[inline]
    pub(crate) fn finish(&self, core: CoreRef) -> bool {
        let state = &self.block().header().state;
        let shared = entry(Recipient::<Atomic>::Core(core));
        // Release: the uses of the block, for the thread that frees the block. The object has the
        // other share.
        let ended = state
            .compare_exchange(shared, weak(1), Release, Relaxed)
            .is_ok();
        if ended {
            // Relaxed: the word is ours.
            self.word.store(ptr::null_mut(), Relaxed);
        }
        ended
    }

    /// Ends the registration, unless the registration has ended, or is left to the object's death.
    /// The entry is unlinked, or there is none. O(1).
    #[inline]
    pub(crate) fn end(&self, off: &mut Off) {
        self.end_with(off, CoreRef::count_off);
    }

    #[cold]
    #[inline(never)]
    fn end_in_drop(&self) {
        self.end(&mut Off::new());
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
                // One share is the object's, the other ours. (`DEAD`: the death has still to give
                // up the object's share: see `leave_to_watch`.)
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
            // Release: the uses of the block, for the thread that frees the block.
            // Acquire: the uses by other threads, if we free the block; and on failure the record.
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

    /// Ends the registration as [`end`](Self::end) does, in a record. `word` is the id of the
    /// registration.
    ///
    /// # Safety
    /// C1: the registration is the caller's to end.
    unsafe fn end_in(
        &self,
        record: RecordRef<Atomic>,
        word: *mut (),
        off: &mut Off,
        count_off: impl FnOnce(CoreRef),
    ) {
        // R4: otherwise the death has ended the registration, and frees the hook.
        let Some(gate) = record.lock().filter(Gate::is_open) else {
            return;
        };
        let slot = if word == self.block().as_ptr() {
            Some(RecordSlot::First)
        } else {
            (word == record.as_ptr()).then_some(RecordSlot::Second)
        };
        let recipient = if let Some(slot) = slot {
            let recipient = gate.recipient(slot);
            gate.set_recipient(slot, None);
            recipient
        } else {
            // SAFETY: H1, a lone hook, which is in the list.
            unsafe {
                let hook = HookRef::from_ptr(NonNull::new_unchecked(word));
                gate.unlink(hook);
                let recipient = hook.recipient();
                off.add(hook);
                Some(recipient)
            }
        };
        gate.keep_share();
        drop(gate);
        if let Some(Recipient::Core(core)) = recipient {
            count_off(core);
        }
    }

    /// Returns the address of the object, live or dead.
    pub(crate) fn addr(&self) -> *const () {
        self.block().payload().as_ptr().cast_const().cast()
    }

    /// Returns whether an upgrade would fail.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.block().is_expired()
    }
}

impl<T: ?Sized> Drop for SharedWatch<T> {
    /// Gives up the share of the block. A watch with a null word has none.
    fn drop(&mut self) {
        // Relaxed: one thread drops the watch, and no thread looks at the entry.
        let word = self.word.load(Relaxed);
        if word.is_null() {
            return;
        }
        if word.addr() & (ENDED | LINK) == 0 {
            self.end_in_drop();
        }
        // Acquire: the uses of the block by the thread that has set the state happen before ours.
        let state = self.block().header().state.load(Acquire);
        // SAFETY: our share, which we give up. `DEAD` means that no other share is left: the state
        // was `SHARED`, with no shares but the object's and ours, and the death, which has unlinked
        // our entry, has left the object's share to us. (A death that finds no entry sets `WEAK`,
        // and so does a watch that ends its registration itself.)
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

    /// Turns the watch of an entry that is being destroyed into a weak pointer to the watch's
    /// object, live or dead: the share of the watch becomes the share of the pointer. `None` if
    /// another watch has [inherited](SharedWatch::inherit) the share.
    pub(crate) fn into_weak(self) -> Option<Weak<T, Atomic>> {
        let watch = self.watch;
        if watch.is_unregistered() {
            return None;
        }
        // The registration is ended here, or the object's death has unlinked the entry.
        watch.end(&mut Off::new());
        let (watch, alone) = (ManuallyDrop::new(watch), dead(ptr::null_mut()));
        let state = &watch.block().header().state;
        // A block that is `DEAD` is ours: as in `drop`.
        // Acquire: as in `drop`. On failure: the state is `WEAK` or `RECORD`, and the last share's
        // owner acquires.
        _ = state.compare_exchange(alone, weak(1), Acquire, Relaxed);
        // SAFETY: our share, and the state says that the block has weak pointers.
        Some(unsafe { Weak::from_counted(watch.place) })
    }

    /// Returns a weak pointer to the object, unless the object is dead and its entry is not
    /// unlinked yet. For a thread that keeps the entry from being destroyed.
    pub(crate) fn downgrade(&self) -> Option<Weak<T, Atomic>> {
        let block = self.watch.block();
        // SAFETY: the caller looks at the entry, so the share of its watch stays. The new share is
        // the weak pointer's.
        unsafe {
            let is_shared = block.downgrade_registered();
            is_shared.then(|| Weak::from_counted(self.watch.place))
        }
    }
}
