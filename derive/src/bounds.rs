//! What the parameters of a type have to be, so that its shown fields are `Trace`.
//!
//! A bound for the type of each field would be exact, but the compiler cannot prove such a bound of
//! a recursive type. So there is a bound for each parameter, and for each type within a parameter
//! (`T::Item`), of which a shown field owns a value.

use std::collections::BTreeMap;

use proc_macro::{Span, TokenStream, TokenTree};

use crate::input::{Angles, Input, Parameter, flat, is_punct};
use crate::quote::quote;

/// These show nothing, whatever their arguments are.
const SHOW_NOTHING: [&str; 2] = ["PhantomData", "Weak"];
/// The objects of these are `'static`.
const HANDLES: [&str; 3] = ["Strong", "Rc", "Arc"];

/// What a type has to be.
#[derive(Clone, Copy, Default)]
struct Bounds {
    trace: bool,
    is_static: bool,
}

impl Bounds {
    /// Returns the bounds of the arguments of a type that has these bounds. What the derived type
    /// itself requires of its arguments is known without its recursion.
    fn within(self, name: &str, is_own: bool) -> Self {
        let trace = self.trace && !is_own && !SHOW_NOTHING.contains(&name);
        let is_static = self.is_static || trace && HANDLES.contains(&name);
        Bounds { trace, is_static }
    }
}

struct Inferred<'i> {
    /// The name of the type.
    name: String,
    parameters: Vec<&'i Parameter>,
    /// Parameters and types within parameters, by their texts.
    paths: BTreeMap<String, (TokenStream, Bounds)>,
}

/// Returns the inferred predicates, each with a comma at its end.
pub(crate) fn inferred(input: &Input) -> TokenStream {
    let types = input.parameters.iter().filter(|it| it.is_type);
    let mut inferred = Inferred {
        name: input.name.to_string(),
        parameters: types.collect(),
        paths: BTreeMap::new(),
    };
    let shown = Bounds {
        trace: true,
        is_static: false,
    };
    for field in input.variants.iter().flat_map(|variant| &variant.fields) {
        inferred.scan(&field.of, shown);
    }
    let predicate = |(path, bounds): (TokenStream, Bounds)| {
        let text = match (bounds.trace, bounds.is_static) {
            (true, true) => "$path: $weakly::cycles::Trace + 'static,",
            (true, false) => "$path: $weakly::cycles::Trace,",
            (false, true) => "$path: 'static,",
            (false, false) => "",
        };
        let holes = [("path", &path), ("weakly", &input.weakly)];
        quote(text, Span::mixed_site(), &holes)
    };
    inferred.paths.into_values().map(predicate).collect()
}

impl Inferred<'_> {
    /// Finds the parameters in a type, or in a part of a type.
    fn scan(&mut self, tokens: &[TokenTree], place: Bounds) {
        // For each open `<`: the bounds of its arguments, and of the rest of the present argument.
        let mut places = vec![(place, place)];
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let depth = places.len() - 1;
            let (arguments, rest) = &mut places[depth];
            let mut end = at + 1;
            match token {
                TokenTree::Group(group) => self.scan(&flat(group.stream()), *rest),
                TokenTree::Literal(_) => {}
                TokenTree::Punct(punct) => match punct.as_char() {
                    // A lifetime, or the `>` of `->`.
                    '\'' | '-' => end += 1,
                    ',' => *rest = *arguments,
                    // The referent has another owner.
                    '&' | '*' => *rest = Bounds::default(),
                    // Not behind a name: `<T as Trait>::Item`.
                    '<' => {
                        end = path_end(tokens, at);
                        self.require(&tokens[at..end], *rest);
                    }
                    '>' if depth > 0 => _ = places.pop(),
                    _ => {}
                },
                TokenTree::Ident(word) => match &*word.to_string() {
                    "mut" | "const" | "dyn" => {}
                    // A function owns no argument and no result.
                    "fn" => *rest = Bounds::default(),
                    "Self" => {
                        let Bounds { is_static, .. } = *rest;
                        for parameter in self.parameters.clone() {
                            let name: Vec<_> = parameter.name.clone().into_iter().collect();
                            let trace = false;
                            self.require(&name, Bounds { trace, is_static });
                        }
                    }
                    word if self.parameters.iter().any(|it| it.is_named(word)) => {
                        end = path_end(tokens, at);
                        self.require(&tokens[at..end], *rest);
                    }
                    _ => {
                        let name;
                        (end, name) = path_name(tokens, at);
                        if tokens.get(end).is_some_and(|token| is_punct(token, '<')) {
                            end += 1;
                            let is_own = end == at + 2 && name == self.name;
                            let within = rest.within(&name, is_own);
                            places.push((within, within));
                        }
                    }
                },
            }
            at = end;
        }
    }

    /// Requires bounds of a parameter, or of a type within parameters.
    fn require(&mut self, path: &[TokenTree], bounds: Bounds) {
        let mut named = self.parameters.iter().filter(|it| is_named_in(it, path));
        if let Some(first) = named.next() {
            let skip = first.skip || named.any(|it| it.skip);
            let path: TokenStream = path.iter().cloned().collect();
            let entry = self.paths.entry(path.to_string());
            let (_, all) = entry.or_insert((path, Bounds::default()));
            all.trace |= bounds.trace && !skip;
            all.is_static |= bounds.is_static;
        }
    }
}

fn is_named_in(parameter: &Parameter, tokens: &[TokenTree]) -> bool {
    tokens.iter().any(|token| match token {
        TokenTree::Group(group) => is_named_in(parameter, &flat(group.stream())),
        token => parameter.is_named(&token.to_string()),
    })
}

/// Returns the end of the names of a path, up to its arguments, and the last name.
fn path_name(tokens: &[TokenTree], begin: usize) -> (usize, String) {
    let (mut end, mut name) = (begin, String::new());
    while let Some(token) = tokens.get(end) {
        match token {
            TokenTree::Ident(word) if end == begin || is_punct(&tokens[end - 1], ':') => {
                name = word.to_string();
            }
            token if is_punct(token, ':') => {}
            _ => break,
        }
        end += 1;
    }
    (end, name)
}

/// Returns the end of a path that begins at a parameter or at a `<`: `T::Item<'a>`, `<T as
/// Trait>::Item`.
fn path_end(tokens: &[TokenTree], begin: usize) -> usize {
    let (mut angles, mut end) = (Angles::default(), begin);
    while let Some(token) = tokens.get(end) {
        let is_inside = angles.open.max(angles.after(token)) > 0;
        let is_name = end == begin || is_punct(&tokens[end - 1], ':');
        if !is_inside && !is_name && !is_punct(token, ':') {
            break;
        }
        end += 1;
    }
    end
}
