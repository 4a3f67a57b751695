//! What the macro reads of a type.

use std::iter::Peekable;
use std::vec;

use proc_macro::{Delimiter, Group, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::quote::quote;

/// A type whose `Trace` is derived.
pub(crate) struct Input {
    pub(crate) name: TokenTree,
    /// The path of the crate `weakly`.
    pub(crate) weakly: TokenStream,
    pub(crate) parameters: Vec<Parameter>,
    /// The type's own `where` clause, with a comma at its end.
    pub(crate) predicates: TokenStream,
    /// The variants of an enum; a struct is one variant.
    pub(crate) variants: Vec<Variant>,
}

/// A generic parameter: a lifetime, a constant or a type.
pub(crate) struct Parameter {
    pub(crate) name: TokenStream,
    /// The parameter with its bounds, without its default.
    pub(crate) declaration: TokenStream,
    pub(crate) is_type: bool,
    /// Whether a `#[trace(skip)]` says that the type need not be `Trace`.
    pub(crate) skip: bool,
}

pub(crate) struct Variant {
    /// `Self`, or `Self::Name`.
    pub(crate) path: TokenStream,
    /// The fields that are shown.
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    /// The name, or the number in a tuple.
    pub(crate) name: TokenTree,
    /// The tokens of the type.
    pub(crate) of: Vec<TokenTree>,
    /// Whether the field is shown by its items.
    pub(crate) each: bool,
}

/// A reason why nothing is derived, and its place.
pub(crate) struct Error {
    at: Span,
    message: &'static str,
}

impl Error {
    fn new(at: Span, message: &'static str) -> Self {
        Error { at, message }
    }

    pub(crate) fn into_tokens(self) -> TokenStream {
        let mut message = Literal::string(self.message);
        message.set_span(self.at);
        let holes = [("message", &TokenTree::from(message).into())];
        quote("::core::compile_error! { $message }", self.at, &holes)
    }
}

type Tokens = Peekable<vec::IntoIter<TokenTree>>;

pub(crate) fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// Returns the tokens without the invisible groups around the arguments of a macro by example.
pub(crate) fn flat(tokens: impl IntoIterator<Item = TokenTree>) -> Vec<TokenTree> {
    let mut all = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                all.extend(flat(group.stream()));
            }
            token => all.push(token),
        }
    }
    all
}

/// Counts the open `<` in the tokens of a type.
#[derive(Default)]
pub(crate) struct Angles {
    pub(crate) open: usize,
    /// Whether the last token was the `-` of a `->`.
    dash: bool,
}

impl Angles {
    /// Returns how many are open after the next token.
    pub(crate) fn after(&mut self, token: &TokenTree) -> usize {
        let is = |char| is_punct(token, char);
        if is('<') {
            self.open += 1;
        } else if is('>') && !self.dash {
            self.open = self.open.saturating_sub(1);
        }
        self.dash = is('-');
        self.open
    }
}

/// Splits the tokens of types at each comma outside of `<…>`.
fn split(tokens: impl IntoIterator<Item = TokenTree>) -> Vec<Vec<TokenTree>> {
    let (mut parts, mut part, mut angles) = (Vec::new(), Vec::new(), Angles::default());
    for token in tokens {
        if angles.after(&token) == 0 && is_punct(&token, ',') {
            parts.push(part);
            part = Vec::new();
        } else {
            part.push(token);
        }
    }
    parts.extend((!part.is_empty()).then_some(part));
    parts
}

/// What the `#[trace(…)]` of an owner may say.
struct Owner {
    words: &'static [&'static str],
    rule: &'static str,
}

const TYPE: Owner = Owner {
    words: &["crate"],
    rule: "`#[trace(…)]` of a type is `crate = path`",
};
const PARAMETER: Owner = Owner {
    words: &["skip"],
    rule: "`#[trace(…)]` of a type parameter is `skip`",
};
const VARIANT: Owner = Owner {
    words: &["skip"],
    rule: "`#[trace(…)]` of a variant is `skip`",
};
const FIELD: Owner = Owner {
    words: &["skip", "each"],
    rule: "`#[trace(…)]` of a field is `skip` or `each`",
};

