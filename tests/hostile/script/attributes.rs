//! Attributes, of which an object has two: one whose value is looked at, and one whose value has the script's code.

use weakly::{AttributeId, AttributeKey, Attributes, Existing, Reclaim, Strong};

use super::ways::{Kept, kept};
use super::{Play, Together, user_code, wild, wish};
use crate::common::{custom::Custom, forget, subject::Life};

struct First;
struct Second;

impl AttributeKey for First {
    type Value = Kept;
}

impl AttributeKey for Second {
    type Value = Custom;
}

impl Play for Together<Attributes<Strong<Custom>>> {
    type Life = Strong<Custom>;
    fn play(&self, way: usize, n: usize, life: &Strong<Custom>) {
        let all = self.0.borrow().clone();
        match way {
            0..3 => _ = all.insert(life, First, kept(n)),
            3..5 => _ = all.insert(life, Second, wild(n)),
            5 => _ = all.forget(life),
            6 => _ = all.remove(life, First),
            7 => _ = all.remove(life, Second),
            8 => _ = all.keys().map(|life| life.number).sum::<usize>(),
            9 => _ = all.purge(),
            10 => _ = all.purge_some(n),
            11 => all.clear(),
            12 => all.set_reclaim([Reclaim::OnRequest, Reclaim::OnUse][n % 2]),
            13 => {
                // Of what the namespace owns, it keeps nothing.
                let mut keys = all.keys();
                keys.next();
                forget(keys);
            }
            14 => drop((self.0.take(), all)),
            15 => all.shrink_to_fit(),
            16 => _ = all.get(life, Second),
            17 => _ = all.with(life, First, |_| user_code()),
            18 | 19 => _ = all.remove_if(life, First, |_| wish()),
            20 | 21 => _ = all.remove_if(life, Second, |_| wish()),
            22 | 23 => {
                let from = all.keys().next();
                let existing = [Existing::Keep, Existing::Replace][n % 2];
                match way {
                    22 => drop(from.map(|from| all.transfer(&from, life, existing))),
                    _ => drop(from.map(|from| all.copy(&from, life, existing))),
                }
            }
            24 => _ = all.compute(life, First, |_| wish().then(|| kept(n))),
            _ => _ = all.compute(life, Second, |old| old.filter(|_| wish()).cloned()),
        }
    }

    fn check(&self, lives: &[Strong<Custom>]) {
        let all = self.0.borrow();
        let shown: Vec<_> = all.keys().collect();
        assert_eq!(shown.len(), all.len_live());
        for (at, one) in shown.iter().enumerate() {
            assert!(!shown[..at].iter().any(|other| other.is(one)));
        }
        for life in lives {
            let listed = all.list(life);
            let has = [
                all.contains_key(life, First),
                all.contains_key(life, Second),
            ];
            let ids = [AttributeId::of::<First>(), AttributeId::of::<Second>()];
            assert_eq!(ids.map(|id| listed.contains(&id)), has);
            assert_eq!(listed.len(), has.into_iter().filter(|has| *has).count());
            let is_shown = shown.iter().any(|shown| shown.is(life));
            assert_eq!(is_shown, !listed.is_empty());
        }
    }
}
