//! Collections in lock-step with naive models, through scripts in which owners come and go at any
//! point. The model knows what is alive because it counts the owners; everything else is a list.

mod common;
#[cfg(feature = "std")]
#[path = "model/leaks.rs"]
mod leaks;
#[path = "model/mod.rs"]
mod model;
#[cfg(feature = "std")]
#[path = "pointers/mod.rs"]
mod pointers;
#[path = "model/scripts.rs"]
mod scripts;

use std::collections::VecDeque;
use std::rc::Rc;

use common::heap::{Counting, Heap};
use common::{Kind, new, scaled, sized};
use model::all::{Job, Pointers, Which};
use model::hasher::{Few, with_hashes};
use model::op::Op;
use model::routes::{Insert, Keep, Remove};
use model::script;
use model::subject::{Face, New, Subject};
use model::world::{Content, Item, Key, Value};
use weakly::{Reclaim, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap, local};

/// For the test of `leaks`.
#[global_allocator]
static HEAP: Heap<Counting> = Heap(Counting);

fn check<P: Kind, V: Kind, S: Subject<P, V>>(cases: usize) {
    Scripts(cases).run::<P, V>(Box::new(S::default()));
}

/// A number of random scripts.
struct Scripts(usize);

impl Job for Scripts {
    fn run<P: Kind, V: Kind>(self, subject: Box<dyn Face<P, V>>) {
        scripts::check(self.0, Op::decode, &|ops| {
            script::run_on(subject.fresh(), &mut ops.into_iter());
        });
    }
}

/// After each operation of a script the collection is as its model, by every route.
///
/// A1, A2, A3, A4, A5, A6, A7, A8, A10: of an entry, by each method that finds, inserts or removes
/// A14, A15, A16, A18, A19, A20, A23: of all entries, and of copies
/// B26, B29, B30, B31: of objects of equal content, before and after their deaths
/// C35, C36, C37, C38, C40, C41, C43, C44, C45, C46, C52: of a death, and of what its entries own
/// D58, D59, D62, D67, D68, D75: of notices
/// E76, E77, E78, E79, E81, E82: of the counts
/// F84, F85, F88, F90, F98: of each iterator
/// G100, G101, G102, G107, G108: of sets
/// H110, H111, H112, H114, H115, H116, H117, H118, 195: of weak values, pairs and contents
/// 185: of what is kept on request
macro_rules! scripts {
    ($($name:ident: $which:ident, $cases:literal;)*) => {
        $(fn $name<P: Pointers>() {
            P::on(Which::$which, Scripts($cases));
        })*
        for_each_kind!($($name),*);
    };
}

scripts! {
    map: Map, 128;
    set: Set, 32;
    hash_map: HashMap, 48;
    hash_set: HashSet, 48;
    interner: Interner, 48;
    value_map: ValueMap, 48;
    pair_map: PairMap, 48;
    hash_pair_map: HashPairMap, 48;
}

/// At any time, unlike the other collections of `Rc`: see [`for_each_kind!`].
#[test]
fn map_of_rc() {
    use crate::common::StdRc;
    check::<StdRc, StdRc, WeakMap<Key<StdRc>, Value>>(128);
}

/// Keys and values of different kinds.
mod mixed_pairs {
    use super::*;
    use crate::common::{Atomic, Local, StdArc, StdRc};

    type PairMap<P, V> = WeakPairMap<Key<P>, Key<V>>;

    #[test]
    fn both_notify() {
        check::<Atomic, Local, PairMap<Atomic, Local>>(24);
        check::<Local, Atomic, PairMap<Local, Atomic>>(24);
    }

    #[test]
    fn one_notifies() {
        check::<Local, StdRc, PairMap<Local, StdRc>>(24);
        check::<StdArc, Atomic, PairMap<StdArc, Atomic>>(24);
    }

    /// A call of `pop` passes over dead pairs, whose keys' notices come late: `len` does not count these notices.
    #[test]
    fn late_notices_of_one_side() {
        let mut map = WeakPairMap::new();
        let all: Vec<_> = (0..40)
            .map(|n| (local::Strong::new(n), Rc::new(n)))
            .collect();
        for (key, value) in &all {
            map.insert(key, value);
        }
        let living: Vec<_> = all.into_iter().take(2).collect();
        assert!(map.pop().is_some());
        assert_eq!(map.len(), 1);
        drop(living);
    }

