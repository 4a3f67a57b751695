//! What a floor of one owner keeps, for each kind of handle.

use weakly::WeakValueMap;
use weakly::keep::{KeepAlive, Limit};
use weakly::reference::{StrongRef, WeakKey};

use crate::common::{
    Counter, Key, Kind, OnDrop, downgrade, is_alive, keys, new, panics, quiet_panic,
};
use crate::for_each_kind;

for_each_kind!(
    no_more_objects_than_the_limit,
    no_objects_with_a_limit_of_none,
    no_more_weight_than_the_limit,
    what_weighs_nothing_fits,
    what_is_kept_again_has_another_weight,
    what_is_kept_again_is_not_what_goes_for_it,
    sums_are_exact_where_they_cannot_be_shown,
    the_largest_limit_is_a_limit,
    generations_end,
    who_is_used_is_of_this_generation,
    a_lower_limit_holds_at_once,
    a_higher_limit_leaves_all,
    generations_begin_with_the_limit,
    what_is_released_is_returned,
    room_is_made_for_others,
    all_go,
    what_is_in_use_is_found_and_stays_the_same,
    others_go_although_one_panics,
    who_asks_sees_what_there_is,
);

/// Those of the objects that are kept, in order.
fn kept_of<K: StrongRef>(kept: &KeepAlive<K>, objects: &[K]) -> Vec<usize> {
    let all = Vec::from_iter((0..objects.len()).filter(|at| kept.contains(&objects[*at])));
    assert_eq!((kept.len(), kept.is_empty()), (all.len(), all.is_empty()));
    all
}

/// 204: An object that nobody uses lives while it is kept.
fn no_more_objects_than_the_limit<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::entries(3));
    let objects = keys::<P>(6);
    for (at, object) in objects[..5].iter().enumerate() {
        assert!(kept.keep(object, 7));
        assert_eq!(kept_of(&kept, &objects).len(), 3.min(at + 1));
    }
    assert_eq!(kept_of(&kept, &objects), [2, 3, 4]);
    assert_eq!(kept.retained_weight(), 21);
    assert!(kept.touch(&objects[2]) && !kept.touch(&objects[0]));
    assert!(kept.keep(&objects[5], 7));
    assert_eq!(kept_of(&kept, &objects), [2, 4, 5]);
    let weak = Vec::from_iter(objects.iter().map(downgrade));
    drop(objects);
    let alive = weak.iter().map(is_alive);
    assert!(alive.eq([false, false, true, false, true, true]));
    drop(kept);
    assert!(!weak.iter().any(is_alive));
}

/// 204: Nor is it refused in another way: the object is as it was.
fn no_objects_with_a_limit_of_none<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::entries(0).generations(3));
    let objects = keys::<P>(2);
    for weight in [0, 1, usize::MAX] {
        assert!(!kept.keep(&objects[0], weight) && !kept.touch(&objects[0]));
        assert!(kept.release(&objects[0]).is_none());
        assert!(kept_of(&kept, &objects).is_empty());
        assert_eq!(kept.retained_weight(), 0);
        assert_eq!(P::counts(&objects[0]).0, 1);
        kept.advance();
    }
}

/// 204: What alone is heavier is refused, and nothing goes for it, but what was kept of it.
fn no_more_weight_than_the_limit<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::none().weight(10));
    let mut objects = keys::<P>(4);
    assert!(kept.keep(&objects[0], 4) && kept.keep(&objects[1], 4));
    assert!(kept.keep(&objects[2], 2));
    assert_eq!(
        (kept_of(&kept, &objects), kept.retained_weight()),
        (vec![0, 1, 2], 10)
    );
    assert!(kept.keep(&objects[2], 3));
    assert_eq!(
        (kept_of(&kept, &objects), kept.retained_weight()),
        (vec![1, 2], 7)
    );
    assert!(!kept.keep(&objects[3], 11));
    assert_eq!(
        (kept_of(&kept, &objects), kept.retained_weight()),
        (vec![1, 2], 7)
    );
    assert!(kept.keep(&objects[3], 10));
    assert_eq!(
        (kept_of(&kept, &objects), kept.retained_weight()),
        (vec![3], 10)
    );
    assert!(!kept.keep(&objects[3], 11));
    assert_eq!(
        (kept_of(&kept, &objects), kept.retained_weight()),
        (vec![], 0)
    );
    assert_eq!(P::counts(&objects[3]).0, 1);
    let weak = downgrade(&objects[3]);
    drop(objects.pop());
    assert!(!is_alive(&weak));
}

