//! Thousands of contents with equal hash, and one content that comes and goes: slower, but it terminates, and
//! the dead do not accumulate.

use crate::common::subject::Single;
use crate::common::subject::single::quietly;
use crate::common::wild::{Code, Wild};
use crate::common::{in_time, scaled};
use crate::lists::{for_each_by_content, for_each_subject};
use crate::rest;

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

for_each_by_content!(<crate::common::wild::Wild> thousands_of_equal_hashes);
for_each_subject!(<crate::common::wild::Wild> one_content_comes_and_goes);

/// E79: Each is found, and removed.
fn thousands_of_equal_hashes<F: Single<Wild> + 'static>() {
    in_time(|| {
        let mut face = F::default();
        let objects: Vec<F::Life> = (0..MANY).map(|n| colliding(n).into()).collect();
        for object in &objects {
            assert!(face.enter(object, &quietly()));
        }
        assert_eq!((face.len(), face.len_live()), (MANY, MANY));
        assert!(objects.iter().all(|object| face.has(object)));
        drop(objects);
        assert_eq!(rest(&mut face), (0, 0, 0));
    });
}

/// H117: A dead object makes room for the next of the same content, or for any.
fn one_content_comes_and_goes<F: Single<Wild> + 'static>() {
    in_time(|| {
        for others in [0, 20] {
            let mut face = F::default();
            let kept: Vec<F::Life> = (1..=others).map(|n| colliding(n).into()).collect();
            for object in &kept {
                face.enter(object, &quietly());
            }
            for _ in 0..MANY {
                let object = F::Life::from(colliding(0));
                assert!(face.enter(&object, &quietly()));
                drop(object);
                let dead = face.len().saturating_sub(face.len_live()) + face.pending_dead();
                assert!(dead <= 16, "{dead}");
            }
        }
    });
}
