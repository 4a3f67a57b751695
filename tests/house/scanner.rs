//! Which files a source file refers to, as far as its tokens show: its `use` trees, and its paths that begin
//! with `crate`, `super`, `self` or one of its own modules. Code that is compiled only for tests or
//! documentation is left out.

use std::collections::BTreeMap;

/// A path as written, with the modules that contain it.
pub(crate) struct Named {
    pub(crate) line: usize,
    /// The modules inside the file, outermost first.
    pub(crate) inside: Vec<String>,
    pub(crate) path: Vec<String>,
    /// Whether it is in a `use`.
    pub(crate) is_use: bool,
}

/// All paths of a file.
pub(crate) fn paths(source: &str) -> Vec<Named> {
    let tokens = tokens(source);
    let mut scan = Scan {
        tokens: &tokens,
        at: 0,
        inside: Vec::new(),
        found: Vec::new(),
    };
    scan.items();
    scan.found
}

struct Token<'s> {
    text: &'s str,
    line: usize,
}

/// Words, `::`, and single other characters; no comments, no contents of literals.
fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let (mut at, mut line, mut found) = (0, 1, Vec::new());
    while at < bytes.len() {
        let begin = at;
        let rest = &source[at..];
        let mut is_token = false;
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let text = at + 2 + hashes;
            at = source[text..]
                .find(&end)
                .map_or(bytes.len(), |found| text + found + end.len());
        } else if bytes[at] == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
        } else if bytes[at] == b'\'' {
            at += char_or_lifetime(rest);
        } else if rest.starts_with("::") {
            at += 2;
            is_token = true;
        } else if is_word(bytes[at]) {
            at += bytes[at..]
                .iter()
                .take_while(|byte| is_word(**byte))
                .count();
            is_token = true;
        } else {
            at += 1;
            is_token = !bytes[begin].is_ascii_whitespace();
        }
        let text = &source[begin..at.min(bytes.len())];
        if is_token {
            found.push(Token { text, line });
        }
        line += text.matches('\n').count();
    }
    found
}

/// The number of `#` of a raw string that begins here.
fn raw_string(rest: &str) -> Option<usize> {
    let rest = rest.strip_prefix('r')?;
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    rest[hashes..].starts_with('"').then_some(hashes)
}

/// The length of a character literal, or that of a lifetime's quote.
fn char_or_lifetime(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => rest[3..].find('\'').map_or(rest.len(), |end| end + 4),
        _ => match chars.next() {
            Some((end, '\'')) => end + 1,
            _ => 1,
        },
    }
}

struct Scan<'t, 's> {
    tokens: &'t [Token<'s>],
    at: usize,
    inside: Vec<String>,
    found: Vec<Named>,
}

impl Scan<'_, '_> {
    fn peek(&self, ahead: usize) -> &str {
        self.tokens
            .get(self.at + ahead)
            .map_or("", |token| token.text)
    }

    fn is_word(&self, ahead: usize) -> bool {
        let first = self.peek(ahead).bytes().next();
        first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    }

