//! From arguments to texts: which files to read, and which errors occur.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Which files of a directory to take.
#[derive(Clone, Copy)]
pub(crate) struct Extensions(pub(crate) &'static [&'static str]);

/// `*.c, *.h`
impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, extension) in self.0.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}*.{extension}")?;
        }
        Ok(())
    }
}

/// The files to read, and errors about paths that cannot be read.
pub(crate) struct Sources {
    /// In the order of the arguments, directories sorted; each file once.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) errors: Vec<String>,
    seen: HashSet<PathBuf>,
    wanted: Extensions,
}

impl Sources {
    pub(crate) fn find(paths: &[PathBuf], wanted: Extensions) -> Self {
        let mut sources = Sources {
            files: Vec::new(),
            errors: Vec::new(),
            seen: HashSet::new(),
            wanted,
        };
        for path in paths {
            if let Err(why) = sources.add(path) {
                sources.add_error(path, why);
            }
        }
        sources
    }

    /// Adds a path from the arguments: a file with any name, or a directory with wanted files in it.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let kind = fs::metadata(path)?.file_type();
        if kind.is_dir() {
            if !self.walk(path)? {
                let why = format!("no file named {} in this directory", self.wanted);
                return Err(io::Error::other(why));
            }
        } else if kind.is_file() {
            self.take(path)?;
        } else {
            // A pipe or a device may never end.
            return Err(io::Error::other("neither a file nor a directory"));
        }
        Ok(())
    }

    /// Adds the wanted files of a directory; returns whether there were any.
    fn walk(&mut self, directory: &Path) -> io::Result<bool> {
        let mut inside = fs::read_dir(directory)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<Vec<_>>>()?;
        inside.sort();
        let mut any = false;
        for path in inside {
            match self.walk_into(&path) {
                Ok(found) => any |= found,
                Err(why) => self.add_error(&path, why),
            }
        }
        Ok(any)
    }

    /// Follows a link to a file, but not to a directory: that might form a loop.
    fn walk_into(&mut self, path: &Path) -> io::Result<bool> {
        if fs::symlink_metadata(path)?.is_dir() {
            return self.walk(path);
        }
        let is_wanted = |name| self.wanted.0.iter().any(|&wanted| name == wanted);
        if !path.extension().is_some_and(is_wanted) || !fs::metadata(path)?.is_file() {
            return Ok(false);
        }
        self.take(path)?;
        Ok(true)
    }

    fn take(&mut self, path: &Path) -> io::Result<()> {
        if self.seen.insert(fs::canonicalize(path)?) {
            self.files.push(path.to_path_buf());
        }
        Ok(())
    }

    fn add_error(&mut self, path: &Path, why: io::Error) {
        self.errors.push(format!("{}: {why}", path.display()));
    }
}

/// The text of a file, or an error with its place.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let name = name_of(path);
    let named = |why: io::Error| format!("{name}: {why}");
    let sized = |len: u64| match u32::try_from(len) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("{name}: more than 4 GiB")),
    };
    // Checked before, to avoid reading it in vain, and after, because it may have grown.
    sized(fs::metadata(path).map_err(named)?.len())?;
    let bytes = fs::read(path).map_err(named)?;
    sized(bytes.len() as u64)?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let bad = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..bad]);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&it| it != '\n').count() + 1;
        let byte = error.as_bytes()[bad];
        format!("{name}:{line}:{column}: not UTF-8 (byte 0x{byte:02x})")
    })?;
    // Editors do not count a byte order mark as a column; the parser does not know it.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// Relative to the current directory.
pub(crate) fn name_of(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let name = path.strip_prefix(&here).unwrap_or(path);
    name.display().to_string()
}
