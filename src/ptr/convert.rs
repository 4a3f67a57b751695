//! Strong pointers from values, boxes, strings and vectors; conversions to `dyn Trait`, and back
//! from `dyn Any`.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::any::Any;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::flavour::Flavour;
use super::strong::Strong;
use super::weak::Weak;
use super::{header, memory, state};

impl<T, F: Flavour> From<T> for Strong<T, F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn from(value: T) -> Self {
        Strong::new(value)
    }
}

/// Moves the value, sized or not, out of its box. O(size of the value). This is one way to
/// `Strong<dyn Trait>`; the other, without a second allocation, is [`unsize!`](crate::unsize).
impl<T: ?Sized, F: Flavour> From<Box<T>> for Strong<T, F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn from(value: Box<T>) -> Self {
        let layout = Layout::for_value(&*value);
        let payload = memory::allocate::<F>(layout, 1, state::NONE);
        let old = Box::into_raw(value);
        // SAFETY: the bytes of the value move; the box is freed as raw memory of the same layout,
        // which runs no destructor.
        unsafe {
            payload.copy_from_nonoverlapping(NonNull::new_unchecked(old.cast()), layout.size());
            drop(Box::from_raw(old as *mut ManuallyDrop<T>));
            Strong::first(header::with_address(NonNull::new_unchecked(old), payload))
        }
    }
}

/// Moves the elements.
impl<T, F: Flavour> From<Vec<T>> for Strong<[T], F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn from(mut values: Vec<T>) -> Self {
        let len = values.len();
        // SAFETY: `len` elements move to memory of their layout; the vector forgets them and frees
        // its buffer.
        unsafe {
            let layout = Layout::for_value(&*values);
            let payload = memory::allocate::<F>(layout, 1, state::NONE).cast::<T>();
            payload.copy_from_nonoverlapping(NonNull::new_unchecked(values.as_mut_ptr()), len);
            values.set_len(0);
            Strong::first(NonNull::slice_from_raw_parts(payload, len))
        }
    }
}

impl<T: Clone, F: Flavour> From<&[T]> for Strong<[T], F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn from(values: &[T]) -> Self {
        Vec::from(values).into()
    }
}

impl<T, const N: usize, F: Flavour> From<[T; N]> for Strong<[T], F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn from(values: [T; N]) -> Self {
        Vec::from(values).into()
    }
}

impl<F: Flavour> From<&str> for Strong<str, F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn from(text: &str) -> Self {
        let bytes = text.as_bytes();
        // SAFETY: the copied bytes of a string are valid UTF-8.
        unsafe {
            let payload = memory::allocate::<F>(Layout::for_value(bytes), 1, state::NONE);
            payload.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
            let bytes = ptr::slice_from_raw_parts_mut(payload.as_ptr(), bytes.len());
            Strong::first(NonNull::new_unchecked(bytes as *mut str))
        }
    }
}

impl<F: Flavour> From<String> for Strong<str, F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl<T, F: Flavour> FromIterator<T> for Strong<[T], F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        values.into_iter().collect::<Vec<T>>().into()
    }
}

impl<F: Flavour> Default for Strong<str, F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn default() -> Self {
        "".into()
    }
}

impl<T, F: Flavour> Default for Strong<[T], F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn default() -> Self {
        Vec::new().into()
    }
}

macro_rules! downcast {
    ($(dyn Any $(+ $auto:ident)*, $example:literal;)*) => {$(
        impl<F: Flavour> Strong<dyn Any $(+ $auto)*, F> {
            /// Returns the same handle to a payload of type `T`, if the payload has this type.
            /// O(1); identity, counts and attributes stay the same.
            ///
            /// # Errors
            /// The handle itself, if the payload is of another type.
            ///
            /// ```
            /// use std::any::Any;
            /// use weakly::{Strong, unsize};
            ///
            #[doc = $example]
            /// let some = some.downcast::<String>().unwrap_err();
            /// assert_eq!(*some.downcast::<i32>().unwrap(), 5);
            /// ```
            pub fn downcast<T: Any $(+ $auto)*>(self) -> Result<Strong<T, F>, Self> {
                if !(*self).is::<T>() {
                    return Err(self);
                }
                let this = ManuallyDrop::new(self);
                // SAFETY: the same pointer, whose payload is a `T`.
                Ok(unsafe { Strong::listed(this.ptr.cast(), this.holder) })
            }
        }
    )*};
}

