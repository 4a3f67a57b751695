//! What all collections have in common, for each of them.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use weakly::Reclaim;

use crate::common::scaled;
use crate::turns::{Entry, Script, World, each_fails_once};

/// How many entries there are: so many that a table grows.
const MANY: usize = scaled(20, 8);

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

/// The script of a family: entries come, and are replaced; objects die, which allocates nothing; what is left of them goes.
macro_rules! family {
    ($of:ident, |$script:ident| $more:expr) => {
        mod $of {
            use super::*;
            use crate::common::subject::$of::{
                Collection, Ends, Handle, Kit, WeakHandle, numbers, quietly,
            };

            /// A collection, and what its entries live as long as.
            struct Of {
                all: Box<dyn Collection>,
                /// None are those that are over.
                lives: Vec<Option<Handle>>,
                /// What is left of every other one. They have records for that.
                weak: Vec<(usize, WeakHandle)>,
                /// What every third is in besides.
                _others: Box<dyn Collection>,
                ends: Ends,
                waker: Waker,
            }

            impl Of {
                fn new(kit: Kit) -> Self {
                    let (lives, all) = (kit.lives(MANY), kit.empty());
                    let weak = lives.iter().step_by(2);
                    // (So that it has the other sides of pairs.)
                    lives.iter().for_each(|life| _ = all.contains(life));
                    Of {
                        weak: weak.map(|life| (**life, life.downgrade())).collect(),
                        _others: kit.of(lives.iter().step_by(3), &quietly()),
                        lives: lives.into_iter().map(Some).collect(),
                        all,
                        ends: quietly(),
                        waker: Waker::from(Arc::new(Nobody)),
                    }
                }

                fn enter(&mut self, number: usize) {
                    let life = self.lives[number].as_ref().unwrap();
                    self.all.enter(life, &self.ends);
                }
            }

            impl World for Of {
                fn shows(&self) -> Vec<Entry> {
                    let there = numbers(self.all.iter());
                    for life in self.lives.iter().flatten() {
                        assert_eq!(self.all.has(life), there.contains(&**life));
                    }
                    for (number, weak) in &self.weak {
                        let is_there = there.contains(number);
                        assert_eq!(self.all.finds(*number, weak), is_there);
                    }
                    let lens = (self.all.len(), self.all.len_live());
                    assert_eq!(lens, (there.len(), there.len()));
                    there.into_iter().map(|number| (0, number, 0)).collect()
                }
            }

            pub(super) fn script(kit: Kit) {
                let mut $script = Script::of(move || Of::new(kit));
                $script.runs(move |_| drop(kit.with_capacity(1)));
                for number in (0..MANY).chain([0, 1]) {
                    $script.runs(move |it| it.enter(number));
                }
                _ = $more;
                $script.runs(|it| it.all.set_waker(Some(it.waker.clone())));
                $script.runs(|it| assert_eq!(it.all.iter().count(), MANY));
                $script.never(|it| drop((it.lives[3].take(), it.lives[4].take())));
                $script.runs(|it| it.enter(0));
                $script.runs(|it| _ = it.all.poll_pending(&mut Context::from_waker(Waker::noop())));
                $script.never(|it| it.lives[5] = None);
                $script.runs(|it| _ = it.all.purge_some(1));
                $script.runs(|it| it.all.set_reclaim(Reclaim::OnRequest));
                $script.never(|it| it.lives[6] = None);
                $script.runs(|it| it.enter(0));
                $script.runs(|it| _ = it.all.purge());
                $script.runs(|it| _ = it.all.leave(it.lives[7].as_ref().unwrap()));
                for number in [7, 0, 1, 2] {
                    $script.runs(move |it| it.enter(number));
                }
                $script.runs(|it| it.all.shrink_to_fit());
                $script.runs(|it| it.all.clear());
                for number in [0, 1, 2] {
                    $script.runs(move |it| it.enter(number));
                }
                $script.never(|it| it.lives.clear());
                each_fails_once(&$script);
            }
        }
    };
}

family!(single, |script| {
    script
        .tries(|it| it.all.try_reserve(10 * MANY).is_ok())
        .runs(|it| it.all.reserve(30 * MANY))
        .runs(|it| it.all.shrink_to(2 * MANY))
});
family!(shared, |script| &script);

/// 593: In collections of one owner.
fn of_one_owner(kit: crate::common::subject::single::Kit) {
    single::script(kit);
}

/// 593: In those that threads share.
fn of_threads(kit: crate::common::subject::shared::Kit) {
    shared::script(kit);
}

// Miri has no time for all of them.
#[cfg(not(miri))]
crate::for_each_in! {
    kit [of_one_owner] [usize]
    [weak_map: Maps, weak_value_map: ValueMaps, weak_pair_map_by_key: PairsByKey, weak_pair_map_twice: PairsTwice,
     weak_hash_map: HashMaps, interner: Interners]
    in [crate::common::subject::single] with [atomic: Atomic]
}

#[cfg(not(miri))]
crate::for_each_in! {
    kit [of_threads] [usize]
    [weak_map: Maps, weak_value_map: ValueMaps, weak_pair_map_by_value: PairsByValue, weak_pair_map_twice: PairsTwice,
     weak_hash_map: HashMaps, interner: Interners]
    in [crate::common::subject::shared] with [atomic: Atomic]
}

#[cfg(miri)]
crate::for_each_in! {
    kit [of_one_owner] [usize] [weak_pair_map_twice: PairsTwice]
    in [crate::common::subject::single] with [atomic: Atomic]
}

#[cfg(miri)]
crate::for_each_in! {
    kit [of_threads] [usize] [weak_map: Maps]
    in [crate::common::subject::shared] with [atomic: Atomic]
}
