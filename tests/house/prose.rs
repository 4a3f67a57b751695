//! The English of the comments in `src` and of the documents: how often a sentence points at a
//! thing instead of naming the thing.
//!
//! The test counts pointing words (`POINTING`), headless clauses ("of what is left", "the one
//! that"), and lines over 100 columns, for each room of `src` and for each document. Well-written
//! crates of this kind have 4.1 to 6.0 pointing words for each 100 words, and 0.0 to 1.0 headless
//! clauses for each 100 sentences.

use std::collections::BTreeMap;

use super::guide::documents;
use super::sources;

/// The most pointing words for each 100 words.
const MOST_POINTING: f64 = 7.0;

/// The most headless clauses for each 100 sentences.
const MOST_HEADLESS: f64 = 1.5;

/// The most columns of a line.
const COLUMNS: usize = 100;

/// A room or document with fewer sentences is counted in a group with the other small ones: there,
/// one sentence would change a rate too much.
const SMALL: usize = 30;

/// A document whose text is a list of links to drawings.
const LEFT_OUT: &str = "docs/PICTURES.md";

/// The words that point at a thing named elsewhere, in lower case.
const POINTING: [&str; 20] = [
    "it", "its", "that", "this", "what", "who", "whoever", "which", "one", "ones", "those",
    "these", "they", "them", "such", "so", "likewise", "other", "others", "another",
];

/// After each of these words, `what`, `who` or `whoever` begins a headless clause.
const BEFORE_HEADLESS: [&str; 19] = [
    "of", "to", "by", "for", "from", "in", "with", "than", "and", "destroys", "keeps", "finds",
    "takes", "shows", "as", "after", "before", "under", "behind",
];

// === Sentences ===

/// The text of a comment that fills its line, without the slashes.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.strip_prefix(['/', '!']).unwrap_or(text))
}

/// The text of a line: a line of a document, or of a comment in a source file.
fn content(line: &str, is_source: bool) -> &str {
    if is_source {
        comment(line).unwrap_or("").trim()
    } else {
        line.trim()
    }
}

/// An item of a list, without `* `, `- ` or `1. `.
fn list_item(line: &str) -> Option<&str> {
    let number = || line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = || number().strip_prefix(". ").filter(|_| number() != line);
    line.strip_prefix("* ")
        .or_else(|| line.strip_prefix("- "))
        .or_else(numbered)
}

/// The paragraphs and items of lists, each in one line; no code, table, heading, HTML, nor a line
/// that begins with a link.
fn paragraphs(text: &str, is_source: bool) -> Vec<String> {
    let (mut found, mut is_code, mut is_open) = (Vec::<String>::new(), false, false);
    for line in text.lines() {
        let line = content(line, is_source);
        if line.starts_with("```") {
            is_code = !is_code;
            is_open = false;
        } else if is_code || line.is_empty() || line.starts_with(['|', '#', '[', '<']) {
            is_open = false;
        } else if let (true, None) = (is_open, list_item(line)) {
            let paragraph = found.last_mut().unwrap();
            *paragraph += " ";
            *paragraph += line;
        } else {
            found.push(list_item(line).unwrap_or(line).to_owned());
            is_open = true;
        }
    }
    found
}

/// The sentences of a paragraph, without those of three words or fewer.
fn sentences(paragraph: &str) -> Vec<&str> {
    let (mut found, mut begin) = (Vec::new(), 0);
    for (at, _) in paragraph.match_indices(['.', '!', '?']) {
        let end = at + 1;
        let after = &paragraph[end..];
        let gap = after.strip_prefix(')').unwrap_or(after);
        let next = gap.trim_start();
        let begins = |c: char| c.is_ascii_uppercase() || "`[(*".contains(c);
        if next.len() < gap.len() && next.starts_with(begins) {
            found.push(&paragraph[begin..end]);
            begin = paragraph.len() - next.len();
        }
    }
    found.push(&paragraph[begin..]);
    found.retain(|sentence| sentence.split_whitespace().count() > 3);
    found
}

