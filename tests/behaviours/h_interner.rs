//! H. The interner (item 117), identity for types that contain handles, and the drop of deep terms.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use weakly::{
    ByIdentity, Interner, Strong, dismantle, local,
    reference::{Content, StrongRef, WeakKey},
};

use crate::common::{Counter, Kind, Log, OnDrop, is_alive, new, scaled};
use crate::{for_each_kind, heap};

for_each_kind!(
    equal_contents_are_one_object_while_one_lives,
    a_found_content_that_is_dying_is_made_anew,
    a_handle_is_interned_as_it_is,
    get_finds_and_makes_nothing,
    children_are_compared_by_identity,
    an_interner_shows_its_live_handles,
);

/// H117: Handles of equal contents are one object, for as long as one of them lives; then a new one.
fn equal_contents_are_one_object_while_one_lives<P: Kind>() {
    let mut words = Interner::<P::Strong<String>>::new();
    let one = words.intern("word".to_owned());
    let other = words.intern("word".to_owned());
    let different = words.intern("other".to_owned());
    assert!(ByIdentity(one.clone()) == ByIdentity(other.clone()));
    assert!(ByIdentity(one.clone()) != ByIdentity(different.clone()));
    assert_eq!(words.len(), 2);
    drop(one);
    let again = words.intern("word".to_owned());
    assert!(ByIdentity(again.clone()) == ByIdentity(other.clone()));
    let dead = P::Strong::downgrade(&again);
    drop((again, other));
    assert!(!is_alive(&dead));
    assert!(words.get("word").is_none());
    let anew = words.intern("word".to_owned());
    assert_eq!((anew.as_str(), P::counts(&anew)), ("word", (1, 1)));
    assert!(words.get("word").is_some());
    words.purge();
    assert_eq!((words.len(), words.pending_dead()), (2, 0));
}

/// A content that looks itself up in its destructor.
struct Dying<P: Kind> {
    name: u8,
    words: Rc<RefCell<Interner<P::Strong<Dying<P>>>>>,
    found: Rc<Cell<Option<bool>>>,
}

impl<P: Kind> PartialEq for Dying<P> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<P: Kind> Eq for Dying<P> {}

impl<P: Kind> Hash for Dying<P> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// By its content.
impl<P: Kind> Borrow<u8> for Dying<P> {
    fn borrow(&self) -> &u8 {
        &self.name
    }
}

impl<P: Kind> Drop for Dying<P> {
    fn drop(&mut self) {
        if let Ok(words) = self.words.try_borrow() {
            self.found.set(Some(words.get(&self.name).is_some()));
        }
    }
}

/// H117: An object that is found while it is in its destructor is not returned: it counts as absent.
fn a_found_content_that_is_dying_is_made_anew<P: Kind>() {
    let words: Rc<RefCell<Interner<P::Strong<Dying<P>>>>> = Rc::default();
    let found = Rc::new(Cell::new(None));
    let make = || Dying::<P> {
        name: 1,
        words: Rc::clone(&words),
        found: found.clone(),
    };
    let one = words.borrow_mut().intern(make());
    let other = words.borrow_mut().intern(make());
    assert!(P::Strong::addr(&one) == P::Strong::addr(&other));
    found.set(None);
    drop((one, other));
    assert_eq!(found.get(), Some(false), "in its destructor");
    let anew = words.borrow_mut().intern(make());
    assert_eq!((anew.name, RefCell::borrow(&words).len_live()), (1, 1));
}

/// H117: A handle becomes the one for its content, if there is no other; if there is, that one is returned.
fn a_handle_is_interned_as_it_is<P: Kind>() {
    let [one, other] = [7, 7].map(new::<P, usize>);
    let mut numbers = Interner::<P::Strong<usize>>::new();
    let mut interned = |handle: &P::Strong<usize>| P::Strong::addr(&numbers.intern(handle.clone()));
    assert_eq!(interned(&one), P::Strong::addr(&one));
    assert_eq!(interned(&other), P::Strong::addr(&one));
    assert_eq!((P::counts(&one), P::counts(&other)), ((1, 1), (1, 0)));
    drop(one);
    assert_eq!(interned(&other), P::Strong::addr(&other));
    assert_eq!(P::counts(&other), (1, 1));
    assert_eq!(numbers.len_live(), 1);
}

