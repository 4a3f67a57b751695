//! The memo of most tests: its computations all have one type, for which the library is compiled once.

use std::ops::Deref;
use std::pin::Pin;

use weakly::memo::{Computation, Dependencies};
use weakly::{Memo, Strong, Weak};

pub(crate) type Answer<'a> = Pin<Box<dyn Future<Output = usize> + Send + 'a>>;

#[derive(Default)]
pub(crate) struct Numbers(Memo<Strong<usize>, usize>);

impl Numbers {
    pub(crate) const fn new() -> Self {
        Numbers(Memo::new())
    }

    pub(crate) fn get_or_compute_async<'a, F, Fut>(
        &'a self,
        key: &'a Strong<usize>,
        compute: F,
    ) -> Answer<'a>
    where
        F: FnOnce(Weak<usize>, Dependencies<'a>) -> Fut + Send + 'a,
        Fut: Future<Output = usize> + Send + 'a,
    {
        type Begins<'a> = Box<dyn FnOnce(Weak<usize>, Dependencies<'a>) -> Answer<'a> + Send + 'a>;
        let begins: Begins<'a> = Box::new(move |key, on| Box::pin(compute(key, on)));
        Box::pin(self.0.get_or_compute_async(key, begins))
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
