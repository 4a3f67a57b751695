//! What a map knows of a value, alone and while other threads change it.

use std::sync::{Arc, Mutex};

use weakly::Strong;
use weakly::concurrent::{WeakPairMap, WeakValueMap};

use crate::common::custom::{Custom, On};
use crate::common::of_values::{Near, check_script, check_time};
use crate::common::subject::{self};
use crate::common::{in_time, panics, quiet_panic};
use crate::faces::{Kind, Life};
use crate::for_each_pointer;

for_each_pointer!(values_know_their_keys,);

/// H195
fn values_know_their_keys<P: Kind>()
where
    Life<P>: subject::Life,
{
    check_script::<WeakValueMap<usize, Life<P>>>();
    check_script::<WeakValueMap<usize, Life<P>, Near>>();
    check_script::<WeakPairMap<Life<P>, Life<P>>>();
}

/// H196: It is no scan.
#[test]
fn to_ask_a_value_costs_what_it_is_registered_with() {
    check_time::<WeakValueMap<usize, Strong<usize>>>();
    check_time::<WeakPairMap<Strong<usize>, Strong<usize>>>();
}

type Act = fn(&Meddled);

/// A map whose keys' user code uses it.
struct Meddled {
    map: WeakValueMap<Custom, Strong<Custom>>,
    value: Strong<Custom>,
    other: Strong<Custom>,
    act: Mutex<Option<(On, Act)>>,
}

impl Meddled {
    fn new() -> Arc<Self> {
        let [value, other] = [1, 2].map(|n| Strong::new(Custom::from(n)));
        let (map, act) = (WeakValueMap::new(), Mutex::default());
        let all = Arc::new(Meddled {
            map,
            value,
            other,
            act,
        });
        for number in 0..16 {
            let its = all.clone();
            // Once.
            let key = Custom::from(number).code(move |on, _| {
                let act = its.act.lock().unwrap().take_if(|(of, _)| *of == on);
                if let Some((_, act)) = act {
                    act(&its);
                }
            });
            let value = if number % 2 == 0 {
                &all.value
            } else {
                &all.other
            };
            all.map.insert(key, value);
        }
        all
    }
}

/// 63: User code of the keys may do anything to the map that is asked: what it shows, and removes, is what
/// is there.
#[test]
fn keys_may_use_the_map_that_is_asked() {
    let acts: [Act; 5] = [
        |all| _ = all.map.remove_value(&all.value),
        |all| _ = all.map.keys_of(&all.value).count(),
        |all| all.map.retain(|key, _| key.number % 2 == 0),
        |all| all.map.clear(),
        |_| quiet_panic(),
    ];
    let asks: [Act; 2] = [
        |all| assert!(all.map.keys_of(&all.value).count() <= 8),
        |all| assert!(all.map.remove_value(&all.value) <= 8),
    ];
    for on in [On::Eq, On::Clone, On::Drop] {
        for act in acts {
            for ask in asks {
                in_time(move || {
                    let all = Meddled::new();
                    *all.act.lock().unwrap() = Some((on, act));
                    _ = panics(|| ask(&all));
                    *all.act.lock().unwrap() = None;
                    assert!(all.map.keys_of(&all.value).all(|key| key.number % 2 == 0));
                    let there = all.map.keys_of(&all.value).count();
                    assert_eq!(all.map.remove_value(&all.value), there);
                    assert!(all.map.values().all(|value| value.number == 2));
                    all.map.clear();
                });
            }
        }
    }
}
