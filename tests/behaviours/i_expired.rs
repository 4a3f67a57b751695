//! I. Messages about an expired object (item 121): `try_upgrade`, and `expect` of weak handles and of the maps with weak
//! values.

use std::any::Any;
use std::error::Error;
use std::panic::{self, AssertUnwindSafe, Location};

use weakly::{Expired, WeakPairMap, WeakValueMap, ptr, unsize};

use crate::common::{Kind, Own, new, place_of_panic};
use crate::{for_each_flavour, for_each_kind};

for_each_flavour!(
    try_upgrade_gives_the_object_or_names_its_type,
    expect_gives_the_object_or_says_why_it_must_live,
);
for_each_kind!(expect_gives_the_value_or_names_its_type_and_the_caller);

/// The type that the message names.
struct Window;

/// I121: `try_upgrade` returns a handle while the object lives; then, in its destructor, and for a handle that
/// never had one, an error that names the type.
fn try_upgrade_gives_the_object_or_names_its_type<F: Own>() {
    let window = ptr::Strong::<_, F>::new(Window);
    let weak = ptr::Strong::downgrade(&window);
    let upgraded = weak.try_upgrade().unwrap();
    assert!(ptr::Strong::ptr_eq(&upgraded, &window));
    assert_eq!(ptr::Strong::strong_count(&window), 2);
    drop((window, upgraded));
    let expired = weak.try_upgrade().err().unwrap();
    assert_eq!(expired.type_name(), std::any::type_name::<Window>());
    let message = expired.to_string();
    assert!(
        message.contains("no live `") && message.contains("Window`"),
        "{message}"
    );
    assert_eq!(format!("{expired:?}"), message, "what `unwrap` shows");
    let error: Box<dyn Error + Send + Sync> = expired.into();
    assert_eq!(
        (error.to_string(), error.source().is_none()),
        (message, true)
    );

    let never = ptr::Weak::<Window, F>::new().try_upgrade().err().unwrap();
    let other = ptr::Strong::downgrade(&ptr::Strong::<str, F>::from("text"));
    let other = other.try_upgrade();
    let other = other.err().unwrap();
    assert!(never == expired && expired == { expired } && expired != other);
    assert_eq!(other.type_name(), "str");
}

/// The message of a panic, and its location.
fn panic_of(f: impl FnOnce()) -> (String, (String, u32)) {
    let mut message = None;
    let place = place_of_panic(|| {
        let payload = panic::catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        message = payload.downcast_ref::<String>().cloned();
        panic::resume_unwind(payload);
    });
    (message.unwrap(), place)
}

/// I121: `expect` of a weak handle returns a handle while the object lives; then it panics at its caller, with the reason
/// and the message of the error.
fn expect_gives_the_object_or_says_why_it_must_live<F: Own>() {
    const REASON: &str = "a window outlives its {buttons}";
    let window = ptr::Strong::<_, F>::new(Window);
    let weak = ptr::Strong::downgrade(&window);
    let upgraded = weak.expect(REASON);
    assert!(ptr::Strong::ptr_eq(&upgraded, &window));
    assert_eq!(ptr::Strong::strong_count(&window), 2);
    drop((window, upgraded));
    let message = weak.try_upgrade().err().unwrap().to_string();
    let here = line();
    let dead = panic_of(|| drop(weak.expect(REASON)));
    let never = panic_of(|| drop(ptr::Weak::<Window, F>::new().expect(REASON)));
    for (n, panic) in (1..).zip([dead, never]) {
        assert_eq!(
            panic,
            (
                format!("{REASON}: {message}"),
                (file!().to_owned(), here + n)
            )
        );
    }
    let unsized_message = panic_of(|| drop(unsize!(weak => dyn Any).expect(""))).0;
    assert!(unsized_message.contains("no live `dyn core::any::Any`"));
}

#[track_caller]
fn line() -> u32 {
    Location::caller().line()
}

/// H110, I121: `expect` returns the value; if it is gone, it panics with its caller's location and the message
/// of the error, about the value's type.
fn expect_gives_the_value_or_names_its_type_and_the_caller<P: Kind>() {
    let [key, value] = [1, 10].map(new::<P, usize>);
    let values = WeakValueMap::from([("name".to_owned(), &value)]);
    let pairs = WeakPairMap::from([(&key, &value)]);
    assert_eq!((*values.expect("name"), *pairs.expect(&key)), (10, 10));
    drop(value);
    let here = line();
    let dead = panic_of(|| drop(values.expect("name")));
    let absent = panic_of(|| drop(values.expect("other")));
    let of_pairs = panic_of(|| drop(pairs.expect(&key)));
    let message = weakly::Weak::<usize>::new()
        .try_upgrade()
        .err()
        .map(|expired: Expired| expired.to_string());
    for (n, (messages, (file, at))) in (1..).zip([dead, absent, of_pairs]) {
        assert_eq!(Some(&messages), message.as_ref());
        assert_eq!((file.as_str(), at), (file!(), here + n));
    }
}
