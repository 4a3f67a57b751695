//! The feature `serde`: handles are written as their content, and read as new objects or through an interner.

use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Deserializer as Json, from_str, to_string};
use weakly::serde_impls::Each;
use weakly::{ByIdentity, Interner, Strong, WeakMap, concurrent, local};

#[path = "../../tests/common/corpus.rs"]
#[allow(unreachable_pub)] // as below
mod corpus;
#[path = "../../tests/common/random.rs"]
#[allow(unreachable_pub)] // each test program uses a part of it
mod random;
#[path = "serde/script.rs"]
mod script;

#[path = "../../tests/common/heap.rs"]
#[allow(dead_code, unreachable_pub)] // each test program uses a part of it
mod heap;

#[global_allocator]
static HEAP: heap::Heap<heap::Counting> = heap::Heap(heap::Counting);

#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Point {
    x: i32,
    y: i32,
}

/// A handle is written as its content, sized or not, and read back as that.
#[test]
fn handles_are_written_as_their_content() {
    let point = Strong::new(Point { x: 1, y: 2 });
    assert_eq!(to_string(&point).unwrap(), r#"{"x":1,"y":2}"#);
    assert_eq!(
        from_str::<Strong<Point>>(r#"{"x":1,"y":2}"#).unwrap(),
        point
    );

    let text: local::Strong<str> = "a \"b\"".into();
    assert_eq!(to_string(&text).unwrap(), r#""a \"b\"""#);
    assert_eq!(
        from_str::<local::Strong<str>>(r#""a \"b\"""#).unwrap(),
        text
    );

    let numbers: Strong<[u8]> = [1, 2, 3].into();
    assert_eq!(to_string(&numbers).unwrap(), "[1,2,3]");
    assert_eq!(from_str::<Strong<[u8]>>("[1,2,3]").unwrap(), numbers);
    assert!(from_str::<local::Strong<[u8]>>("[]").unwrap().is_empty());

    assert!(from_str::<Strong<str>>("5").is_err());
    assert!(from_str::<Strong<[u8]>>("[1,300]").is_err());
}

/// A payload that lies apart from its block is moved there too, and a failed read leaves nothing behind.
#[test]
fn what_is_read_is_freed() {
    let text = to_string(&vec!["word"; 100]).unwrap();
    let bytes = heap::bytes();
    let large = from_str::<Strong<[String]>>(&text).unwrap();
    assert_eq!((large.len(), &*large[99]), (100, "word"));
    assert!(heap::bytes() > bytes);
    drop(large);
    assert_eq!(heap::bytes(), bytes);
    assert!(from_str::<Strong<[String]>>(&text[..text.len() - 1]).is_err());
    assert_eq!(heap::bytes(), bytes);
}

/// Handles are fields of derived types. Two handles to one object are read as two objects.
#[test]
fn identity_is_not_written() {
    #[derive(Serialize, Deserialize)]
    struct Line(Strong<Point>, Strong<Point>);

    let point = Strong::new(Point { x: 1, y: 2 });
    let text = to_string(&Line(point.clone(), point)).unwrap();
    let Line(from, to) = from_str(&text).unwrap();
    assert!(from == to && !Strong::ptr_eq(&from, &to));
    let mut map = WeakMap::from([(&from, 1)]);
    map.insert(&to, 2);
    assert_eq!((map.get(&from), map.get(&to)), (Some(&1), Some(&2)));
}

/// One handle, through an interner as the seed.
fn read<'de, S: DeserializeSeed<'de>>(seed: S, text: &'de str) -> serde_json::Result<S::Value> {
    let mut json = Json::from_str(text);
    let value = seed.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Equal contents become one handle, of every kind of pointer and content, and the interner keeps none alive.
#[test]
fn equal_contents_become_one_handle() {
    let mut words = Interner::<Strong<str>>::new();
    let there = words.intern_ref("word");
    let word = read(&mut words, r#""word""#).unwrap();
    // With an escape, the format cannot lend the text from its input.
    let escaped = read(&mut words, r#""\u0077ord""#).unwrap();
    assert!(Strong::ptr_eq(&word, &there) && Strong::ptr_eq(&escaped, &there));
    let other = read(&mut words, r#""other""#).unwrap();
    assert_eq!((&*other, words.len()), ("other", 2));
    drop((there, word, escaped, other));
    assert!(words.is_empty());

    let mut points = Interner::<Rc<Point>>::new();
    let one = read(&mut points, r#"{"x":1,"y":2}"#).unwrap();
    let other = read(&mut points, r#"{"y":2,"x":1}"#).unwrap();
    assert!(Rc::ptr_eq(&one, &other));

    let mut lists = Interner::<local::Strong<[u8]>>::new();
    let one = read(&mut lists, "[1,2]").unwrap();
    let other = read(&mut lists, "[1, 2]").unwrap();
    assert!(local::Strong::ptr_eq(&one, &other));
    assert_eq!(*one, [1, 2]);

    let shared = concurrent::Interner::<Arc<str>>::new();
    let one = read(&shared, r#""word""#).unwrap();
    assert!(Arc::ptr_eq(&one, &shared.get("word").unwrap()));
}

/// A text that is there already is looked up where the format has it: nothing is allocated.
#[test]
fn a_hit_allocates_nothing() {
    let mut words = Interner::<Strong<str>>::new();
    let shared = concurrent::Interner::<Strong<str>>::new();
    let text = r#""a word of some length""#;
    let kept = (
        read(&mut words, text).unwrap(),
        read(&shared, text).unwrap(),
    );
    let before = heap::allocations();
    let hits = (
        read(&mut words, text).unwrap(),
        read(&shared, text).unwrap(),
    );
    assert_eq!(heap::allocations(), before);
    assert!(Strong::ptr_eq(&hits.0, &kept.0) && Strong::ptr_eq(&hits.1, &kept.1));
}

/// A sequence, through an interner of one owner and a shared one; and the handles are the caller's.
#[test]
fn each_element_is_interned() {
    let text = r#"["to","be","or","not","to","be"]"#;
    let mut words = Interner::<Strong<str>>::new();
    let list = read(Each(&mut words), text).unwrap();
    assert_eq!(to_string(&list).unwrap(), text);
    assert!(Strong::ptr_eq(&list[0], &list[4]) && Strong::ptr_eq(&list[1], &list[5]));
    assert_eq!(words.len(), 4);

    let shared = concurrent::Interner::<Strong<str>>::new();
    assert_eq!(read(Each(&shared), text).unwrap(), list);
    assert!(shared.is_empty());

    // What was read before the error is dropped.
    drop(list);
    assert!(read(Each(&mut words), r#"["to","be",5]"#).is_err());
    assert!(words.is_empty());
    assert!(read(Each(&mut words), r#""to""#).is_err());
    assert!(read(Each(&mut words), "[]").unwrap().is_empty());
}

/// Errors are those of the content.
#[test]
fn errors_say_what_was_expected() {
    let mut words = Interner::<Strong<str>>::new();
    let error = read(&mut words, "5").unwrap_err().to_string();
    assert!(error.contains("expected a string"), "{error}");
    let error = read(Each(&mut words), "5").unwrap_err().to_string();
    assert!(error.contains("expected a sequence"), "{error}");

    use de::IntoDeserializer;
    use de::value::{BytesDeserializer, Error};
    let bytes: BytesDeserializer<'_, Error> = b"word".as_slice().into_deserializer();
    assert_eq!(&*(&mut words).deserialize(bytes).unwrap(), "word");
    let bytes: BytesDeserializer<'_, Error> = b"\xff".as_slice().into_deserializer();
    assert!((&mut words).deserialize(bytes).is_err());
}

/// A derived `Deserialize` interns by a function at the field.
#[test]
fn a_field_is_interned_by_a_function() {
    static NAMES: LazyLock<concurrent::Interner<Strong<str>>> =
        LazyLock::new(concurrent::Interner::new);

    fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Strong<str>, D::Error> {
        NAMES.deserialize(deserializer)
    }
    fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Strong<str>>, D::Error> {
        Each(&*NAMES).deserialize(deserializer)
    }
    #[derive(Serialize, Deserialize)]
    struct Function {
        #[serde(deserialize_with = "name")]
        name: Strong<str>,
        #[serde(deserialize_with = "names")]
        calls: Vec<Strong<str>>,
    }
    let text = r#"{"name":"f","calls":["g","f"]}"#;
    let function: Function = from_str(text).unwrap();
    assert!(Strong::ptr_eq(&function.name, &function.calls[1]));
    assert_eq!(to_string(&function).unwrap(), text);
    drop(function);
    assert!(NAMES.is_empty());
}

/// A hash-consed term is written as a tree, and read with sharing: each subterm through the interner.
#[test]
fn terms_are_read_with_sharing() {
    #[derive(PartialEq, Eq, Hash, Serialize)]
    struct Term {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        left: Option<ByIdentity<Strong<Term>>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        right: Option<ByIdentity<Strong<Term>>>,
    }

    struct Seed<'i>(&'i mut Interner<Strong<Term>>);
    impl<'de> DeserializeSeed<'de> for Seed<'_> {
        type Value = Strong<Term>;
        fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Strong<Term>, D::Error> {
            d.deserialize_map(self)
        }
    }
    impl<'de> Visitor<'de> for Seed<'_> {
        type Value = Strong<Term>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a term")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Strong<Term>, A::Error> {
            let (mut name, mut left, mut right) = (None, None, None);
            while let Some(key) = map.next_key::<&str>()? {
                match key {
                    "name" => name = Some(map.next_value()?),
                    "left" => left = Some(ByIdentity(map.next_value_seed(Seed(self.0))?)),
                    "right" => right = Some(ByIdentity(map.next_value_seed(Seed(self.0))?)),
                    _ => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            let name = name.ok_or_else(|| de::Error::missing_field("name"))?;
            Ok(self.0.intern(Term { name, left, right }))
        }
    }

    let mut terms = Interner::<Strong<Term>>::new();
    let x = terms.intern(Term {
        name: "x".into(),
        left: None,
        right: None,
    });
    let [left, right] = [&x, &x].map(|x| Some(ByIdentity(x.clone())));
    let sum = terms.intern(Term {
        name: "+".into(),
        left,
        right,
    });
    let text = to_string(&sum).unwrap();
    assert_eq!(
        text,
        r#"{"name":"+","left":{"name":"x"},"right":{"name":"x"}}"#
    );
    assert!(Strong::ptr_eq(
        &read(Seed(&mut terms), &text).unwrap(),
        &sum
    ));
    drop((x, sum));
    assert!(terms.is_empty());
    let read = read(Seed(&mut terms), &text).unwrap();
    assert_eq!(terms.len(), 2);
    assert!(read.left == read.right);
}

/// Foreign input is read as plain types are, or refused as they are; and equal contents have one handle.
#[test]
fn random_input_is_read_as_plain_types_are() {
    const PIECES: [&str; 16] = [
        r#""a""#,
        r#""\u0061""#,
        r#""""#,
        r#""\ud800""#,
        "1",
        "-0.0",
        "300",
        "[]",
        "[1,2]",
        r#"["a",null]"#,
        r#"{"x":1}"#,
        r#"{"y":true,"x":1}"#,
        r#"{"x":1,"x":"a"}"#,
        "null",
        "tru",
        "\u{e9}",
    ];
    for seed in 0..1_000 {
        let mut random = random::random(seed);
        let mut choice = |n: usize| random.next().unwrap() % n;
        // Of the same kind, that plain types can read it.
        let (first, kinds) = [(0, 3), (4, 3), (7, 3), (10, 3), (0, 16)][choice(5)];
        let pieces: Vec<_> = (0..choice(8))
            .map(|_| PIECES[first + choice(kinds)])
            .collect();
        let text = format!("[{}]", pieces.join(","));
        let bytes: Vec<_> = (0..40).map(|_| choice(256) as u8).collect();
        for kind in (0..8).chain(128..136) {
            script::run_bytes(&[&[kind], text.as_bytes()].concat());
            script::run_bytes(&[&[kind], &*bytes].concat());
        }
    }
}

/// What the fuzzer has found to be worth keeping.
#[test]
fn kept_input_is_read_as_plain_types_are() {
    corpus::replay("../fuzz/corpus/serde", script::run_bytes);
}
