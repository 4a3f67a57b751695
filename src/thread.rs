//! The numbers of threads: small, given out again as soon as they are free, and there to the very end of
//! a thread.

use core::marker::PhantomData;

/// The number of this thread, for as long as this is there. No other thread has it meanwhile.
pub(crate) struct ThreadNumber {
    number: usize,
    /// Whether it is given back with this, and not with the thread.
    borrowed: bool,
    /// Of this thread, and no other.
    here: PhantomData<*mut ()>,
}

impl ThreadNumber {
    #[inline]
    pub(crate) fn get(&self) -> usize {
        self.number
    }
}

#[cfg(not(weakly_loom))]
mod imp {
    use core::cell::Cell;
    use core::cmp::Reverse;
    use core::marker::PhantomData;
    use std::collections::BinaryHeap;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::ThreadNumber;

    /// This thread has no number yet.
    const NONE: usize = usize::MAX;
    /// This thread is ending, and has given its number back.
    const LATE: usize = usize::MAX - 1;

    struct Numbers {
        next: usize,
        /// The smallest first: what is kept for each number stays short.
        free: BinaryHeap<Reverse<usize>>,
    }

    /// What the last owner of a number did with it happens before the next owner has it, by this lock.
    static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers {
        next: 0,
        free: BinaryHeap::new(),
    });

    fn numbers() -> MutexGuard<'static, Numbers> {
        NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take() -> usize {
        let mut numbers = numbers();
        if let Some(Reverse(free)) = numbers.free.pop() {
            return free;
        }
        numbers.next += 1;
        numbers.next - 1
    }

    fn give_back(number: usize) {
        numbers().free.push(Reverse(number));
    }

    /// Gives the number of a thread back at its end.
    struct Keeper(Cell<usize>);

    impl Drop for Keeper {
        fn drop(&mut self) {
            NUMBER.set(LATE);
            give_back(self.0.get());
        }
    }

    std::thread_local! {
        // Without a destructor, so it can be read in the destructors of all others.
        static NUMBER: Cell<usize> = const { Cell::new(NONE) };
        static KEEPER: Keeper = const { Keeper(Cell::new(NONE)) };
    }

    impl ThreadNumber {
        #[inline]
        pub(crate) fn current() -> Self {
            let number = NUMBER.get();
            if number < LATE {
                return Self::new(number, false);
            }
            Self::first_or_late()
        }

        fn new(number: usize, borrowed: bool) -> Self {
            ThreadNumber {
                number,
                borrowed,
                here: PhantomData,
            }
        }

        /// A thread that has no number gets one. One whose [`KEEPER`] has gone borrows one.
        #[cold]
        #[inline(never)]
        fn first_or_late() -> Self {
            let number = take();
            let kept =
                NUMBER.get() == NONE && KEEPER.try_with(|keeper| keeper.0.set(number)).is_ok();
            NUMBER.set(if kept { number } else { LATE });
            Self::new(number, !kept)
        }
    }

    impl Drop for ThreadNumber {
        #[inline]
        fn drop(&mut self) {
            if self.borrowed {
                give_back(self.number);
            }
        }
    }
}

#[cfg(weakly_loom)]
mod imp {
    use core::cell::Cell;
    use core::marker::PhantomData;

    use super::ThreadNumber;

    loom::thread_local! {
        static NUMBER: Cell<usize> = Cell::new(0);
    }

    impl ThreadNumber {
        /// The threads of a model say which they are.
        pub(crate) fn set(number: usize) {
            NUMBER.with(|own| own.set(number));
        }

        pub(crate) fn current() -> Self {
            ThreadNumber {
                number: NUMBER.with(Cell::get),
                borrowed: false,
                here: PhantomData,
            }
        }
    }
}
