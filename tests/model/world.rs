//! Ground truth: objects and values that write down their own ends, and a count of who owns whom.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::common::{Kind, new};

/// The strong pointers of the scripts.
pub type Key<P> = <P as Kind>::Strong<Item>;

/// What happened, in order.
#[derive(Debug)]
enum Event {
    Made {
        value: usize,
        content: usize,
        heir: Option<usize>,
    },
    Destroyed(usize),
    Died(usize),
}

/// Where destructors write.
#[derive(Default)]
pub struct Ledger {
    events: RefCell<Vec<Event>>,
    values: Cell<usize>,
}

impl Ledger {
    fn note(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }
}

/// The payload of an object. It is told apart by its number.
pub struct Item {
    pub id: usize,
    ledger: Rc<Ledger>,
}

impl Drop for Item {
    fn drop(&mut self) {
        self.ledger.note(Event::Died(self.id));
    }
}

/// A value in a map. Clones have a number of their own, and the same content. It may own an object,
/// its heir, which dies with it if nobody else owns it.
pub struct Value<P: Kind> {
    pub id: usize,
    pub content: usize,
    heir: Option<Key<P>>,
    ledger: Rc<Ledger>,
}

impl<P: Kind> Value<P> {
    pub fn new(ledger: &Rc<Ledger>, content: Option<usize>, heir: Option<Key<P>>) -> Self {
        let id = ledger.values.replace(ledger.values.get() + 1);
        let content = content.unwrap_or(id);
        ledger.note(Event::Made {
            value: id,
            content,
            heir: heir.as_ref().map(|heir| heir.id),
        });
        Value {
            id,
            content,
            heir,
            ledger: ledger.clone(),
        }
    }
}

impl<P: Kind> Clone for Value<P> {
    fn clone(&self) -> Self {
        Value::new(&self.ledger, Some(self.content), self.heir.clone())
    }
}

impl<P: Kind> PartialEq for Value<P> {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

impl<P: Kind> Drop for Value<P> {
    fn drop(&mut self) {
        // First this, then the heir.
        self.ledger.note(Event::Destroyed(self.id));
    }
}

/// What the model knows of an entry. A set's has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub object: usize,
    pub value: Option<usize>,
}

/// The model of a map: all entries, those of dead keys too until their values have been destroyed.
pub type Entries = Vec<Entry>;

struct Object {
    owners: usize,
    alive: bool,
}

struct Fate {
    content: usize,
    heir: Option<usize>,
    destroyed: bool,
}

/// Who lives: an object, while somebody owns it; a value, until it says that it is destroyed.
#[derive(Default)]
pub struct Truth {
    pub ledger: Rc<Ledger>,
    objects: Vec<Object>,
    values: Vec<Fate>,
    /// Those whose owners have changed since the last look.
    changed: Vec<usize>,
}

impl Truth {
    /// A new object, owned by the caller.
    pub fn object<P: Kind>(&mut self) -> Key<P> {
        self.objects.push(Object {
            owners: 1,
            alive: true,
        });
        new::<P, Item>(Item {
            id: self.objects.len() - 1,
            ledger: self.ledger.clone(),
        })
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

    pub fn content(&self, value: usize) -> usize {
        self.values[value].content
    }

    /// Whether nothing has happened since the last `settle`.
    pub fn is_quiet(&self) -> bool {
        self.ledger.events.borrow().is_empty()
    }

    /// Works off the events. The values in `doomed` must have been destroyed by now; else only those
    /// of dead keys may have been, and they leave the model.
    pub fn settle(&mut self, mut models: [&mut Entries; 2], mut doomed: Vec<usize>) {
        for event in self.ledger.events.take() {
            match event {
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
                    });
                    if let Some(heir) = heir {
                        self.objects[heir].owners += 1;
                    }
                }
                Event::Destroyed(value) => {
                    let fate = &mut self.values[value];
                    assert!(!fate.destroyed, "value {value} was destroyed twice");
                    fate.destroyed = true;
                    let heir = fate.heir;
                    match doomed.iter().position(|&other| other == value) {
                        Some(place) => _ = doomed.swap_remove(place),
                        None => self.bury(value, &mut models),
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
            model.retain(|entry| entry.value.is_some() || self.is_alive(entry.object));
        }
    }

    /// A value has gone that nobody removed: its key must be dead.
    fn bury(&self, value: usize, models: &mut [&mut Entries; 2]) {
        for model in models {
            if let Some(place) = model.iter().position(|entry| entry.value == Some(value)) {
                let Entry { object, .. } = model.swap_remove(place);
                assert!(
                    !self.is_alive(object),
                    "the value of live object {object} is gone"
                );
                return;
            }
        }
        panic!("value {value} was destroyed outside of a map");
    }

    /// At the very end: nothing is left.
    pub fn finish(&self) {
        assert!(self.is_quiet());
        assert!(
            self.values.iter().all(|fate| fate.destroyed),
            "a value leaked"
        );
        assert!(
            self.objects.iter().all(|object| !object.alive),
            "an object leaked"
        );
    }
}
