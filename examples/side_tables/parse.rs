//! From text to a tree of handles, by way of `syn`.

use proc_macro2::{LineColumn, Span};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use weakly::{Strong, Weak};

use crate::syntax;
use crate::tree::{Kind, NODES, Node, Source, Tree};

/// Parses a file.
///
/// # Errors
/// Where and why it is not valid Rust.
pub(crate) fn parse(source: Source) -> Result<Tree, String> {
    let tree = |file: &syn::File| Builder::tree(&source, file);
    let root = syntax::parse(&source.name, &source.text, tree)?;
    Ok(Tree { source, root })
}

/// Makes nodes while `syn` visits.
struct Builder<'s> {
    source: &'s Source,
    /// Columns count characters, nodes count bytes; for ASCII both are the same, and need no conversion.
    ascii: bool,
    /// The children of the node that is being made.
    parent: Weak<Node>,
    /// Finished nodes, whose parents are not.
    done: Vec<Strong<Node>>,
}

impl<'s> Builder<'s> {
    fn tree(source: &'s Source, file: &syn::File) -> Strong<Node> {
        let mut builder = Builder {
            source,
            ascii: source.text.is_ascii(),
            parent: Weak::new(),
            done: Vec::new(),
        };
        let all = 0..source.text.len() as u32;
        builder.node(Kind::File, all, |builder| visit::visit_file(builder, file));
        builder.done.pop().expect("the root, and only that")
    }

    /// Makes a node around what `inside` makes. `new_cyclic` gives its children a weak handle to it before it
    /// exists, so that nothing has to be patched afterwards.
    fn node(&mut self, kind: Kind, range: std::ops::Range<u32>, inside: impl FnOnce(&mut Self)) {
        let node = Strong::new_cyclic(|this| {
            let parent = std::mem::replace(&mut self.parent, this.clone());
            let first = self.done.len();
            inside(self);
            self.parent = parent.clone();
            Node {
                kind,
                range,
                parent,
                // Not `split_off`, which may give its whole buffer away.
                children: self.done.drain(first..).collect(),
                _alive: NODES.guard(),
            }
        });
        self.done.push(node);
    }

    fn range(&self, span: Span) -> std::ops::Range<u32> {
        self.offset(span.start())..self.offset(span.end())
    }

    fn offset(&self, at: LineColumn) -> u32 {
        let line = self.source.lines[at.line - 1];
        if self.ascii {
            return line + at.column as u32;
        }
        let rest = &self.source.text[line as usize..];
        let column: usize = rest.chars().take(at.column).map(char::len_utf8).sum();
        line + column as u32
    }
}

/// Makes a node for each of these pieces of syntax, of the kind that the function returns; for `None` it makes
/// no node, but visits the inside.
macro_rules! nodes {
    ($($visit:ident($syntax:ty) => $kind:expr;)*) => {
        impl<'ast> Visit<'ast> for Builder<'_> {$(
            fn $visit(&mut self, syntax: &'ast $syntax) {
                let kind: fn(&$syntax) -> Option<Kind> = $kind;
                match kind(syntax) {
                    Some(kind) => {
                        let range = self.range(syntax.span());
                        self.node(kind, range, |builder| visit::$visit(builder, syntax));
                    }
                    None => visit::$visit(self, syntax),
                }
            }
        )*}
    };
}

nodes! {
    visit_item(syn::Item) => |item| Some(item_kind(item));
    visit_impl_item(syn::ImplItem) => |item| Some(match item {
        syn::ImplItem::Fn(_) => Kind::Fn,
        syn::ImplItem::Const(_) => Kind::Constant,
        syn::ImplItem::Type(_) => Kind::Alias,
        _ => Kind::OtherItem,
    });
    visit_trait_item(syn::TraitItem) => |item| Some(match item {
        syn::TraitItem::Fn(_) => Kind::Fn,
        syn::TraitItem::Const(_) => Kind::Constant,
        syn::TraitItem::Type(_) => Kind::Alias,
        _ => Kind::OtherItem,
    });
    visit_foreign_item(syn::ForeignItem) => |item| Some(match item {
        syn::ForeignItem::Fn(_) => Kind::Fn,
        syn::ForeignItem::Static(_) => Kind::Constant,
        syn::ForeignItem::Type(_) => Kind::Alias,
        _ => Kind::OtherItem,
    });
    visit_attribute(syn::Attribute) => |attribute| Some(attribute_kind(attribute));
    visit_visibility(syn::Visibility) => |visibility| match visibility {
        syn::Visibility::Public(_) => Some(Kind::Pub),
        syn::Visibility::Restricted(_) => Some(Kind::Restricted),
        syn::Visibility::Inherited => None,
    };
    visit_ident(proc_macro2::Ident) => |_| Some(Kind::Name);
    visit_field(syn::Field) => |_| Some(Kind::Field);
    visit_variant(syn::Variant) => |_| Some(Kind::Variant);
    visit_fn_arg(syn::FnArg) => |_| Some(Kind::Parameter);
    visit_generic_param(syn::GenericParam) => |_| Some(Kind::Generic);
    visit_block(syn::Block) => |_| Some(Kind::Block);
    visit_local(syn::Local) => |local| {
        let diverges = local.init.as_ref().is_some_and(|init| init.diverge.is_some());
        Some(if diverges { Kind::LetElse } else { Kind::Let })
    };
    visit_arm(syn::Arm) => |_| Some(Kind::Arm);
    visit_expr(syn::Expr) => |expr| Some(expr_kind(expr));
    visit_pat(syn::Pat) => |pat| Some(match pat {
        syn::Pat::Guard(_) => Kind::Guard,
        _ => Kind::Pattern,
    });
    visit_type(syn::Type) => |_| Some(Kind::Type);
    visit_path(syn::Path) => |_| Some(Kind::Path);
    visit_macro(syn::Macro) => |_| Some(Kind::Macro);
}

fn item_kind(item: &syn::Item) -> Kind {
    match item {
        syn::Item::Fn(_) => Kind::Fn,
        syn::Item::Mod(module) if module.content.is_some() => Kind::Mod,
        syn::Item::Struct(_) => Kind::Struct,
        syn::Item::Union(_) => Kind::Union,
        syn::Item::Enum(_) => Kind::Enum,
        syn::Item::Trait(_) => Kind::Trait,
        syn::Item::Impl(_) => Kind::Impl,
        syn::Item::Const(_) | syn::Item::Static(_) => Kind::Constant,
        syn::Item::Type(_) => Kind::Alias,
        syn::Item::ForeignMod(_) => Kind::ForeignMod,
        _ => Kind::OtherItem,
    }
}

fn expr_kind(expr: &syn::Expr) -> Kind {
    match expr {
        syn::Expr::If(_) => Kind::If,
        syn::Expr::While(_) => Kind::While,
        syn::Expr::ForLoop(_) => Kind::For,
        syn::Expr::Match(_) => Kind::Match,
        syn::Expr::Try(_) => Kind::Try,
        syn::Expr::Binary(binary) => match binary.op {
            syn::BinOp::And(_) | syn::BinOp::Or(_) => Kind::Lazy,
            _ => Kind::OtherExpr,
        },
        _ => Kind::OtherExpr,
    }
}

fn attribute_kind(attribute: &syn::Attribute) -> Kind {
    if !attribute.path().is_ident("doc") {
        return Kind::OtherAttribute;
    }
    match &attribute.meta {
        syn::Meta::NameValue(_) => Kind::Doc,
        syn::Meta::List(list) if list.tokens.to_string() == "hidden" => Kind::Hidden,
        _ => Kind::OtherAttribute,
    }
}
