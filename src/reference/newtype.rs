//! Newtypes around handles, as handles themselves: [`impl_handle!`](crate::impl_handle), and the
//! functions and impls for the generated code.

use super::key::WeakKey;
use super::notified::Notify;
use super::permit::Permit;
use super::strong::{Newtype, WeakRef, Wrapper};
use crate::ptr::{Strong, Weak};

// SAFETY: the handle inside notifies, and a newtype has no other handle. A clone with another
// handle inside is a handle of another object.
#[diagnostic::do_not_recommend]
unsafe impl<K: Wrapper<Inner: Notify>> Notify for K {
    type Pointee = <K::Inner as Notify>::Pointee;
    type Flavour = <K::Inner as Notify>::Flavour;

    #[inline]
    fn handle(this: &Self) -> &Strong<Self::Pointee, Self::Flavour> {
        Notify::handle(K::inner(this))
    }

    #[inline]
    fn from_handle(handle: Strong<Self::Pointee, Self::Flavour>, permit: Permit<K>) -> Self {
        K::wrap(Notify::from_handle(handle, Permit::new()), permit)
    }

    #[inline]
    fn from_weak(weak: Weak<Self::Pointee, Self::Flavour>, _: Permit<K>) -> Self::Weak {
        let inner = <K::Inner as Notify>::from_weak(weak, Permit::new());
        Newtype::wrap(inner, Permit::new())
    }
}

/// Returns the weak handle of a newtype.
#[inline]
pub fn downgrade<K: Wrapper>(this: &K) -> K::Weak {
    let inner = WeakKey::downgrade(Newtype::inner(this));
    Newtype::wrap(inner, Permit::new())
}

/// Returns the newtype for its weak handle, if the object lives.
#[inline]
#[cfg_attr(feature = "holders", track_caller)]
pub fn upgrade<K: Wrapper>(weak: &K::Weak) -> Option<K> {
    let inner = WeakRef::upgrade(Newtype::inner(weak))?;
    Some(Newtype::wrap(inner, Permit::new()))
}

/// Returns the field of a newtype, which is of type `I`. (A type annotation is not enough where a
/// reference is expected: `Deref`, and so user code, can turn a reference into any other
/// reference.)
#[inline]
pub fn exactly<I, T: Is<I>>(field: &T) -> &I {
    T::is(field)
}

/// Two types are equal. No path outside of this crate leads to this trait, so no user implements
/// it.
#[diagnostic::on_unimplemented(
    message = "the field of this newtype is a `{Self}`, where `impl_handle!` needs a `{I}`",
    label = "a newtype has one field: the strong handle itself, or its weak handle, with nothing around it",
    note = "`Strong<_, Local>` is what `local::Strong<_>` names, and `Strong<_, Atomic>` what `weakly::Strong<_>` names"
)]
pub trait Is<I> {
    #[doc(hidden)]
    fn is(this: &Self) -> &I;
}

impl<T> Is<T> for T {
    #[inline]
    fn is(this: &T) -> &T {
        this
    }
}

