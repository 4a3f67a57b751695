//! Interning on real input: every word of every file becomes a handle, equal words the same handle. The table of a file
//! owns the handles of its words. Then the tables are dropped, and each word goes with the last of them that contains it.
//!
//! `cargo run --release --example intern_words -- [PATH…]`

mod common;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;

use common::report::{Report, bar};
use common::{same, sources};
use weakly::{ByIdentity, Interner, Strong, WeakValueMap};

const EXTENSIONS: [&str; 13] = [
    "c", "cpp", "go", "h", "hpp", "java", "js", "md", "py", "rs", "toml", "ts", "txt",
];

/// Hashed and compared by address: equal words are the same object.
type Word = ByIdentity<Strong<str>>;

/// How often each word occurs in a file.
type Table = HashMap<Word, usize>;

/// What is known of the files that somebody uses. Neither collection keeps anything alive.
#[derive(Default)]
struct Library {
    /// Each word lives as long as some table contains it.
    words: Interner<Strong<str>>,
    /// Each table, by the name of its file, lives as long as somebody owns it.
    tables: WeakValueMap<String, Strong<Table>>,
}

impl Library {
    /// The table of a file, made only if nobody has it.
    fn load(&mut self, name: &str, text: &str) -> Strong<Table> {
        self.tables.get_or_insert_with(name.to_string(), |_| {
            let mut table = Table::new();
            for word in words_of(text) {
                let word = ByIdentity(self.words.intern_ref(word));
                *table.entry(word).or_insert(0) += 1;
            }
            Strong::new(table)
        })
    }

    /// The files, the words, the entries of all tables, and the dead that wait for a purge.
    fn counts(&self) -> [usize; 4] {
        let Library { words, tables } = self;
        let entries = tables.values().map(|table| table.len()).sum();
        let pending = words.pending_dead() + tables.pending_dead();
        [tables.len(), words.len(), entries, pending]
    }
}

/// Identifiers and words: letters, digits and `_`, beginning with no digit.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|first: char| !first.is_ascii_digit()))
}

fn main() -> ExitCode {
    let columns = ["files", "words", "entries", "pending"];
    common::main(&EXTENSIONS, &columns, run)
}

fn run(files: &[PathBuf], report: &mut Report) -> Result<(), String> {
    let mut library = Library::default();
    let texts = sources::read(files, report, |name, text| Ok((name, text)))?;
    report.row("read", || library.counts());
    let mut tables = Vec::with_capacity(texts.len());
    let mut plain = Plain::default();
    for (name, text) in bar("interning", texts.len()).wrap_iter(texts.iter()) {
        tables.push(library.load(name, text));
        report.aside(|_| plain.load(name, text));
    }
    drop(texts);
    report.row("intern", || library.counts());
    report.aside(|_| plain.check(&library))?;
    report.aside(|report| show(&library, report));

    let all = tables.len();
    for (phase, left) in [
        ("drop 1/4", all * 3 / 4),
        ("drop 2/4", all / 2),
        ("drop 3/4", all / 4),
        ("drop 4/4", 0),
    ] {
        tables.truncate(left);
        report.row(phase, || library.counts());
        report.aside(|_| {
            plain.truncate(left);
            plain.check(&library)
        })?;

        library.words.purge();
        let mut names: Vec<String> = library.tables.drain_dead().collect();
        names.sort_unstable();
        report.row("purge", || library.counts());
        report.aside(|_| {
            same("the keys of dead tables", &names, &plain.dead_files)?;
            plain.forget_dead();
            plain.check(&library)
        })?;
    }
    drop((library, tables));
    report.row("drop the library", || [0; 4]);
    report.aside(|_| drop(plain));
    Ok(())
}

/// What the tables are for: the most used words, added up by address.
fn show(library: &Library, report: &mut Report) {
    let mut uses: HashMap<Word, (usize, usize)> = HashMap::new();
    for table in library.tables.values() {
        for (word, uses_here) in table.iter() {
            let (all, files) = uses.entry(word.clone()).or_default();
            *all += uses_here;
            *files += 1;
        }
    }
    let all: usize = uses.values().map(|(all, _)| all).sum();
    report.say(format!(
        "{all} words, {} of them distinct; the most used:",
        uses.len()
    ));
    let mut uses: Vec<_> = uses.into_iter().collect();
    uses.sort_unstable_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.0.cmp(&b.0)));
    for (word, (all, files)) in uses.iter().take(5) {
        report.say(format!("{all:>8} {} (in {files} files)", &*word.0));
    }
}

/// The same with owned strings and without weak pointers.
#[derive(Default)]
struct Plain {
    /// The files that are left, with their words.
    files: Vec<(String, HashMap<String, usize>)>,
    /// What has been dropped, and only there.
    dead_files: Vec<String>,
    dead_words: HashSet<String>,
}

impl Plain {
    fn load(&mut self, name: &str, text: &str) {
        let mut counts = HashMap::new();
        for word in words_of(text) {
            *counts.entry(word.to_string()).or_insert(0) += 1;
        }
        self.files.push((name.to_string(), counts));
    }

    /// All words, and the number of files that contain each.
    fn words(&self) -> HashMap<String, usize> {
        let mut words = HashMap::new();
        for word in self.files.iter().flat_map(|(_, counts)| counts.keys()) {
            *words.entry(word.clone()).or_insert(0) += 1;
        }
        words
    }

    fn truncate(&mut self, left: usize) {
        let dropped = self.files.split_off(left);
        let words = self.words();
        for (name, counts) in dropped {
            let dead = counts.into_keys().filter(|it| !words.contains_key(it));
            self.dead_words.extend(dead);
            self.dead_files.push(name);
        }
        self.dead_files.sort_unstable();
    }

    fn forget_dead(&mut self) {
        self.dead_files.clear();
        self.dead_words.clear();
    }

    /// Checks that the library has these files and these words, and nothing else.
    fn check(&self, library: &Library) -> Result<(), String> {
        let (files, words) = (self.files.len(), self.words());
        let pending = self.dead_files.len() + self.dead_words.len();
        let entries = self.files.iter().map(|(_, counts)| counts.len()).sum();
        let expected = [files, words.len(), entries, pending];
        same("the library", library.counts(), expected)?;
        for (word, &files) in &words {
            // Each table has one handle, and this here is another.
            let word = library.words.get(word.as_str());
            let owners = word.map(|it| Strong::strong_count(&it) - 1);
            same("handles of a word", owners, Some(files))?;
        }
        for (name, counts) in &self.files {
            let table = library.tables.get(name).ok_or("no table")?;
            for (word, &count) in counts {
                let word = library.words.get(word.as_str()).map(ByIdentity);
                let found = word.and_then(|it| table.get(&it).copied());
                same("uses of a word", found, Some(count))?;
            }
        }
        let mut dead = self.dead_words.iter();
        let found = dead.find(|&word| library.words.get(word.as_str()).is_some());
        same("a dead word", found, None)
    }
}
