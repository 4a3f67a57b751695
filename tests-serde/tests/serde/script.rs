//! Foreign input: arbitrary bytes are read as JSON, or decide what a format does that keeps no promise. What interners make of
//! it is compared with what serde makes of plain types. The fuzzer uses it too.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Debug};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use serde::de::value::Error as Refused;
use serde::de::{self, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Deserializer as Json;
use weakly::serde_impls::Each;
use weakly::{ByIdentity, Interner, Strong, concurrent, local};

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
struct Point {
    x: i8,
    #[serde(default)]
    y: Option<bool>,
}

/// Reads bytes. The first one chooses what they are read as.
pub(crate) fn run_bytes(bytes: &[u8]) {
    let Some((&kind, input)) = bytes.split_first() else {
        return;
    };
    // Of one owner, and one that threads share.
    macro_rules! interned {
        ($handle:ty, $plain:ty) => {
            if kind < 128 {
                let mut interner = Interner::<$handle>::new();
                check::<$handle, $plain>(input, |reader| reader.read(Each(&mut interner)));
                assert_eq!(interner.len_live(), 0);
            } else {
                let interner = concurrent::Interner::<$handle>::new();
                check::<$handle, $plain>(input, |reader| reader.read(Each(&interner)));
                assert_eq!(interner.len_live(), 0);
            }
        };
    }
    match kind % 8 {
        0 | 1 => interned!(Strong<str>, String),
        2 | 3 => interned!(Strong<[u8]>, Vec<u8>),
        4 => interned!(Strong<Point>, Point),
        5 => interned!(Strong<[Option<String>]>, Vec<Option<String>>),
        6 => {
            let mut interner = Interner::<local::Strong<str>>::new();
            let plain = promises(input, |format| Vec::<String>::deserialize(format));
            let read = promises(input, |format| Each(&mut interner).deserialize(format));
            agree(plain, read);
            assert_eq!(interner.len_live(), 0);
        }
        _ => check_tree(input),
    }
}

/// A JSON text.
struct Reader<'de>(&'de [u8]);

impl<'de> Reader<'de> {
    fn read<S: DeserializeSeed<'de>>(self, seed: S) -> serde_json::Result<S::Value> {
        let mut json = Json::from_slice(self.0);
        let value = seed.deserialize(&mut json)?;
        json.end()?;
        Ok(value)
    }
}

fn check<'de, H, T>(
    input: &'de [u8],
    interned: impl FnOnce(Reader<'de>) -> serde_json::Result<Vec<H>>,
) where
    H: Deref<Target: PartialEq + Debug> + Serialize,
    T: Deserialize<'de> + Ord + Debug + Serialize + std::borrow::Borrow<H::Target>,
{
    agree(
        serde_json::from_slice::<Vec<T>>(input),
        interned(Reader(input)),
    );
}

/// The same contents, and a handle for each; or the same error.
fn agree<H, T, E: fmt::Display>(plain: Result<Vec<T>, E>, read: Result<Vec<H>, E>)
where
    H: Deref<Target: PartialEq + Debug> + Serialize,
    T: Ord + Debug + Serialize + std::borrow::Borrow<H::Target>,
{
    let (plain, read) = match (plain, read) {
        (Ok(plain), Ok(read)) => (plain, read),
        (Err(plain), Err(read)) => return assert_eq!(plain.to_string(), read.to_string()),
        (plain, read) => panic!("{:?} {}", plain.is_ok(), read.is_ok()),
    };
    assert_eq!(plain.len(), read.len());
    let mut handles = BTreeSet::new();
    for (plain, read) in plain.iter().zip(&read) {
        assert_eq!(plain.borrow(), &**read);
        handles.insert((&raw const **read).cast::<()>());
    }
    assert_eq!(handles.len(), plain.iter().collect::<BTreeSet<_>>().len());
    let [plain, read] = [serde_json::to_string(&plain), serde_json::to_string(&read)];
    assert_eq!(plain.unwrap(), read.unwrap());
}

// === A format that keeps no promise ===

/// What remains of the input decides what it does.
struct Format<'f>(&'f RefCell<&'f [u8]>);

impl<'f> Format<'f> {
    fn byte(&self) -> Result<u8, Refused> {
        let input = *self.0.borrow();
        let (&byte, rest) = input.split_first().ok_or_else(|| Refused::custom("end"))?;
        self.0.replace(rest);
        Ok(byte)
    }

    fn bytes(&self) -> Result<&'f [u8], Refused> {
        let len = usize::from(self.byte()? % 4);
        let input = *self.0.borrow();
        let (bytes, rest) = input.split_at(len.min(input.len()));
        self.0.replace(rest);
        Ok(bytes)
    }
}

