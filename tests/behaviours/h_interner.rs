//! H. The interner (item 117), identity for types that contain handles, and the drop of deep terms.

use std::borrow::Borrow;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;

use weakly::{
    Interner, Strong, dismantle,
    reference::{Content, StrongRef},
};

use crate::common::{Counter, Log, OnDrop, scaled};
use crate::heap;

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
