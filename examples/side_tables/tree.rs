//! Syntax trees. A node says what it is and where; it has no field for what anybody finds out about it.

use std::mem;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use weakly::{Strong, dismantle};

pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// In bytes of the text.
    pub(crate) range: Range<usize>,
    pub(crate) children: Vec<Strong<Node>>,
}

/// Without this, a node would drop its children, these theirs, and so on: recursion as deep as the tree.
impl Drop for Node {
    fn drop(&mut self) {
        let take = |node: &mut Node| mem::take(&mut node.children);
        dismantle(take(self), Strong::into_inner, take);
    }
}

/// A file.
pub(crate) struct Tree {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) root: Strong<Node>,
}

impl Tree {
    /// # Errors
    /// Where and why it is not valid Rust.
    pub(crate) fn parse(name: String, mut text: String) -> Result<Self, String> {
        let file = syn::parse_file(&text).map_err(|why| {
            let at = why.span().start();
            format!("{name}:{}:{}: {why}", at.line, at.column + 1)
        })?;
        // The parser counts from the end of a shebang line.
        text.drain(..file.shebang.as_ref().map_or(0, String::len));
        let mut builder = Builder::default();
        builder.node(Kind::File, &file, |builder| builder.visit_file(&file));
        let root = builder.0.pop().expect("the root, and only that");
        // The parser would remember the text, for the sake of its spans.
        proc_macro2::extra::invalidate_current_thread_spans();
        Ok(Tree { name, text, root })
    }

    /// All nodes, parents first.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Strong<Node>> {
        let mut ahead = vec![&self.root];
        std::iter::from_fn(move || {
            let node = ahead.pop()?;
            ahead.extend(node.children.iter().rev());
            Some(node)
        })
    }

    /// The name of a module, a trait or a function, or of the type that an `impl` is for.
    pub(crate) fn name_of(&self, node: &Node) -> Option<&str> {
        let mut children = node.children.iter();
        let name = match node.kind {
            Kind::Module | Kind::Trait | Kind::Function => {
                children.find(|it| it.kind == Kind::Name)
            }
            // The last: the types in the generics come before it.
            Kind::Impl => children.rfind(|it| it.kind == Kind::Type),
            _ => None,
        };
        name.map(|it| &self.text[it.range.clone()])
    }
}

/// Makes nodes while `syn` visits its own. These are the ones whose parent is not made yet.
#[derive(Default)]
struct Builder(Vec<Strong<Node>>);

impl Builder {
    fn node(&mut self, kind: Kind, syntax: &impl Spanned, inside: impl FnOnce(&mut Self)) {
        let first = self.0.len();
        inside(self);
        let children = self.0.drain(first..).collect();
        self.0.push(Strong::new(Node {
            kind,
            range: syntax.span().byte_range(),
            children,
        }));
    }
}

/// The kinds of nodes, and the syntax for which they are made.
macro_rules! kinds {
    ($($kind:ident: $($visit:ident($syntax:ident)),*;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind { File, $($kind),* }

        impl<'ast> Visit<'ast> for Builder {$($(
            fn $visit(&mut self, syntax: &'ast syn::$syntax) {
                self.node(Kind::$kind, syntax, |this| visit::$visit(this, syntax));
            }
        )*)*}
    };
}

kinds! {
    Module: visit_item_mod(ItemMod);
    Trait: visit_item_trait(ItemTrait);
    Impl: visit_item_impl(ItemImpl);
    Function: visit_item_fn(ItemFn), visit_impl_item_fn(ImplItemFn), visit_trait_item_fn(TraitItemFn);
    Attribute: visit_attribute(Attribute);
    Visibility: visit_vis_restricted(VisRestricted);
    Name: visit_ident(Ident);
    Type: visit_type(Type);
    Expression: visit_expr(Expr);
    Branch: visit_expr_if(ExprIf), visit_expr_while(ExprWhile), visit_expr_for_loop(ExprForLoop),
        visit_expr_try(ExprTry), visit_arm(Arm);
}
