//! The keys of a memo, and the queries for these keys.

use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use equivalent::Equivalent;
use std::boxed::Box;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::string::String;
use std::sync::Arc;
use std::vec::Vec;

use crate::concurrent::{Address, AnyWatch, SharedKey, SharedWatchFor, Watches, WatchesOne};
use crate::cycles::{Trace, Tracer};
use crate::hash::HashValue;
use crate::ptr::CoreRef;
use crate::reference::WeakKey;

/// A part of the key of a [`Memo`](crate::Memo): a handle, [`Many`] handles, or a plain [`Value`].
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no part of the key of a memo",
    label = "a part is a handle that threads share, `Many` of them, or a `Value`",
    note = "wrap what is no handle: `memo::Value<{Self}>`",
    note = "threads share `Strong`, `Arc` and `Anchor`, not `Rc`, nor `local::Strong`, which is `Strong<_, Local>`"
)]
pub trait Part: sealed::Sealed {
    /// The part as a memo shows it, keeping no object alive: the weak handle for a handle, a `Vec`
    /// of weak handles for [`Many`], an `Arc` for a [`Value`]. A key with several parts shows a
    /// tuple of these types.
    type Weak;
    /// Whether the hash depends on a plain value, which an attacker may have chosen.
    #[doc(hidden)]
    const PLAIN: bool;
    /// The part as an entry stores it. Clones are equal: a computation and its entry each have a
    /// clone.
    #[doc(hidden)]
    type Stored: Clone + Eq;
    #[doc(hidden)]
    type Watches: Watches;
    /// Returns the weak form, or `None` if an object of the part is dead. The first weak handle to
    /// an object allocates the object's record.
    #[doc(hidden)]
    fn weak(stored: &Self::Stored, watches: &Self::Watches) -> Option<Self::Weak>;
    /// Adds one more watch on each polled object of the part to the list, for an entry that depends
    /// on the entry of this key. (An object is polled if its handle does not notify, as `Arc`.)
    #[doc(hidden)]
    fn polled(watches: &Self::Watches, list: &mut Vec<AnyWatch>);
    /// Returns the weak form for an entry that is being destroyed, also if objects are dead.
    #[doc(hidden)]
    fn into_weak(stored: &Self::Stored, watches: Self::Watches) -> Option<Self::Weak>;
}

/// The key of a [`Memo`](crate::Memo): a handle, [`Many`] handles, or a tuple of up to four parts.
/// The first part of the tuple is itself a key, and each further part is a [`Part`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the key of a memo",
    label = "a key is a handle that threads share, or a tuple that begins with one",
    note = "threads share `Strong`, `Arc` and `Anchor`, not `Rc`, nor `local::Strong`, which is `Strong<_, Local>`",
    note = "what is no handle is a `memo::Value<_>`",
    note = "results of plain values alone die with nothing: use a `HashMap`, or put the object first, as in \
            `(Strong<Object>, Value<Parameters>)`"
)]
pub trait MemoKey: sealed::Sealed + Part {}

/// A query for a [`Memo`](crate::Memo) with keys of type `K`. The query for each part is:
///
/// * for a handle: `&K`,
/// * for [`Many`] handles: a reference to a slice, an array or a `Vec`, of handles or of references
///   to handles,
/// * for a plain [`Value<T>`](Value): `&Q`, where `Q` [can be made](ToValue) into a `T`, such as
///   `&str` for a `String` or a `Box<str>`; or `Value(t)`.
///
/// For example, the query for a memo with keys `(Strong<Graph>, Value<String>)` is `(&graph,
/// "name")`. Sealed.
#[diagnostic::on_unimplemented(
    message = "a memo whose keys are `{K}` is not asked by `{Self}`",
    label = "pass a reference to the handle, or a tuple with one argument for each part of the key",
    note = "references do not coerce here: where `handle` is a `&Strong<_>`, pass `handle`",
    note = "a plain `Value<T>` takes `Value(t)`, or `&Q` with `Q: memo::ToValue<T>`, such as `&T` if `T` is `Clone`; \
            the fields of a `T` are no parts of the key",
    note = "`Many<_>` takes a reference to a slice, an array or a `Vec`"
)]
pub trait MemoQuery<K: Part>: sealed::Asks<K> {
    /// The handles in the query.
    #[doc(hidden)]
    type Handles: Copy;
    #[doc(hidden)]
    fn handles(&self) -> Self::Handles;
    #[doc(hidden)]
    fn hash<H: Hasher>(&self, state: &mut H);
    #[doc(hidden)]
    fn is(&self, there: &K::Stored) -> bool;
    /// Makes the stored form of the key. A plain value is made here.
    #[doc(hidden)]
    fn into_stored(self) -> K::Stored;
    #[doc(hidden)]
    fn watch(handles: Self::Handles, hash: HashValue, core: CoreRef) -> K::Watches;
}

