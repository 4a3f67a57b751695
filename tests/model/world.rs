//! Ground truth: objects and owned values that log their own drops, and a count of the owners of each.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::mem::take;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::entry::{Entry, Model};
use crate::common::own::{APART, Own};
use crate::common::{Kind, new};
use weakly::{Addr, Strong, local, reference::Identify};

/// The strong pointers of the scripts.
pub type Key<P> = <P as Kind>::Strong<Item>;

/// What happened, in order.
#[derive(Debug)]
enum Event {
    Born {
        object: usize,
        content: usize,
        heir: Option<usize>,
    },
    Made {
        value: usize,
        content: usize,
        heir: Option<usize>,
    },
    Destroyed(usize),
    Died(usize),
}

/// Where constructors and destructors log.
#[derive(Default)]
pub struct Ledger {
    events: RefCell<Vec<Event>>,
    objects: Cell<usize>,
    values: Cell<usize>,
}

impl Ledger {
    fn note(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }
}

/// An object that something else owns, and which dies with it unless it has another owner.
pub trait Heir {
    fn id(&self) -> usize;
    fn again(&self) -> Box<dyn Heir>;
}

impl<K: Deref<Target = Item> + Clone + 'static> Heir for K {
    fn id(&self) -> usize {
        self.id
    }

    fn again(&self) -> Box<dyn Heir> {
        Box::new(self.clone())
    }
}

/// A content, which is a small number, and the ledger of its objects. Equal by content.
#[derive(Clone)]
pub struct Content {
    pub number: usize,
    ledger: Rc<Ledger>,
}

impl Content {
    /// For a lookup: without a log.
    pub fn unlogged(number: usize) -> Self {
        Content {
            number,
            ledger: Rc::default(),
        }
    }
}

/// The payload of an object: keyed by its number, or by its content.
pub struct Item {
    pub id: usize,
    pub content: Content,
    heir: Option<Box<dyn Heir>>,
}

impl Item {
    pub fn new(content: Content, heir: Option<Box<dyn Heir>>) -> Self {
        let id = content
            .ledger
            .objects
            .replace(content.ledger.objects.get() + 1);
        content.ledger.note(Event::Born {
            object: id,
            content: content.number,
            heir: heir.as_ref().map(|heir| heir.id()),
        });
        Item { id, content, heir }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        // First this, then the heir.
        self.content.ledger.note(Event::Died(self.id));
    }
}

/// What a collection owns: a value, or a key. Clones have a number of their own, and the same content.
pub struct Value {
    pub id: usize,
    pub content: Content,
    heir: Option<Box<dyn Heir>>,
}

impl Value {
    /// Its content is its number, unless given.
    pub fn new(ledger: &Rc<Ledger>, content: Option<usize>, heir: Option<Box<dyn Heir>>) -> Self {
        let id = ledger.values.replace(ledger.values.get() + 1);
        let content = content.unwrap_or(id);
        ledger.note(Event::Made {
            value: id,
            content,
            heir: heir.as_ref().map(|heir| heir.id()),
        });
        let ledger = ledger.clone();
        let content = Content {
            number: content,
            ledger,
        };
        Value { id, content, heir }
    }

    /// For a lookup: without a log.
    pub fn unlogged(content: usize) -> Self {
        Value::new(&Rc::default(), Some(content), None)
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        let heir = self.heir.as_ref().map(|heir| heir.again());
        Value::new(&self.content.ledger, Some(self.content.number), heir)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.content.ledger.note(Event::Destroyed(self.id));
    }
}

/// A value, or a key, that threads could share: clones are the same one.
#[derive(Clone)]
pub struct SharedValue(Arc<Value>);

impl SharedValue {
    pub fn new(value: Value) -> Self {
        SharedValue(value.into())
    }

    /// Another one with the same content.
    pub fn again(&self) -> Self {
        SharedValue::new(Value::clone(self))
    }
}

