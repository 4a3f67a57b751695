//! Invariant types: a type must not become a type with a shorter lifetime if values can be written
//! through a shared reference, or if the type is remembered. A value with a shorter lifetime, put
//! in through the shorter type, would come out through the longer type. Intended covariance is
//! tested in `tests/auto_traits/variance.rs`; `tests/house.rs` checks that each public type with
//! parameters is in one of the two files.
//!
//! Each type is a `Type<'m, 'x>`: `'m` is the lifetime of a borrowed collection, and `'x` is inside
//! one parameter.

macro_rules! invariant {
    ($($name:ident: $types:tt)*) => {$(
        invariant!(@doc $name $types);
    )*};
    (@doc $name:ident [$($type:literal),* $(,)?]) => {
        $(
            #[doc = concat!("```\n", invariant!(@prelude), "type Type<'m, 'x> = ", $type, ";
fn same<'m, 'x: 'm>(it: Type<'m, 'x>) -> Type<'m, 'x> { it }\n```")]
            #[doc = concat!("```compile_fail\n", invariant!(@prelude), "type Type<'m, 'x> = ", $type, ";
fn shorter<'m, 'long: 'short, 'short: 'm>(it: Type<'m, 'long>) -> Type<'m, 'short> { it }\n```")]
        )*
        struct $name;
    };
    (@prelude) => {
        "# use std::sync::Arc;\n# use weakly::{*, collections::{entry::*, iter::*}, reference::*};\n"
    };
}

invariant! {
    Queues: [
        "reference_queue::ReferenceQueue<&'x str>",
        "reference_queue::Ticket<&'x str>",
        "reference_queue::Drain<'m, &'x str>",
        "reference_queue::Next<'m, &'x str>",
    ]
    Watches: [
        "reference::Notified<Strong<&'x str>>",
        "reference::Swept<Arc<&'x str>>",
        "reference::Permit<Strong<&'x str>>",
        "reference::ByContent<Strong<&'x str>>",
        "collections::iter::ByContent<Strong<&'x str>>",
    ]
    Leaks: [
        "leaks::Watch<dyn leaks::Watched + 'x>",
    ]
    Maps: [
        "collections::WeakMap<Strong<&'x str>, i32>",
        "collections::WeakMap<Strong<i32>, &'x str>",
        "collections::WeakSet<Strong<&'x str>>",
        "collections::WeakHashMap<Strong<&'x str>, i32>",
        "collections::WeakHashMap<Strong<i32>, &'x str>",
        "collections::WeakHashSet<Strong<&'x str>>",
        "collections::WeakHashPairMap<Strong<&'x str>, Strong<i32>>",
        "collections::WeakHashPairMap<Strong<i32>, Strong<&'x str>>",
        "collections::WeakPairMap<Strong<&'x str>, Strong<i32>>",
        "collections::WeakPairMap<Strong<i32>, Strong<&'x str>>",
        "collections::WeakValueMap<&'x str, Strong<i32>>",
        "collections::WeakValueMap<i32, Strong<&'x str>>",
        "collections::Interner<Strong<&'x str>>",
        "local::Attributes<Strong<&'x str>>",
    ]
    Iterators: [
        "collections::iter::Iter<'m, Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::IterMut<'m, Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::IterMut<'m, Notified<Strong<i32>>, Owned<&'x str>>",
        "collections::iter::IterWeak<'m, Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::Keys<'m, Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::KeysOf<'m, Notified<Strong<&'x str>>, Notified<Strong<i32>>>",
        "collections::iter::KeysOf<'m, Notified<Strong<i32>>, Notified<Strong<&'x str>>>",
        "collections::iter::KeysWeak<'m, Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::Values<'m, Owned<i32>, Notified<Strong<&'x str>>>",
        "collections::iter::ValuesMut<'m, Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::ValuesMut<'m, Notified<Strong<i32>>, Owned<&'x str>>",
        "collections::iter::Drain<'m, Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::Drain<'m, Notified<Strong<i32>>, Owned<&'x str>>",
        "collections::iter::DrainKeys<'m, Notified<Strong<&'x str>>, Owned<()>>",
        "collections::iter::DrainDead<'m, Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::DrainDead<'m, Notified<Strong<i32>>, Owned<&'x str>>",
        "collections::iter::ExtractIf<'m, Notified<Strong<&'x str>>, Owned<i32>, fn()>",
        "collections::iter::ExtractIf<'m, Notified<Strong<i32>>, Owned<&'x str>, fn()>",
        "collections::iter::IntoIter<Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::IntoIter<Notified<Strong<i32>>, Owned<&'x str>>",
        "collections::iter::IntoKeys<Notified<Strong<&'x str>>, Owned<i32>>",
        "collections::iter::IntoValues<Notified<Strong<i32>>, Owned<&'x str>>",
    ]
    Entries: [
        "collections::entry::Entry<'m, &'m Strong<&'x str>, Notified<Strong<&'x str>>, i32>",
        "collections::entry::Entry<'m, &'m Strong<i32>, Notified<Strong<i32>>, &'x str>",
        "collections::entry::OccupiedEntry<'m, &'m Strong<&'x str>, Notified<Strong<&'x str>>, i32>",
        "collections::entry::OccupiedEntry<'m, &'m Strong<i32>, Notified<Strong<i32>>, &'x str>",
        "collections::entry::OccupiedError<'m, &'m Strong<&'x str>, Notified<Strong<&'x str>>, i32>",
        "collections::entry::OccupiedError<'m, &'m Strong<i32>, Notified<Strong<i32>>, &'x str>",
        "collections::entry::VacantEntry<'m, &'m Strong<&'x str>, Notified<Strong<&'x str>>, i32>",
        "collections::entry::VacantEntry<'m, &'m Strong<i32>, Notified<Strong<i32>>, &'x str>",
        "collections::entry::WeakEntry<'m, &'x str, Owned<&'x str>, Strong<i32>>",
        "collections::entry::WeakEntry<'m, i32, Owned<i32>, Strong<&'x str>>",
        "collections::entry::WeakOccupiedEntry<'m, &'x str, Owned<&'x str>, Strong<i32>>",
        "collections::entry::WeakOccupiedEntry<'m, i32, Owned<i32>, Strong<&'x str>>",
        "collections::entry::WeakOccupiedError<'m, &'x str, Owned<&'x str>, Strong<i32>>",
        "collections::entry::WeakOccupiedError<'m, i32, Owned<i32>, Strong<&'x str>>",
        "collections::entry::WeakVacantEntry<'m, &'x str, Owned<&'x str>, Strong<i32>>",
        "collections::entry::WeakVacantEntry<'m, i32, Owned<i32>, Strong<&'x str>>",
    ]
}

