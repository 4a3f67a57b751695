//! What all collections have in common, for each of them.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use weakly::reference::WeakKey;
use weakly::{Reclaim, WeakSet};

use crate::common::Count;
use crate::common::scaled;
use crate::common::subject::{Shared, Single, Subject, new_lives, shared, single};
use crate::turns::{Entry, Script, World, each_fails_once};

/// How many entries there are: so many that a table grows.
const MANY: usize = scaled(20, 8);

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

/// A collection, and what its entries live as long as.
struct Of<C: Subject, E> {
    all: C,
    /// None are those that are over.
    lives: Vec<Option<C::Life>>,
    /// What is left of every other one. They have records for that.
    weak: Vec<(usize, <C::Life as WeakKey>::Weak)>,
    /// What every third is in besides.
    _others: WeakSet<C::Life>,
    ends: E,
    waker: Waker,
}

impl<C: Subject, E> Of<C, E> {
    fn new(all: C, ends: fn(&Count) -> E) -> Self {
        let lives = new_lives::<C::Life>(MANY);
        let weak = lives.iter().step_by(2);
        let this = Of {
            weak: weak
                .map(|life| (**life, C::Life::downgrade(life)))
                .collect(),
            _others: lives.iter().step_by(3).collect(),
            ends: ends(&Count::default()),
            lives: lives.into_iter().map(Some).collect(),
            all,
            waker: Waker::from(Arc::new(Nobody)),
        };
        // (So that it has the other sides of pairs.)
        this.lives().for_each(|life| _ = this.all.contains(life));
        this
    }

    fn lives(&self) -> impl Iterator<Item = &C::Life> {
        self.lives.iter().flatten()
    }

    fn shows(&self, numbers: Vec<usize>) -> Vec<Entry> {
        for life in self.lives() {
            assert_eq!(self.all.has(life), numbers.contains(&**life));
        }
        for (number, weak) in &self.weak {
            let is_there = numbers.contains(number);
            assert_eq!(self.all.finds(number, weak), is_there);
        }
        assert_eq!(
            (self.all.len(), self.all.len_live()),
            (numbers.len(), numbers.len())
        );
        numbers.into_iter().map(|number| (0, number, 0)).collect()
    }
}

/// The script of a family.
macro_rules! script {
    ($name:ident: $family:ident, $of:ident, |$script:ident| $more:expr) => {
        impl<C: $family> World for Of<C, $of::Ends> {
            fn shows(&self) -> Vec<Entry> {
                self.shows(self.all.numbers())
            }
        }

        impl<C: $family> Default for Of<C, $of::Ends> {
            fn default() -> Self {
                Of::new(C::default(), $of::counting)
            }
        }

        /// Entries come, and are replaced; objects die, which allocates nothing; what is left of them goes.
        fn $name<C: $family>() {
            fn enter<C: $family>(it: &mut Of<C, $of::Ends>, number: usize) {
                it.all.enter(it.lives[number].as_ref().unwrap(), &it.ends);
            }
            let mut $script = Script::<Of<C, $of::Ends>>::new();
            $script.runs(|_| drop(C::with_capacity(1)));
            for number in (0..MANY).chain([0, 1]) {
                $script.runs(move |it| enter(it, number));
            }
            _ = $more;
            $script.runs(|it| it.all.set_waker(Some(it.waker.clone())));
            $script.runs(|it| assert_eq!(it.all.iter().count(), MANY));
            $script.never(|it| drop((it.lives[3].take(), it.lives[4].take())));
            $script.runs(|it| enter(it, 0));
            $script.runs(|it| _ = it.all.poll_pending(&mut Context::from_waker(Waker::noop())));
            $script.never(|it| it.lives[5] = None);
            $script.runs(|it| _ = it.all.purge_some(1));
            $script.runs(|it| it.all.set_reclaim(Reclaim::OnRequest));
            $script.never(|it| it.lives[6] = None);
            $script.runs(|it| enter(it, 0));
            $script.runs(|it| _ = it.all.purge());
            $script.runs(|it| _ = it.all.leave(it.lives[7].as_ref().unwrap()));
            for number in [7, 0, 1, 2] {
                $script.runs(move |it| enter(it, number));
            }
            $script.runs(|it| it.all.shrink_to_fit());
            $script.runs(|it| it.all.clear());
            for number in [0, 1, 2] {
                $script.runs(move |it| enter(it, number));
            }
            $script.never(|it| it.lives.clear());
            each_fails_once(&$script);
        }
    };
}

script!(of_one_owner: Single, single, |script| {
    script
        .tries(|it| it.all.try_reserve(10 * MANY).is_ok())
        .runs(|it| it.all.reserve(30 * MANY))
        .runs(|it| it.all.shrink_to(2 * MANY))
});
script!(of_threads: Shared, shared, |script| &script);

// Miri has no time for all of them.
#[cfg(not(miri))]
crate::for_each_in! {
    types [of_one_owner] [usize]
    [weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps, weak_pair_map_by_key: PairsByKey,
     weak_pair_map_by_value: PairsByValue, weak_pair_map_twice: PairsTwice,
     weak_hash_pair_map: HashPairsByKey, weak_hash_map: HashMaps, weak_hash_set: HashSets,
     interner: Interners]
    in [crate::common::subject::single] with [atomic: Atomic]
}

#[cfg(not(miri))]
crate::for_each_in! {
    types [of_threads] [usize]
    [weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps, weak_pair_map_by_key: PairsByKey,
     weak_pair_map_by_value: PairsByValue, weak_pair_map_twice: PairsTwice, weak_hash_map: HashMaps,
     weak_hash_set: HashSets, interner: Interners]
    in [crate::common::subject::shared] with [atomic: Atomic]
}

#[cfg(miri)]
crate::for_each_in! {
    types [of_one_owner] [usize] [weak_map: Maps, weak_pair_map_twice: PairsTwice]
    in [crate::common::subject::single] with [atomic: Atomic]
}

#[cfg(miri)]
crate::for_each_in! {
    types [of_threads] [usize] [weak_map: Maps, weak_pair_map_twice: PairsTwice]
    in [crate::common::subject::shared] with [atomic: Atomic]
}
