//! The upkeep of entries that are in no hash table: a list. The same scripts run with a list and
//! with the hash table, and the collections must do the same.

use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::vec::Vec;

use super::{Entries, Entry, IntoEntries, Reclaim, Upkeep};
use crate::Strong;
use crate::hash::{Cookie, HashValue};
use crate::reference::{Owned, Slot, Watch, WeakKey};
use crate::table::{Place, Table};

/// A list. The cookie of an entry is its place.
struct List<K, V>(Vec<Option<Entry<K, V>>>);

fn place_of(cookie: Cookie) -> usize {
    (cookie.short() >> 1) as usize
}

impl<K: Slot, V: Slot> Entries for List<K, V> {
    type Key = K;
    type Value = V;

    const NONE: Self = List(Vec::new());

    fn len(&self) -> usize {
        self.0.iter().flatten().count()
    }

    fn places(&self) -> usize {
        self.0.len()
    }

    fn get(&self, place: usize) -> Option<&Entry<K, V>> {
        self.0.get(place)?.as_ref()
    }

    fn find(&self, cookie: Cookie, is: impl Fn(&Entry<K, V>) -> bool) -> Option<&Entry<K, V>> {
        self.get(place_of(cookie)).filter(|entry| is(entry))
    }

    fn unlink(&mut self, cookie: Cookie, is: impl Fn(&Entry<K, V>) -> bool) -> Option<Entry<K, V>> {
        let entry = self.0.get_mut(place_of(cookie))?;
        entry.take_if(|entry| is(entry))
    }

    fn unlink_at<R>(
        &mut self,
        place: usize,
        take: impl FnOnce(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        let entry = self.0.get_mut(place)?;
        let taken = take(entry.as_mut()?)?;
        Some((taken, entry.take()?))
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry<K, V>> {
        self.0.iter_mut().flatten()
    }

    fn drain(&mut self) -> impl Iterator<Item = Entry<K, V>> {
        self.0.drain(..).flatten()
    }

    fn prefetch(&self, _: Cookie) {}
}

/// A collection that a script can fill.
trait Put<K: WeakKey> {
    fn put(&mut self, key: &K, value: Value);
}

impl<K: WeakKey> Put<K> for Upkeep<List<K::Watch, Owned<Value>>> {
    fn put(&mut self, key: &K, value: Value) {
        self.tidy();
        let cookie = Cookie::of_short((self.entries.places() as u32) << 1);
        self.entries.0.push(Some(Entry {
            key: K::Watch::watch(key, cookie, &mut self.keys),
            value: Owned(value),
        }));
    }
}

impl<K: WeakKey> Put<K> for Table<K::Watch, Owned<Value>> {
    fn put(&mut self, key: &K, value: Value) {
        self.tidy();
        let hash = HashValue::of_addr(K::addr(key));
        let place = self.place(hash, |_| false, |_| Some(()));
        let Place::Vacant(vacant) = place else {
            unreachable!("no entry is the sought entry")
        };
        vacant.fill(|watch| Entry {
            key: K::Watch::watch(key, watch.hash, watch.keys),
            value: Owned(value),
        });
    }
}

/// The numbers of the destroyed values.
type Destroyed = Arc<Mutex<Vec<u32>>>;

/// A value that notes its end, owns a key, and may panic.
struct Value {
    number: u32,
    destroyed: Destroyed,
    owns: Option<Strong<u32>>,
    panics: bool,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.owns = None;
        self.destroyed.lock().unwrap().push(self.number);
        if self.panics {
            resume_unwind(Box::new("a destructor panics"));
        }
    }
}

/// Counts the calls of a waker.
#[derive(Default)]
struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// A script: a collection, and what happened to its values.
struct Script<E: Entries> {
    all: Upkeep<E>,
    destroyed: Destroyed,
    calls: Arc<Calls>,
}

impl<E: Entries> Script<E> {
    fn with(all: Upkeep<E>) -> Self {
        Script {
            all,
            destroyed: Destroyed::default(),
            calls: Arc::default(),
        }
    }

    fn value(&self, number: u32) -> Value {
        Value {
            number,
            destroyed: self.destroyed.clone(),
            owns: None,
            panics: false,
        }
    }

    /// Returns the numbers of the values that were destroyed since the last call.
    fn destroyed(&self) -> Vec<u32> {
        let mut numbers = core::mem::take(&mut *self.destroyed.lock().unwrap());
        numbers.sort_unstable();
        numbers
    }

    fn calls(&self) -> usize {
        self.calls.0.swap(0, Relaxed)
    }