impl Deref for SharedValue {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl Borrow<Value> for SharedValue {
    fn borrow(&self) -> &Value {
        self
    }
}

// SAFETY: a script, and with it all that it makes, stays on one thread: only the types of what threads share ask for
// more.
#[allow(unsafe_code)]
unsafe impl Send for Item {}
// SAFETY: likewise.
#[allow(unsafe_code)]
unsafe impl Sync for Item {}
// SAFETY: likewise.
#[allow(unsafe_code)]
unsafe impl Send for Value {}
// SAFETY: likewise.
#[allow(unsafe_code)]
unsafe impl Sync for Value {}

macro_rules! equal_by_content {
    ($($type:ty: |$this:ident| $content:expr;)*) => {$(
        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                let content = |$this: &Self| $content;
                content(self) == content(other)
            }
        }

        impl Eq for $type {}

        impl Hash for $type {
            fn hash<H: Hasher>(&self, state: &mut H) {
                let $this = self;
                $content.hash(state);
            }
        }

        impl Borrow<usize> for $type {
            fn borrow(&self) -> &usize {
                let $this = self;
                &$content
            }
        }
    )*};
}

equal_by_content! {
    Content: |this| this.number;
    Item: |this| this.content.number;
    Value: |this| this.content.number;
    SharedValue: |this| this.content.number;
}

impl Borrow<Content> for Item {
    fn borrow(&self) -> &Content {
        &self.content
    }
}

impl Borrow<Content> for Value {
    fn borrow(&self) -> &Content {
        &self.content
    }
}

impl Borrow<Content> for SharedValue {
    fn borrow(&self) -> &Content {
        &self.content
    }
}

type UserOwn = Own<(), Item, APART>;

impl Identify<UserOwn> for Item {
    fn addr(this: &Self) -> *const () {
        Identify::<UserOwn>::addr(&Addr::of(this))
    }
}

macro_rules! from_content {
    ($($pointer:ty),*) => {$(
        impl From<&Content> for $pointer {
            fn from(content: &Content) -> Self {
                Item::new(content.clone(), None).into()
            }
        }
    )*};
}

from_content!(
    Strong<Item>,
    local::Strong<Item>,
    Arc<Item>,
    Rc<Item>,
    UserOwn
);

struct Object {
    content: usize,
    heir: Option<usize>,
    owners: usize,
    alive: bool,
}

struct Fate {
    content: usize,
    heir: Option<usize>,
    destroyed: bool,
    /// It is in something that was forgotten.
    lost: bool,
}

/// What is alive: an object, while it has an owner; an owned value, until its drop is logged.
#[derive(Default)]
pub struct Truth {
    pub ledger: Rc<Ledger>,
    objects: Vec<Object>,
    values: Vec<Fate>,
    /// The objects of handles that were forgotten, each as often as that.
    lost: Vec<usize>,
    /// Those whose owners have changed since the last check.
    changed: Vec<usize>,
    /// Whether what dead entries own is kept now.
    pub keeps: bool,
}

impl Truth {
    /// A new object, owned by the caller.
    pub fn object<P: Kind>(&mut self, content: usize, heir: Option<Box<dyn Heir>>) -> Key<P> {
        let object = new::<P, Item>(Item::new(self.new_content(content), heir));
        assert!(self.is_new(object.id));
        object
    }

    pub fn new_content(&self, number: usize) -> Content {
        let ledger = self.ledger.clone();
        Content { number, ledger }
    }

    /// Whether an object is new. If so, the caller owns it from now on.
    pub fn is_new(&mut self, object: usize) -> bool {
        let known = self.objects.len();
        let mut events = self.ledger.events.borrow_mut();
        let mut heirs = Vec::new();
        events.retain(|event| match *event {
            Event::Born {
                object,
                content,
                heir,
            } => {
                assert_eq!(object, self.objects.len());
                heirs.extend(heir);
                self.objects.push(Object {
                    content,
                    heir,
                    owners: 0,
                    alive: true,
                });
                false
            }
            _ => true,
        });
        drop(events);
        heirs.into_iter().for_each(|heir| self.own(heir));
        if object >= known {
            self.objects[object].owners += 1;
        } else {
            assert!(self.is_alive(object), "a dead object was brought back");
        }
        object >= known
    }

    /// The caller has one handle more to an object.
    pub fn own(&mut self, object: usize) {
        assert!(self.is_alive(object), "a dead object was brought back");
        self.objects[object].owners += 1;
    }

    /// The caller is about to drop a handle.
    pub fn disown(&mut self, object: usize) {
        self.objects[object].owners -= 1;
        self.changed.push(object);
    }

