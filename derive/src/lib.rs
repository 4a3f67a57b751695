//! The derive macro of the crate `weakly`, which re-exports the macro as `weakly::cycles::Trace`,
//! with its feature `derive`, and documents it.
//!
//! The macro needs the names of fields and parameters, and no more than the names within a type. So
//! it walks over tokens, without a parser of Rust: its build takes 0.4 s of processor time, and 3 s
//! with `syn` and `quote`. The compiler has parsed the item before: all tokens here are those of a
//! struct, an enum or a union.

// The files: `quote`, tokens from text; `input`, what the macro reads of a type; `bounds`, what the
// type's parameters have to be.

mod bounds;
mod input;
mod quote;

use proc_macro::{Ident, Literal, Span, TokenStream, TokenTree};

use input::{Field, Input};
use quote::quote;

/// Derives `Trace`. The documentation is that of `weakly::cycles::Trace`.
#[proc_macro_derive(Trace, attributes(trace))]
pub fn trace(item: TokenStream) -> TokenStream {
    Input::read(item).map_or_else(input::Error::into_tokens, |input| expand(&input))
}

const IMPL: &str = "
    #[automatically_derived]
    impl<$parameters> $weakly::cycles::Trace for $name<$arguments> where $predicates {
        fn trace(&self, __weakly: &mut $weakly::cycles::Tracer<'_>) {
            match *self { $arms }
        }
    }";
const SHOW: &str = "
    $weakly::cycles::Trace::trace($binding, &mut $weakly::cycles::Tracer::field(__weakly, $label));";
const EACH: &str = "
    $weakly::cycles::Tracer::each(&mut $weakly::cycles::Tracer::field(__weakly, $label), $binding);";

/// Returns the implementation. Its variables have the hygiene of the macro, and the code that shows
/// a field has the place of the field's type: an error of the compiler is there.
fn expand(input: &Input) -> TokenStream {
    let here = Span::mixed_site();
    let mut arms = TokenStream::new();
    for variant in &input.variants {
        let (mut bindings, mut shows) = (TokenStream::new(), TokenStream::new());
        for (number, field) in variant.fields.iter().enumerate() {
            let Field { name, of, each } = field;
            let at = here.located_at(of[0].span());
            let weakly = input.weakly.clone().into_iter().map(|mut token| {
                token.set_span(token.span().located_at(at));
                token
            });
            let mut label = Literal::string(&name.to_string());
            label.set_span(at);
            let holes = [
                ("weakly", &weakly.collect()),
                ("name", &name.clone().into()),
                ("label", &TokenTree::from(label).into()),
                (
                    "binding",
                    &TokenTree::from(Ident::new(&format!("__weakly_{number}"), at)).into(),
                ),
            ];
            // A struct pattern with the names `0`, `1`, … fits a tuple, too.
            bindings.extend(quote("$name: ref $binding,", at, &holes));
            shows.extend(quote(if *each { EACH } else { SHOW }, at, &holes));
        }
        let holes = [
            ("path", &variant.path),
            ("bindings", &bindings),
            ("shows", &shows),
        ];
        arms.extend(quote("$path { $bindings .. } => { $shows }", here, &holes));
    }
    let (mut parameters, mut arguments) = (TokenStream::new(), TokenStream::new());
    for parameter in &input.parameters {
        let holes = [
            ("declaration", &parameter.declaration),
            ("name", &parameter.name),
        ];
        parameters.extend(quote("$declaration,", here, &holes));
        arguments.extend(quote("$name,", here, &holes));
    }
    let mut predicates = input.predicates.clone();
    predicates.extend(bounds::inferred(input));
    let holes = [
        ("weakly", &input.weakly),
        ("name", &input.name.clone().into()),
        ("parameters", &parameters),
        ("arguments", &arguments),
        ("predicates", &predicates),
        ("arms", &arms),
    ];
    quote(IMPL, here, &holes)
}
