//! The derive macro, which is a crate of its own. Its documentation is here, where the examples
//! compile.

/// Derives [`Trace`](trait@crate::cycles::Trace) (feature `derive`): shows each field of a struct,
/// or of the variants of an enum, as [`impl_trace!`](crate::impl_trace) shows the fields that it
/// names.
///
/// ```
/// use std::cell::RefCell;
/// use weakly::{WeakMap, cycles::Trace, local::Strong};
///
/// #[derive(Trace)]
/// struct Window { title: String, buttons: RefCell<Vec<Strong<Button>>> }
/// #[derive(Trace)]
/// struct Button;
/// #[derive(Trace)]
/// enum Action { Beep, Close(Strong<Window>) }
///
/// let button = Strong::new(Button);
/// let window = Strong::new(Window { title: "weakly".into(), buttons: RefCell::default() });
/// window.buttons.borrow_mut().push(button.clone());
/// let mut clicks = WeakMap::from([(&button, vec![Action::Beep, Action::Close(window)])]);
/// drop(button); // only its own entry keeps it alive
/// assert_eq!(clicks.purge_cycles().removed, 1);
/// ```
///
/// All fields have to implement `Trace`, as types of the standard library and of this crate do,
/// also types that own no handle. There are attributes for other fields:
///
/// * `#[trace(skip)]` leaves out a field, or a variant with all its fields. A handle in a skipped
///   field counts as a handle held from outside: entries to which the handle leads stay.
/// * `#[trace(each)]` shows a collection of another crate by its
///   [items](crate::cycles::Tracer::each). Nothing else may own the items.
///
/// ```
/// use hashbrown::HashMap;
/// use std::{hash::RandomState, process::ExitCode};
/// use weakly::{Strong, cycles::Trace};
///
/// #[derive(Trace)]
/// struct Task {
///     #[trace(each)]
///     names: HashMap<String, Strong<Node>, RandomState>,
///     #[trace(skip)]
///     result: Option<ExitCode>, // does not implement `Trace`, and owns no handle
/// }
/// #[derive(Trace)]
/// struct Node;
/// ```
///
/// The bounds of the type, and its `where` clause, are bounds of the implementation. Besides, a
/// type parameter has to be `Trace` if a shown field owns a value of the parameter's type, and
/// `'static` if the value is behind a `Strong`, `Rc` or `Arc`. A field owns no value in a
/// `PhantomData` or a `Weak`, behind a reference or a pointer, or in the signature of a function.
/// (The macro knows these types by their names. Where an alias hides a handle, the compiler says
/// which parameter needs the bound `'static`.) The same holds of types such as `T::Item`. A
/// parameter with `#[trace(skip)]` need not be `Trace`: a hasher of another crate, for instance. If
/// you want other bounds, use `impl_trace!`.
///
/// ```
/// use std::{collections::HashMap, hash::BuildHasher, marker::PhantomData};
/// use weakly::{Strong, cycles::Trace};
///
/// #[derive(Trace)]
/// struct List<T, Unit, #[trace(skip)] S: BuildHasher> { // T: Trace + 'static, Unit: 'static, S: 'static
///     head: T,
///     tail: Option<Strong<List<T, Unit, S>>>,
///     names: HashMap<String, T, S>,
///     unit: PhantomData<Unit>,
/// }
/// ```
///
/// `#[trace(crate = path)]` on the type is the path of this crate, if that is not `::weakly`. The
/// type may implement `Drop`. For a union, implement `Trace` by hand.
pub use weakly_derive::Trace;
