//! The names of attributes, and the attributes of an object in a namespace.

use core::any::{TypeId, type_name};
use core::fmt;
use core::hash::{Hash, Hasher};

use crate::panics::FirstPanic;

/// Names an attribute of a namespace, and gives the type of its values. The name is a type of your
/// own, usually empty. So a misspelt attribute, or a value of the wrong type, does not compile, and
/// two attributes that are declared in different places are never the same.
///
/// Threads share the values, so `Value` is `Send` and `Sync`. For other values, declare a
/// [`local::AttributeKey`](crate::local::AttributeKey), for namespaces with one owner. Each
/// `AttributeKey` is a `local::AttributeKey`, too.
///
/// ```
/// # use core::ops::Range;
/// /// Where a node stands in the text.
/// struct Span;
/// impl weakly::AttributeKey for Span {
///     type Value = Range<u32>;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name an attribute",
    label = "this has to implement `AttributeKey`",
    note = "declare the attribute and the type of its values: `impl AttributeKey for {Self} {{ type Value = …; }}`"
)]
pub trait AttributeKey: 'static {
    /// The type of the attribute's values.
    type Value: Send + Sync + 'static;
}

/// The names of attributes of a single thread.
pub(super) mod local {
    /// Names an attribute of a namespace with one owner
    /// ([`local::Attributes`](crate::local::Attributes)), and gives the type of its values, without
    /// bounds. The name is a type of your own, usually empty. Each
    /// [`AttributeKey`](crate::AttributeKey) also implements this trait.
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    ///
    /// /// How often a node was visited.
    /// struct Visits;
    /// impl weakly::local::AttributeKey for Visits {
    ///     type Value = Rc<Cell<u32>>;
    /// }
    /// ```
    #[diagnostic::on_unimplemented(
        message = "`{Self}` does not name an attribute",
        label = "this has to implement `local::AttributeKey`",
        note = "declare the attribute and the type of its values: `impl local::AttributeKey for {Self} {{ type Value = …; }}`"
    )]
    pub trait AttributeKey: 'static {
        /// The type of the attribute's values.
        type Value: 'static;
    }

    impl<A: super::AttributeKey> AttributeKey for A {
        type Value = A::Value;
    }
}

/// Identifies an attribute where attributes are listed.
#[derive(Clone, Copy)]
pub struct AttributeId {
    id: TypeId,
    name: &'static str,
}

impl AttributeId {
    /// Returns the identifier of a key.
    #[must_use]
    pub fn of<A: local::AttributeKey>() -> Self {
        AttributeId {
            id: TypeId::of::<A>(),
            name: type_name::<A>(),
        }
    }

    /// Returns the name of the key's type: for people, as [`type_name`] is.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl PartialEq for AttributeId {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for AttributeId {}

impl Hash for AttributeId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Debug for AttributeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The outcome of a transfer for an attribute that both objects, `from` and `to`, have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// Each of the two objects keeps its own value.
    Keep,
    /// The value of `from` replaces the value of `to`, which is destroyed like a replaced value.
    Replace,
}

/// An attribute of an object: the name, and a pointer to the value.
#[derive(Clone)]
pub(super) struct AttributeValue<P> {
    pub(super) id: AttributeId,
    /// None after the value was taken or dropped.
    pub(super) value: Option<P>,
}

impl<P> AttributeValue<P> {
    pub(super) fn new(id: AttributeId, value: P) -> Self {
        AttributeValue {
            id,
            value: Some(value),
        }
    }
}

impl<P> Drop for AttributeValue<P> {
    /// If the destructor of a value panics while another panic unwinds, the first panic goes on.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.value = None);
        panics.resume();
    }
}

/// Returns the index of an attribute among the attributes of an object.
pub(super) fn position<P>(all: &[AttributeValue<P>], id: AttributeId) -> Option<usize> {
    all.iter().position(|attribute| attribute.id == id)
}

/// Returns the attributes of an object, in the order of their first insertion.
pub(super) fn ids<P>(all: &[AttributeValue<P>]) -> alloc::vec::Vec<AttributeId> {
    all.iter().map(|attribute| attribute.id).collect()
}
