//! The same with owned strings and without weak pointers: what the library's results and memory are compared
//! with.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use weakly::Strong;

use crate::common::memory;
use crate::common::report::number;
use crate::library::{Library, TABLES, Table};

/// How often each word occurs in a file.
type Counts = HashMap<Box<str>, u32>;

#[derive(Default)]
pub(crate) struct Plain {
    tables: HashMap<PathBuf, Counts>,
    /// How many tables contain each word.
    owners: HashMap<Box<str>, usize>,
    /// The words that are in no table any more, and the dropped files, since the last `clear_dead`.
    pub(crate) dead_words: Vec<Box<str>>,
    pub(crate) dropped: Vec<PathBuf>,
    /// The bytes of the tables, and of everything here.
    pub(crate) table_bytes: usize,
    pub(crate) bytes: usize,
}

/// Runs some work, and adds the bytes that it has allocated or freed.
fn accounted<R>(bytes: &mut usize, work: impl FnOnce() -> R) -> R {
    let before = memory::allocated();
    let result = work();
    *bytes = bytes.wrapping_add(memory::allocated().wrapping_sub(before));
    result
}

impl Plain {
    /// Splits the text in another way than the library does; the result must be the same.
    pub(crate) fn load(&mut self, path: &Path, text: &str) {
        let Plain {
            tables,
            owners,
            table_bytes,
            bytes,
            ..
        } = self;
        let is_outside = |c: char| !(c.is_alphanumeric() || c == '_');
        let is_word =
            |run: &&str| !run.is_empty() && !run.starts_with(|c: char| c.is_ascii_digit());
        accounted(bytes, || {
            accounted(table_bytes, || {
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
                match owners.get_mut(word) {
                    Some(owners) => *owners += 1,
                    None => drop(owners.insert(word.clone(), 1)),
                }
            }
        });
    }

    /// Drops a file.
    pub(crate) fn drop_file(&mut self, path: &Path) {
        let Plain {
            tables,
            owners,
            dead_words,
            dropped,
            bytes,
            ..
        } = self;
        accounted(bytes, || {
            let (path, counts) = tables.remove_entry(path).expect("dropped once");
            dropped.push(path);
            for word in counts.into_keys() {
                let of_word = owners.get_mut(&word).expect("a word that was loaded");
                *of_word -= 1;
                if *of_word == 0 {
                    owners.remove(&word);
                    dead_words.push(word);
                }
            }
        });
    }

    /// After all death notices were drained.
    pub(crate) fn clear_dead(&mut self) {
        let Plain {
            dead_words,
            dropped,
            bytes,
            ..
        } = self;
        accounted(bytes, || {
            *dead_words = Vec::new();
            *dropped = Vec::new();
        });
    }

    /// Checks the table of a file that has just been made.
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

    /// Checks what is cheap enough to check after each file.
    pub(crate) fn check_totals(&self, library: &Library) -> Result<(), String> {
        let Library { words, tables, .. } = library;
        same(format_args!("live words"), words.len(), self.owners.len())?;
        same(format_args!("files"), tables.len(), self.tables.len())?;
        same(
            format_args!("tables alive"),
            TABLES.get(),
            self.tables.len(),
        )?;
        let (dead_words, dropped) = (self.dead_words.len(), self.dropped.len());
        same(
            format_args!("notices of words"),
            words.pending_dead(),
            dead_words,
        )?;
        same(
            format_args!("notices of tables"),
            tables.pending_dead(),
            dropped,
        )
    }

    /// Checks everything: each table, each word, its number of owners, and that the dead are not found.
    pub(crate) fn check_all(&self, library: &Library) -> Result<(), String> {
        self.check_totals(library)?;
        let Library { words, tables, .. } = library;
        for path in self.tables.keys() {
            let table = tables.get(path);
            let table = table.ok_or_else(|| format!("no table of {}", path.display()))?;
            self.check_table(path, &table)?;
        }
        // As many as expected, and each of the expected ones: so no two are equal.
        same(
            format_args!("handles of words"),
            words.iter().count(),
            self.owners.len(),
        )?;
        for (word, &owners) in &self.owners {
            let handle = words.get(&**word);
            let handle = handle.ok_or_else(|| format!("no handle of \"{word}\""))?;
            let others = Strong::strong_count(&handle) - 1;
            same(format_args!("handles of \"{word}\""), others, owners)?;
        }
        self.check_dead(library)
    }

    /// Checks that no lookup finds what has died since the last `clear_dead`.
    pub(crate) fn check_dead(&self, library: &Library) -> Result<(), String> {
        let Library { words, tables, .. } = library;
        let word = self
            .dead_words
            .iter()
            .find(|word| words.get(&***word).is_some());
        let path = self.dropped.iter().find(|path| tables.contains_key(*path));
        match (word, path) {
            (None, None) => Ok(()),
            (Some(word), _) => Err(format!("no table contains \"{word}\", but it is found")),
            (_, Some(path)) => Err(format!("{} is dropped, but found", path.display())),
        }
    }
}

/// Checks that two numbers are equal.
pub(crate) fn same(what: fmt::Arguments<'_>, is: usize, expected: usize) -> Result<(), String> {
    if is == expected {
        return Ok(());
    }
    let (is, expected) = (number(is), number(expected));
    Err(format!("{what}: {is}, but expected {expected}"))
}