/// A borrowed form of a plain value `T` in the key of a [`Memo`](crate::Memo): a `str` for a
/// `String`. The borrowed form has the hash of the `T`, is compared with a `T` ([`Equivalent`]),
/// and is made into a `T` for a new entry.
///
/// Implemented for each `T` that is `Clone`, and for `str`, slices, `Path` and `OsStr`, where `T`
/// is the owned form, a `Box` or an `Arc`. For a query type of your own, implement `ToValue` beside
/// `Hash` and `Equivalent`:
///
/// ```
/// use weakly::{Equivalent, Memo, Strong, memo::{ToValue, Value}};
///
/// #[derive(PartialEq, Eq, Hash)]
/// struct Options { target: String, level: u8 }
/// #[derive(Hash)]
/// struct OptionsRef<'a> { target: &'a str, level: u8 }
///
/// impl Equivalent<Options> for OptionsRef<'_> {
///     fn equivalent(&self, there: &Options) -> bool {
///         self.target == there.target && self.level == there.level
///     }
/// }
/// impl ToValue<Options> for OptionsRef<'_> {
///     fn to_value(this: &Self) -> Options {
///         Options { target: this.target.into(), level: this.level }
///     }
/// }
///
/// let code = Memo::<(Strong<str>, Value<Options>), usize>::new();
/// let source = Strong::<str>::from("fn main() {}");
/// let options = OptionsRef { target: "wasm", level: 2 };
/// assert_eq!(code.get_or_compute((&source, &options), |_| source.len()), 12);
/// assert_eq!(code.get((&source, &options)), Some(12)); // allocates nothing
/// ```
#[diagnostic::on_unimplemented(
    message = "a `Value<{T}>` in the key of a memo is not asked by a reference to `{Self}`",
    label = "no `{T}` can be made of this",
    note = "pass `Value(t)`; a reference to a `{T}` needs `{T}: Clone`; a borrowed form implements `Hash`, \
            `weakly::Equivalent` and `weakly::memo::ToValue`",
    note = "to be asked by the fields of a value, let each field be a part of the key: `(Strong<_>, Value<A>, Value<B>)`"
)]
pub trait ToValue<T>: Hash + Equivalent<T> {
    /// Makes the value for an entry.
    fn to_value(this: &Self) -> T;
}

// Without the attribute the compiler would only report that `Clone` is missing.
#[diagnostic::do_not_recommend]
impl<T: Clone + Eq + Hash> ToValue<T> for T {
    #[inline]
    fn to_value(this: &T) -> T {
        this.clone()
    }
}

// Not for every `ToOwned` type: that would exclude `Box` and `Arc`.
macro_rules! borrowed {
    ($([$($generics:tt)*] $borrowed:ty: $value:ty;)*) => {$(
        impl<$($generics)*> ToValue<$value> for $borrowed {
            #[inline]
            fn to_value(this: &Self) -> $value {
                this.into()
            }
        }
    )*};
}

borrowed! {
    [] str: String;
    [] str: Box<str>;
    [] str: Arc<str>;
    [E: Clone + Eq + Hash] [E]: Vec<E>;
    [E: Clone + Eq + Hash] [E]: Box<[E]>;
    [E: Clone + Eq + Hash] [E]: Arc<[E]>;
    [] Path: PathBuf;
    [] Path: Box<Path>;
    [] Path: Arc<Path>;
    [] OsStr: OsString;
    [] OsStr: Box<OsStr>;
    [] OsStr: Arc<OsStr>;
}