/// 204: Also where nothing else does.
fn what_weighs_nothing_fits<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::none().weight(2));
    let objects = keys::<P>(5);
    assert!(kept.keep(&objects[0], 2) && kept.keep(&objects[1], 0));
    assert_eq!(kept_of(&kept, &objects), [0, 1]);
    kept.set_limit(Limit::none().weight(0));
    assert_eq!(
        (kept_of(&kept, &objects), kept.retained_weight()),
        (vec![1], 0)
    );
    assert!(kept.keep(&objects[2], 0) && !kept.keep(&objects[3], 1));
    assert_eq!(kept_of(&kept, &objects), [1, 2]);
    assert_eq!(kept.shrink_to(0), 0);
    assert!(!kept.keep(&objects[1], 1));
    assert_eq!(kept_of(&kept, &objects), [2]);
}

/// 204: It is one object, with one handle.
fn what_is_kept_again_has_another_weight<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::none().weight(10));
    let objects = keys::<P>(2);
    for weight in [4, 6, 0, 10, 1] {
        assert!(kept.keep(&objects[0], weight));
        assert_eq!((kept.len(), kept.retained_weight()), (1, weight));
        assert_eq!(P::counts(&objects[0]).0, 2);
    }
    assert!(kept.keep(&objects[1], 9));
    assert_eq!((kept.len(), kept.retained_weight()), (2, 10));
    drop(kept);
    assert_eq!(P::counts(&objects[0]).0, 1);
}

/// 204: What is kept fits then, wherever the hand is.
fn what_is_kept_again_is_not_what_goes_for_it<P: Kind>() {
    for again in 0..3 {
        for touched in 0..8 {
            for steps in 0..3 {
                let mut kept = KeepAlive::new(Limit::none().weight(4));
                let objects = keys::<P>(6);
                // These bring the hand to its place.
                for object in objects[3..3 + steps].iter().chain(&objects[..3]) {
                    kept.keep(object, 1);
                }
                kept.keep(&objects[3], 2);
                for at in (0..3).filter(|at| touched & (1 << at) != 0) {
                    kept.touch(&objects[at]);
                }
                let kept_again = kept.keep(&objects[again], 4);
                assert!(kept_again, "it fits");
                let expected = (vec![again], 4);
                assert_eq!((kept_of(&kept, &objects), kept.retained_weight()), expected);
            }
        }
    }
}

/// 204, 208: Without a limit of weight, none is too heavy.
fn sums_are_exact_where_they_cannot_be_shown<P: Kind>() {
    for limit in [Limit::none(), Limit::entries(3)] {
        let mut kept = KeepAlive::new(limit);
        let objects = keys::<P>(3);
        for object in &objects {
            assert!(kept.keep(object, usize::MAX));
            assert_eq!(kept.retained_weight(), usize::MAX);
        }
        assert_eq!(kept_of(&kept, &objects), [0, 1, 2]);
        assert!(kept.keep(&objects[0], 5) && kept.keep(&objects[1], 6));
        assert_eq!(kept.retained_weight(), usize::MAX);
        kept.release(&objects[2]);
        assert_eq!(kept.retained_weight(), 11);
        kept.advance();
        assert_eq!(kept_of(&kept, &objects), [0, 1]);
    }
}

