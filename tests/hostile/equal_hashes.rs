//! Thousands of contents with equal hash, and one content that comes and goes: slower, but it terminates, and
//! the dead do not accumulate.

use std::hash::{Hash, Hasher};

use crate::common::{Kind, in_time, new, scaled};
use crate::faces::{Face, Object};
use crate::for_each_face;

const MANY: usize = scaled(1_000, 30);

/// All have the same hash.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Colliding(usize);

impl Hash for Colliding {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

for_each_face!(by_content<super::Colliding>: thousands_of_equal_hashes);
for_each_face!(all<super::Colliding>: one_content_comes_and_goes);

/// E79: Each is found, and removed.
fn thousands_of_equal_hashes<P: Kind, F: Face<P, Colliding> + 'static>() {
    in_time(|| {
        let mut face = F::default();
        let objects: Vec<Object<P, Colliding>> =
            (0..MANY).map(|n| new::<P, _>(Colliding(n))).collect();
        for object in &objects {
            assert!(face.add(object));
        }
        assert_eq!((face.len(), face.len_live()), (MANY, MANY));
        assert!(objects.iter().all(|object| face.has(object)));
        drop(objects);
        assert_eq!(face.rest(), (0, 0, 0));
    });
}

/// H117: A dead object makes room for the next of the same content, or for any.
fn one_content_comes_and_goes<P: Kind, F: Face<P, Colliding> + 'static>() {
    in_time(|| {
        for others in [0, 20] {
            let mut face = F::default();
            let kept: Vec<Object<P, Colliding>> =
                (1..=others).map(|n| new::<P, _>(Colliding(n))).collect();
            for object in &kept {
                face.add(object);
            }
            for _ in 0..MANY {
                let object = new::<P, _>(Colliding(0));
                assert!(face.add(&object));
                drop(object);
                let dead = face.len().saturating_sub(face.len_live()) + face.pending_dead();
                assert!(dead <= 16, "{dead}");
            }
        }
    });
}
