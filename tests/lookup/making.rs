//! H117: An interner makes what is not there by a closure.

use std::cell::Cell;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::{Arc, Barrier};
use std::thread;

use weakly::{Hashed, Interner, Strong, concurrent, reference::WeakKey};

use crate::common::custom::Custom;
use crate::common::{Count, Counter, Kind, OnDrop, new, panics, quiet_panic, scaled};
use crate::for_each_shared_kind;

for_each_shared_kind!(
    a_missing_content_is_made_from_the_query,
    a_closure_that_is_not_called_is_dropped,
    what_is_made_may_take_the_input,
);

fn is_same<K: WeakKey>(one: &K, other: &K) -> bool {
    K::addr(one) == K::addr(other)
}

/// H117: `make` gets the query, is called on a miss only, and returns whatever converts into a handle.
fn a_missing_content_is_made_from_the_query<P: Kind>() {
    let mut words = Interner::<P::Strong<String>>::new();
    let made = Cell::new(0);
    let mut intern = |word: &str| {
        words.intern_with(word, |word| {
            made.set(made.get() + 1);
            word.to_owned()
        })
    };
    let [one, same, other] = ["one", "one", "other"].map(&mut intern);
    assert!(is_same(&one, &same) && !is_same(&one, &other));
    assert_eq!(
        (one.as_str(), other.as_str(), made.get()),
        ("one", "other", 2)
    );
    drop((one, same));
    let anew = intern("one");
    assert_eq!((made.get(), P::counts(&anew)), (3, (1, 1)));
    // By a pointer, which may become the handle itself.
    let handle = new::<P, _>("third".to_owned());
    assert!(is_same(
        &words.intern_with(&handle, |handle| handle.clone()),
        &handle
    ));
    let twin = Rc::new("third".to_owned());
    let found = words.intern_with(&twin, |_| -> String { panic!("it is there") });
    assert!(is_same(&found, &handle));
    assert_eq!(words.len_live(), 3);
}

/// H117: The input is moved into what is made, or dropped if that is there.
fn what_is_made_may_take_the_input<P: Kind>() {
    fn is(input: &(String, usize), there: &str) -> bool {
        input.0 == there
    }
    macro_rules! check {
        ($words:expr) => {
            #[allow(unused_mut, reason = "a shared one is not changed")]
            let mut words = $words;
            let hash = words.hasher().hash_one("word");
            let input = (String::from("word"), 1);
            let memory = input.0.as_ptr();
            let made =
                words.intern_or_make(hash, input, |input, there| is(input, there), |it| it.0);
            assert_eq!((made.as_str(), made.as_ptr()), ("word", memory));
            let input = (String::from("word"), 2);
            let found = words.intern_or_make(
                hash,
                input,
                |input, there| is(input, there),
                |_| -> String { panic!("it is there") },
            );
            assert!(is_same(&made, &found));
        };
    }
    check!(Interner::<P::Strong<String>>::new());
    check!(concurrent::Interner::<Strong<String>>::new());
}

/// H117, N181: And the interner is as before.
#[test]
fn a_maker_that_panics_or_lies_adds_nothing() {
    macro_rules! check {
        ($numbers:expr) => {
            #[allow(unused_mut, reason = "a shared one is not changed")]
            let mut numbers = $numbers;
            let kept = [1, 2, 3].map(|n| numbers.intern(Custom::new(n)));
            let hundred = Custom::new(100);
            let hashed = Hashed(1, |there: &Custom| there.number == 100);
            assert!(panics(
                || _ = numbers.intern_with(&hundred, |_| -> Custom { quiet_panic() })
            ));
            assert!(panics(
                || _ = numbers.intern_with(&hundred, |_| Custom::new(101))
            ));
            assert!(panics(
                || _ = numbers.intern_with(&hashed, |_| -> Custom { quiet_panic() })
            ));
            assert!(panics(
                || _ = numbers.intern_with(&hashed, |_| Custom::new(101))
            ));
            assert_eq!((numbers.len(), numbers.len_live()), (3, 3));
            assert!(numbers.get(&hundred).is_none() && numbers.get(&Custom::new(101)).is_none());
            let made = numbers.intern_with(&hundred, Custom::clone);
            assert!(is_same(&numbers.get(&hundred).unwrap(), &made));
            drop((kept, made));
            numbers.purge();
            assert_eq!((numbers.len(), numbers.pending_dead()), (0, 0));
        };
    }
    check!(Interner::<Strong<Custom>>::new());
    check!(concurrent::Interner::<Strong<Custom>>::new());
}