/// A key whose plain parts [show](Trace) the handles they own, as
/// [`purge_cycles`](crate::Memo::purge_cycles) requires. The handles in the key own nothing here.
#[diagnostic::on_unimplemented(
    message = "a plain part of `{Self}` does not show what it owns",
    note = "`T` in `Value<T>` has to implement `weakly::cycles::Trace`: `weakly::impl_trace!` or `#[derive(Trace)]` does it"
)]
pub trait TraceKey: Part {
    #[doc(hidden)]
    fn trace(stored: &Self::Stored, tracer: &mut Tracer<'_>);
}

mod sealed {
    pub trait Sealed {}
    pub trait Asks<K> {}
    /// Implemented by no type: see `MemoKey` for `Value`.
    pub trait Dies {}
}
use sealed::{Asks, Dies, Sealed};

// A handle.

impl<K: SharedKey + 'static> Sealed for K {}

impl<K: SharedKey + 'static> Part for K {
    type Weak = <K as WeakKey>::Weak;
    const PLAIN: bool = false;
    type Stored = Address;
    type Watches = SharedWatchFor<K>;

    fn weak(_: &Address, watch: &Self::Watches) -> Option<<K as WeakKey>::Weak> {
        watch.downgrade()
    }

    fn polled(watch: &Self::Watches, list: &mut Vec<AnyWatch>) {
        list.extend(watch.again());
    }

    fn into_weak(_: &Address, watch: Self::Watches) -> Option<<K as WeakKey>::Weak> {
        watch.into_weak()
    }
}

impl<K: SharedKey + 'static> MemoKey for K {}

impl<K: SharedKey + 'static> Asks<K> for &K {}

impl<'k, K: SharedKey + 'static> MemoQuery<K> for &'k K {
    type Handles = &'k K;

    #[inline]
    fn handles(&self) -> &'k K {
        self
    }

    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(K::addr(self).addr());
    }

    #[inline]
    fn is(&self, there: &Address) -> bool {
        there.is(K::addr(self))
    }

    #[inline]
    fn into_stored(self) -> Address {
        Address::new(K::addr(self))
    }

    fn watch(handle: &K, hash: HashValue, core: CoreRef) -> SharedWatchFor<K> {
        SharedWatchFor::<K>::registered(handle, hash, core).into_inner()
    }
}

impl<K: SharedKey + 'static> TraceKey for K {
    fn trace(_: &Address, _: &mut Tracer<'_>) {}
}

/// Any number of handles, but at least one: a key of a [`Memo`](crate::Memo), or a part of a key.
/// The order of the handles counts.
///
/// ```
/// use weakly::{Memo, Strong, memo::Many};
///
/// let total = Memo::<Many<Strong<u32>>, u32>::new();
/// let terms = [1, 2, 3].map(Strong::new);
/// let sum = || total.get_or_compute(&terms, |_| terms.iter().map(|term| **term).sum());
/// assert_eq!((sum(), sum()), (6, 6));
/// assert_eq!(total.get(&[&terms[2], &terms[1], &terms[0]]), None);
/// drop(terms);
/// assert!(total.is_empty());
/// ```
///
/// # Panics
/// A query with no handles at all panics: its result would never die.
pub struct Many<K>(PhantomData<K>);

impl<K> Sealed for Many<K> {}

impl<K: SharedKey + 'static> Part for Many<K> {
    type Weak = Vec<<K as WeakKey>::Weak>;
    const PLAIN: bool = false;
    type Stored = Arc<[Address]>;
    type Watches = Box<[SharedWatchFor<K>]>;

    fn weak(_: &Arc<[Address]>, watches: &Self::Watches) -> Option<Self::Weak> {
        watches.iter().map(WatchesOne::downgrade).collect()
    }

    fn polled(watches: &Self::Watches, list: &mut Vec<AnyWatch>) {
        list.extend(watches.iter().filter_map(WatchesOne::again));
    }

    fn into_weak(_: &Arc<[Address]>, watches: Self::Watches) -> Option<Self::Weak> {
        let watches = watches.into_vec().into_iter();
        watches.map(WatchesOne::into_weak).collect()
    }
}

impl<K: SharedKey + 'static> MemoKey for Many<K> {}

impl<K: SharedKey + 'static> TraceKey for Many<K> {
    fn trace(_: &Arc<[Address]>, _: &mut Tracer<'_>) {}
}

/// A handle, or a reference to a handle. (Not `Borrow`: a user could implement `Borrow` to return
/// another handle each time.)
pub trait Lends<K> {
    #[doc(hidden)]
    fn lend(&self) -> &K;
}

impl<K: SharedKey> Lends<K> for K {
    #[inline]
    fn lend(&self) -> &K {
        self
    }
}