// === Matchers ===

/// The places where words of letters, digits and `_` begin and end.
fn words(text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut begin) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_alphanumeric() || c == '_' {
            begin = begin.or(Some(at));
        } else if let Some(begin) = begin.take() {
            found.push((begin, at));
        }
    }
    found
}

fn pointing(sentence: &str) -> usize {
    let words = words(sentence).into_iter();
    let lower = words.map(|(begin, end)| sentence[begin..end].to_lowercase());
    lower.filter(|word| POINTING.contains(&&**word)).count()
}

/// Whether a sentence goes on after its first word with "is why", "where" or the like.
fn gives_a_reason(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix(' ') else {
        return false;
    };
    let verbs = ["", "is", "was"]
        .iter()
        .filter_map(|verb| rest.strip_prefix(verb));
    verbs
        .flat_map(|rest| [rest, rest.strip_prefix(' ').unwrap_or(rest)])
        .any(|rest| {
            let first = words(rest)
                .first()
                .map_or("", |&(begin, end)| &rest[begin..end]);
            rest.starts_with(first) && ["why", "how", "where", "when"].contains(&first)
        })
}

/// How many clauses begin with a pronoun that has no noun.
fn headless(sentence: &str) -> usize {
    let words = words(sentence);
    let word = |at: usize| {
        words
            .get(at)
            .map_or("", |&(begin, end)| &sentence[begin..end])
    };
    // How many words a headless clause has at its beginning, where it begins with a given word.
    let length = |at: usize| {
        let (begin, end) = words[at];
        let opens = at == 0 && sentence[..begin].trim_start_matches(['(', '*']).is_empty();
        let pronouns = ["What", "Who", "Whoever", "Whichever", "That"];
        if opens && pronouns.contains(&word(at)) && !gives_a_reason(&sentence[end..]) {
            return Some(1);
        }
        // Only one space separates the words of a pattern.
        let next = |at: usize| match words.get(at..at + 2) {
            Some(&[(_, end), (begin, _)]) if &sentence[end..begin] == " " => word(at + 1),
            _ => "",
        };
        match (word(at), next(at)) {
            (before, "what" | "who" | "whoever") if BEFORE_HEADLESS.contains(&before) => Some(2),
            ("the", "one" | "ones") if ["that", "which", "who"].contains(&next(at + 1)) => Some(3),
            ("that", "which" | "of") => Some(2),
            _ => None,
        }
    };
    let (mut at, mut found) = (0, 0);
    while at < words.len() {
        let length = length(at);
        found += usize::from(length.is_some());
        at += length.unwrap_or(1);
    }
    found
}

// === Lines ===

/// The columns of a line without the targets of links, parentheses included: a target cannot be
/// broken, and is longer in `docs/guide` than in `src/guide`.
fn width(line: &str) -> usize {
    let is_label = |line: &str| line.starts_with('[') && line.contains("]: ");
    if is_label(line.trim()) || comment(line).is_some_and(|text| is_label(text.trim())) {
        return 0;
    }
    let mut parts = line.split("](");
    let first = parts.next().unwrap();
    let texts = parts.map(|part| part.split_once(')').map_or(part, |(_, text)| text));
    let words = [first]
        .into_iter()
        .chain(texts)
        .flat_map(|text| text.split_inclusive(' '));
    // `]` remains.
    let links = line.matches("](").count();
    links
        + words
            .filter(|word| !word.contains("://"))
            .map(|word| word.chars().count())
            .sum::<usize>()
}

/// The numbers of the lines over 100 columns, without code, tables and HTML.
fn wide(text: &str, is_source: bool) -> Vec<usize> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        let content = content(line, is_source);
        let is_fence = content.starts_with("```");
        is_code ^= is_fence;
        let is_text = !is_code && !is_fence && !content.is_empty();
        if is_text && !content.starts_with(['|', '<']) && width(line) > COLUMNS {
            found.push(number);
        }
    }
    found
}

// === Figures ===

