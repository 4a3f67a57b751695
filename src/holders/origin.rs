//! A place in the source, and a thread.
//!
//! The pointers' own functions know their caller (`track_caller`). What collections make takes it
//! from a backtrace, so that they know nothing of this: an attribute on each method would not reach
//! into closures, nor through the standard library. The backtrace is the standard library's, though
//! it shows its frames as text only: the crate `backtrace` has them as values, but brings about ten
//! packages.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::cell::Cell;
use core::fmt;
use core::panic;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::backtrace::Backtrace;
use std::env;
use std::thread::{self, Thread};
use std::thread_local;

/// Where a strong handle, or an object, was made, and by which thread.
///
/// Its text is the place, as the compiler writes it, and the thread; then the backtrace, if one was
/// asked for.
#[derive(Clone)]
pub struct Origin {
    caller: &'static panic::Location<'static>,
    thread: Thread,
    /// If the caller is no user's, or backtraces were asked for.
    backtrace: Option<Arc<Backtrace>>,
}

impl Origin {
    /// The origin of what is made here: by the function that calls.
    #[track_caller]
    pub(super) fn here() -> Self {
        let caller = panic::Location::caller();
        let wanted = is_inside(caller.file()) || backtraces_wanted();
        Origin {
            caller,
            thread: thread::current(),
            backtrace: wanted
                .then(|| outermost(Backtrace::force_capture))
                .flatten()
                .map(Arc::new),
        }
    }

    /// Returns the place in the source. O(depth of the stack), if it is from a backtrace.
    #[must_use]
    pub fn location(&self) -> Location {
        let backtrace = self.backtrace.as_ref();
        let backtrace = backtrace.filter(|_| is_inside(self.caller.file()));
        match backtrace.and_then(|backtrace| outermost(|| backtrace.to_string())) {
            Some(text) => Location::in_backtrace(&text),
            None => Location {
                function: String::new(),
                file: self.caller.file().to_owned(),
                line: self.caller.line(),
                column: self.caller.column(),
            },
        }
    }

