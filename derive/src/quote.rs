//! Tokens from text.

use proc_macro::{Group, Span, TokenStream, TokenTree};

/// Returns the tokens of a text, all at one place, with the tokens of a hole for each `$name`.
pub(crate) fn quote(text: &str, at: Span, holes: &[(&str, &TokenStream)]) -> TokenStream {
    fill(text.parse().expect("tokens of Rust"), at, holes)
}

fn fill(tokens: TokenStream, at: Span, holes: &[(&str, &TokenStream)]) -> TokenStream {
    let (mut filled, mut tokens) = (TokenStream::new(), tokens.into_iter());
    while let Some(mut token) = tokens.next() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '$' => {
                let name = tokens.next().expect("a name after `$`").to_string();
                let hole = holes.iter().find(|(hole, _)| *hole == name);
                filled.extend(hole.expect("a hole with this name").1.clone());
                continue;
            }
            TokenTree::Group(group) => {
                token = Group::new(group.delimiter(), fill(group.stream(), at, holes)).into();
            }
            _ => {}
        }
        token.set_span(at);
        filled.extend([token]);
    }
    filled
}
