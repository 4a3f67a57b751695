//! Thousands of contents with equal hash, and one content that comes and goes: slower, but it terminates, and
//! the dead do not accumulate.

use crate::common::subject::single::quietly;
use crate::common::wild::{Code, Wild};
use crate::common::{in_time, scaled};
use crate::lists::for_each_by_content;
use crate::{Wilds, rest};

const MANY: usize = scaled(1_000, 30);

/// All have the same hash.
struct Colliding;

impl Code for Colliding {
    fn hash(&self, _: &Wild) -> usize {
        0
    }

    fn clone(&self, of: &Wild) -> Wild {
        colliding(of.number)
    }
}

fn colliding(number: usize) -> Wild {
    Wild::with(&Colliding, number, 0)
}

for_each_by_content!(
    kit<crate::common::wild::Wild>:
    thousands_of_equal_hashes,
    one_content_comes_and_goes,
);

/// E79, 178: Each is found, and removed.
fn thousands_of_equal_hashes(kit: Wilds) {
    in_time(move || {
        let mut all = kit.empty();
        let objects: Vec<_> = (0..MANY).map(|n| kit.living(colliding(n))).collect();
        for object in &objects {
            assert!(all.enter(object, &quietly()));
        }
        assert_eq!((all.len(), all.len_live()), (MANY, MANY));
        assert!(objects.iter().all(|object| all.has(object)));
        drop(objects);
        assert_eq!(rest(&mut *all), (0, 0, 0));
    });
}

/// H117: A dead object makes room for the next of the same content, or for any.
fn one_content_comes_and_goes(kit: Wilds) {
    in_time(move || {
        for others in [0, 20] {
            let mut all = kit.empty();
            let kept: Vec<_> = (1..=others).map(|n| kit.living(colliding(n))).collect();
            for object in &kept {
                all.enter(object, &quietly());
            }
            for _ in 0..MANY {
                let object = kit.living(colliding(0));
                assert!(all.enter(&object, &quietly()));
                drop(object);
                let dead = all.len().saturating_sub(all.len_live()) + all.pending_dead();
                assert!(dead <= 16, "{dead}");
            }
        }
    });
}