    type HashPairMap<P, V> = WeakHashPairMap<Key<P>, Key<V>, Few>;

    #[test]
    fn by_content() {
        check::<Atomic, Local, HashPairMap<Atomic, Local>>(24);
        check::<StdArc, Atomic, HashPairMap<StdArc, Atomic>>(24);
        check::<Local, StdRc, HashPairMap<Local, StdRc>>(24);
    }
}

/// Contents whose hashes are equal, up to the last bit.
mod few_hashes {
    use super::*;
    use crate::common::{Atomic, Local, StdArc};

    /// The library has one source for both: see [`for_each_kind!`].
    #[cfg(not(weakly_other_handles))]
    type Std = crate::common::StdArc;
    #[cfg(weakly_other_handles)]
    type Std = crate::common::StdRc;

    fn check_few<P: Pointers>(hashes: u64, which: Which) {
        with_hashes(hashes, || P::on(which, Scripts(24)));
    }

    /// An entry in the place of another's content is not replaced by one with the same hash and another content.
    #[test]
    fn nothing_is_replaced() {
        let [one, other] =
            [1, 2].map(|content| new::<Local, _>(Item::new(Content::unlogged(content), None)));
        let mut set: WeakHashSet<Key<Local>, Few> = with_hashes(1, WeakHashSet::default);
        assert!(set.replace(&one).is_none());
        assert!(set.replace(&other).is_none());
        assert!(
            set.replace(&other)
                .is_some_and(|old| old.content == other.content)
        );
        assert_eq!(set.len(), 2);
    }

    #[test]
    fn of_weak_keys() {
        check_few::<Local>(1, Which::HashMap);
        check_few::<Local>(4, Which::HashSet);
        check_few::<Local>(4, Which::Interner);
    }

    #[test]
    fn of_weak_keys_and_values() {
        type Pairs = WeakHashPairMap<Key<StdArc>, Key<Atomic>, Few>;
        check_few::<Local>(1, Which::HashPairMap);
        with_hashes(4, || check::<StdArc, Atomic, Pairs>(24));
    }

    #[test]
    fn of_owned_keys() {
        check_few::<Local>(1, Which::ValueMap);
    }

    #[test]
    fn of_swept_keys() {
        check_few::<Std>(4, Which::HashMap);
    }
}

/// B28, C46: New objects at the addresses of dead ones, or with their contents, while the entries of the dead are still
/// there: whatever the first operation on one of them is, it must not take the dead one's entry for its own.
fn recycle(slots: &[u8], run: impl Fn([Op; 6])) {
    let mut firsts = Vec::new();
    let slots = &slots[..sized(slots.len(), 1, 1)];
    let step = scaled(1, 6);
    for &slot in slots {
        firsts.extend(
            Remove::ALL
                .map(|how| Op::Remove(slot, how))
                .iter()
                .step_by(step),
        );
        firsts.extend(Insert::ALL.iter().step_by(step).map(|&how| Op::Insert {
            key: slot,
            how,
            value: slot,
            heir: None,
        }));
    }
    firsts.extend(Keep::ALL.map(|how| Op::Keep(how, 0)).iter().step_by(step));
    for first in firsts {
        let ops = |reclaim| {
            [
                Op::SetReclaim(reclaim),
                Op::Refill,
                Op::InsertAll {
                    how: Insert::Insert,
                    step: 0,
                    heirs: false,
                },
                Op::DropOwners {
                    slot: 0,
                    count: u8::MAX,
                    both: false,
                },
                Op::Refill,
                first,
            ]
        };
        run(ops(Reclaim::OnUse));
        run(ops(Reclaim::OnRequest));
    }
}

fn recycled<P: Pointers>() {
    recycle(&[3, 31, 59], |ops| {
        Which::ALL.into_iter().for_each(|which| P::on(which, ops))
    });
}

