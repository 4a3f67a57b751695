//! Lookups by keys that do not keep the object alive: they never find another object that came to its address
//! meanwhile, nor that object's entry.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};

use weakly::concurrent::{WeakMap, WeakPairMap, WeakSet};
use weakly::{AttributeKey, Attributes, Strong, Weak, reference::Identify};

use crate::common::scaled;
use crate::faces::{Large, Owned, large, owned, quietly};

/// The last pointer to an object.
type Last = Mutex<Option<Large>>;

/// Drops the last pointer to an object, and makes another at its address, if possible.
fn replace(last: &Last) -> Option<Large> {
    let old = last.lock().unwrap().take()?;
    let address = Strong::as_ptr(&old);
    drop(old);
    let mut others = Vec::new();
    (0..scaled(20, 100)).find_map(|_| {
        let new = large::<64>(2);
        if std::ptr::addr_eq(Strong::as_ptr(&new), address) {
            return Some(new);
        }
        others.push(new);
        None
    })
}

struct Note;

impl AttributeKey for Note {
    type Value = usize;
}

/// Everything that looks up by identity.
struct All {
    map: WeakMap<Large, Arc<Owned>>,
    set: WeakSet<Large>,
    pairs: WeakPairMap<Large, Strong<usize>>,
    value: Strong<usize>,
    attributes: Attributes<Large>,
}

impl Default for All {
    fn default() -> Self {
        All {
            map: WeakMap::new(),
            set: WeakSet::new(),
            pairs: WeakPairMap::new(),
            value: Strong::new(2),
            attributes: Attributes::new(),
        }
    }
}

impl All {
    fn put(&self, object: &Large) {
        self.map.insert(object, owned(2, &quietly()));
        self.set.insert(object);
        self.pairs.insert(object, &self.value);
        self.attributes.insert(object, Note, 2);
    }

    fn assert_has(&self, object: &Large) {
        assert!(self.map.get(object).is_some_and(|value| value.number == 2));
        assert!(self.set.contains(object));
        assert!(self.pairs.contains_key(object));
        assert_eq!(self.attributes.get(object, Note), Some(2));
    }
}

/// A lookup by a weak key; returns whether it found something.
type Ask<Q> = fn(&All, &Q) -> bool;

fn questions<Q: Identify<Large>>() -> [Ask<Q>; 16] {
    [
        |all, key| all.map.get(key).is_some(),
        |all, key| all.map.with(key, |_| ()).is_some(),
        |all, key| all.map.contains_key(key),
        |all, key| all.map.remove(key).is_some(),
        |all, key| all.map.remove_if(key, |_| true),
        |all, key| all.set.contains(key),
        |all, key| all.set.remove(key),
        |all, key| all.pairs.get(key).is_some(),
        |all, key| all.pairs.get_key_value(key).is_some(),
        |all, key| all.pairs.contains_key(key),
        |all, key| all.pairs.remove(key).is_some(),
        |all, key| all.pairs.remove_if(key, |_| true).is_some(),
        |all, key| all.attributes.get(key, Note).is_some(),
        |all, key| all.attributes.contains_key(key, Note),
        |all, key| !all.attributes.list(key).is_empty(),
        |all, key| all.attributes.forget(key),
    ]
}

/// Runs an action after it was asked for its address for the `n`th time.
struct Late {
    weak: Weak<[usize]>,
    left: AtomicUsize,
    act: Box<dyn Fn()>,
}

impl Identify<Large> for Late {
    fn addr(this: &Self) -> *const () {
        let address = Identify::<Large>::addr(&this.weak);
        if this.left.fetch_sub(1, SeqCst) == 1 {
            (this.act)();
        }
        address
    }
}

/// B29: The object dies, and another comes to its address and gets an entry, during the lookup: as if another
/// thread did that, right after the address was read.
#[test]
fn another_object_comes_during_a_lookup() {
    let mut same_address = 0;
    for ask in questions() {
        let (all, first) = (Arc::new(All::default()), large::<64>(1));
        let weak = Strong::downgrade(&first);
        let last = Mutex::new(Some(first));
        let second = Arc::<Last>::default();
        let act = {
            let (all, second) = (all.clone(), second.clone());
            Box::new(move || {
                let new = replace(&last);
                new.iter().for_each(|new| all.put(new));
                *second.lock().unwrap() = new;
            })
        };
        let left = AtomicUsize::new(1);
        assert!(!ask(&all, &Late { weak, left, act }));
        if let Some(second) = &*second.lock().unwrap() {
            same_address += 1;
            all.assert_has(second);
        }
    }
    assert!(cfg!(miri) || same_address > 0, "no address is used again");
}
