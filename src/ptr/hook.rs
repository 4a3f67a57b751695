//! Hooks: the places of the watchers in the lists of a side table. The invariants S1 to S4 are those of
//! [`side`](super::side).

use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use super::flavour::Flavour;
use super::side::Side;
use crate::sync::{self, UnsafeCell};

/// The lists of a side table.
pub(super) struct Watchers<F: Flavour> {
    /// The heads of the two lists, newest first.
    pub(super) heads: [*mut Hook<F>; 2],
    /// Whether the hook inside the record is taken.
    pub(super) first_taken: bool,
    /// Those of `refs` that can never bring the object back: finalizers and their tokens.
    pub(super) bystanders: usize,
}

/// Which list of a side table a hook is in: death fires the first, then the second.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watcher {
    /// Fired under the gate: a push and nothing else.
    Map = 0,
    /// Fired after the gate is closed: user code.
    Finalizer = 1,
}

/// One watcher's place in the lists of a side table.
pub struct Hook<F: Flavour> {
    links: UnsafeCell<Links<F>>,
    body: UnsafeCell<Option<Body<F>>>,
}

struct Links<F: Flavour> {
    prev: *mut Hook<F>,
    next: *mut Hook<F>,
}

/// What a hook does, type-erased: this room does not know who watches.
pub(crate) struct Call<F: Flavour> {
    /// Called once at the death of the object, if the hook is still linked then; the hook is the
    /// callee's from then on.
    pub(crate) fire: unsafe fn(HookRef<F>),
    /// The watcher's own.
    pub(crate) context: *const (),
    /// The watcher's own.
    pub(crate) tag: u64,
}

pub(super) struct Body<F: Flavour> {
    pub(super) side: NonNull<Side<F>>,
    pub(super) list: Watcher,
    pub(super) call: Call<F>,
}

macro_rules! copy {
    ($($name:ident),*) => {$(
        impl<F: Flavour> Clone for $name<F> {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<F: Flavour> Copy for $name<F> {}
    )*};
}

copy!(Links, Call, Body, HookRef, KeptHook);

/// A pointer to a hook that is not yet retired.
pub(crate) struct HookRef<F: Flavour>(pub(super) NonNull<Hook<F>>);

impl<F: Flavour> PartialEq for HookRef<F> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<F: Flavour> fmt::Debug for HookRef<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<F: Flavour> Watchers<F> {
    /// # Safety
    /// S2: the caller has the lists to itself; `hook` is in none, and not retired.
    #[inline]
    pub(super) unsafe fn push(&mut self, hook: HookRef<F>, list: Watcher) {
        let next = core::mem::replace(&mut self.heads[list as usize], hook.0.as_ptr());
        // SAFETY: S2; what is in a list is not retired.
        unsafe {
            hook.edit_links(|links| {
                *links = Links {
                    prev: ptr::null_mut(),
                    next,
                }
            });
            if let Some(next) = NonNull::new(next) {
                HookRef(next).edit_links(|links| links.prev = hook.0.as_ptr());
            }
        }
        if list == Watcher::Finalizer {
            self.bystanders += 1;
        }
    }

    /// # Safety
    /// S2: the caller has the lists to itself; `hook` is in one of them.
    #[inline]
    pub(super) unsafe fn remove(&mut self, hook: HookRef<F>) {
        // SAFETY: S2; what is in a list is not retired.
        let list = unsafe {
            let Links { prev, next } = hook.links();
            let list = hook.body().list;
            match NonNull::new(prev) {
                Some(prev) => HookRef(prev).edit_links(|links| links.next = next),
                None => self.heads[list as usize] = next,
            }
            if let Some(next) = NonNull::new(next) {
                HookRef(next).edit_links(|links| links.prev = prev);
            }
            list
        };
        if list == Watcher::Finalizer {
            self.bystanders -= 1;
        }
    }
}

/// A closed list of hooks, front to back. A hook is given out after its successor is known, since
/// whoever gets it may free it.
pub(super) struct Chain<F: Flavour>(pub(super) *mut Hook<F>);

impl<F: Flavour> Iterator for Chain<F> {
    type Item = HookRef<F>;

    #[inline]
    fn next(&mut self) -> Option<HookRef<F>> {
        let hook = HookRef(NonNull::new(self.0)?);
        // SAFETY: S2, the closed list is ours; what is in it is not retired.
        self.0 = unsafe { hook.links() }.next;
        Some(hook)
    }
}

impl<F: Flavour> Hook<F> {
    pub(super) fn empty() -> Self {
        Hook {
            links: UnsafeCell::new(Links {
                prev: ptr::null_mut(),
                next: ptr::null_mut(),
            }),
            body: UnsafeCell::new(None),
        }
    }

    pub(super) fn boxed() -> HookRef<F> {
        // SAFETY: a box is not null.
        HookRef(unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(Self::empty()))) })
    }

    /// # Safety
    /// The hook was made by `boxed`, and nobody uses it any more.
    pub(super) unsafe fn free(hook: HookRef<F>) {
        // SAFETY: the caller's promise. (The empty write lets loom order the end after every use.)
        unsafe {
            hook.0.as_ref().links.with_mut(|_| ());
            sync::free(hook.0);
        }
    }
}