#[cfg(feature = "std")]
invariant! {
    SharedMaps: [
        "concurrent::WeakMap<Strong<&'x str>, i32>",
        "concurrent::WeakMap<Strong<i32>, &'x str>",
        "concurrent::WeakSet<Strong<&'x str>>",
        "concurrent::WeakHashMap<Strong<&'x str>, i32>",
        "concurrent::WeakHashMap<Strong<i32>, &'x str>",
        "concurrent::WeakHashSet<Strong<&'x str>>",
        "concurrent::WeakPairMap<Strong<&'x str>, Strong<i32>>",
        "concurrent::WeakPairMap<Strong<i32>, Strong<&'x str>>",
        "concurrent::WeakValueMap<&'x str, Strong<i32>>",
        "concurrent::WeakValueMap<i32, Strong<&'x str>>",
        "concurrent::Interner<Strong<&'x str>>",
        "concurrent::KeepAlive<Strong<&'x str>>",
        "Attributes<Strong<&'x str>>",
        "memo::Memo<Strong<i32>, &'x str>",
    ]
    SharedIterators: [
        "concurrent::Iter<'m, Strong<&'x str>, i32>",
        "concurrent::Iter<'m, Strong<i32>, &'x str>",
        "concurrent::Keys<'m, Strong<&'x str>, i32>",
        "concurrent::Keys<'m, Strong<i32>, &'x str>",
        "concurrent::ValueIter<'m, &'x str, Strong<i32>>",
        "concurrent::ValueIter<'m, i32, Strong<&'x str>>",
        "concurrent::PairIter<'m, Strong<&'x str>, Strong<i32>>",
        "concurrent::PairIter<'m, Strong<i32>, Strong<&'x str>>",
    ]
}

/// The keys of a memo are `'static`: a function of any text is also a function of a static text.
///
/// ```
/// # use weakly::{Memo, Strong};
/// type OfAny = for<'a> fn(&'a str);
/// fn same(it: Memo<Strong<OfAny>, i32>) -> Memo<Strong<OfAny>, i32> { it }
/// fn covariant(it: Strong<OfAny>) -> Strong<fn(&'static str)> { it }
/// ```
/// ```compile_fail,E0308
/// # use weakly::{Memo, Strong};
/// type OfAny = for<'a> fn(&'a str);
/// fn other(it: Memo<Strong<OfAny>, i32>) -> Memo<Strong<fn(&'static str)>, i32> { it }
/// ```
#[cfg(feature = "std")]
struct Memos;

/// A queue gives access to an object of exactly its type: a handle that has lost this type cannot
/// be used to write a shorter lifetime.
///
/// ```
/// # use weakly::{ReferenceQueue, Strong};
/// fn write(queue: &ReferenceQueue<&'static str>, object: &mut Strong<&'static str>) {
///     queue.get_mut(object).map(|it| *it = "static");
/// }
/// ```
/// ```compile_fail
/// # use weakly::{ReferenceQueue, Strong};
/// fn write<'a>(queue: &ReferenceQueue<&'static str>, object: &mut Strong<&'a str>) {
///     queue.get_mut(object).map(|it| *it = "static");
/// }
/// ```
/// ```compile_fail
/// # use weakly::{ReferenceQueue, Strong};
/// fn write<'a>(queue: &ReferenceQueue<&'static str>, object: Strong<&'static str>, to: &'a str) {
///     let mut object: Strong<&'a str> = object;
///     queue.get_mut(&mut object).map(|it| *it = to);
/// }
/// ```
///
/// The access borrows the object, which cannot die meanwhile. It does not borrow the queue, which
/// may be dropped.
///
/// ```
/// # use weakly::{ReferenceQueue, Strong};
/// fn write(queue: ReferenceQueue<String>, object: &mut Strong<String>) {
///     let text = queue.get_mut(object).unwrap();
///     drop(queue);
///     text.push('a');
/// }
/// ```
/// ```compile_fail,E0505
/// # use weakly::{ReferenceQueue, Strong};
/// fn write(queue: &ReferenceQueue<String>, mut object: Strong<String>) {
///     let text = queue.get_mut(&mut object).unwrap();
///     drop(object);
///     text.push('a');
/// }
/// ```
struct Returning;
