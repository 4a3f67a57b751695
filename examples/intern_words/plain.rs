//! The same once more, with owned strings and nothing weak: what the library is held against, and what
//! its memory is compared with.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use weakly::Strong;

use crate::common::memory;
use crate::common::report::number;
use crate::library::{Library, TABLES, Table};

/// How often a file has which word.
type Counts = HashMap<Box<str>, u32>;

#[derive(Default)]
pub(crate) struct Plain {
    tables: HashMap<PathBuf, Counts>,
    /// Of all tables, how many have the word.
    holders: HashMap<Box<str>, usize>,
    /// The words that nobody has any more, and the files forgotten, since they were last taken.
    pub(crate) dead_words: Vec<Box<str>>,
    pub(crate) forgotten: Vec<PathBuf>,
    /// The bytes that the tables hold, and that everything here does.
    pub(crate) table_bytes: usize,
    pub(crate) bytes: usize,
}

/// Runs something, and adds the bytes that it has left behind, or taken away.
fn booked<R>(bytes: &mut usize, work: impl FnOnce() -> R) -> R {
    let before = memory::held();
    let result = work();
    *bytes = bytes.wrapping_add(memory::held().wrapping_sub(before));
    result
}

impl Plain {
    /// Splits the text in another way than the library does, which must come to the same.
    pub(crate) fn load(&mut self, path: &Path, text: &str) {
        let Plain {
            tables,
            holders,
            table_bytes,
            bytes,
            ..
        } = self;
        let is_outside = |c: char| !(c.is_alphanumeric() || c == '_');
        let is_word =
            |run: &&str| !run.is_empty() && !run.starts_with(|c: char| c.is_ascii_digit());
        booked(bytes, || {
            booked(table_bytes, || {
                let mut counts = Counts::new();
                for word in text.split(is_outside).filter(is_word) {
                    match counts.get_mut(word) {
                        Some(count) => *count += 1,
                        None => drop(counts.insert(word.into(), 1)),
                    }
                }
                tables.insert(path.to_path_buf(), counts);
            });
            for word in tables[path].keys() {
                match holders.get_mut(word) {
                    Some(holders) => *holders += 1,
                    None => drop(holders.insert(word.clone(), 1)),
                }
            }
        });
    }

    /// Forgets a file.
    pub(crate) fn forget(&mut self, path: &Path) {
        let Plain {
            tables,
            holders,
            dead_words,
            forgotten,
            bytes,
            ..
        } = self;
        booked(bytes, || {
            let (path, counts) = tables.remove_entry(path).expect("forgotten once");
            forgotten.push(path);
            for word in counts.into_keys() {
                let of_word = holders.get_mut(&word).expect("a word that was loaded");
                *of_word -= 1;
                if *of_word == 0 {
                    holders.remove(&word);
                    dead_words.push(word);
                }
            }
        });
    }

    /// After everybody has been told who died.
    pub(crate) fn bury(&mut self) {
        let Plain {
            dead_words,
            forgotten,
            bytes,
            ..
        } = self;
        booked(bytes, || {
            *dead_words = Vec::new();
            *forgotten = Vec::new();
        });
    }

    /// The table of a file, as it has just been made.
    pub(crate) fn check_table(&self, path: &Path, table: &Table) -> Result<(), String> {
        let name = path.display();
        let counts = &self.tables[path];
        same(
            format_args!("distinct words in {name}"),
            table.counts.len(),
            counts.len(),
        )?;
        table.counts.iter().try_for_each(|(word, &count)| {
            let expected = counts.get(&***word).copied().unwrap_or(0);
            same(
                format_args!("uses of \"{}\" in {name}", &***word),
                count as usize,
                expected as usize,
            )
        })
    }

    /// What can be asked after each file, for it costs nothing.
    pub(crate) fn check_totals(&self, library: &Library) -> Result<(), String> {
        let Library { words, tables, .. } = library;
        same(format_args!("live words"), words.len(), self.holders.len())?;
        same(format_args!("files"), tables.len(), self.tables.len())?;
        same(
            format_args!("tables alive"),
            TABLES.get(),
            self.tables.len(),
        )?;
        let (dead_words, forgotten) = (self.dead_words.len(), self.forgotten.len());
        same(
            format_args!("notices of words"),
            words.pending_dead(),
            dead_words,
        )?;
        same(
            format_args!("notices of tables"),
            tables.pending_dead(),
            forgotten,
        )
    }

    /// Everything: each table, each word, how many hold it, and that the dead are not found.
    pub(crate) fn check_all(&self, library: &Library) -> Result<(), String> {
        self.check_totals(library)?;
        let Library { words, tables, .. } = library;
        for path in self.tables.keys() {
            let table = tables.get(path);
            let table = table.ok_or_else(|| format!("no table of {}", path.display()))?;
            self.check_table(path, &table)?;
        }
        // As many as are expected, and each of those: so no two that say the same.
        same(
            format_args!("handles of words"),
            words.iter().count(),
            self.holders.len(),
        )?;
        for (word, &holders) in &self.holders {
            let handle = words.get(&**word);
            let handle = handle.ok_or_else(|| format!("no handle of \"{word}\""))?;
            let others = Strong::strong_count(&handle) - 1;
            same(format_args!("handles of \"{word}\""), others, holders)?;
        }
        self.check_dead(library)
    }

    /// That no lookup finds what has died since the last funeral.
    pub(crate) fn check_dead(&self, library: &Library) -> Result<(), String> {
        let Library { words, tables, .. } = library;
        let word = self
            .dead_words
            .iter()
            .find(|word| words.get(&***word).is_some());
        let path = self
            .forgotten
            .iter()
            .find(|path| tables.contains_key(*path));
        match (word, path) {
            (None, None) => Ok(()),
            (Some(word), _) => Err(format!("nobody has \"{word}\", but it is found")),
            (_, Some(path)) => Err(format!("{} is forgotten, but found", path.display())),
        }
    }
}

/// That two numbers are the same.
pub(crate) fn same(what: fmt::Arguments<'_>, is: usize, expected: usize) -> Result<(), String> {
    if is == expected {
        return Ok(());
    }
    let (is, expected) = (number(is), number(expected));
    Err(format!("{what}: {is}, but expected {expected}"))
}