impl<K: SharedKey> Lends<K> for &K {
    #[inline]
    fn lend(&self) -> &K {
        self
    }
}

macro_rules! many {
    ($([$($size:tt)*] $list:ty;)*) => {$(
        impl<K: SharedKey + 'static, L: Lends<K>, $($size)*> Asks<Many<K>> for &$list {}

        impl<'k, K: SharedKey + 'static, L: Lends<K>, $($size)*> MemoQuery<Many<K>> for &'k $list {
            type Handles = &'k [L];

            #[inline]
            fn handles(&self) -> &'k [L] {
                *self
            }

            #[inline]
            #[track_caller]
            fn hash<H: Hasher>(&self, state: &mut H) {
                assert!(!self.is_empty(), "a memo is asked for `Many` handles, and there are none");
                for handle in self.iter() {
                    handle.lend().hash(state);
                }
            }

            #[inline]
            fn is(&self, there: &Arc<[Address]>) -> bool {
                self.len() == there.len()
                    && self.iter().zip(&**there).all(|(handle, there)| handle.lend().is(there))
            }

            fn into_stored(self) -> Arc<[Address]> {
                self.iter().map(|handle| handle.lend().into_stored()).collect()
            }

            fn watch(handles: &[L], hash: HashValue, core: CoreRef) -> Box<[SharedWatchFor<K>]> {
                let watch = |handle: &L| <&K>::watch(handle.lend(), hash, core);
                handles.iter().map(watch).collect()
            }
        }
    )*};
}

many! {
    [] [L];
    [const N: usize] [L; N];
    [] Vec<L>;
}

/// A plain value in the key of a [`Memo`](crate::Memo): a parameter, compared by `Eq` and owned by
/// the entry. A plain value is never the first part of a key: an entry ends with the first object
/// of its key to die, and a plain value does not die.
///
/// A query may also be `Value(t)`, if the caller does not need the `T` any more: the `T` moves into
/// a new entry, or is dropped.
///
/// ```
/// use weakly::{Memo, Strong, memo::Value};
///
/// struct Document(&'static str);
/// let found = Memo::<(Strong<Document>, Value<String>), Option<usize>>::new();
/// let document = Strong::new(Document("a weak cache"));
/// let find = |word: &str| {
///     found.get_or_compute((&document, word), |_| document.0.find(word))
/// };
/// assert_eq!((find("weak"), find("weak"), find("strong")), (Some(2), Some(2), None));
/// assert_eq!(found.statistics().misses, 2);
/// assert_eq!(found.get((&document, Value(String::from("weak")))), Some(Some(2)));
/// drop(document);
/// assert!(found.is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Value<T>(pub T);

impl<T> Sealed for Value<T> {}

impl<T: Eq + Hash> Part for Value<T> {
    type Weak = Arc<T>;
    const PLAIN: bool = true;
    // The reservation of a computation has the value, and then the entry has it: the value cannot
    // be moved out of either of them while threads compare with it.
    type Stored = Arc<T>;
    type Watches = ();

    fn weak(value: &Arc<T>, (): &()) -> Option<Arc<T>> {
        Some(Arc::clone(value))
    }

    fn polled((): &(), _: &mut Vec<AnyWatch>) {}

    fn into_weak(value: &Arc<T>, (): ()) -> Option<Arc<T>> {
        Some(Arc::clone(value))
    }
}

// A `Value` is no `MemoKey`: nothing implements `Dies`. With this impl the compiler sees two impls
// that do not fit, and prints the message of `MemoKey`.
impl<T: Eq + Hash> MemoKey for Value<T> where Self: Dies {}

impl<T: Eq + Hash + Trace> TraceKey for Value<T> {
    fn trace(stored: &Arc<T>, tracer: &mut Tracer<'_>) {
        T::trace(stored, tracer);
    }
}

macro_rules! plain {
    ($([$($generics:tt)*] $query:ty, |$this:ident| $value:expr, $owned:expr;)*) => {$(
        impl<$($generics)*> Asks<Value<T>> for $query {}

        impl<$($generics)*> MemoQuery<Value<T>> for $query {
            type Handles = ();

            #[inline]
            fn handles(&self) {}

            #[inline]
            fn hash<H: Hasher>(&self, state: &mut H) {
                let $this = self;
                $value.hash(state);
            }

            #[inline]
            fn is(&self, there: &Arc<T>) -> bool {
                let $this = self;
                $value.equivalent(&**there)
            }

            fn into_stored(self) -> Arc<T> {
                let $this = self;
                Arc::new($owned)
            }

            fn watch((): (), _: HashValue, _: CoreRef) {}
        }
    )*};
}