/// 204: The largest limit of weight is one: a sum that cannot be shown is beyond it.
fn the_largest_limit_is_a_limit<P: Kind>() {
    let most = Limit::none().weight(usize::MAX);
    assert_ne!(most, Limit::none());
    let mut kept = KeepAlive::new(most);
    let objects = keys::<P>(3);
    assert!(kept.keep(&objects[0], usize::MAX - 1));
    assert!(kept.keep(&objects[1], 1));
    assert_eq!(kept_of(&kept, &objects), [0, 1]);
    assert!(kept.keep(&objects[2], 1));
    assert_eq!(
        (kept_of(&kept, &objects), kept.retained_weight()),
        (vec![1, 2], 2)
    );

    let mut kept = KeepAlive::new(Limit::none());
    for object in &objects {
        kept.keep(object, usize::MAX);
    }
    assert_eq!(kept.shrink_to(usize::MAX), 2);
    kept.keep(&objects[0], usize::MAX);
    kept.set_limit(most);
    assert_eq!(kept.len(), 1);
}

/// 205: After so many calls of `advance` it is there, and after one more it is not.
fn generations_end<P: Kind>() {
    for generations in [0, 1, 2, 5] {
        let mut kept = KeepAlive::new(Limit::none().generations(generations));
        let objects = keys::<P>(3);
        assert!(kept.keep(&objects[0], 1));
        let weak = Vec::from_iter(objects.iter().map(downgrade));
        for _ in 0..generations {
            kept.advance();
            assert_eq!(kept_of(&kept, &objects), [0]);
        }
        assert!(kept.keep(&objects[1], 1));
        kept.advance();
        let second = if generations == 0 { vec![] } else { vec![1] };
        assert_eq!(kept_of(&kept, &objects), second);
        drop(objects);
        assert!(!is_alive(&weak[0]));
        assert_eq!(is_alive(&weak[1]), generations != 0);
    }
}

/// 205: By a touch, or by being kept again; and in the order of that, not of arrival.
fn who_is_used_is_of_this_generation<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::none().generations(2));
    let objects = keys::<P>(5);
    for object in &objects {
        kept.keep(object, 1);
    }
    kept.advance();
    assert!(kept.touch(&objects[3]) && kept.keep(&objects[1], 2));
    kept.advance();
    assert!(kept.touch(&objects[0]) && kept.touch(&objects[0]));
    assert!(kept.contains(&objects[2]), "this is no use of it");
    kept.advance();
    assert_eq!(
        (kept_of(&kept, &objects), kept.retained_weight()),
        (vec![0, 1, 3], 4)
    );
    kept.touch(&objects[3]);
    kept.advance();
    assert_eq!(kept_of(&kept, &objects), [0, 3]);
    kept.advance();
    assert_eq!(kept_of(&kept, &objects), [3]);
    assert!(kept.release(&objects[3]).is_some());
    kept.advance();
    kept.keep(&objects[4], 1);
    kept.advance();
    assert_eq!(kept_of(&kept, &objects), [4]);
}

/// 206: What is beyond it goes, as it would for another.
fn a_lower_limit_holds_at_once<P: Kind>() {
    let objects = keys::<P>(6);
    let set = |limit: Limit| {
        let mut kept = KeepAlive::new(Limit::none());
        for (weight, object) in objects.iter().enumerate() {
            kept.keep(object, weight);
        }
        kept.touch(&objects[1]);
        assert_ne!(kept.limit(), limit);
        kept.set_limit(limit);
        assert_eq!(kept.limit(), limit);
        kept_of(&kept, &objects)
    };
    assert_eq!(set(Limit::entries(4)), [1, 3, 4, 5]);
    assert_eq!(set(Limit::entries(1)), [5]);
    assert_eq!(set(Limit::entries(0)), [0; 0]);
    assert_eq!(set(Limit::none().weight(10)), [1, 4, 5]);
    assert_eq!(set(Limit::none().weight(4)), [1]);
    assert_eq!(set(Limit::entries(2).weight(10)), [1, 5]);
    assert!(objects.iter().all(|object| P::counts(object).0 == 1));
}

/// 206: And makes room for more.
fn a_higher_limit_leaves_all<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::entries(2).weight(2));
    let objects = keys::<P>(40);
    for object in &objects[..3] {
        kept.keep(object, 1);
    }
    kept.set_limit(Limit::entries(30).weight(20));
    assert_eq!(kept_of(&kept, &objects), [1, 2]);
    for object in &objects {
        kept.keep(object, 1);
    }
    assert_eq!((kept.len(), kept.retained_weight()), (20, 20));
    kept.set_limit(Limit::entries(30));
    for object in &objects {
        kept.keep(object, 1);
    }
    assert_eq!((kept.len(), kept.retained_weight()), (30, 30));
}

