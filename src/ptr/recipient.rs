//! The recipient of a registration: the stack of a collection of one owner, or the core of a
//! collection that threads share.

use core::ptr;

use super::flavour::Flavour;
use super::header::Block;
use super::hook::{HookRef, LoneHook, RecipientCell};
use super::shared::CoreRef;
use super::stack::StackRef;

/// The mark of a core in an encoded recipient.
pub(super) const CORE: usize = 1;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Recipient<F: Flavour> {
    /// A death pushes a notice.
    Stack(StackRef<F>),
    /// A death unlinks the entry itself.
    Core(CoreRef),
}

impl<F: Flavour> Recipient<F> {
    /// Returns the word for a recipient; null for none.
    #[inline(always)]
    pub(super) fn encode(this: Option<Self>) -> *mut () {
        match this {
            None => ptr::null_mut(),
            Some(Recipient::Stack(stack)) => stack.as_ptr().cast(),
            Some(Recipient::Core(core)) => core.as_ptr().cast::<()>().map_addr(|addr| addr | CORE),
        }
    }

    /// Returns the recipient of a word.
    ///
    /// # Safety
    /// `recipient` is from [`encode`](Self::encode), and the stack or core is not freed.
    #[inline(always)]
    pub(super) unsafe fn decode(recipient: *mut ()) -> Option<Self> {
        // SAFETY: the caller's promise; the mark is removed.
        unsafe {
            if recipient.is_null() {
                None
            } else if recipient.addr() & CORE == 0 {
                Some(Recipient::Stack(StackRef::from_ptr(recipient.cast())))
            } else {
                let core = recipient.map_addr(|addr| addr ^ CORE);
                Some(Recipient::Core(CoreRef::from_ptr(core.cast())))
            }
        }
    }

    /// Returns a hook for a further registration, if there is one without an allocation.
    ///
    /// # Safety
    /// If the recipient is a stack, the caller is its owner.
    #[inline]
    pub(super) unsafe fn spare_hook(self, block: Block<F>, hash: u32) -> Option<HookRef<F>> {
        match self {
            // SAFETY: the caller's promise.
            Recipient::Stack(stack) => unsafe { stack.spare_hook(block, hash) },
            Recipient::Core(_) => None,
        }
    }

    /// Returns a hook for a further registration.
    ///
    /// # Safety
    /// As for [`spare_hook`](Self::spare_hook).
    pub(super) unsafe fn hook(self, block: Block<F>, hash: u32) -> HookRef<F> {
        match self {
            // SAFETY: the caller's promise.
            Recipient::Stack(stack) => unsafe { stack.hook(block, hash) },
            Recipient::Core(_) => LoneHook::boxed(Self::encode(Some(self)), block, hash),
        }
    }

    /// Takes back a hook from [`hook`](Self::hook).
    ///
    /// # Safety
    /// As for `hook`; and no thread uses the hook any more.
    #[inline]
    pub(super) unsafe fn give_back(self, hook: HookRef<F>) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Recipient::Stack(stack) => stack.give_back(hook),
                Recipient::Core(_) => LoneHook::free(hook),
            }
        }
    }
}

impl<F: Flavour> HookRef<F> {
    /// Returns the recipient with which the hook is registered.
    ///
    /// # Safety
    /// The caller has the gate, or owns the hook (H1).
    #[inline]
    pub(super) unsafe fn recipient(self) -> Recipient<F> {
        // SAFETY: H2, the caller's promise; a registration has a recipient.
        unsafe { self.recipient_if_any().unwrap_unchecked() }
    }

    /// Returns the recipient, or `None` for a hook that marks a place in a list.
    ///
    /// # Safety
    /// As for [`recipient`](Self::recipient).
    #[inline]
    pub(super) unsafe fn recipient_if_any(self) -> Option<Recipient<F>> {
        // SAFETY: H2; a chunk or a lone hook is made with its recipient.
        unsafe {
            let recipient = self.recipient_place().cast::<RecipientCell>();
            let recipient = recipient.as_ref().with(|recipient| *recipient);
            Recipient::decode(recipient)
        }
    }
}