impl Owner {
    /// Takes the attributes in front of the tokens. Returns the word in `#[trace(…)]`, and the path
    /// after `crate =`.
    fn attributes(&self, tokens: &mut Tokens) -> Result<Option<(String, TokenStream)>, Error> {
        let wrong = |token: &TokenTree| Error::new(token.span(), self.rule);
        let mut found = None;
        while tokens.next_if(|token| is_punct(token, '#')).is_some() {
            let Some(TokenTree::Group(attribute)) = tokens.next() else {
                break;
            };
            let attribute = flat(attribute.stream());
            let [trace, rest @ ..] = &attribute[..] else {
                continue;
            };
            if trace.to_string() != "trace" {
                continue;
            }
            let [TokenTree::Group(said)] = rest else {
                return Err(wrong(trace));
            };
            let said = flat(said.stream());
            let [first, rest @ ..] = &said[..] else {
                return Err(wrong(trace));
            };
            let word = first.to_string();
            if found.is_some() || !self.words.contains(&&*word) {
                return Err(wrong(first));
            }
            let path = match (&*word, rest) {
                ("crate", [is, path @ ..]) if is_punct(is, '=') && !path.is_empty() => path,
                ("skip" | "each", []) => &[],
                (_, rest) => return Err(wrong(rest.first().unwrap_or(first))),
            };
            found = Some((word, path.iter().cloned().collect()));
        }
        Ok(found)
    }
}

impl Input {
    pub(crate) fn read(item: TokenStream) -> Result<Self, Error> {
        let item: Vec<_> = item.into_iter().collect();
        let mut tokens = item.into_iter().peekable();
        let weakly = match TYPE.attributes(&mut tokens)? {
            Some((_, path)) => path,
            None => quote("::weakly", Span::mixed_site(), &[]),
        };
        let is_kind =
            |token: &TokenTree| ["struct", "enum", "union"].contains(&&*token.to_string());
        let kind = tokens.find(is_kind).expect("a struct, an enum or a union");
        let name = tokens.next().expect("the type's name");
        let parameters = parameters(&mut tokens)?;
        let (body, predicates) = body(tokens);
        let variants = match &*kind.to_string() {
            "struct" => vec![Variant {
                path: quote("Self", Span::mixed_site(), &[]),
                fields: fields(body)?,
            }],
            "enum" => variants(body)?,
            _ => {
                let message =
                    "nobody knows which field of a union is in use: implement `Trace` by hand";
                return Err(Error::new(kind.span(), message));
            }
        };
        Ok(Input {
            name,
            weakly,
            parameters,
            predicates,
            variants,
        })
    }
}

/// Takes the generic parameters.
fn parameters(tokens: &mut Tokens) -> Result<Vec<Parameter>, Error> {
    if tokens.next_if(|token| is_punct(token, '<')).is_none() {
        return Ok(Vec::new());
    }
    let mut angles = Angles {
        open: 1,
        dash: false,
    };
    let inside = tokens.take_while(|token| angles.after(token) > 0);
    split(inside).into_iter().map(Parameter::read).collect()
}

/// Returns the body, and the predicates of the `where` clause, with a comma at their end. The body
/// of a tuple is in front of the clause, the body of another type behind it.
fn body(tokens: Tokens) -> (Option<Group>, TokenStream) {
    let (mut body, mut clause, mut angles) = (None, Vec::new(), Angles::default());
    for token in tokens {
        let is_outside = angles.after(&token) == 0;
        match token {
            TokenTree::Group(group)
                if is_outside
                    && match group.delimiter() {
                        Delimiter::Brace => true,
                        Delimiter::Parenthesis => clause.is_empty(),
                        _ => false,
                    } =>
            {
                body = Some(group);
            }
            TokenTree::Punct(end) if end.as_char() == ';' => {}
            token => clause.push(token),
        }
    }
    // Without `where`.
    let mut predicates = clause.split_off(clause.len().min(1));
    if predicates.last().is_some_and(|last| !is_punct(last, ',')) {
        predicates.push(Punct::new(',', Spacing::Alone).into());
    }
    (body, predicates.into_iter().collect())
}