/// Reads with it. A panic on purpose is an error, too.
fn promises<T>(
    input: &[u8],
    read: impl FnOnce(Format<'_>) -> Result<Vec<T>, Refused>,
) -> Result<Vec<T>, Refused> {
    let input = RefCell::new(input);
    match catch_unwind(AssertUnwindSafe(|| read(Format(&input)))) {
        Ok(read) => read,
        Err(panic) if panic.is::<Refused>() => Err(*panic.downcast().expect("it is one")),
        Err(panic) => resume_unwind(panic),
    }
}

#[allow(clippy::needless_lifetimes)] // what it hands out has to live for 'de
impl<'de, 'f: 'de> Deserializer<'de> for Format<'f> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        let what = self.byte()?;
        match what % 16 {
            0..3 => {
                let text = String::from_utf8_lossy(self.bytes()?).into_owned();
                visitor.visit_str(&text)
            }
            3 => visitor.visit_string(String::from_utf8_lossy(self.bytes()?).into_owned()),
            4 => match std::str::from_utf8(self.bytes()?) {
                Ok(text) => visitor.visit_borrowed_str(text),
                Err(error) => Err(Refused::custom(error)),
            },
            5 => visitor.visit_bytes(self.bytes()?),
            6 => visitor.visit_borrowed_bytes(self.bytes()?),
            7 => visitor.visit_byte_buf(self.bytes()?.to_vec()),
            8 => visitor.visit_u64(u64::from(self.byte()?)),
            9 => visitor.visit_char(char::from(self.byte()?)),
            10 => visitor.visit_unit(),
            11 => Err(Refused::custom("refused")),
            12 => resume_unwind(Box::new(Refused::custom("panicked"))),
            _ => {
                let hint = [Some(0), Some(3), Some(usize::MAX), None][usize::from(what / 16) % 4];
                visitor.visit_seq(Sequence(self, hint))
            }
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct tuple tuple_struct map struct enum identifier ignored_any
    }

    /// A sequence where one is asked for.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.byte()? {
            0..240 => visitor.visit_seq(Sequence(self, Some(usize::MAX))),
            _ => self.deserialize_any(visitor),
        }
    }
}

struct Sequence<'f>(Format<'f>, Option<usize>);

impl<'de, 'f: 'de> SeqAccess<'de> for Sequence<'f> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refused> {
        // It ends with the input, or before.
        if self.0.0.borrow().is_empty() || self.0.byte()? % 16 == 0 {
            return Ok(None);
        }
        seed.deserialize(Format(self.0.0)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        self.1
    }
}

// === Trees with sharing ===

type Tree = ByIdentity<Rc<Node>>;

/// Any JSON, each subtree of which is interned.
#[derive(PartialEq, Eq, Hash)]
enum Node {
    Null,
    Bool(bool),
    Number(String),
    Text(Rc<str>),
    List(Vec<Tree>),
    /// A name that comes twice has the last value.
    Map(Vec<(Rc<str>, Tree)>),
}

struct Trees {
    texts: Interner<Rc<str>>,
    nodes: Interner<Rc<Node>>,
}

impl Trees {
    fn node(&mut self, node: Node) -> Rc<Node> {
        self.nodes.intern(node)
    }
}

struct Grow<'t>(&'t mut Trees);

impl<'de> DeserializeSeed<'de> for Grow<'_> {
    type Value = Rc<Node>;

    fn deserialize<D: Deserializer<'de>>(self, format: D) -> Result<Rc<Node>, D::Error> {
        format.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Grow<'_> {
    type Value = Rc<Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Rc<Node>, E> {
        Ok(self.0.node(Node::Null))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Rc<Node>, E> {
        Ok(self.0.node(Node::Bool(value)))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Rc<Node>, E> {
        Ok(self
            .0
            .node(Node::Number(serde_json::Value::from(number).to_string())))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Rc<Node>, E> {
        Ok(self
            .0
            .node(Node::Number(serde_json::Value::from(number).to_string())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Rc<Node>, E> {
        Ok(self
            .0
            .node(Node::Number(serde_json::Value::from(number).to_string())))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Rc<Node>, E> {
        let text = self.0.texts.intern_ref(text);
        Ok(self.0.node(Node::Text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Rc<Node>, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(Grow(self.0))? {
            list.push(ByIdentity(element));
        }
        Ok(self.0.node(Node::List(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Rc<Node>, A::Error> {
        let mut map = Vec::new();
        while let Some(name) = entries.next_key_seed(&mut self.0.texts)? {
            let value = ByIdentity(entries.next_value_seed(Grow(self.0))?);
            map.retain(|(other, _)| *other != name);
            map.push((name, value));
        }
        map.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(self.0.node(Node::Map(map)))
    }
}

/// Equal subtrees are one node, and no others.
fn check_tree(input: &[u8]) {
    let mut trees = Trees {
        texts: Interner::new(),
        nodes: Interner::new(),
    };
    let plain = serde_json::from_slice::<serde_json::Value>(input);
    let read = Reader(input).read(Grow(&mut trees));
    assert_eq!(plain.is_ok(), read.is_ok());
    if let (Ok(plain), Ok(read)) = (plain, read) {
        let mut seen = HashMap::new();
        same(&plain, &read, &mut seen);
        let nodes: BTreeSet<_> = seen.values().collect();
        assert_eq!(
            (nodes.len(), trees.nodes.len_live()),
            (seen.len(), seen.len())
        );
    }
    assert_eq!((trees.nodes.len_live(), trees.texts.len_live()), (0, 0));
}

fn same(plain: &serde_json::Value, read: &Rc<Node>, seen: &mut HashMap<String, *const Node>) {
    use serde_json::Value;
    match (plain, &**read) {
        (Value::Null, Node::Null) => {}
        (Value::Bool(one), Node::Bool(other)) => assert_eq!(one, other),
        (Value::Number(one), Node::Number(other)) => assert_eq!(one.to_string(), *other),
        (Value::String(one), Node::Text(other)) => assert_eq!(**one, **other),
        (Value::Array(one), Node::List(other)) => {
            assert_eq!(one.len(), other.len());
            for (one, ByIdentity(other)) in one.iter().zip(other) {
                same(one, other, seen);
            }
        }
        (Value::Object(one), Node::Map(other)) => {
            assert_eq!(one.len(), other.len());
            for (name, ByIdentity(other)) in other {
                same(&one[&**name], other, seen);
            }
        }
        _ => panic!("{plain} was read as another thing"),
    }
    // (Its text is sorted by the names.)
    let known = *seen.entry(plain.to_string()).or_insert(Rc::as_ptr(read));
    assert_eq!(known, Rc::as_ptr(read));
}