/// 205, 206: Those that are there then are of this generation, whether or not generations counted before.
fn generations_begin_with_the_limit<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::none());
    let objects = keys::<P>(5);
    kept.keep(&objects[0], 1);
    (0..5).for_each(|_| kept.advance());
    kept.keep(&objects[1], 1);
    kept.set_limit(Limit::none().generations(1));
    kept.advance();
    kept.keep(&objects[2], 1);
    assert_eq!(kept_of(&kept, &objects), [0, 1, 2]);
    kept.advance();
    assert_eq!(kept_of(&kept, &objects), [2]);
    kept.set_limit(Limit::none());
    kept.release(&objects[2]);
    kept.keep(&objects[3], 1);
    kept.keep(&objects[4], 1);
    kept.touch(&objects[3]);
    (0..5).for_each(|_| kept.advance());
    assert_eq!(kept_of(&kept, &objects), [3, 4]);
    kept.set_limit(Limit::none().generations(2));
    kept.advance();
    kept.touch(&objects[4]);
    kept.advance();
    assert_eq!(kept_of(&kept, &objects), [3, 4]);
    kept.set_limit(Limit::none().generations(1));
    assert_eq!(
        kept_of(&kept, &objects),
        [4],
        "the other is too old for that"
    );
}

/// 207: And is kept no more; its place is another's.
fn what_is_released_is_returned<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::entries(3));
    let objects = keys::<P>(4);
    for object in &objects[..3] {
        kept.keep(object, 5);
    }
    for at in [1, 2, 0] {
        assert!(kept.release(&objects[3]).is_none());
        let object = kept.release(&objects[at]).unwrap();
        assert_eq!(
            P::Strong::<usize>::addr(&object),
            P::Strong::addr(&objects[at])
        );
        assert!(!kept.contains(&objects[at]) && kept.release(&object).is_none());
        assert_eq!(
            kept.keep(&objects[3], 1),
            kept.release(&objects[3]).is_some()
        );
    }
    assert!(kept.is_empty() && kept.retained_weight() == 0);
    for object in &objects {
        assert!(kept.keep(object, 1));
    }
    assert_eq!(kept_of(&kept, &objects), [1, 2, 3]);
}

/// 206: The limit stays.
fn room_is_made_for_others<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::entries(9));
    let objects = keys::<P>(6);
    for (weight, object) in objects.iter().enumerate() {
        kept.keep(object, weight);
    }
    kept.touch(&objects[2]);
    for enough in [usize::MAX, 16, 15] {
        assert_eq!(kept.shrink_to(enough), 0);
    }
    assert_eq!(kept.shrink_to(14), 2);
    assert_eq!(kept_of(&kept, &objects), [2, 3, 4, 5]);
    assert_eq!(kept.shrink_to(8), 2);
    assert_eq!(
        (kept_of(&kept, &objects), kept.retained_weight()),
        (vec![2, 5], 7)
    );
    assert_eq!(kept.shrink_to(0), 2);
    assert_eq!((kept.len(), kept.retained_weight()), (0, 0));
    assert_eq!(kept.limit(), Limit::entries(9));
    assert!(objects.iter().all(|object| kept.keep(object, 1)));
    assert_eq!(kept.len(), 6);
}

/// 206: And more can be kept.
fn all_go<P: Kind>() {
    let limit = Limit::entries(4).generations(2);
    let mut kept = KeepAlive::new(limit);
    let mut objects = keys::<P>(6);
    let weak = Vec::from_iter(objects.iter().map(downgrade));
    for _ in 0..2 {
        kept.advance();
        for object in &objects {
            kept.keep(object, 3);
        }
        kept.clear();
        assert_eq!(
            (kept_of(&kept, &objects).len(), kept.retained_weight()),
            (0, 0)
        );
        assert_eq!(kept.limit(), limit);
    }
    objects.truncate(1);
    kept.keep(&objects[0], 1);
    assert_eq!(weak.iter().filter(|weak| is_alive(*weak)).count(), 1);
    assert_eq!(kept_of(&kept, &objects), [0]);
}