    /// Returns the numbers of all and of pending entries.
    fn counts(&self) -> [usize; 2] {
        [self.all.len(), self.all.pending()]
    }
}

/// Runs a script with a list, and with the hash table.
macro_rules! both {
    ($($(#[$doc:meta])* fn $name:ident<$key:ty>($script:ident) $body:block)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            fn run<E: Entries<Key = <$key as WeakKey>::Watch, Value = Owned<Value>>>($script: &mut Script<E>)
            where
                Upkeep<E>: Put<$key>,
            $body
            run(&mut Script::with(Upkeep::<List<_, _>>::new()));
            run(&mut Script::with(Table::new()));
        }
    )*};
}

both! {
    /// Deaths are counted at once, and reclaimed by the next operations, 16 at a time.
    fn deaths_are_drained<Strong<u32>>(script) {
        let objects: Vec<_> = (0..40).map(Strong::new).collect();
        for object in &objects {
            script.all.put(object, script.value(**object));
        }
        let live = Strong::new(40);
        script.all.put(&live, script.value(40));
        assert_eq!(script.counts(), [41, 0]);
        drop(objects);
        assert_eq!((script.counts(), script.destroyed().len()), ([1, 40], 0));
        script.all.tidy();
        assert_eq!((script.counts(), script.destroyed().len()), ([1, 24], 16));
        assert_eq!(script.all.purge_some(4), 4);
        assert_eq!((script.counts(), script.destroyed().len()), ([1, 20], 4));
        assert!(!script.all.purge());
        assert_eq!((script.counts(), script.destroyed().len()), ([1, 0], 20));
        assert!(!script.all.is_empty());
        drop(live);
        assert!(script.all.is_empty());
    }

    /// Where no notices come, a sweep finds the dead entries.
    fn a_sweep_finds_the_dead<Arc<u32>>(script) {
        let objects: Vec<_> = (0..40).map(Arc::new).collect();
        for object in &objects {
            script.all.put(object, script.value(**object));
        }
        drop(objects);
        assert_eq!(script.counts(), [40, 0]);
        for _ in 0..4 {
            script.all.tidy();
        }
        assert_eq!(script.all.entries.len(), 0);
        assert_eq!(script.destroyed(), Vec::from_iter(0..40));
    }

    /// On request, remains are kept until they are taken or destroyed.
    fn remains_are_kept<Strong<u32>>(script) {
        script.all.set_reclaim(Reclaim::OnRequest);
        let objects: Vec<_> = (0..4).map(Strong::new).collect();
        for object in &objects {
            script.all.put(object, script.value(**object));
        }
        drop(objects);
        script.all.tidy();
        assert_eq!(script.all.entries.len(), 0);
        assert_eq!((script.counts(), script.destroyed()), ([0, 4], Vec::new()));
        let ((), value) = script.all.take_dead().unwrap();
        assert_eq!(script.counts(), [0, 3]);
        drop(value);
        assert_eq!(script.destroyed().len(), 1);
        script.all.set_reclaim(Reclaim::OnUse);
        assert_eq!((script.counts(), script.destroyed().len()), ([0, 0], 3));
    }

    /// The first death calls the waker, and the waker is armed again when nothing is pending.
    fn the_waker_is_called<Strong<u32>>(script) {
        let objects: [_; 3] = core::array::from_fn(|n| Strong::new(n as u32));
        let waker = Waker::from(script.calls.clone());
        let mut context = Context::from_waker(&waker);
        assert_eq!(script.all.poll_pending(&mut context), Poll::Pending);
        for object in &objects {
            script.all.put(object, script.value(**object));
        }
        let [one, two, three] = objects;
        drop((one, two));
        assert_eq!(script.calls(), 1);
        assert_eq!(script.all.poll_pending(&mut context), Poll::Ready(()));
        script.all.tidy();
        drop(three);
        assert_eq!(script.calls(), 1);
        script.all.set_waker(None);
        script.all.purge();
        assert_eq!(script.destroyed(), [0, 1, 2]);
    }

    /// A value that owns the next key: a purge reclaims the whole chain.
    fn a_purge_reclaims_a_chain<Strong<u32>>(script) {
        let mut next = None;
        for number in 0..20 {
            let object = Strong::new(number);
            let mut value = script.value(number);
            value.owns = next.replace(object.clone());
            script.all.put(&object, value);
        }
        drop(next);
        assert_eq!(script.counts(), [19, 1]);
        script.all.purge();
        assert_eq!(script.destroyed(), Vec::from_iter(0..20));
    }

    /// If a destructor panics in a purge, the rest stays pending, and the waker is armed as soon as
    /// nothing is pending.
    fn a_purge_panics<Strong<u32>>(script) {
        script.all.set_waker(Some(script.calls.clone().into()));
        let mut objects: Vec<_> = (0..3).map(Strong::new).collect();
        for object in &objects {
            let mut value = script.value(**object);
            value.panics = **object == 1;
            script.all.put(object, value);
        }
        let live = objects.remove(2);
        drop(objects.remove(1));
        assert_eq!(script.calls(), 1);
        let purged = catch_unwind(AssertUnwindSafe(|| script.all.purge()));
        assert!(purged.is_err());
        assert_eq!((script.counts(), script.destroyed()), ([2, 0], [1].into()));
        drop(objects);
        assert_eq!(script.calls(), 1);
        script.all.purge();
        assert_eq!((script.counts(), script.destroyed()), ([1, 0], [0].into()));
        drop(live);
        assert_eq!(script.calls(), 1);
    }

    /// If a destructor panics when the collection is cleared, turned into an iterator, all other
    /// destructors run.
    fn an_end_panics<Strong<u32>>(script) {
        let objects: Vec<_> = (0..4).map(Strong::new).collect();
        for clear in [true, false] {
            for object in &objects {
                let mut value = script.value(**object);
                value.panics = **object == 2;
                script.all.put(object, value);
            }
            let ended = catch_unwind(AssertUnwindSafe(|| {
                if clear {
                    script.all.clear();
                } else {
                    let mut entries = IntoEntries::new(script.all.take_entries());
                    drop(entries.next(|entry| (entry.value.0.number == 0).then_some(())));
                }
            }));
            assert!(ended.is_err());
            assert_eq!((script.counts(), script.destroyed()), ([0, 0], [0, 1, 2, 3].into()));
        }
    }
}