downcast! {
    dyn Any, "let some: Strong<dyn Any> = unsize!(Strong::new(5) => dyn Any);";
    dyn Any + Send + Sync, "let some = unsize!(Strong::new(5) => dyn Any + Send + Sync);";
}

/// Converts a strong or weak handle into a handle to an unsized type, to which the compiler can
/// coerce the type of the payload: `unsize!(strong => dyn Trait)`, `unsize!(weak => [u8])`. From
/// Rust 1.86 on, the payload may be a trait object: `unsize!(plugin => dyn Any + Send + Sync)`. The
/// conversion costs nothing; identity, counts and attributes stay the same. (On stable Rust only
/// the standard library's pointers coerce implicitly. With a closure instead of a macro, safe code
/// could return any pointer.)
///
/// ```
/// use std::fmt::Display;
/// use weakly::{Strong, Weak, unsize};
///
/// let number = Strong::new(5);
/// let shown: Strong<dyn Display> = unsize!(number.clone() => dyn Display);
/// assert_eq!(shown.to_string(), "5");
/// assert_eq!(Strong::strong_count(&number), 2);
///
/// let weak: Weak<dyn Display> = unsize!(Strong::downgrade(&number) => dyn Display);
/// assert_eq!(weak.upgrade().unwrap().to_string(), "5");
/// ```
///
/// A weak handle that never had an object needs a sized type to be made; any sized type will do:
///
/// ```
/// # use std::fmt::Display;
/// # use weakly::{Weak, unsize};
/// let none: Weak<dyn Display> = unsize!(Weak::<i32>::new() => dyn Display);
/// assert!(none.upgrade().is_none());
/// ```
///
/// The macro accepts only conversions that the compiler coerces:
///
/// ```compile_fail
/// # use weakly::{Strong, unsize};
/// let shown = unsize!(Strong::new(vec![1]) => dyn std::fmt::Display);
/// ```
#[macro_export]
macro_rules! unsize {
    ($pointer:expr => $target:ty) => {
        match $pointer {
            // SAFETY: the closure's only expression is a coercion of its argument.
            pointer => unsafe { $crate::__unsize(pointer, |raw| -> *const $target { raw }) },
        }
    };
}

/// The types that [`unsize!`](crate::unsize) takes: `Strong` and `Weak`. Sealed, since the trait
/// has no public name.
#[diagnostic::on_unimplemented(
    message = "`unsize!` takes a `Strong` or a `Weak` of this crate, by value, not `{Self}`",
    label = "neither `Strong` nor `Weak`",
    note = "clone a borrowed handle first; the standard library's handles coerce without `unsize!`"
)]
pub trait Unsize {
    #[doc(hidden)]
    type Target: ?Sized;
    /// The same handle to another type.
    #[doc(hidden)]
    type Of<U: ?Sized>;
    /// # Safety
    /// `coerce` returns its argument, unsized by the compiler.
    #[doc(hidden)]
    unsafe fn unsize<U: ?Sized>(self, coerce: fn(*const Self::Target) -> *const U) -> Self::Of<U>;
}

impl<T: ?Sized, F: Flavour> Unsize for Strong<T, F> {
    type Target = T;
    type Of<U: ?Sized> = Strong<U, F>;

    #[inline]
    unsafe fn unsize<U: ?Sized>(self, coerce: fn(*const T) -> *const U) -> Strong<U, F> {
        // SAFETY: the caller's promise.
        unsafe { Strong::unsize(self, coerce) }
    }
}

impl<T: ?Sized, F: Flavour> Unsize for Weak<T, F> {
    type Target = T;
    type Of<U: ?Sized> = Weak<U, F>;

    #[inline]
    unsafe fn unsize<U: ?Sized>(self, coerce: fn(*const T) -> *const U) -> Weak<U, F> {
        // SAFETY: the caller's promise.
        unsafe { Weak::unsize(self, coerce) }
    }
}

/// # Safety
/// `coerce` returns its argument, unsized by the compiler.
#[doc(hidden)]
#[must_use]
#[inline]
pub unsafe fn __unsize<P: Unsize, U: ?Sized>(
    pointer: P,
    coerce: fn(*const P::Target) -> *const U,
) -> P::Of<U> {
    // SAFETY: the caller's promise.
    unsafe { pointer.unsize(coerce) }
}