    /// Returns the thread. It may have ended.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.location())?;
        match self.thread.name() {
            Some(name) => write!(f, "thread '{name}'")?,
            None => write!(f, "{:?}", self.thread.id())?,
        }
        match &self.backtrace {
            Some(backtrace) if backtraces_wanted() => {
                outermost(|| write!(f, "\n{backtrace}")).unwrap_or(Ok(()))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A place in the source: as the standard library's [`Location`](panic::Location), which cannot be
/// made of a backtrace.
///
/// Its text is `file:line:column`. Without line tables, only the function of a place that is from a
/// backtrace is known: that is the text, the file is empty, and the numbers are zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    function: String,
    file: String,
    line: u32,
    column: u32,
}

impl Location {
    /// The innermost call that is a user's. A backtrace shows its frames as text only: each is a
    /// line, with another line for the place, if that is known.
    fn in_backtrace(text: &str) -> Self {
        let mut lines = text.lines().map(str::trim_start).peekable();
        while let Some(frame) = lines.next() {
            let (_, function) = frame.split_once(": ").unwrap_or(("", frame));
            let mut file = match lines.next_if(|line| line.starts_with("at ")) {
                Some(place) => &place["at ".len()..],
                None if is_function_inside(function) => continue,
                None => "",
            };
            let (mut line, mut column) = (0, 0);
            while let Some((rest, Ok(number))) = file
                .rsplit_once(':')
                .map(|(rest, number)| (rest, number.parse()))
            {
                (file, line, column) = (rest, number, line);
            }
            if !is_inside(file) && !is_ours(file) {
                return Location {
                    function: function.to_owned(),
                    file: file.strip_prefix("./").unwrap_or(file).to_owned(),
                    line,
                    column,
                };
            }
        }
        Location {
            function: String::from("<unknown>"),
            file: String::new(),
            line: 0,
            column: 0,
        }
    }

    /// Returns the file, as the compiler was called with it; from a backtrace, relative to the
    /// current directory if it is there. Empty if it is not known.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the line. Zero if it is not known.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Returns the column. Zero if it is not known.
    #[must_use]
    pub fn column(&self) -> u32 {
        self.column
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.function),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

fn backtraces_wanted() -> bool {
    /// Not known yet.
    const UNKNOWN: u8 = 2;
    // (No `OnceLock`: this allocates, and the allocator may ask again meanwhile.)
    static WANTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    // Relaxed, also below: all that find it out find the same.
    let known = WANTED.load(Relaxed);
    if known != UNKNOWN {
        return known != 0;
    }
    let wanted = env::var_os("WEAKLY_BACKTRACE").is_some_and(|value| value == "1");
    WANTED.store(wanted.into(), Relaxed);
    wanted
}

thread_local! {
    static IN_BACKTRACE: Cell<bool> = const { Cell::new(false) };
}

/// Uses a backtrace, unless this thread does so already: the standard library allocates meanwhile,
/// under a lock, and the allocator may make a handle.
fn outermost<R>(use_it: impl FnOnce() -> R) -> Option<R> {
    struct Used;
    impl Drop for Used {
        fn drop(&mut self) {
            IN_BACKTRACE.set(false);
        }
    }
    if IN_BACKTRACE.replace(true) {
        return None;
    }
    let _used = Used;
    Some(use_it())
}

/// Whether a file is no user's: it is this crate's, or of those whose functions this crate calls
/// with its closures. The standard library's, such as `into`, do not know their callers either.
fn is_inside(file: &str) -> bool {
    const FILE: &str = file!();
    let (sources, _) = FILE.split_at(FILE.len() - "holders/origin.rs".len());
    let names = file.split(['/', '\\']);
    let is_library = |(name, next): (&str, &str)| match name {
        "library" => matches!(next, "core" | "alloc" | "std"),
        _ => name.starts_with("hashbrown"),
    };
    file.starts_with(sources) || names.clone().zip(names.skip(1)).any(is_library)
}

/// Whether a file in a backtrace is this crate's: there, paths are relative to the current
/// directory, or absolute.
fn is_ours(file: &str) -> bool {
    const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let folder = env::current_dir().unwrap_or_default();
    folder.join(file).starts_with(SOURCES)
}

/// The same by the function's name, which is known without line tables: `weakly::f`, or `<weakly::S
/// as T>::f`. (A function that was inlined has no path, but is known by its file alone.
/// `__rust_try` is the frame of `catch_unwind`, and has no place.)
fn is_function_inside(name: &str) -> bool {
    let (path, _) = name.split_once("::").unwrap_or((name, ""));
    let name = path.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_');
    matches!(
        name.into_iter().next(),
        Some("weakly" | "core" | "alloc" | "std" | "hashbrown" | "__rust_try")
    )
}

#[cfg(test)]
mod tests {
    use super::Location;
    use std::format;
    use std::string::ToString;

    /// What a backtrace with these frames inside, and then a user's, names.
    #[track_caller]
    fn named(user: &str, expected: &str) {
        let ours = concat!(env!("CARGO_MANIFEST_DIR"), "/src/table/entries.rs:1:2");
        let inside = format!(
            "   0: weakly::holders::origin::Origin::here
   1: find<weakly::table::Entry<user::Key>>
             at /registry/hashbrown-0.17.1/src/table.rs:1:2
   2: <weakly::collections::iter::Keys<K,V> as core::iter::traits::iterator::Iterator>::next
   3: find<user::Key>
             at {ours}
   4: <user::Text as core::convert::Into<weakly::ptr::Strong<str>>>::into
             at C:\\rustlib\\library\\core\\src\\convert\\mod.rs:1:2
   5: <T as core::convert::Into<U>>::into
   6: <&mut hashbrown::Iter as core::iter::Iterator>::next"
        );
        let found = Location::in_backtrace(&format!("{inside}\n{user}\n   8: main"));
        assert_eq!(found.to_string(), expected);
    }

    #[test]
    fn the_innermost_call_of_a_user_is_found() {
        named(
            "   7: get\n             at ./tests/a.rs:3:4",
            "tests/a.rs:3:4",
        );
        named(
            "   7: get\n             at /a/src/b.rs:3:4",
            "/a/src/b.rs:3:4",
        );
        named("   7: get\n             at C:\\a.rs:3", "C:\\a.rs:3:0");
    }

    #[test]
    fn without_line_tables_the_function_is_named() {
        named("   7: user::get::{{closure}}", "user::get::{{closure}}");
        named(
            "   7: <user::Iter as core::Iter>::next",
            "<user::Iter as core::Iter>::next",
        );
        assert_eq!(Location::in_backtrace("").to_string(), "<unknown>");
    }
}