/// 207: In a collection over the floor. What is kept is never missing there, nor is what is in use.
fn what_is_in_use_is_found_and_stays_the_same<P: Kind>() {
    let mut found = WeakValueMap::<usize, Key<P>>::new();
    let mut kept = KeepAlive::new(Limit::entries(2));
    let mut objects = keys::<P>(4);
    let is_same = |found: Option<Key<P>>, object: &Key<P>| {
        found.is_some_and(|found| P::Strong::addr(&found) == P::Strong::<usize>::addr(object))
    };
    for object in &objects {
        found.insert(**object, object);
        kept.keep(object, 1);
        assert!(is_same(found.get(&**object), object));
    }
    assert_eq!(kept_of(&kept, &objects), [2, 3]);
    for object in &objects {
        assert!(is_same(found.get(&**object), object));
    }
    objects.truncate(1);
    let there = |found: &WeakValueMap<usize, Key<P>>| {
        Vec::from_iter((0..4).filter(|number| found.get(number).is_some()))
    };
    assert_eq!(there(&found), [0, 2, 3]);
    kept.keep(&objects[0], 1);
    let object = objects.pop().unwrap();
    assert_eq!(there(&found), [0, 3]);
    assert!(is_same(found.get(&0), &object));
    drop(object);
    assert_eq!(there(&found), [0, 3]);
    drop(kept);
    assert_eq!(there(&found), [0; 0]);
}

/// Counts its drops; one panics there.
struct Item(bool, #[allow(dead_code)] OnDrop);

impl Drop for Item {
    fn drop(&mut self) {
        if self.0 {
            quiet_panic();
        }
    }
}

/// 182: On each way on which several go.
fn others_go_although_one_panics<P: Kind>() {
    type Kept<P> = KeepAlive<<P as Kind>::Strong<Item>>;
    type Route<P> = fn(&mut Kept<P>);
    let routes: [(usize, Route<P>); 7] = [
        (4, |kept| kept.clear()),
        (4, |kept| kept.advance()),
        (4, |kept| kept.set_limit(Limit::entries(0))),
        (3, |kept| kept.set_limit(Limit::entries(1))),
        (4, |kept| _ = kept.shrink_to(0)),
        (4, |kept| *kept = KeepAlive::new(Limit::none())),
        (4, |kept| {
            let heavy = new::<P, _>(Item(false, Counter::default().witness()));
            kept.keep(&heavy, 8);
        }),
    ];
    for (at, (gone, route)) in routes.into_iter().enumerate() {
        for panicking in 0..gone {
            let deaths = Counter::default();
            let mut kept = KeepAlive::new(Limit::none().weight(8).generations(0));
            for number in 0..4 {
                let item = Item(number == panicking, deaths.witness());
                kept.keep(&new::<P, _>(item), 2);
            }
            assert_eq!(kept.len(), 4);
            assert!(panics(|| route(&mut kept)), "{at}");
            assert_eq!(deaths.get(), gone, "{at}, {panicking}");
            let left = usize::from(kept.retained_weight() == 8 && kept.len() == 1);
            assert_eq!(kept.len(), (4 - gone).max(left), "{at}");
            kept.set_limit(Limit::none());
            let after = new::<P, _>(Item(false, deaths.witness()));
            assert!(kept.keep(&after, 1) && kept.contains(&after));
        }
    }
}

/// 204: In a debugger, too.
fn who_asks_sees_what_there_is<P: Kind>() {
    let mut kept = KeepAlive::new(Limit::entries(2));
    let objects = keys::<P>(3);
    objects.iter().for_each(|object| _ = kept.keep(object, 3));
    let shown = format!("{kept:?}");
    let expected = "KeepAlive { len: 2, retained_weight: 6, limit: Limit { entries: 2";
    assert!(shown.starts_with(expected), "{shown}");
}
