//! From arguments to texts.

use std::path::{Path, PathBuf};
use std::{env, fs, io, mem, thread};

use super::report::{Report, bar};

/// The files that the program's arguments name, and those with one of these extensions in the directories that they
/// name. Without arguments, those of the library.
pub(crate) fn find(extensions: &[&str]) -> Result<Vec<PathBuf>, String> {
    let mut paths: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.push(Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("src"));
    }
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(&path, extensions, &mut files).map_err(|why| named(&path, why))?;
        } else {
            files.push(path);
        }
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        return Err(format!("no file named *.{}", extensions.join(", *.")));
    }
    Ok(files)
}

/// Follows no link to a directory: that might form a loop.
fn walk(directory: &Path, extensions: &[&str], files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_wanted = |it| extensions.iter().any(|&wanted| it == wanted);
        if path.is_dir() && !path.is_symlink() {
            walk(&path, extensions, files)?;
        } else if path.is_file() && path.extension().is_some_and(is_wanted) {
            files.push(path);
        }
    }
    Ok(())
}

/// Parsers recurse.
const STACK: usize = 256 << 20;

/// What `work` makes of the names and texts of the files, on a thread with a large stack. The report lists those that
/// cannot be read, or for which it fails.
pub(crate) fn read<T: Send>(
    files: &[PathBuf],
    report: &mut Report,
    mut work: impl FnMut(String, String) -> Result<T, String> + Send,
) -> Result<Vec<T>, String> {
    let read_all = || {
        let mut made = Vec::new();
        for file in bar("reading", files.len()).wrap_iter(files.iter()) {
            let text = fs::read_to_string(file).map_err(|why| named(file, why));
            // A byte order mark belongs to the file, not to the text.
            let text = text.map(|text| text.trim_start_matches('\u{feff}').to_string());
            match text.and_then(|text| work(name_of(file), text)) {
                Ok(it) => made.push(it),
                Err(why) => report.skip(&why),
            }
        }
        made
    };
    let made = thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK);
        let worker = worker.spawn_scoped(scope, read_all);
        let worker = worker.map_err(|why| format!("no thread: {why}"))?;
        Ok::<_, String>(worker.join().expect("no panic"))
    })?;
    if made.is_empty() {
        return Err(mem::take(&mut report.skipped));
    }
    Ok(made)
}

fn named(path: &Path, why: io::Error) -> String {
    format!("{}: {why}", name_of(path))
}

/// Relative to the current directory.
fn name_of(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    let name = path.strip_prefix(&here).unwrap_or(path);
    name.display().to_string()
}
