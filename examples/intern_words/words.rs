//! What counts as a word.

/// The words of a text, identifiers among them: the longest runs of letters, digits and `_` that do not
/// begin with one of `0` to `9`.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = end_of(text, at, false);
            at = end_of(text, start, true);
            match text.as_bytes().get(start)? {
                b'0'..=b'9' => (), // a number
                _ => return Some(&text[start..at]),
            }
        }
    })
}

/// The end of the longest run from here of characters that belong (or do not belong) to words.
fn end_of(text: &str, mut at: usize, inside: bool) -> usize {
    while let Some(&byte) = text.as_bytes().get(at) {
        let (belongs, length) = if byte.is_ascii() {
            (byte.is_ascii_alphanumeric() || byte == b'_', 1)
        } else {
            let character = text[at..].chars().next().unwrap_or_default();
            (character.is_alphanumeric(), character.len_utf8())
        };
        if belongs != inside {
            break;
        }
        at += length;
    }
    at
}