/// The figures of a room, of a document, or of several.
#[derive(Default)]
struct Figures {
    sentences: usize,
    words: usize,
    pointing: usize,
    headless: usize,
    /// The places of the lines over 100 columns.
    wide: Vec<String>,
    /// The sentences that point, with how bad each one is, and its file.
    pointers: Vec<(f64, String)>,
}

impl Figures {
    fn of(file: &str, text: &str) -> Self {
        let (mut figures, is_source) = (Self::default(), file.ends_with(".rs"));
        let places = wide(text, is_source).into_iter();
        figures.wide = places.map(|line| format!("{file}:{line}")).collect();
        for paragraph in paragraphs(text, is_source) {
            for sentence in sentences(&paragraph) {
                let words = sentence.split_whitespace().count();
                let (pointing, headless) = (pointing(sentence), headless(sentence));
                figures.sentences += 1;
                figures.words += words;
                figures.pointing += pointing;
                figures.headless += headless;
                let badness = (pointing + 2 * headless) as f64 / words.max(10) as f64;
                figures
                    .pointers
                    .push((badness, format!("{file}: {sentence}")));
            }
        }
        figures
    }

    fn add(&mut self, other: Self) {
        self.sentences += other.sentences;
        self.words += other.words;
        self.pointing += other.pointing;
        self.headless += other.headless;
        self.wide.extend(other.wide);
        self.pointers.extend(other.pointers);
    }

    /// The pointing words for each 100 words, and the headless clauses for each 100 sentences.
    fn rates(&self) -> (f64, f64) {
        let rate = |count, of: usize| 100.0 * count as f64 / of.max(1) as f64;
        (
            rate(self.pointing, self.words),
            rate(self.headless, self.sentences),
        )
    }

    /// The figures, if one is beyond its limit, with the worst sentences and the wide lines.
    fn complaint(mut self, name: &str) -> Option<String> {
        let ((pointing, headless), wide) = (self.rates(), self.wide.len());
        let is_bad = pointing > MOST_POINTING || headless > MOST_HEADLESS;
        let mut text = format!(
            "{name}: {pointing:.1} pointing words per 100 words, {headless:.1} headless clauses \
             per 100 sentences, {wide} lines over {COLUMNS} columns\n"
        );
        self.pointers
            .sort_by(|one, other| other.0.total_cmp(&one.0));
        let sentences = self.pointers.iter().take(if is_bad { 5 } else { 0 });
        for line in sentences
            .map(|(_, sentence)| sentence)
            .chain(self.wide.iter().take(5))
        {
            text += &format!("  {line}\n");
        }
        (is_bad || wide > 0).then_some(text)
    }
}

/// The rooms of `src`, and the documents, with their figures. The small ones are together.
fn measured() -> BTreeMap<String, Figures> {
    let mut groups = BTreeMap::<String, Figures>::new();
    for (file, text) in sources() {
        let room = format!("src/{}", file.split('/').next().unwrap());
        groups
            .entry(room)
            .or_default()
            .add(Figures::of(&format!("src/{file}"), &text));
    }
    for folder in ["", "docs/", "docs/guide/"] {
        for (name, text) in documents(folder) {
            let file = format!("{folder}{name}");
            groups.insert(file.clone(), Figures::of(&file, &text));
        }
    }
    groups.remove(LEFT_OUT);
    let mut all = BTreeMap::<String, Figures>::new();
    for (name, figures) in groups {
        let name = match (figures.sentences < SMALL, name.starts_with("src/")) {
            (false, _) => name,
            (true, true) => "the small rooms of src".to_owned(),
            (true, false) => "the short documents".to_owned(),
        };
        all.entry(name).or_default().add(figures);
    }
    all
}

#[test]
fn comments_and_documents_name_their_subjects() {
    let complaints: Vec<_> = measured()
        .into_iter()
        .filter_map(|(name, figures)| figures.complaint(&name))
        .collect();
    assert!(
        complaints.is_empty(),
        "at most {MOST_POINTING:.1} pointing words per 100 words, {MOST_HEADLESS:.1} headless \
         clauses per 100 sentences, and {COLUMNS} columns:\n{}",
        complaints.concat()
    );
}

