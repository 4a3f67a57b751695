//! Objects, and what collections own, which note their ends; and the clock by which all is noted.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread;

use weakly::concurrent::SharedRef;
use weakly::reference::{Identify, WeakKey};
use weakly::{Equivalent, Strong};

use crate::common::own::{APART, Own};

/// The number of what tables are filled with; their contents are not much less.
pub const FILLER: u32 = u32::MAX;

/// What is owned has greater numbers than objects.
const FIRST_OWNED: u32 = 1000;

/// What all that is made in a script has in common.
#[derive(Default)]
pub struct World {
    /// Each moment is noted by a step of it. Sequentially consistent: what has ended before something begins then also
    /// happens before that, as Rust has it, and nothing less is promised to be seen.
    clock: AtomicU64,
    objects: AtomicU32,
    owned: AtomicU32,
    /// Whether a history does not tell what has happened.
    pub unclear: AtomicBool,
    /// How many are there.
    pub alive: AtomicUsize,
    pub kept: AtomicUsize,
}

impl World {
    pub fn now(&self) -> u64 {
        self.clock.fetch_add(1, SeqCst)
    }

    pub fn object(self: &Arc<Self>, content: u32) -> Object {
        let number = self.objects.fetch_add(1, SeqCst);
        self.numbered(number, content)
    }

    /// One that is no key of the script.
    pub fn filler(self: &Arc<Self>, n: u32) -> Object {
        self.numbered(FILLER, FILLER - n)
    }

    fn numbered(self: &Arc<Self>, number: u32, content: u32) -> Object {
        self.alive.fetch_add(1, SeqCst);
        Object {
            number,
            content,
            world: self.clone(),
            ended: AtomicBool::new(false),
        }
    }

    /// How many numbers of objects there are.
    pub fn objects(&self) -> u32 {
        self.objects.load(SeqCst)
    }

    pub fn owned(self: &Arc<Self>, key: u32) -> Owned {
        self.kept.fetch_add(1, SeqCst);
        Owned(Arc::new(Thing {
            number: FIRST_OWNED + self.owned.fetch_add(1, SeqCst),
            key,
            world: self.clone(),
            ended: AtomicBool::new(false),
        }))
    }
}

/// The end of an object, or of what was owned for a key, at a moment.
pub enum End {
    Object(u32),
    Owned { number: u32, key: u32, at: u64 },
}

thread_local! {
    static ENDS: RefCell<Vec<End>> = const { RefCell::new(Vec::new()) };
    static PAUSES: Cell<u32> = const { Cell::new(0) };
    static CLONES: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// What was cloned on this thread since the last call.
pub fn take_clones() -> Vec<u32> {
    CLONES.take()
}

/// Where comparisons and clones on this thread let others go first, which is in the middle of operations: a bit for each.
pub fn set_pauses(pattern: u32) {
    PAUSES.set(pattern);
}

fn pause() {
    let pattern = PAUSES.get();
    PAUSES.set(pattern.rotate_right(1));
    if pattern % 2 != 0 {
        thread::yield_now();
    }
}

/// What has ended on this thread since the last call.
pub fn take_ends() -> Vec<End> {
    ENDS.take()
}

fn note(end: End, ended: &AtomicBool) {
    assert!(!ended.swap(true, SeqCst), "it ends twice");
    ENDS.with_borrow_mut(|ends| ends.push(end));
}

/// The payload of an object. Equal by content.
pub struct Object {
    pub number: u32,
    pub content: u32,
    world: Arc<World>,
    ended: AtomicBool,
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        pause();
        assert!(!self.ended.load(SeqCst) && !other.ended.load(SeqCst));
        self.content == other.content
    }
}

impl Eq for Object {}

impl Hash for Object {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.content.hash(state);
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        self.world.alive.fetch_sub(1, SeqCst);
        note(End::Object(self.number), &self.ended);
    }
}

pub struct Thing {
    pub number: u32,
    /// The key that it is for.
    pub key: u32,
    world: Arc<World>,
    ended: AtomicBool,
}

impl Drop for Thing {
    fn drop(&mut self) {
        let (number, key, at) = (self.number, self.key, self.world.now());
        self.world.kept.fetch_sub(1, SeqCst);
        note(End::Owned { number, key, at }, &self.ended);
    }
}

/// What a collection owns: a value, or a key, which is found by the number of what it is for. Clones are the same one.
pub struct Owned(Arc<Thing>);

impl Clone for Owned {
    fn clone(&self) -> Self {
        pause();
        CLONES.with_borrow_mut(|clones| clones.push(self.number));
        Owned(self.0.clone())
    }
}

impl Deref for Owned {
    type Target = Thing;

    fn deref(&self) -> &Thing {
        assert!(!self.0.ended.load(SeqCst), "it is there no more");
        &self.0
    }
}

impl PartialEq for Owned {
    fn eq(&self, other: &Self) -> bool {
        pause();
        self.key == other.key
    }
}

impl Eq for Owned {}

impl Hash for Owned {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl Borrow<u32> for Owned {
    fn borrow(&self) -> &u32 {
        &self.key
    }
}

/// A kind of handle that threads share.
pub trait Handle:
    SharedRef<Target = Object, Weak: Identify<Self>>
    + Clone
    + Deref<Target = Object>
    + Borrow<Object>
    + From<Object>
    + 'static
{
    /// Whether deaths are notified.
    const NOTIFIES: bool;
}

macro_rules! handles {
    ($($handle:ty: $notifies:expr;)*) => {
        $(impl Handle for $handle {
            const NOTIFIES: bool = $notifies;
        })*
    };
}

handles! {
    Strong<Object>: true;
    Arc<Object>: false;
    Own<(), Object, { APART }>: true;
}

/// What a thread has of an object: a weak handle, and perhaps a strong one. A key for lookups.
pub struct Hand<K: Handle> {
    pub strong: Option<K>,
    pub weak: K::Weak,
    pub number: u32,
    pub content: u32,
}

impl<K: Handle> Hand<K> {
    pub fn new(object: K) -> Self {
        Hand {
            weak: K::downgrade(&object),
            number: object.number,
            content: object.content,
            strong: Some(object),
        }
    }

    /// Another hand of the same object.
    pub fn again(&self) -> Self {
        Hand {
            strong: self.strong.clone(),
            weak: self.weak.clone(),
            ..*self
        }
    }
}

impl<K: Handle> Identify<K> for Hand<K> {
    fn addr(this: &Self) -> *const () {
        match &this.strong {
            Some(object) => WeakKey::addr(object),
            None => Identify::addr(&this.weak),
        }
    }
}

impl<K: Handle> Hash for Hand<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.content.hash(state);
    }
}

impl<K: Handle> Equivalent<Object> for Hand<K> {
    fn equivalent(&self, other: &Object) -> bool {
        pause();
        assert!(!other.ended.load(SeqCst));
        self.content == other.content
    }
}
