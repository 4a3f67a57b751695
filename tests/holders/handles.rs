//! 421: All the ways in which a handle begins, changes and ends.

use super::lines;
use weakly::leaks::Snapshot;
use weakly::{
    Strong,
    ptr::{self, Flavour},
};

use crate::for_each_flavour;

for_each_flavour! {
    each_handle_knows_where_it_was_made,
    a_raw_pointer_is_a_holder,
    what_is_taken_out_leaves_no_trace,
    make_mut_makes_a_handle_if_it_makes_an_object,
}

fn each_handle_knows_where_it_was_made<F: Flavour>() {
    let first = ptr::Strong::<_, F>::new(5);
    let made = line!() - 1;
    let second = first.clone();
    let third = ptr::Strong::clone(&second);
    assert_eq!(lines!(&first), [made, made + 2, made + 3]);
    assert_eq!(lines!(&third), lines!(&first));
    drop(second);
    assert_eq!(lines!(&first), [made, made + 3]);
    drop(first);
    assert_eq!(lines!(&third), [made + 3]);
}

#[allow(unsafe_code)]
fn a_raw_pointer_is_a_holder<F: Flavour>() {
    let strong = ptr::Strong::<_, F>::new(5);
    let made = line!() - 1;
    let raw = ptr::Strong::into_raw(strong.clone());
    let other = ptr::Strong::into_raw(strong.clone());
    assert_eq!(lines!(&strong), [made, made + 2, made + 3]);
    drop(strong);
    // SAFETY: each is from `into_raw`, and used once.
    let (back, again) = unsafe {
        let back = ptr::Strong::<_, F>::from_raw(raw);
        // Which of the two it was is not known.
        assert_eq!(lines!(&back), [made + 2, made + 8]);
        (back, ptr::Strong::<_, F>::from_raw(other))
    };
    assert_eq!(lines!(&back), [made + 8, made + 11]);
    drop(back);
    assert_eq!(lines!(&again), [made + 11]);
}

fn what_is_taken_out_leaves_no_trace<F: Flavour>() {
    let before = Snapshot::new();
    let new = || ptr::Strong::<_, F>::new(String::from("payload"));
    assert_eq!(ptr::Strong::try_unwrap(new()).unwrap(), "payload");
    assert_eq!(ptr::Strong::into_inner(new()).unwrap(), "payload");
    assert_eq!(ptr::Strong::unwrap_or_clone(new()), "payload");
    assert_eq!(before.leaks_of_this_thread().len(), 0);
    let strong = new();
    let made = line!() - 6;
    assert!(ptr::Strong::into_inner(strong.clone()).is_none());
    let back = ptr::Strong::try_unwrap(strong.clone()).unwrap_err();
    assert_eq!(lines!(&strong), [made, made + 8]);
    drop(strong);
    assert_eq!(lines!(&back), [made + 8]);
    let weak = ptr::Strong::downgrade(&back);
    assert_eq!(ptr::Strong::try_unwrap(back).unwrap(), "payload");
    assert!(weak.is_expired());
    assert_eq!(before.leaks_of_this_thread().len(), 0);
}

fn make_mut_makes_a_handle_if_it_makes_an_object<F: Flavour>() {
    let before = Snapshot::new();
    let mut strong = ptr::Strong::<_, F>::new(String::from("payload"));
    let made = line!() - 1;
    ptr::Strong::make_mut(&mut strong).push('!');
    assert!(ptr::Strong::get_mut(&mut strong).is_some());
    assert_eq!(lines!(&strong), [made]);
    // Shared: a clone.
    let other = strong.clone();
    ptr::Strong::make_mut(&mut strong).push('?');
    assert_eq!(lines!(&strong), [made + 7]);
    assert_eq!(lines!(&other), [made + 6]);
    drop(other);
    // Watched: the payload moves.
    let weak = ptr::Strong::downgrade(&strong);
    ptr::Strong::make_mut(&mut strong).push('.');
    assert_eq!(lines!(&strong), [made + 13]);
    assert!(weak.is_expired());
    let leaks = before.leaks_of_this_thread();
    assert_eq!(leaks.len(), 1);
    assert_eq!(leaks.groups[0].type_name, std::any::type_name::<String>());
    assert_eq!(
        leaks.groups[0].birth.as_ref().unwrap().location().line(),
        made + 13
    );
}

#[test]
fn the_text_is_place_and_thread() {
    let strong = std::thread::Builder::new()
        .name("maker".into())
        .spawn(|| Strong::new(5))
        .unwrap()
        .join()
        .unwrap();
    let origin = &Strong::holders(&strong)[0];
    let text = format!("{}:{}:19, thread 'maker'", file!(), line!() - 5);
    assert_eq!(origin.to_string(), text);
    assert_eq!(format!("{origin:?}"), text);
    assert_eq!(origin.thread().name(), Some("maker"));
    let strong = std::thread::spawn(|| Strong::new(5)).join().unwrap();
    let origin = &Strong::holders(&strong)[0];
    assert!(origin.to_string().contains(", ThreadId("), "{origin}");
}
