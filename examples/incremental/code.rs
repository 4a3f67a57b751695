//! Functions, and what they call, as far as names tell.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};
use weakly::Strong;

/// One version of a function: an edit makes another.
#[derive(Clone, Default)]
pub(crate) struct Function {
    /// In tokens.
    pub(crate) size: u64,
    /// The names of what it calls, sorted. A caller owns no callee: so a version dies when another takes its name.
    pub(crate) calls: Vec<String>,
}

/// The current version of each function, by name. No edit adds a name, so that nothing depends on the absence of one.
pub(crate) type Code = BTreeMap<String, Strong<Function>>;

/// The functions of a file, with their names.
pub(crate) fn functions(file: String, text: String) -> Result<Vec<(String, Function)>, String> {
    let refused = |why: LexError| format!("{file}: {why}");
    let mut found = Vec::new();
    read(text.parse().map_err(refused)?, None, &mut found);
    // The parser would remember the text, for the sake of its spans.
    proc_macro2::extra::invalidate_current_thread_spans();
    Ok(found)
}

/// Reads what is inside of a function, or of none. A name with a parenthesis after it is a call.
fn read(tokens: TokenStream, inside: Option<usize>, found: &mut Vec<(String, Function)>) {
    let mut before = String::new();
    let mut begun = None; // a function, up to its body
    for token in tokens {
        let last = std::mem::take(&mut before);
        if let Some(function) = inside {
            found[function].1.size += 1;
        }
        match token {
            TokenTree::Ident(name) => {
                before = name.to_string();
                if last == "fn" {
                    begun = Some(found.len());
                    found.push((before.clone(), Function::default()));
                }
            }
            TokenTree::Group(group) => {
                let is_call = group.delimiter() == Delimiter::Parenthesis && begun.is_none();
                if let Some(function) = inside.filter(|_| is_call && !last.is_empty()) {
                    found[function].1.calls.push(last);
                }
                let is_body = group.delimiter() == Delimiter::Brace;
                let function = begun.take_if(|_| is_body).or(inside);
                read(group.stream(), function, found);
            }
            TokenTree::Punct(it) if it.as_char() == ';' && begun.take().is_some() => {
                found.pop(); // it has no body
            }
            _ => {}
        }
    }
}

/// The functions whose name no other has.
pub(crate) fn unique(all: Vec<(String, Function)>) -> Code {
    let mut named: BTreeMap<String, Vec<Function>> = BTreeMap::new();
    for (name, function) in all {
        named.entry(name).or_default().push(function);
    }
    let unique = |(name, functions): (String, Vec<Function>)| {
        let [mut function] = <[Function; 1]>::try_from(functions).ok()?;
        function.calls.sort_unstable();
        function.calls.dedup();
        Some((name, Strong::new(function)))
    };
    named.into_iter().filter_map(unique).collect()
}