/// H117: `get` finds live objects, by any equivalent content, and makes nothing.
fn get_finds_and_makes_nothing<P: Kind>() {
    let mut words = Interner::<P::Strong<String>>::new();
    assert!(words.get("word").is_none());
    let word = words.intern("word".to_owned());
    let before = heap::allocations();
    let found = words.get("word").unwrap();
    assert!(words.get("other").is_none());
    assert_eq!(heap::allocations(), before);
    assert_eq!(P::Strong::addr(&found), P::Strong::addr(&word));
    drop((word, found));
    assert!(words.get("word").is_none());
}

/// A term with a child.
type Term<P> = (u8, ByIdentity<<P as Kind>::Strong<usize>>);

/// H117: [`ByIdentity`] is equal, and hashes equal, for one object only, whatever its content; where children
/// are interned, so are terms.
fn children_are_compared_by_identity<P: Kind>() {
    let [one, twin] = [7, 7].map(new::<P, usize>);
    let [a, b, c] = [&one, &one, &twin].map(|key| ByIdentity(key.clone()));
    assert!(a == b && a != c);
    let mut terms = Interner::<P::Strong<Term<P>>>::new();
    let [x, y, z] = [&a, &b, &c].map(|child| terms.intern((0, child.clone())));
    let addrs = [&x, &y, &z].map(P::Strong::addr);
    assert!(addrs[0] == addrs[1] && addrs[0] != addrs[2]);
    assert_eq!((terms.len(), **x.1 + **z.1), (2, 14));
}

/// H117: The interner's iterator shows each live handle once; its hasher is accessible; it has no more memory
/// than it needs.
fn an_interner_shows_its_live_handles<P: Kind>() {
    let state = std::hash::RandomState::new();
    let mut numbers = Interner::<P::Strong<usize>, _>::with_capacity_and_hasher(50, state);
    assert!(numbers.capacity() >= 50);
    let mut kept: Vec<_> = (0..20).map(|n| numbers.intern(n)).collect();
    kept.truncate(5);
    assert_eq!(
        crate::collections::sorted(numbers.iter().map(|key| *key)),
        [0, 1, 2, 3, 4]
    );
    assert_eq!(numbers.iter().count(), numbers.len_live());
    let _hasher: &std::hash::RandomState = numbers.hasher();
    numbers.shrink_to_fit();
    assert!((5..50).contains(&numbers.capacity()));
}