/// Panics when it is dropped, which is counted.
struct Bomb(Cell<bool>, #[expect(dead_code)] OnDrop);

impl Bomb {
    fn is_armed(&self) -> bool {
        self.0.get()
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0.take() {
            quiet_panic();
        }
    }
}

/// N182: What the closures own is dropped before the handle is returned: if that panics, the handle is not leaked.
fn a_closure_that_is_not_called_is_dropped<P: Kind>() {
    let mut numbers = Interner::<P::Strong<Custom>>::new();
    let seven = || Custom::new(7);
    let handle = numbers.intern(seven());
    let hash = numbers.hasher().hash_one(7_usize);
    let counter = Counter::default();
    let bomb = || Bomb(Cell::new(true), counter.witness());
    let before = P::counts(&handle);
    let make = bomb();
    assert!(panics(|| drop(numbers.intern_with(&seven(), move |n| {
        drop(make);
        n.clone()
    }))));
    let make = bomb();
    let make = move || {
        drop(make);
        seven()
    };
    assert!(panics(|| drop(
        numbers.intern_with(&Hashed(hash, |_: &Custom| true), |_| make())
    )));
    // This one owns its bomb, and only looks at it.
    // A miss: the closure is dropped when it has been asked about what was made.
    let owned = bomb();
    let is_match = move |n: &Custom| owned.is_armed() && n.number == 9;
    assert!(panics(|| drop(
        numbers.intern_with(&Hashed(!hash, is_match), |_| Custom::new(9))
    )));
    assert_eq!((P::counts(&handle), counter.get()), (before, 3));
    assert_eq!(
        (numbers.len_live(), numbers.get(&seven()).is_some()),
        (1, true)
    );
}

// === Shared ===

/// H117: `make` may intern the same content itself, which then is the one.
#[test]
fn shared_makers_may_use_the_interner() {
    let words = concurrent::Interner::<Strong<str>>::new();
    let inner = Cell::new(None);
    let word = words.intern_with("word", |word| {
        inner.set(Some(words.intern_ref(word)));
        words.purge();
        word
    });
    assert!(inner.take().is_some_and(|inner| is_same(&inner, &word)));
    let hash = words.hasher().hash_one("other");
    let other = words.intern_with(&Hashed(hash, |there: &str| there == "other"), |_| {
        inner.set(Some(words.intern_with("other", |word| word)));
        "other"
    });
    assert!(inner.take().is_some_and(|inner| is_same(&inner, &other)));
    assert_eq!((words.len(), words.len_live()), (2, 2));
}

/// H117, L157: Threads that make the same contents get the same objects.
#[test]
fn threads_make_the_same() {
    let (threads, words) = (scaled(4, 2), scaled(300, 5));
    let (names, barrier) = (
        concurrent::Interner::<Arc<Custom>>::new(),
        Barrier::new(threads),
    );
    let made = Count::default();
    let found: Vec<Vec<Arc<Custom>>> = thread::scope(|scope| {
        let intern = || {
            barrier.wait();
            let make = |word: &Custom| {
                made.add();
                word.clone()
            };
            (0..words)
                .map(|word| names.intern_with(&Custom::new(word), make))
                .collect()
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(intern)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for word in 0..words {
        assert!(
            found
                .iter()
                .all(|theirs| Arc::ptr_eq(&theirs[word], &found[0][word]))
        );
    }
    assert!(names.len() == words && made.get() >= words);
}

/// H443: `clear` forgets contents in use, and each gets a second object. `purge` forgets none.
#[test]
fn clear_forgets_contents_in_use() {
    let (mut single, shared) = (Interner::new(), concurrent::Interner::new());
    let name: [Strong<str>; 2] = [single.intern("name"), shared.intern("name")];
    let mut is_same = |change: fn(&mut Interner<_>, &concurrent::Interner<_>)| {
        change(&mut single, &shared);
        let again = [single.intern("name"), shared.intern("name")];
        [0, 1].map(|at| Strong::ptr_eq(&name[at], &again[at]))
    };
    let purge = is_same(|single, shared| _ = (single.purge(), shared.purge()));
    assert_eq!(purge, [true; 2]);
    assert_eq!(
        is_same(|single, shared| (single.clear(), shared.clear()).0),
        [false; 2]
    );
}