/// C57: Keys and values come and go, never more than a few at once, without any purge: memory stays bounded. It fails once some 350
/// dead entries stay.
struct Churn(usize);

impl Job for Churn {
    fn run<P: Kind, V: Kind>(self, mut subject: Box<dyn Face<P, V>>) {
        let mut live = VecDeque::new();
        for number in 0..sized(self.0, self.0 / 5, 200) {
            let key = new::<P, _>(Item::new(Content::unlogged(number), None));
            let value = new::<V, _>(Item::new(Content::unlogged(number), None));
            let new = New {
                owned: Some(Value::unlogged(number)),
                weak: Some(&value),
            };
            subject.insert(Insert::Insert, &key, new);
            live.push_back((key, value));
            if live.len() > 100 {
                live.pop_front();
            }
            let len = subject.len() + subject.pending_dead();
            let room = subject.memory().map_or(len, |memory| memory.capacity());
            assert!(room <= 448, "{len} of {room}");
        }
        assert_eq!(subject.len_live(), 100);
    }
}

fn churn<P: Pointers>() {
    let churn = |which| P::on(which, Churn(50_000));
    Which::ALL.into_iter().for_each(churn);
}

for_each_kind!(recycled, churn);

/// The same, of the collections that threads share, on one thread.
#[cfg(feature = "std")]
mod shared {
    use super::*;
    use crate::common::{Atomic, StdArc, UserOwn};
    use crate::model::all::{Shared, SharedPointers};
    use crate::model::bytes_shared::Own;
    use crate::model::world::SharedValue;
    use weakly::concurrent;

    macro_rules! scripts {
        ($($name:ident: $which:ident, $cases:literal;)*) => {
            $(fn $name<P: SharedPointers>() {
                P::on_shared(Shared::$which, Scripts($cases));
            })*
            for_each_shared_kind!($($name),*);
        };
    }

    scripts! {
        map: Map, 48;
        set: Set, 24;
        hash_map: HashMap, 32;
        hash_set: HashSet, 24;
        interner: Interner, 24;
        value_map: ValueMap, 32;
        pair_map: PairMap, 32;
        memo: Memo, 32;
    }

    /// At any time, likewise.
    #[test]
    fn map_of_a_users_own_handle() {
        check::<UserOwn, UserOwn, concurrent::WeakMap<Key<UserOwn>, SharedValue>>(48);
    }

    #[test]
    fn mixed_pairs() {
        type PairMap<P, V> = concurrent::WeakPairMap<Key<P>, Key<V>>;
        check::<Atomic, StdArc, PairMap<Atomic, StdArc>>(24);
        check::<StdArc, Own, PairMap<StdArc, Own>>(24);
    }

    fn check_few<P: SharedPointers>(hashes: u64, which: Shared) {
        with_hashes(hashes, || P::on_shared(which, Scripts(16)));
    }

    #[test]
    fn few_hashes() {
        check_few::<Atomic>(1, Shared::HashMap);
        check_few::<Atomic>(4, Shared::HashSet);
        check_few::<Atomic>(4, Shared::Interner);
        check_few::<Atomic>(1, Shared::ValueMap);
    }

    #[test]
    fn few_hashes_of_swept_keys() {
        check_few::<StdArc>(4, Shared::HashMap);
    }

    fn recycled<P: SharedPointers>() {
        let run = |ops| {
            Shared::ALL
                .into_iter()
                .for_each(|which| P::on_shared(which, ops))
        };
        recycle(&[3], run);
    }

    fn churn<P: SharedPointers>() {
        let churn = |which| P::on_shared(which, Churn(25_000));
        Shared::ALL.into_iter().for_each(churn);
    }

    for_each_shared_kind!(recycled, churn);
}

/// What the fuzzer has found to be worth keeping.
#[cfg(not(miri))] // which has no files
mod corpus {
    use crate::common::corpus::replay;
    use crate::model::bytes;

    #[test]
    fn map() {
        replay("fuzz/corpus/map", bytes::map);
    }

    #[cfg(feature = "std")]
    #[test]
    fn shared() {
        replay("fuzz/corpus/shared", crate::model::bytes_shared::shared);
    }
}
