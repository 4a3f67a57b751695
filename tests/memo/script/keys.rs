//! The keys of the memos.

use std::ops::RangeInclusive;

use weakly::memo::{Many, MemoKey, MemoQuery, Value};

use super::Object;

/// How a memo is asked, with some objects and a text.
pub(crate) trait Shape {
    type Key: MemoKey + 'static;
    const OBJECTS: RangeInclusive<usize>;
    /// Whether the text is a part of the key.
    const TEXT: bool = true;
    fn query<'a>(objects: &'a [Object], text: &'a str) -> impl MemoQuery<Self::Key>;
}

/// An object and a plain value.
pub(crate) enum One {}

impl Shape for One {
    type Key = (Object, Value<String>);
    const OBJECTS: RangeInclusive<usize> = 1..=1;

    fn query<'a>(objects: &'a [Object], text: &'a str) -> impl MemoQuery<Self::Key> {
        (&objects[0], text)
    }
}

/// Two objects, perhaps the same.
pub(crate) enum Two {}

impl Shape for Two {
    type Key = (Object, Object);
    const OBJECTS: RangeInclusive<usize> = 2..=2;
    const TEXT: bool = false;

    fn query<'a>(objects: &'a [Object], _: &'a str) -> impl MemoQuery<Self::Key> {
        (&objects[0], &objects[1])
    }
}

/// Lists of objects and plain values.
pub(crate) enum Lists {}

impl Shape for Lists {
    type Key = (Many<Object>, Value<String>, Object, Value<usize>);
    const OBJECTS: RangeInclusive<usize> = 2..=4;

    fn query<'a>(objects: &'a [Object], text: &'a str) -> impl MemoQuery<Self::Key> {
        let (last, list) = objects.split_last().expect("there are two");
        (list, text, last, Value(text.len()))
    }
}
