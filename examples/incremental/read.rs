//! From a file to its functions, and what they call.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// Methods and macros that may panic, or always do.
const METHODS: [&str; 4] = ["unwrap", "expect", "unwrap_err", "expect_err"];
const MACROS: [&str; 7] = [
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
    "assert",
    "assert_eq",
    "assert_ne",
];

/// A function as it was found.
pub(crate) struct Found {
    pub(crate) name: String,
    /// The type or trait that it belongs to.
    pub(crate) owner: Option<String>,
    pub(crate) size: u32,
    pub(crate) panics: bool,
    pub(crate) calls: Vec<Call>,
}

impl Found {
    /// For the user.
    pub(crate) fn title(&self, file: &str) -> String {
        match &self.owner {
            Some(owner) => format!("{owner}::{} in {file}", self.name),
            None => format!("{} in {file}", self.name),
        }
    }
}

/// A call as written.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    pub(crate) qualifier: Qualifier,
    pub(crate) name: String,
}

/// What qualifies the name of the callee.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Qualifier {
    /// `name(…)`, `module::name(…)`
    None,
    /// `Type::name(…)`
    Type(String),
    /// `something.name(…)`
    Receiver,
}

/// The functions of a file that have a body, in the order in which they end.
pub(crate) fn functions(file: &syn::File) -> Vec<Found> {
    let mut reader = Reader::default();
    reader.visit_file(file);
    reader.done
}

#[derive(Default)]
struct Reader {
    /// The type of the enclosing `impl`, or the enclosing `trait`.
    owner: Option<String>,
    /// Functions that have not ended, each nested in the one before.
    open: Vec<Found>,
    done: Vec<Found>,
}

impl Reader {
    fn function(&mut self, name: &syn::Ident, inside: impl FnOnce(&mut Self)) {
        self.open.push(Found {
            name: name.to_string(),
            owner: self.owner.clone(),
            size: 0,
            panics: false,
            calls: Vec::new(),
        });
        inside(self);
        self.done.extend(self.open.pop());
    }

    fn owned(&mut self, owner: Option<String>, inside: impl FnOnce(&mut Self)) {
        let around = std::mem::replace(&mut self.owner, owner);
        inside(self);
        self.owner = around;
    }

    fn call(&mut self, qualifier: Qualifier, name: String) {
        if let Some(function) = self.open.last_mut() {
            function.calls.push(Call { qualifier, name });
        }
    }

    fn may_panic(&mut self) {
        if let Some(function) = self.open.last_mut() {
            function.panics = true;
        }
    }

    fn call_of_path(&mut self, path: &syn::Path) {
        let mut segments = path.segments.iter().rev();
        let Some(name) = segments.next() else { return };
        let of = match segments.next().map(|segment| segment.ident.to_string()) {
            Some(own) if own == "Self" => {
                self.owner.clone().map_or(Qualifier::None, Qualifier::Type)
            }
            // Names of modules begin with a lowercase letter.
            Some(owner) if owner.starts_with(char::is_uppercase) => Qualifier::Type(owner),
            _ => Qualifier::None,
        };
        self.call(of, name.ident.to_string());
    }

    /// A macro's input need not be Rust; but whatever looks like a call counts as one.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut before = None;
        let mut after_dot = false;
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let called = group.delimiter() == proc_macro2::Delimiter::Parenthesis;
                    if let Some((name, of)) = before.take().filter(|_| called) {
                        self.call(of, name);
                    }
                    self.tokens(group.stream());
                    after_dot = false;
                }
                TokenTree::Ident(name) => {
                    let of = if after_dot {
                        Qualifier::Receiver
                    } else {
                        Qualifier::None
                    };
                    before = Some((name.to_string(), of));
                    after_dot = false;
                }
                TokenTree::Punct(punct) => {
                    before = None;
                    after_dot = punct.as_char() == '.';
                }
                TokenTree::Literal(_) => {
                    before = None;
                    after_dot = false;
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        // A function in a method belongs to no type.
        self.owned(None, |reader| {
            reader.function(&item.sig.ident, |reader| visit::visit_item_fn(reader, item));
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig.ident, |reader| {
            visit::visit_impl_item_fn(reader, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if item.default.is_some() {
            self.function(&item.sig.ident, |reader| {
                visit::visit_trait_item_fn(reader, item);
            });
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let owner = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last(),
            _ => None,
        };
        let owner = owner.map(|segment| segment.ident.to_string());
        self.owned(Some(owner.unwrap_or_default()), |reader| {
            visit::visit_item_impl(reader, item);
        });
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.owned(Some(item.ident.to_string()), |reader| {
            visit::visit_item_trait(reader, item);
        });
    }

    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        if let Some(function) = self.open.last_mut() {
            function.size += 1;
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(callee) = &*call.func {
            self.call_of_path(&callee.path);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        if METHODS.contains(&name.as_str()) {
            self.may_panic();
        }
        self.call(Qualifier::Receiver, name);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last();
        if name.is_some_and(|name| MACROS.iter().any(|it| name.ident == it)) {
            self.may_panic();
        }
        self.tokens(call.tokens.clone());
    }
}