impl Parameter {
    /// Returns whether this is a type parameter with this name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.is_type && self.name.to_string() == name
    }

    fn read(tokens: Vec<TokenTree>) -> Result<Self, Error> {
        let mut tokens = flat(tokens).into_iter().peekable();
        let skip = PARAMETER.attributes(&mut tokens)?.is_some();
        let mut angles = Angles::default();
        let declaration: Vec<_> = tokens
            .take_while(|token| angles.after(token) > 0 || !is_punct(token, '='))
            .collect();
        let first = declaration[0].to_string();
        let name = match &*first {
            "'" => &declaration[..2],
            "const" => &declaration[1..2],
            _ => &declaration[..1],
        };
        Ok(Parameter {
            name: name.iter().cloned().collect(),
            declaration: declaration.iter().cloned().collect(),
            is_type: first != "'" && first != "const",
            skip,
        })
    }
}

/// Returns the variants of an enum.
fn variants(body: Option<Group>) -> Result<Vec<Variant>, Error> {
    let mut variants = Vec::new();
    let body: Vec<_> = body.iter().flat_map(Group::stream).collect();
    let mut tokens = body.into_iter().peekable();
    while tokens.peek().is_some() {
        let skip = VARIANT.attributes(&mut tokens)?.is_some();
        let name = TokenStream::from(tokens.next().expect("the variant's name"));
        let body = match tokens.next_if(|token| matches!(token, TokenTree::Group(_))) {
            Some(TokenTree::Group(body)) if !skip => Some(body),
            _ => None,
        };
        variants.push(Variant {
            path: quote("Self::$name", Span::mixed_site(), &[("name", &name)]),
            fields: fields(body)?,
        });
        // The discriminant is an expression: there, `<` is less than, except behind `::` and `=`.
        let (mut angles, mut may_open) = (Angles::default(), false);
        for token in tokens.by_ref() {
            if angles.open > 0 || may_open || !is_punct(&token, '<') {
                angles.after(&token);
            }
            may_open = is_punct(&token, ':') || is_punct(&token, '=');
            if angles.open == 0 && is_punct(&token, ',') {
                break;
            }
        }
    }
    Ok(variants)
}

/// Returns the fields that are shown: without those with a `#[trace(skip)]`.
fn fields(body: Option<Group>) -> Result<Vec<Field>, Error> {
    let mut fields = Vec::new();
    let Some(body) = body else {
        return Ok(fields);
    };
    for (number, part) in split(body.stream()).into_iter().enumerate() {
        let mut tokens = flat(part).into_iter().peekable();
        let each = match FIELD.attributes(&mut tokens)? {
            Some((word, _)) if word == "skip" => continue,
            word => word.is_some(),
        };
        let mut rest: Vec<_> = tokens.collect();
        let (name, of) = match body.delimiter() {
            Delimiter::Brace => {
                let colon = rest.iter().position(|token| is_punct(token, ':'));
                let of = rest.split_off(colon.expect("a `:` behind the name") + 1);
                (rest.swap_remove(rest.len() - 2), of)
            }
            _ => (
                Literal::usize_unsuffixed(number).into(),
                without_visibility(rest),
            ),
        };
        fields.push(Field { name, of, each });
    }
    Ok(fields)
}

/// Returns the type of a field of a tuple. A group behind `pub` is the type if nothing follows.
fn without_visibility(mut tokens: Vec<TokenTree>) -> Vec<TokenTree> {
    if tokens[0].to_string() == "pub" {
        let is_restricted = matches!(tokens[1], TokenTree::Group(_)) && tokens.len() > 2;
        tokens.drain(..1 + usize::from(is_restricted));
    }
    tokens
}
