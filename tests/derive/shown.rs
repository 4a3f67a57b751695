//! Which handles are shown, and under which names.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use weakly::{cycles::Trace, impl_trace, local, unsize};

use crate::{Key, fields, goes, is_trace};

/// Not `Trace`, as a type of another crate.
struct Foreign;

#[derive(Trace)]
struct Named {
    first: Key,
    number: u32,
    rest: RefCell<Vec<Option<Key>>>,
}

#[derive(Trace)]
struct Tuple(Key, u32, Key);

#[derive(Trace)]
struct Unit;

#[derive(Trace)]
struct Braces {}

#[derive(Trace)]
struct Parentheses();

#[derive(Trace)]
enum Never {}

#[derive(Trace)]
enum Either {
    Nothing,
    Empty {},
    One(Key),
    Two(u8, Key, Key),
    Named {
        left: Key,
        number: u8,
        right: Box<Either>,
    },
}

/// 670: All handles in the fields of a struct are shown.
#[test]
fn structs() {
    let rest = |key: Key| RefCell::new(vec![Some(key.clone()), None, Some(key)]);
    assert!(goes(|key| Named {
        first: key.clone(),
        number: 1,
        rest: rest(key),
    }));
    assert!(goes(|key| Tuple(key.clone(), 1, key)));
    assert!(goes(|key| (Unit, Braces {}, Parentheses(), key)));
    // A field that is borrowed shows nothing.
    let (key, number) = (local::Strong::new(1), 1);
    let named = Rc::new(Named {
        first: key.clone(),
        number,
        rest: rest(key.clone()),
    });
    let mut map = weakly::WeakMap::from([(&key, Rc::clone(&named))]);
    drop(key);
    let borrowed = named.rest.borrow_mut();
    assert_eq!(map.purge_cycles().removed, 0);
    drop(borrowed);
    assert_eq!(named.number, 1);
    drop(named);
    assert_eq!(map.purge_cycles().removed, 1);
}

/// 670: So are those in the fields of each variant of an enum.
#[test]
fn enums() {
    assert!(goes(Either::One));
    assert!(goes(|key| Either::Two(0, key.clone(), key)));
    assert!(goes(|key| Either::Named {
        left: key.clone(),
        number: 1,
        right: Box::new(Either::One(key)),
    }));
    assert!(goes(|key| [
        Either::Nothing,
        Either::Empty {},
        Either::One(key)
    ]));
    is_trace::<Never>();
}

