//! The memo of most tests: its computations all have one type, for which the library is compiled once.

use std::ops::Deref;
use std::pin::Pin;

use weakly::concurrent::Flight;
use weakly::memo::{Computation, Dependencies};
use weakly::{Memo, Strong, Weak};

pub(crate) type Answer = Pin<Box<dyn Future<Output = usize> + Send>>;
type Begins = Box<dyn FnOnce(Weak<usize>, Dependencies) -> Answer + Send>;

#[derive(Default)]
pub(crate) struct Numbers(Memo<Strong<usize>, usize>);

impl Numbers {
    pub(crate) const fn new() -> Self {
        Numbers(Memo::new())
    }

    pub(crate) fn get_or_compute_async<F, Fut>(
        &self,
        key: &Strong<usize>,
        compute: F,
    ) -> Flight<'_, usize>
    where
        F: FnOnce(Weak<usize>, Dependencies) -> Fut + Send + 'static,
        Fut: Future<Output = usize> + Send + 'static,
    {
        let begins: Begins = Box::new(move |key, on| Box::pin(compute(key, on)));
        self.0.get_or_compute_async(key, begins)
    }

    pub(crate) fn get_or_compute(
        &self,
        key: &Strong<usize>,
        compute: impl FnOnce(&Computation<'_>) -> usize,
    ) -> usize {
        let mut compute = Some(compute);
        let compute: &mut dyn FnMut(&Computation<'_>) -> usize =
            &mut |cx| compute.take().expect("the memo calls it once")(cx);
        self.0.get_or_compute(key, compute)
    }
}

impl Deref for Numbers {
    type Target = Memo<Strong<usize>, usize>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