/// Makes two newtypes into handles without `unsafe`: a newtype around a strong handle, and a
/// newtype around its weak handle. The first is a [`StrongRef`](crate::reference::StrongRef), which
/// every collection takes as a key or a value. The second is the first newtype's
/// [`WeakRef`](crate::reference::WeakRef).
///
/// ```
/// #![forbid(unsafe_code)]
/// use weakly::{Strong, Weak, WeakMap, impl_handle};
///
/// pub struct Element { name: String }
///
/// /// A node of a document.
/// #[derive(Clone)]
/// pub struct Node(Strong<Element>);
/// #[derive(Clone)]
/// pub struct WeakNode(Weak<Element>);
///
/// impl_handle!(Node(Strong<Element>), WeakNode(Weak<Element>));
///
/// let node = Node(Strong::new(Element { name: "body".into() }));
/// let mut titles = WeakMap::from([(&node, "Title")]);
/// assert_eq!(titles.get(&node), Some(&"Title"));
/// # assert_eq!(node.0.name, "body");
/// drop(node);
/// assert_eq!(titles.len(), 0);
/// ```
///
/// The field may be any strong handle: [`Strong`](crate::Strong),
/// [`local::Strong`](crate::local::Strong), [`Arc`](alloc::sync::Arc), [`Rc`](alloc::rc::Rc), or
/// another newtype. Collections learn of deaths as with the field's type, by a notice or a sweep.
/// Threads can share the newtype if they can share the field. The newtype costs nothing at run
/// time.
///
/// The parameters of generic newtypes come first, in brackets, with their bounds:
///
/// ```
/// use std::rc::{self, Rc};
/// use weakly::{WeakValueMap, impl_handle};
///
/// struct Shape<'a, T: ?Sized>(Rc<(&'a str, T)>);
/// struct WeakShape<'a, T: ?Sized>(rc::Weak<(&'a str, T)>);
///
/// impl<T: ?Sized> Clone for WeakShape<'_, T> {
///     fn clone(&self) -> Self {
///         WeakShape(self.0.clone())
///     }
/// }
///
/// impl_handle!(['a, T: ?Sized] Shape<'a, T>(Rc<(&'a str, T)>), WeakShape<'a, T>(rc::Weak<(&'a str, T)>));
///
/// let circle = Shape(Rc::new(("circle", 0.5)));
/// let shapes = WeakValueMap::from([(1, &circle)]);
/// assert_eq!(shapes.get(&1).unwrap().0.0, "circle");
/// ```
///
/// # What is left to you
///
/// * The weak newtype must be `Clone`. Derive `Clone` for both newtypes, or write it if the
///   newtypes are generic.
/// * `Deref`, to the target of the field, makes the newtype a key by content.
/// * [`impl_trace!`](crate::impl_trace)`(Node: 0)` shows `purge_cycles` the handle inside.
/// * A plain reference to the target does not identify the newtype: pass
///   [`Addr::of`](crate::Addr::of).
///
/// Your implementations cannot cause undefined behaviour, because no collection trusts them. A
/// `Deref` to another value has the effect of an inconsistent `Hash`: lookups miss entries. A
/// `Clone` may return a handle of another object: then collections return this other handle where
/// they clone. A `Drop` runs where a collection drops a handle, as the destructor of an object
/// does.
///
/// # What it does not do
///
/// A newtype is a tuple struct with a single field, which is the handle itself. A struct with a
/// second field, or with a `Box` around the handle, does not compile: implement the traits [by
/// hand](crate::reference::StrongRef), which is `unsafe`. There is no newtype around an
/// [`Anchor`](crate::Anchor): an anchor is a field of an object, and is a key itself.
///
/// The traits name the target, so the target's type is as public as the newtype; the fields of the
/// target may be private. The traits also give everybody a reference to the handle inside, and so a
/// clone of the handle, by [`Notify::handle`](crate::reference::Notify::handle). But if the fields
/// of the strong and of the weak newtype are private, no other module can put a handle into a
/// newtype: your module can rely on each fact that it has checked of its newtypes.
#[macro_export]
macro_rules! impl_handle {
    (@newtype [$($generics:tt)*] $newtype:ty, $inner:ty) => {
        // Not unsafe: the tokens in the brackets cannot end an `unsafe impl` and begin another
        // `unsafe impl`, since they would also end this safe impl. Each arm with an `unsafe impl`
        // begins with a safe impl of this kind: anybody can call any arm.
        impl<$($generics)*> $newtype {}

        // SAFETY: the impl compiles only for a tuple struct with a single field, of exactly this
        // type.
        unsafe impl<$($generics)*> $crate::__newtype::Newtype for $newtype {
            type Inner = $inner;

            #[inline]
            fn inner(this: &Self) -> &$inner {
                let Self(ref inner) = *this;
                $crate::__newtype::exactly::<$inner, _>(inner)
            }

            #[inline]
            fn wrap(inner: $inner, _: $crate::__newtype::Permit<Self>) -> Self {
                Self(inner)
            }
        }
    };
    (@handles [$($generics:tt)*] $strong:ty, $inner:ty, $weak:ty, $inner_weak:ty) => {
        $crate::impl_handle! { @newtype [$($generics)*] $strong, $inner }
        $crate::impl_handle! {
            @newtype [$($generics)*] $weak, <$inner as $crate::__newtype::WeakKey>::Weak
        }

        // Not unsafe: see above.
        impl<$($generics)*> $crate::__newtype::Wrapper for $strong {}

        // SAFETY: everything is forwarded to the handles inside.
        unsafe impl<$($generics)*> $crate::__newtype::WeakKey for $strong {
            type Watch =
                <<$inner as $crate::__newtype::WeakKey>::Watch as $crate::__newtype::Upgrade>::Around<Self>;
            type Weak = $weak;

            #[inline]
            fn addr(this: &Self) -> *const () {
                $crate::__newtype::WeakKey::addr($crate::__newtype::Newtype::inner(this))
            }

            #[inline]
            fn downgrade(this: &Self) -> $weak {
                $crate::__newtype::downgrade(this)
            }
        }

        // SAFETY: as above.
        unsafe impl<$($generics)*> $crate::__newtype::StrongRef for $strong {
            type Target = <$inner as $crate::__newtype::StrongRef>::Target;

            fn size(this: &Self) -> $crate::__newtype::Option<$crate::__newtype::usize> {
                $crate::__newtype::StrongRef::size($crate::__newtype::Newtype::inner(this))
            }
        }

        // SAFETY: as above.
        unsafe impl<$($generics)*> $crate::__newtype::WeakRef for $weak {
            type Strong = $strong;

            #[inline]
            #[track_caller]
            fn upgrade(&self) -> $crate::__newtype::Option<$strong> {
                $crate::__newtype::upgrade(self)
            }

            #[inline]
            fn addr(&self) -> *const () {
                $crate::__newtype::WeakRef::addr($crate::__newtype::Newtype::inner(self))
            }

            #[inline]
            fn is_expired(&self) -> $crate::__newtype::bool {
                $crate::__newtype::WeakRef::is_expired($crate::__newtype::Newtype::inner(self))
            }

            fn strong_count(&self) -> $crate::__newtype::Option<$crate::__newtype::usize> {
                $crate::__newtype::WeakRef::strong_count($crate::__newtype::Newtype::inner(self))
            }
        }

        impl<$($generics)*> $crate::__newtype::Identity for $weak {
            #[inline]
            fn identity(this: &Self) -> *const () {
                $crate::__newtype::Identity::identity($crate::__newtype::Newtype::inner(this))
            }
        }

        impl<$($generics)*> $crate::__newtype::Identify<$strong> for $weak {
            #[inline]
            fn addr(this: &Self) -> *const () {
                let inner: &$inner_weak = $crate::__newtype::Newtype::inner(this);
                $crate::__newtype::Identify::<$inner>::addr(inner)
            }
        }
    };
    // The name of a newtype ends at its field, the first parenthesis outside of `<…>`. The third
    // brackets collect the name, and the fourth brackets collect each open `<`. The strong newtype
    // is read first, and moves into the second brackets with the type of its field; then the weak
    // newtype is read.
    (@named $generics:tt [] [$($name:tt)*] [] ($inner:ty), $($rest:tt)*) => {
        $crate::impl_handle! { @named $generics [$($name)*, $inner] [] [] $($rest)* }
    };
    (@named $generics:tt [$($strong:tt)+] [$($name:tt)*] [] ($inner:ty) $(,)?) => {
        $crate::impl_handle! { @handles $generics $($strong)+, $($name)*, $inner }
    };
    (@named $generics:tt $strong:tt [$($name:tt)*] [$($open:tt)*] < $($rest:tt)*) => {
        $crate::impl_handle! { @named $generics $strong [$($name)* <] [$($open)* <] $($rest)* }
    };
    (@named $generics:tt $strong:tt [$($name:tt)*] [$($open:tt)*] << $($rest:tt)*) => {
        $crate::impl_handle! { @named $generics $strong [$($name)* <<] [$($open)* < <] $($rest)* }
    };
    (@named $generics:tt $strong:tt [$($name:tt)*] [< $($open:tt)*] > $($rest:tt)*) => {
        $crate::impl_handle! { @named $generics $strong [$($name)* >] [$($open)*] $($rest)* }
    };
    (@named $generics:tt $strong:tt [$($name:tt)*] [< < $($open:tt)*] >> $($rest:tt)*) => {
        $crate::impl_handle! { @named $generics $strong [$($name)* >>] [$($open)*] $($rest)* }
    };
    (@named $generics:tt $strong:tt [$($name:tt)*] $open:tt $next:tt $($rest:tt)*) => {
        $crate::impl_handle! { @named $generics $strong [$($name)* $next] $open $($rest)* }
    };
    ([$($generics:tt)*] $($newtypes:tt)+) => {
        $crate::impl_handle! { @named [$($generics)*] [] [] [] $($newtypes)+ }
    };
    ($strong:ident $($rest:tt)*) => { $crate::impl_handle! { [] $strong $($rest)* } };
}
