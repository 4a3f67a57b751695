//! Who may write to a payload that returns, and as what. In an object that returns the queue
//! remembers the type of the payload, and a handle may have forgotten it.

use weakly::{ReferenceQueue, Strong, unsize};

/// A function of any text is one of a static text, too.
type OfAny = for<'a> fn(&'a str) -> usize;
type OfStatic = fn(&'static str) -> usize;

fn of_any(text: &str) -> usize {
    text.len()
}

fn of_static(_: &'static str) -> usize {
    unreachable!("it is called with a text that goes")
}

fn returning(queue: &ReferenceQueue<OfAny>) -> Strong<OfStatic> {
    let object: Strong<OfAny> = Strong::new_returning(of_any, queue);
    object
}

/// What comes back is a function of any text.
fn is_of_any(queue: &ReferenceQueue<OfAny>) {
    let text = String::from("a text that goes");
    assert_eq!(queue.poll().unwrap()(&text), text.len());
    assert!(queue.is_empty());
}

/// A handle to a payload that lives shorter.
fn shortened<'a>(long: Strong<&'static str>, _: &'a str) -> Strong<&'a str> {
    long
}

trait Set<'a> {
    fn set(&mut self, to: &'a str);
}

impl<'a> Set<'a> for &'a str {
    fn set(&mut self, to: &'a str) {
        *self = to;
    }
}

/// 233: A handle whose type is another than that of the queue writes nothing into a payload that
/// returns.
#[test]
fn a_handle_of_a_supertype_writes_nothing() {
    let queue = ReferenceQueue::new();
    let mut object = returning(&queue);
    assert!(Strong::get_mut(&mut object).is_none());
    *Strong::make_mut(&mut object) = of_static;
    is_of_any(&queue);
    let mut object = returning(&queue);
    let _weak = Strong::downgrade(&object);
    *Strong::make_mut(&mut object) = of_static;
    is_of_any(&queue);

    let queue = ReferenceQueue::<&'static str>::new();
    let text = String::from("a text that goes");
    let mut object = shortened(Strong::new_returning("static", &queue), &text);
    assert!(Strong::get_mut(&mut object).is_none());
    let mut set: Strong<dyn Set<'_>> = unsize!(object => dyn Set<'_>);
    if let Some(it) = Strong::get_mut(&mut set) {
        it.set(&text);
    }
    drop(set);
    drop(text);
    assert_eq!(queue.poll(), Some("static"));
}

/// 233: A queue gives access to what returns to it, and to nothing else.
#[test]
fn a_queue_gives_access_to_its_own() {
    let [queue, other] = [(); 2].map(|()| ReferenceQueue::new());
    let mut object = Strong::new_returning(1, &queue);
    assert!(other.get_mut(&mut object).is_none());
    *queue.get_mut(&mut object).unwrap() += 1;
    *queue.clone().get_mut(&mut object).unwrap() += 1;
    drop(object);
    assert_eq!((queue.poll(), other.poll()), (Some(3), None));
    // Neither to an object that was made elsewhere, nor to a clone.
    let mut ordinary = Strong::new(1);
    _ = Strong::finalize(&ordinary, || ());
    let mut clone = Strong::new_returning(1, &queue);
    *Strong::make_mut(&mut clone) = 2;
    assert_eq!(queue.poll(), Some(1));
    for object in [&mut ordinary, &mut clone] {
        assert!(queue.get_mut(object).is_none() && Strong::get_mut(object).is_some());
    }
}

/// 233: No queue that is made later is taken for one that has gone, wherever it is.
#[test]
fn a_later_queue_is_another() {
    let gone = ReferenceQueue::new();
    let mut object = Strong::new_returning(Box::new(1), &gone);
    drop(gone);
    let later: Vec<_> = (0..100).map(|_| ReferenceQueue::new()).collect();
    assert!(later.iter().all(|it| it.get_mut(&mut object).is_none()));
    assert!(Strong::get_mut(&mut object).is_none());
    drop(object);
    assert!(later.iter().all(ReferenceQueue::is_empty));
}