    pub fn is_alive(&self, object: usize) -> bool {
        self.objects[object].owners > 0
    }

    /// Whether all are alive that an entry needs.
    pub fn is_live(&self, entry: &Entry) -> bool {
        entry.weak().all(|object| self.is_alive(object))
    }

    pub fn content_of_object(&self, object: usize) -> usize {
        self.objects[object].content
    }

    pub fn content_of_value(&self, value: usize) -> usize {
        self.values[value].content
    }

    /// It will never be dropped.
    pub fn lose(&mut self, value: usize) {
        self.values[value].lost = true;
    }

    /// A handle that the caller has taken will never be dropped.
    pub fn lose_owner(&mut self, object: usize) {
        self.objects[object].owners += 1;
        self.lost.push(object);
    }

    /// Whether nothing has happened since the last `settle`.
    pub fn is_quiet(&self) -> bool {
        self.ledger.events.borrow().is_empty()
    }

    /// Processes the events. The owned values in `doomed` must have been dropped by now; besides these, only
    /// values of dead entries may have been, and these leave the model.
    pub fn settle(&mut self, mut models: [&mut Model; 2], mut doomed: Vec<usize>) {
        let known = self.values.len();
        for event in self.ledger.events.take() {
            match event {
                Event::Born { .. } => unreachable!("births are asked for"),
                Event::Made {
                    value,
                    content,
                    heir,
                } => {
                    assert_eq!(value, self.values.len());
                    self.values.push(Fate {
                        content,
                        heir,
                        destroyed: false,
                        lost: false,
                    });
                    if let Some(heir) = heir {
                        self.objects[heir].owners += 1;
                    }
                }
                Event::Destroyed(value) => {
                    let fate = &mut self.values[value];
                    assert!(!fate.destroyed, "value {value} was destroyed twice");
                    assert!(!fate.lost, "value {value} was found again");
                    fate.destroyed = true;
                    let heir = fate.heir;
                    match doomed.iter().position(|&other| other == value) {
                        Some(place) => _ = doomed.swap_remove(place),
                        None => self.reclaim(value, value >= known, &mut models),
                    }
                    if let Some(heir) = heir {
                        self.disown(heir);
                    }
                }
                Event::Died(object) => {
                    let object = &mut self.objects[object];
                    assert!(object.alive, "an object died twice");
                    assert_eq!(object.owners, 0, "an object died before its owners");
                    object.alive = false;
                    if let Some(heir) = object.heir {
                        self.disown(heir);
                    }
                }
            }
        }
        assert!(
            doomed.is_empty(),
            "values {doomed:?} outlived their removal"
        );
        for object in self.changed.drain(..) {
            let object = &self.objects[object];
            assert_eq!(
                object.alive,
                object.owners > 0,
                "an object outlived its owners"
            );
        }
        for model in models {
            model.forget_dead(|entry| !self.is_live(entry));
        }
    }

    /// An owned value was dropped that no operation removed: its entry must be dead. (Or it is younger than the
    /// last check, and never was in an entry.)
    fn reclaim(&self, value: usize, young: bool, models: &mut [&mut Model; 2]) {
        for model in models {
            if let Some(entry) = model.take_owner_of(value) {
                assert!(!self.is_live(&entry), "{entry:?} lives, and is gone");
                assert!(!self.keeps, "nothing has requested what {entry:?} owns");
                return;
            }
        }
        assert!(young, "value {value} was destroyed outside of a collection");
    }

    /// At the very end: nothing is left, except what was leaked, and what that owns.
    pub fn finish(&mut self) {
        assert!(self.is_quiet());
        for (value, fate) in self.values.iter().enumerate() {
            assert!(fate.destroyed != fate.lost, "value {value} leaked");
        }
        let mut owned = take(&mut self.lost);
        owned.extend(
            self.values
                .iter()
                .filter(|fate| fate.lost)
                .filter_map(|fate| fate.heir),
        );
        for (object, state) in self.objects.iter().enumerate() {
            assert_eq!(state.alive, state.owners > 0, "object {object} leaked");
        }
        while let Some(object) = owned.pop() {
            let object = &mut self.objects[object];
            object.owners -= 1;
            owned.extend(object.heir.filter(|_| object.owners == 0));
        }
        assert!(self.objects.iter().all(|object| object.owners == 0));
    }
}