/// A hook as its watch keeps it. The hook inside a record is kept as the record, marked: so the way from
/// a watch to its record does not lead through the hook, which may be on another cache line.
pub(crate) struct KeptHook<F: Flavour>(NonNull<()>, PhantomData<*const Hook<F>>);

impl<F: Flavour> KeptHook<F> {
    const INSIDE: usize = 1;

    /// # Safety
    /// The hook is not retired.
    #[inline]
    pub(crate) unsafe fn new(hook: HookRef<F>) -> Self {
        const { assert!(align_of::<Side<F>>() > Self::INSIDE && align_of::<Hook<F>>() > Self::INSIDE) };
        // SAFETY: the caller's promise.
        let side = unsafe { hook.side() };
        let kept = if hook == Side::first(side) {
            side.cast::<()>().map_addr(|addr| addr | Self::INSIDE)
        } else {
            hook.0.cast()
        };
        KeptHook(kept, PhantomData)
    }

    #[inline]
    fn is_inside(self) -> bool {
        self.0.addr().get() & Self::INSIDE != 0
    }

    /// The record, of a hook inside it.
    #[inline]
    fn unmarked(self) -> NonNull<Side<F>> {
        // SAFETY: the mark is a bit of its own, and what is marked is not null.
        let side =
            unsafe { NonNull::new_unchecked(self.0.as_ptr().map_addr(|addr| addr ^ Self::INSIDE)) };
        side.cast()
    }

    #[inline]
    pub(crate) fn hook(self) -> HookRef<F> {
        if self.is_inside() {
            Side::first(self.unmarked())
        } else {
            HookRef(self.0.cast())
        }
    }

    /// The record of the watched object.
    ///
    /// # Safety
    /// The hook is not retired.
    #[inline]
    pub(crate) unsafe fn side(self) -> NonNull<Side<F>> {
        if self.is_inside() {
            self.unmarked()
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.hook().side() }
        }
    }
}

impl<F: Flavour> HookRef<F> {
    /// The hook behind a pointer that `as_ptr` has made.
    #[inline]
    pub(crate) fn from_ptr(hook: *mut Hook<F>) -> Option<Self> {
        NonNull::new(hook).map(HookRef)
    }

    #[inline]
    pub(crate) fn as_ptr(self) -> *mut Hook<F> {
        self.0.as_ptr()
    }

    /// The hook behind this one, in whatever list its holder has made with
    /// [`set_next`](Self::set_next).
    ///
    /// # Safety
    /// The hook has been fired, is not retired, and the caller may read it.
    #[inline]
    pub(crate) unsafe fn next(self) -> *mut Hook<F> {
        // SAFETY: the caller's promise.
        unsafe { self.links() }.next
    }

    /// # Safety
    /// The hook has been fired, is not retired, and is the caller's alone.
    #[inline]
    pub(crate) unsafe fn set_next(self, next: *mut Hook<F>) {
        // SAFETY: the caller's promise.
        unsafe { self.edit_links(|links| links.next = next) };
    }

    /// # Safety
    /// The hook is not retired; S2 allows the caller to read the links.
    #[inline]
    unsafe fn links(self) -> Links<F> {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref().links.with(|links| *links) }
    }

    /// # Safety
    /// The hook is not retired; S2 allows the caller to write the links.
    #[inline]
    unsafe fn edit_links(self, edit: impl FnOnce(&mut Links<F>)) {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref().links.with_mut(|links| edit(&mut *links)) };
    }

    /// # Safety
    /// The hook is not retired, and nobody else knows it (S4).
    #[inline]
    pub(super) unsafe fn set_body(self, body: Body<F>) {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref().body.with_mut(|place| *place = Some(body)) };
    }

    /// # Safety
    /// The hook is not retired.
    #[inline]
    pub(super) unsafe fn body(self) -> Body<F> {
        // SAFETY: the caller's promise; S4, it does not change.
        unsafe { self.0.as_ref().body.with(|body| (*body).unwrap_unchecked()) }
    }

    /// What the watcher asked for.
    ///
    /// # Safety
    /// The hook is not retired.
    #[inline]
    pub(crate) unsafe fn call(self) -> Call<F> {
        // SAFETY: the caller's promise.
        unsafe { self.body() }.call
    }

    /// The record of the watched object.
    ///
    /// # Safety
    /// The hook is not retired.
    #[inline]
    pub(crate) unsafe fn side(self) -> NonNull<Side<F>> {
        // SAFETY: the caller's promise.
        unsafe { self.body() }.side
    }

    /// Makes the call.
    ///
    /// # Safety
    /// The caller took the hook out of a closed list, or is closing it.
    #[inline]
    pub(super) unsafe fn fire(self) {
        // SAFETY: the caller's promise; the hook is the callee's from now on.
        unsafe { (self.call().fire)(self) };
    }
}
