//! A memo, and parameters of its keys, which most tests share: so the library is compiled once for each memo, and not for
//! each closure and parameter.

#![allow(dead_code)] // the fuzzer uses a part of it

use std::hash::{Hash, Hasher};
use std::ops::Deref;

use weakly::memo::{Computation, Many, MemoKey, MemoQuery, Value};

use crate::tools::Doomed;

/// A key with all kinds of parts.
pub(crate) type Parts<P> = (Many<P>, Value<String>, P, Value<usize>);

/// A memo whose computations all have one type.
pub(crate) struct Memo<K: MemoKey, V>(weakly::Memo<K, V>);

impl<K: MemoKey, V> Memo<K, V> {
    pub(crate) const fn new() -> Self {
        Memo(weakly::Memo::new())
    }

    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Memo(weakly::Memo::with_capacity(capacity))
    }
}

impl<K: MemoKey, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: MemoKey, V> Deref for Memo<K, V> {
    type Target = weakly::Memo<K, V>;

    fn deref(&self) -> &weakly::Memo<K, V> {
        &self.0
    }
}

/// Methods that pass their closure, which is called once, as one of a type that all closures have.
macro_rules! by_one_type {
    ($($name:ident $(<$Error:ident>)?: $made:ty;)*) => {$(
        #[track_caller]
        pub(crate) fn $name $(<$Error>)? (
            &self,
            key: impl MemoQuery<K>,
            make: impl FnOnce(&Computation<'_>) -> $made,
        ) -> $made {
            let mut make = Some(make);
            let make: &mut dyn FnMut(&Computation<'_>) -> $made =
                &mut |cx| make.take().expect("the memo calls it once")(cx);
            self.0.$name(key, make)
        }
    )*};
}

impl<K: MemoKey, V: Clone> Memo<K, V> {
    by_one_type! {
        get_or_compute: V;
        get_or_compute_racing: V;
        try_get_or_compute<E>: Result<V, E>;
        try_get_or_compute_racing<E>: Result<V, E>;
    }
}

/// What happens to a parameter. The numbers are its own and the other's, and what the hasher says.
pub(crate) enum Call {
    Eq(usize, usize),
    Hash(u64),
    Clone,
}

/// Runs at each call, and may say whether the two are equal.
pub(crate) type Run<'a> = dyn Fn(Call) -> Option<bool> + Sync + 'a;

/// A parameter with a number, whose drop may be seen, and which may run other code. The hash of all that run code is the
/// same.
pub(crate) struct Parameter<'a> {
    pub(crate) number: usize,
    pub(crate) doomed: Doomed,
    pub(crate) run: Option<&'a Run<'a>>,
}

impl From<usize> for Parameter<'_> {
    fn from(number: usize) -> Self {
        Parameter {
            number,
            doomed: Doomed::default(),
            run: None,
        }
    }
}

impl<'a> Parameter<'a> {
    pub(crate) fn running(number: usize, run: &'a Run<'a>) -> Self {
        let run = Some(run);
        Parameter {
            run,
            ..number.into()
        }
    }

    fn called(&self, call: Call) -> Option<bool> {
        self.run.and_then(|run| run(call))
    }
}

impl PartialEq for Parameter<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.called(Call::Eq(self.number, other.number))
            .unwrap_or(self.number == other.number)
    }
}

impl Eq for Parameter<'_> {}

impl Hash for Parameter<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let number = if self.run.is_some() { 1 } else { self.number };
        number.hash(state);
        self.called(Call::Hash(state.finish()));
    }
}

impl Clone for Parameter<'_> {
    fn clone(&self) -> Self {
        self.called(Call::Clone);
        let doomed = self.doomed.clone();
        Parameter { doomed, ..*self }
    }
}

weakly::impl_trace!(['a] Parameter<'a>: doomed);
