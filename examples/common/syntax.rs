//! From text to `syn`'s trees, for any input. For the programs that parse: `#[path = "../common/syntax.rs"]`.

use proc_macro2::{Span, TokenStream, TokenTree};

/// How deep brackets and prefixes may nest. The parser recurses, and a stack overflow aborts the process. Real
/// code stays below a hundred.
const MAX_DEPTH: usize = 1_000;

/// The stack size for [`parse`]: enough for [`MAX_DEPTH`], and for chains of ten thousand calls, operators or
/// `else if`, which nest as deep but are not counted, also without optimisation. Only the part that is used
/// becomes resident memory.
pub(crate) const STACK: usize = if cfg!(target_pointer_width = "64") {
    1 << 30
} else {
    1 << 28
};

/// Parses the text of a file and passes it to `look`; nothing of it remains afterwards.
///
/// # Errors
/// Where (line and column from one) and why it is not valid Rust.
pub(crate) fn parse<R>(
    name: &str,
    text: &str,
    look: impl FnOnce(&syn::File) -> R,
) -> Result<R, String> {
    // The thread's table of spans keeps a copy of every text it has seen. The spans are unused once `look`
    // returns; without this the table would only grow.
    struct Spans;
    impl Drop for Spans {
        fn drop(&mut self) {
            proc_macro2::extra::invalidate_current_thread_spans();
        }
    }
    let _spans = Spans;
    let refuse = |span: Span, why: &str| {
        let (line, column) = place(text, span);
        format!("{name}:{line}:{column}: {why}")
    };
    let tokens = without_shebang(text);
    let tokens = tokens.parse::<TokenStream>().map_err(|error| {
        let why = "not a Rust token, or an unbalanced bracket";
        refuse(error.span(), why)
    })?;
    if let Some(span) = too_deep(tokens.clone()) {
        return Err(refuse(span, "nested too deeply"));
    }
    let refused = |error: syn::Error| refuse(error.span(), &error.to_string());
    Ok(look(&syn::parse2(tokens).map_err(refused)?))
}

/// Line and column, both from one.
fn place(text: &str, span: Span) -> (usize, usize) {
    let (mut at, end) = (span.start(), span.end());
    // A token that is missing at the end of the text has no span of its own.
    if at == end && at == Span::call_site().start() {
        let last = text.rfind('\n').map_or(0, |at| at + 1);
        at.line = text.matches('\n').count() + 1;
        at.column = text[last..].chars().count();
    }
    (at.line, at.column + 1)
}

/// The text without a shebang line, but with that line's end, so that all lines keep their numbers.
fn without_shebang(text: &str) -> &str {
    match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => {
            &text[text.find('\n').unwrap_or(text.len())..]
        }
        _ => text,
    }
}

/// Where it nests deeper than the parser may go. Counts every punctuation as a prefix: it errs on the safe side.
fn too_deep(tokens: TokenStream) -> Option<Span> {
    let mut open = vec![(0, tokens.into_iter())];
    let mut depth = 0;
    while let Some((base, tokens)) = open.last_mut() {
        let Some(token) = tokens.next() else {
            open.pop();
            depth = open.last().map_or(0, |&(base, _)| base);
            continue;
        };
        match &token {
            TokenTree::Ident(_) | TokenTree::Literal(_) => depth = *base,
            TokenTree::Punct(_) => depth += 1,
            TokenTree::Group(group) => {
                depth += 1;
                open.push((depth, group.stream().into_iter()));
            }
        }
        if depth > MAX_DEPTH {
            return Some(token.span());
        }
    }
    None
}
