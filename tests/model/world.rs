//! Ground truth: objects and owned things that write down their own ends, and a count of who owns whom.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::entry::{Entry, Model};
use crate::common::{Kind, new};
use weakly::{Strong, local};

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

/// Where constructors and destructors write.
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

/// An object that something else owns, and which dies with it if nobody else owns it.
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

/// A content, which is a small number, and who is told of what has it. Equal by content.
#[derive(Clone)]
pub struct Says {
    pub content: usize,
    ledger: Rc<Ledger>,
}

impl Says {
    /// For a lookup: nobody is told.
    pub fn unheard(content: usize) -> Self {
        Says {
            content,
            ledger: Rc::default(),
        }
    }
}

/// The payload of an object: told apart by its number, or by what it says.
pub struct Item {
    pub id: usize,
    pub says: Says,
    heir: Option<Box<dyn Heir>>,
}

impl Item {
    pub fn new(says: Says, heir: Option<Box<dyn Heir>>) -> Self {
        let id = says.ledger.objects.replace(says.ledger.objects.get() + 1);
        says.ledger.note(Event::Born {
            object: id,
            content: says.content,
            heir: heir.as_ref().map(|heir| heir.id()),
        });
        Item { id, says, heir }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        // First this, then the heir.
        self.says.ledger.note(Event::Died(self.id));
    }
}

/// What a collection owns: a value, or a key. Clones have a number of their own, and say the same.
pub struct Value {
    pub id: usize,
    pub says: Says,
    heir: Option<Box<dyn Heir>>,
}

impl Value {
    /// It says its number, if nothing else.
    pub fn new(ledger: &Rc<Ledger>, content: Option<usize>, heir: Option<Box<dyn Heir>>) -> Self {
        let id = ledger.values.replace(ledger.values.get() + 1);
        let content = content.unwrap_or(id);
        ledger.note(Event::Made {
            value: id,
            content,
            heir: heir.as_ref().map(|heir| heir.id()),
        });
        let ledger = ledger.clone();
        let says = Says { content, ledger };
        Value { id, says, heir }
    }

    /// For a lookup: nobody is told.
    pub fn unheard(content: usize) -> Self {
        Value::new(&Rc::default(), Some(content), None)
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        let heir = self.heir.as_ref().map(|heir| heir.again());
        Value::new(&self.says.ledger, Some(self.says.content), heir)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.says.ledger.note(Event::Destroyed(self.id));
    }
}

macro_rules! told_apart_by_content {
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

told_apart_by_content! {
    Says: |this| this.content;
    Item: |this| this.says.content;
    Value: |this| this.says.content;
}

impl Borrow<Says> for Item {
    fn borrow(&self) -> &Says {
        &self.says
    }
}

impl Borrow<Says> for Value {
    fn borrow(&self) -> &Says {
        &self.says
    }
}

macro_rules! born_of_what_it_says {
    ($($pointer:ty),*) => {$(
        impl From<&Says> for $pointer {
            fn from(says: &Says) -> Self {
                Item::new(says.clone(), None).into()
            }
        }
    )*};
}

born_of_what_it_says!(Strong<Item>, local::Strong<Item>, Arc<Item>, Rc<Item>);

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

/// Who lives: an object, while somebody owns it; what a collection owns, until it says that it is
/// destroyed.
#[derive(Default)]
pub struct Truth {
    pub ledger: Rc<Ledger>,
    objects: Vec<Object>,
    values: Vec<Fate>,
    /// Those whose owners have changed since the last look.
    changed: Vec<usize>,
    /// Whether what dead entries own is kept now.
    pub keeps: bool,
}

impl Truth {
    /// A new object, owned by the caller.
    pub fn object<P: Kind>(&mut self, content: usize, heir: Option<Box<dyn Heir>>) -> Key<P> {
        let object = new::<P, Item>(Item::new(self.says(content), heir));
        assert!(self.is_born(object.id));
        object
    }

    pub fn says(&self, content: usize) -> Says {
        let ledger = self.ledger.clone();
        Says { content, ledger }
    }

    /// Whether an object is new. If so, the caller owns it from now on.
    pub fn is_born(&mut self, object: usize) -> bool {
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

    /// Will never be destroyed.
    pub fn lose(&mut self, value: usize) {
        self.values[value].lost = true;
    }

    /// Whether nothing has happened since the last `settle`.
    pub fn is_quiet(&self) -> bool {
        self.ledger.events.borrow().is_empty()
    }

    /// Works off the events. The owned in `doomed` must have been destroyed by now; else only those of
    /// dead entries may have been, and they leave the model.
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
                        None => self.bury(value, value >= known, &mut models),
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

    /// Something owned has gone that nobody removed: its entry must be dead. (Or it is younger than
    /// the last look, and never was in an entry.)
    fn bury(&self, value: usize, young: bool, models: &mut [&mut Model; 2]) {
        for model in models {
            if let Some(entry) = model.take_owner_of(value) {
                assert!(!self.is_live(&entry), "{entry:?} lives, and is gone");
                assert!(!self.keeps, "nobody has asked for what {entry:?} owns");
                return;
            }
        }
        assert!(young, "value {value} was destroyed outside of a collection");
    }

    /// At the very end: nothing is left, but what was lost, and what that owns.
    pub fn finish(&mut self) {
        assert!(self.is_quiet());
        for (value, fate) in self.values.iter().enumerate() {
            assert!(fate.destroyed != fate.lost, "value {value} leaked");
        }
        let mut owned = Vec::new();
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