/// A pointer to a text, as each kind of pointer has it.
fn check_texts<K>()
where
    K: StrongRef<Target = str>
        + Content
        + Debug
        + From<String>
        + Borrow<str>
        + for<'q> From<&'q str>,
{
    let mut words = Interner::<K>::with_capacity(8);
    drop(words.intern_ref("the first, with which it takes what it needs for itself"));
    words.purge();
    let before = heap::allocations();
    let one = words.intern_ref("word");
    assert_eq!(heap::allocations() - before, 1);
    let before = heap::allocations();
    let other = words.intern_ref("word");
    let third = words.intern(other);
    assert_eq!(heap::allocations(), before, "a hit copies nothing");
    assert_eq!(
        (K::addr(&one), K::content(&third)),
        (K::addr(&third), "word")
    );
    let text = String::from("word");
    assert_eq!(K::addr(&words.intern(text)), K::addr(&one));
    let text = words.intern(String::from("text"));
    assert_eq!(K::addr(&words.intern_ref("text")), K::addr(&text));
    assert_eq!(format!("{words:?}").len(), r#"{"word", "text"}"#.len());
    drop((one, third, text));
    assert_eq!((words.len_live(), words.get("word").is_none()), (0, true));
    let again = words.intern_ref("word");
    assert_eq!(K::content(&again), "word");
}

/// H117: `intern_ref` allocates on a miss only: for the object, and once for its watch. A `String` becomes a
/// `Strong<str>`.
#[test]
fn borrowed_contents_are_copied_on_a_miss_only() {
    check_texts::<Strong<str>>();
    check_texts::<local::Strong<str>>();
    check_texts::<Arc<str>>();
    check_texts::<Rc<str>>();
}

/// A text that becomes a handle to another.
#[derive(PartialEq, Eq, Hash)]
struct Shout(&'static str);

impl Borrow<str> for Shout {
    fn borrow(&self) -> &str {
        self.0
    }
}

impl From<Shout> for Strong<str> {
    fn from(shout: Shout) -> Self {
        shout.0.to_uppercase().into()
    }
}

/// 430: The interner hashes only the content as which the value borrows. A handle of another content is found by neither
/// content, and its entry goes with its object.
#[test]
fn a_value_is_trusted_to_become_what_it_borrows_as() {
    let mut words = Interner::<Strong<str>>::new();
    let quiet = words.intern(Shout("quiet"));
    assert_eq!((&*quiet, words.len()), ("QUIET", 1));
    assert!(words.get("quiet").is_none() && words.get("QUIET").is_none());
    let loud = words.intern(Shout("LOUD"));
    assert!(Strong::ptr_eq(&words.intern_ref("LOUD"), &loud));
    drop((quiet, loud));
    words.purge();
    assert_eq!((words.len(), words.pending_dead()), (0, 0));
}

/// H113, H117: While another thread lets handles die, every interning thread gets a live one, and there are
/// never two for one content.
#[test]
fn handles_that_die_elsewhere_are_made_again() {
    let (send, receive) = std::sync::mpsc::channel::<Strong<str>>();
    let mut words = Interner::<Strong<str>>::new();
    let texts: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    thread::scope(|scope| {
        scope.spawn(|| receive.into_iter().for_each(drop));
        for _ in 0..scaled(300, 5) {
            for text in &texts {
                let one = words.intern_ref(text.as_str());
                let other = words.intern(text.clone());
                assert!(Strong::ptr_eq(&one, &other) && **text == *one);
                send.send(one).unwrap();
            }
            assert!(words.len() <= texts.len());
        }
        drop(send);
    });
    assert_eq!((words.len(), words.len_live()), (0, 0));
}

/// A list whose drop does not recurse.
macro_rules! lists {
    ($($name:ident: $strong:ty;)*) => {$(
        mod $name {
            use super::*;

            struct List {
                next: Option<$strong>,
                _dead: OnDrop,
            }

            impl Drop for List {
                fn drop(&mut self) {
                    dismantle(self.next.take(), <$strong>::into_inner, |list| list.next.take());
                }
            }

            fn list(n: usize, dead: &Counter) -> $strong {
                let link = |next, _| Some(<$strong>::new(List { next, _dead: dead.witness() }));
                (0..n).fold(None, link).unwrap()
            }

            /// H117, C53: A list of a hundred thousand links, each owning the next, dies in its own
            /// `Drop` without recursion.
            #[test]
            fn dies_without_recursion() {
                let dead = Counter::default();
                let n = scaled(100_000, 200);
                drop(list(n, &dead));
                assert_eq!(dead.get(), n);
            }

            /// H117, C53: Or is dismantled from outside; a part with another owner stays, with all that it owns.
            #[test]
            fn is_dismantled_except_for_shared_parts() {
                let dead = Counter::default();
                let (n, below) = (scaled(100_000, 200), 50);
                let kept = list(below, &dead);
                let link = |next, _| <$strong>::new(List { next: Some(next), _dead: dead.witness() });
                let head = (below..n).fold(kept.clone(), link);
                dismantle([head], <$strong>::into_inner, |list| list.next.take());
                assert_eq!((dead.get(), <$strong>::strong_count(&kept)), (n - below, 1));
                drop(kept);
                assert_eq!(dead.get(), n);
            }
        }
    )*};
}

lists! {
    a_list_of_strong: Strong<List>;
    a_list_of_local_strong: local::Strong<List>;
    a_list_of_arc: Arc<List>;
    a_list_of_rc: Rc<List>;
}

/// H117: `dismantle` drops each payload once, after its children were taken out, and shared children
/// with the last of their parents.
#[test]
fn a_shared_child_goes_with_its_last_parent() {
    struct Node(&'static str, Log, Vec<Strong<Node>>);
    impl Drop for Node {
        fn drop(&mut self) {
            self.1.note(self.0);
            assert!(self.2.is_empty());
        }
    }
    let log = Log::default();
    let node = |name, children: &[&Strong<Node>]| {
        let children = children.iter().copied().cloned().collect();
        Strong::new(Node(name, log.clone(), children))
    };
    let shared = node("shared", &[]);
    let (a, b) = (node("a", &[&shared]), node("b", &[&shared]));
    drop(shared);
    let take = |node: &mut Node| std::mem::take(&mut node.2);
    dismantle([a], Strong::into_inner, take);
    assert_eq!(log.take(), ["a"]);
    dismantle([b], Strong::into_inner, take);
    assert_eq!(log.take(), ["b", "shared"]);
}