// === Tests of the matchers ===

#[test]
fn a_pointing_word_is_a_whole_word() {
    for (sentence, count) in [
        ("It is what the others do, so that one goes.", 6),
        ("An item of its own", 1),
        (
            "Whichever item, whatever other_one: itself, bits, so_far",
            0,
        ),
        ("`that`, (this) and \"Those\".", 3),
    ] {
        assert_eq!(pointing(sentence), count, "{sentence}");
    }
}

#[test]
fn a_headless_clause_is_found() {
    for sentence in [
        "What goes is taken by the owner.",
        "*(Whoever waits is woken.",
        "That is the owner.",
        "A list of what is left.",
        "It keeps what it finds.",
        "The value goes to whoever asks first.",
        "the ones that wait",
        "Of that which is left, one is dropped.",
    ] {
        assert_eq!(headless(sentence), 1, "{sentence}");
    }
    for sentence in [
        "That is why the owner waits.",
        "What, the owner asked, is left of whatever waits?",
        "The one, that is, of whom",
        "The list of, what else, owners.",
        "the one waiter that was woken",
        "of  what has two spaces",
        "that-which",
    ] {
        let count = usize::from(sentence.starts_with("What"));
        assert_eq!(headless(sentence), count, "{sentence}");
    }
    assert_eq!(headless("What is left of what the one that of who"), 4);
}

#[test]
fn comments_are_cut_into_sentences() {
    let text = "\
//! # A title of four words
//!
//! The first sentence (ends
//! here.) The second sentence, e.g. this one, ends here! Too short.
//! * An item of a list: `a. b` stays whole.
//! 12. Another item of the list
fn f() {} // What follows code is no comment here.
    // [`Link`](a line that begins with a link. It is skipped.)
    // | a cell | of a table. |
    /// ```
    /// a block of code. Not a sentence
    /// ```
    /// The last sentence? *Emphasis* and three words";
    let paragraphs = paragraphs(text, true);
    let found: Vec<_> = paragraphs.iter().flat_map(|it| sentences(it)).collect();
    let expected = [
        "The first sentence (ends here.",
        "The second sentence, e.g. this one, ends here!",
        "An item of a list: `a. b` stays whole.",
        "Another item of the list",
        "*Emphasis* and three words",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_wide_line_is_found_outside_code_tables_and_links() {
    let long = "word ".repeat(20) + "w";
    let path = "x".repeat(100);
    let lines = [
        (format!("// {}", &long[..97]), false),
        (format!("// {}", &long[..98]), true),
        (long.clone(), false),
        (format!("// [`{path}`]: crate::keep"), false),
        (format!("/// [keep](crate::{path}), and more"), false),
        (format!("/// {long} [keep](crate::{path}"), true),
        (format!("// https://{path}"), false),
        (format!("// | {long} |"), false),
        (format!("// ```\n// {long}\n// ```"), false),
    ];
    for (line, is_wide) in lines {
        assert_eq!(!wide(&line, true).is_empty(), is_wide, "{line}");
    }
    assert_eq!(wide(&format!("\n{long}"), false), [2]);
}

/// One comment that points turns a room red.
#[test]
fn a_room_beyond_a_limit_is_reported_with_its_worst_sentences() {
    let room = |text: &str| Figures::of("src/ptr/count.rs", text).complaint("src/ptr");
    let good = "// The owner counts the handles of the object.\n".repeat(30);
    assert_eq!(room(&good), None);
    let bad = "//\n// What goes is what the one that was in it keeps for itself.\n".repeat(6);
    let complaint = room(&(good + &bad)).unwrap();
    let sentence = "\n  src/ptr/count.rs: What goes is what";
    assert_eq!(complaint.matches(sentence).count(), 5, "{complaint}");
    assert!(complaint.starts_with("src/ptr: "), "{complaint}");
}