/// 670: A field has the same name as by `impl_trace!`, in a variant, too.
#[test]
fn the_names_of_fields() {
    struct Byhand {
        r#type: Key,
        rest: Named,
    }
    impl_trace!(Byhand: r#type, rest);
    #[derive(Trace)]
    struct Derived {
        r#type: Key,
        rest: Named,
    }
    let named = |key: Key| Named {
        first: key.clone(),
        number: 1,
        rest: RefCell::new(vec![Some(key)]),
    };
    let byhand = fields(|key| Byhand {
        r#type: key.clone(),
        rest: named(key),
    });
    let derived = fields(|key| Derived {
        r#type: key.clone(),
        rest: named(key),
    });
    assert_eq!(
        derived,
        ["type -> u8", "rest.first -> u8", "rest.rest -> u8"]
    );
    assert_eq!(derived, byhand);
    assert_eq!(
        fields(|key| Tuple(key.clone(), 1, key)),
        ["0 -> u8", "2 -> u8"]
    );
    let right = |key| Box::new(Either::Two(0, local::Strong::new(1), key));
    let either = fields(|key| Either::Named {
        left: key.clone(),
        number: 1,
        right: right(key),
    });
    assert_eq!(either, ["left -> u8", "right.2 -> u8"]);
}

/// 671: A skipped field and a skipped variant show nothing, and their types need not be `Trace`.
#[test]
fn skipped() {
    #[derive(Trace)]
    struct Hides {
        #[trace(skip)]
        hidden: Key,
        shown: Key,
        #[trace(skip)]
        foreign: Foreign,
    }
    #[derive(Trace)]
    struct First(#[trace(skip)] Foreign, Key);
    #[derive(Trace)]
    enum Some {
        Field(Key, #[trace(skip)] Key, #[trace(skip)] Foreign),
        #[trace(skip)]
        Variant(Key, Foreign),
        #[trace(skip)]
        Fields {
            key: Key,
        },
    }
    let other = || local::Strong::new(2);
    let hides = |hidden, shown| Hides {
        hidden,
        shown,
        foreign: Foreign,
    };
    assert!(goes(|key| hides(other(), key)));
    assert!(!goes(|key| hides(key, other())));
    assert!(goes(|key| First(Foreign, key)));
    assert_eq!(fields(|key| First(Foreign, key)), ["1 -> u8"]);
    assert!(goes(|key| Some::Field(key, other(), Foreign)));
    assert!(!goes(|key| Some::Field(other(), key, Foreign)));
    assert!(!goes(|key| Some::Variant(key, Foreign)));
    assert!(!goes(|key| Some::Fields { key }));
    assert_eq!(
        fields(|key| Some::Field(key.clone(), key, Foreign)),
        ["0 -> u8"]
    );
    let hides = hides(other(), other());
    let Hides {
        hidden: _,
        foreign: Foreign,
        ..
    } = hides;
}

/// 672: A collection of another crate is shown by its items.
#[test]
fn each() {
    struct Arena<T>(Vec<T>);
    impl<'a, T> IntoIterator for &'a Arena<T> {
        type Item = &'a T;
        type IntoIter = std::slice::Iter<'a, T>;
        fn into_iter(self) -> Self::IntoIter {
            self.0.iter()
        }
    }
    #[derive(Trace)]
    struct Graph<T, #[trace(skip)] S> {
        #[trace(each)]
        arena: Arena<T>,
        #[trace(each)]
        names: hashbrown::HashMap<&'static str, T, S>,
    }
    #[derive(Trace)]
    enum Either {
        All(#[trace(each)] Arena<Key>, u8),
    }
    type Whole = Graph<Key, std::hash::RandomState>;
    let other = || local::Strong::new(2);
    let new = |keys, named| Whole {
        arena: Arena(keys),
        names: [("a", other()), ("b", named)].into_iter().collect(),
    };
    assert!(goes(|key| new(vec![other(), key.clone()], key)));
    assert_eq!(fields(|key| new(vec![key], other())), ["arena -> u8"]);
    assert_eq!(fields(|key| new(vec![], key)), ["names -> u8"]);
    assert!(goes(|key| Either::All(Arena(vec![key.clone(), key]), 1)));
}

/// 674: The last field may be unsized.
#[test]
fn unsized_tails() {
    trait Shape: Trace {}
    impl Shape for Tuple {}
    #[derive(Trace)]
    struct Node<T: ?Sized> {
        own: Key,
        tail: T,
    }
    #[derive(Trace)]
    struct Text(Key, str);
    is_trace::<Text>();
    assert!(goes(|key| -> Box<Node<[Key]>> {
        Box::new(Node {
            own: key.clone(),
            tail: [key.clone(), key],
        })
    }));
    assert!(goes(|key| -> Rc<Node<dyn Shape>> {
        Rc::new(Node {
            own: key.clone(),
            tail: Tuple(key.clone(), 1, key),
        })
    }));
    let shape = |own: Key, key: Key| {
        let node = Node {
            own,
            tail: Tuple(key.clone(), 1, key),
        };
        unsize!(local::Strong::new(node) => Node<dyn Shape>)
    };
    assert!(goes(|key| shape(key.clone(), key)));
    assert_eq!(
        fields(|key| (1, shape(key.clone(), key))),
        ["own -> u8", "tail.0 -> u8", "tail.2 -> u8"]
    );
}

/// 670: The type may have a destructor. A destructor that hands out a handle loses the entry of its object, and no more.
#[test]
fn a_type_with_a_destructor() {
    thread_local!(static SAVED: Cell<Option<Key>> = const { Cell::new(None) });
    #[derive(Trace)]
    struct Saves {
        key: Key,
    }
    impl Drop for Saves {
        fn drop(&mut self) {
            SAVED.set(Some(self.key.clone()));
        }
    }
    assert!(goes(|key| Saves { key }));
    assert_eq!(*SAVED.take().expect("a handle"), 1);
}

/// 670: A map is a field as any other, and objects behind fields show their own.
#[test]
fn fields_of_all_kinds() {
    #[derive(Trace, Default)]
    struct Session {
        names: HashMap<String, Key>,
        attributes: weakly::WeakMap<Key, Vec<Key>>,
        next: Option<local::Strong<Session>>,
    }
    assert!(goes(|key| {
        let mut session = Session::default();
        for _ in 0..100 {
            session.names.insert("key".into(), key.clone());
            session.attributes.insert(&key, vec![key.clone()]);
            let next = Some(local::Strong::new(session));
            session = Session {
                next,
                ..Session::default()
            };
        }
        session
    }));
}