plain! {
    [T: Eq + Hash, Q: ?Sized + ToValue<T>] &Q, |query| (**query), Q::to_value(query);
    [T: Eq + Hash] Value<T>, |query| query.0, query.0;
}

macro_rules! tuples {
    ($($([$Part:ident: $Kind:ident, $Query:ident $at:tt])+;)*) => {$(
        impl<$($Part: $Kind),+> Sealed for ($($Part,)+) {}

        impl<$($Part: $Kind),+> Part for ($($Part,)+) {
            type Weak = ($($Part::Weak,)+);
            const PLAIN: bool = $($Part::PLAIN)||+;
            type Stored = ($($Part::Stored,)+);
            type Watches = ($($Part::Watches,)+);

            fn weak(stored: &Self::Stored, watches: &Self::Watches) -> Option<Self::Weak> {
                Some(($($Part::weak(&stored.$at, &watches.$at)?,)+))
            }

            fn polled(watches: &Self::Watches, list: &mut Vec<AnyWatch>) {
                $($Part::polled(&watches.$at, list);)+
            }

            fn into_weak(stored: &Self::Stored, watches: Self::Watches) -> Option<Self::Weak> {
                Some(($($Part::into_weak(&stored.$at, watches.$at)?,)+))
            }
        }

        impl<$($Part: $Kind),+> MemoKey for ($($Part,)+) {}

        impl<$($Part: $Kind,)+ $($Query: MemoQuery<$Part>),+> Asks<($($Part,)+)> for ($($Query,)+) {}

        impl<$($Part: $Kind,)+ $($Query: MemoQuery<$Part>),+> MemoQuery<($($Part,)+)> for ($($Query,)+) {
            type Handles = ($($Query::Handles,)+);

            #[inline]
            fn handles(&self) -> Self::Handles {
                ($(self.$at.handles(),)+)
            }

            #[inline]
            #[track_caller]
            fn hash<H: Hasher>(&self, state: &mut H) {
                $(MemoQuery::hash(&self.$at, state);)+
            }

            #[inline]
            fn is(&self, there: &($($Part::Stored,)+)) -> bool {
                $(self.$at.is(&there.$at))&&+
            }

            #[inline]
            fn into_stored(self) -> ($($Part::Stored,)+) {
                ($(self.$at.into_stored(),)+)
            }

            fn watch(handles: Self::Handles, hash: HashValue, core: CoreRef) -> ($($Part::Watches,)+) {
                ($($Query::watch(handles.$at, hash, core),)+)
            }
        }

        impl<$($Part: $Kind + TraceKey),+> TraceKey for ($($Part,)+) {
            fn trace(stored: &Self::Stored, tracer: &mut Tracer<'_>) {
                $($Part::trace(&stored.$at, tracer);)+
            }
        }
    )*};
}

tuples! {
    [A: MemoKey, P 0];
    [A: MemoKey, P 0] [B: Part, Q 1];
    [A: MemoKey, P 0] [B: Part, Q 1] [C: Part, R 2];
    [A: MemoKey, P 0] [B: Part, Q 1] [C: Part, R 2] [D: Part, S 3];
}

#[cfg(all(test, not(weakly_loom)))]
mod tests {
    use super::*;
    use crate::Strong;

    /// 200: the case in which the hashes of two lists are equal, which does not happen by accident.
    #[test]
    fn lists_are_compared_to_their_end() {
        type List = Many<Strong<i32>>;
        fn stored(list: &[Strong<i32>]) -> Arc<[Address]> {
            MemoQuery::<List>::into_stored(list)
        }
        fn is(list: &[Strong<i32>], there: &Arc<[Address]>) -> bool {
            MemoQuery::<List>::is(&list, there)
        }
        let all = [1, 2].map(Strong::new);
        assert!(is(&all, &stored(&all)));
        assert!(!is(&all, &stored(&all[..1])));
        assert!(!is(&all[..1], &stored(&all)));
        assert!(!is(&all[..1], &stored(&all[1..])));
    }
}