    /// To the end of the file, or of the module that has just been entered.
    fn items(&mut self) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            match self.peek(0) {
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" => depth -= 1,
                "#" => {
                    self.attribute();
                    continue;
                }
                "mod" if self.is_word(1) && self.peek(2) == "{" => {
                    self.inside.push(self.peek(1).to_owned());
                    self.at += 3;
                    self.items();
                    self.inside.pop();
                }
                "use" => {
                    self.at += 1;
                    self.use_tree(&mut Vec::new());
                    continue;
                }
                _ if self.is_path() => {
                    self.path();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips an attribute, and the item after it if that is compiled only for tests, or is an exported macro,
    /// which may name anything that its users can name.
    fn attribute(&mut self) {
        self.at += 1;
        if self.peek(0) == "!" {
            self.at += 1;
        }
        if self.peek(0) != "[" {
            return;
        }
        self.at += 1;
        let is_cfg = self.peek(0) == "cfg" && self.peek(1) == "(";
        let end = self.at + self.length_of_group();
        let mut is_ours = self.peek(0) != "macro_export";
        if is_cfg {
            self.at += 2;
            is_ours = self.predicate() != Some(false);
        }
        self.at = end;
        if !is_ours {
            self.skip_item();
        }
    }

    /// The distance to the bracket that closes the current group.
    fn length_of_group(&self) -> usize {
        let mut depth = 1;
        for (length, token) in self.tokens[self.at..].iter().enumerate() {
            match token.text {
                "[" | "(" | "{" => depth += 1,
                "]" | ")" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return length + 1;
            }
        }
        self.tokens.len() - self.at
    }

    /// The value of a `cfg` predicate in a build that is neither for tests nor for documentation, if known.
    fn predicate(&mut self) -> Option<bool> {
        let name = self.peek(0).to_owned();
        self.at += 1;
        if self.peek(0) != "(" {
            while !matches!(self.peek(0), "," | ")" | "]" | "") {
                self.at += 1;
            }
            return match name.as_str() {
                "test" | "doctest" | "doc" => Some(false),
                _ => None,
            };
        }
        self.at += 1;
        let mut parts = Vec::new();
        while !matches!(self.peek(0), ")" | "") {
            parts.push(self.predicate());
            if self.peek(0) == "," {
                self.at += 1;
            }
        }
        self.at += 1;
        match name.as_str() {
            "not" => parts[0].map(|part| !part),
            "all" if parts.contains(&Some(false)) => Some(false),
            "any" if parts.iter().all(|part| *part == Some(false)) => Some(false),
            _ => None,
        }
    }

    /// To behind the next `;` or braced group.
    fn skip_item(&mut self) {
        while self.at < self.tokens.len() {
            let text = self.peek(0).to_owned();
            self.at += 1;
            match text.as_str() {
                ";" => return,
                "{" => {
                    self.at += self.length_of_group();
                    return;
                }
                "(" | "[" => self.at += self.length_of_group(),
                _ => {}
            }
        }
    }

    /// Whether a path of several segments begins here.
    fn is_path(&self) -> bool {
        let before = |back: usize| {
            self.at
                .checked_sub(back)
                .map_or("", |at| self.tokens[at].text)
        };
        let is_visibility = before(1) == "in" && before(2) == "(" && before(3) == "pub";
        self.is_word(0) && self.peek(1) == "::" && before(1) != "::" && !is_visibility
    }

    fn path(&mut self) {
        let line = self.tokens[self.at].line;
        let mut path = vec![self.peek(0).to_owned()];
        self.at += 1;
        while self.peek(0) == "::" && self.is_word(1) {
            path.push(self.peek(1).to_owned());
            self.at += 2;
        }
        self.find(line, path, false);
    }

    fn use_tree(&mut self, prefix: &mut Vec<String>) {
        let length = prefix.len();
        loop {
            let line = self.tokens.get(self.at).map_or(0, |token| token.line);
            match self.peek(0) {
                "::" => self.at += 1,
                "{" => {
                    self.at += 1;
                    while !matches!(self.peek(0), "}" | "") {
                        self.use_tree(prefix);
                        if self.peek(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    break;
                }
                "*" => {
                    self.at += 1;
                    self.find(line, prefix.clone(), true);
                    break;
                }
                _ if self.is_word(0) => {
                    prefix.push(self.peek(0).to_owned());
                    self.at += 1;
                    if self.peek(0) != "::" {
                        self.find(line, prefix.clone(), true);
                        if self.peek(0) == "as" {
                            self.at += 2;
                        }
                        break;
                    }
                }
                // `$crate`
                _ => self.at += 1,
            }
            if self.at >= self.tokens.len() {
                break;
            }
        }
        prefix.truncate(length);
    }

    fn find(&mut self, line: usize, path: Vec<String>, is_use: bool) {
        let inside = self.inside.clone();
        self.found.push(Named {
            line,
            inside,
            path,
            is_use,
        });
    }
}

/// The modules that have files, by their paths from the root.
pub(crate) type Modules = BTreeMap<Vec<String>, String>;

/// The module of a file of `src`, from the root.
pub(crate) fn module_of(file: &str) -> Vec<String> {
    let file = file.strip_suffix(".rs").expect("a file of Rust");
    let mut path: Vec<_> = file.split('/').map(str::to_owned).collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib")) {
        path.pop();
    }
    path
}

/// The file that a path in a file refers to; `None` if it leads out of the crate, or to an imported name.
pub(crate) fn resolve<'m>(modules: &'m Modules, file: &str, named: &Named) -> Option<&'m str> {
    let mut at = module_of(file);
    at.extend(named.inside.iter().cloned());
    let mut path = named.path.iter().map(String::as_str).peekable();
    match *path.peek()? {
        "crate" => at.clear(),
        "self" | "super" => {}
        first => {
            // Only if it is a module of this one: the rest are crates, types and names from a `use`.
            at.push(first.to_owned());
            let is_child = modules.contains_key(&at);
            at.pop();
            if !is_child {
                return None;
            }
        }
    }
    for segment in path {
        match segment {
            "crate" | "self" => {}
            "super" => _ = at.pop(),
            name => {
                at.push(name.to_owned());
                if !modules.contains_key(&at) {
                    break;
                }
            }
        }
    }
    while !modules.contains_key(&at) {
        at.pop();
    }
    Some(&modules[&at])
}
