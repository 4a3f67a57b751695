//! The origin of a handle: a place in the source, and a thread.
//!
//! The pointers' own functions know their caller (`track_caller`). For a handle made by a
//! collection, the place comes from a backtrace, so the collections contain no code for origins: an
//! attribute on each method would not reach into closures, nor through the standard library. The
//! backtrace is the standard library's, although it shows its frames as text only: the crate
//! `backtrace` has the frames as values, but brings about ten packages.

use alloc::borrow::{Cow, ToOwned};
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

/// The place where a strong handle, or an object, was made, and the thread that made it.
///
/// The text is the place, as the compiler writes it, and the thread; then the backtrace, if
/// backtraces were asked for.
#[derive(Clone)]
pub struct Origin {
    caller: &'static panic::Location<'static>,
    thread: Thread,
    /// Present if the caller is not a user's code, or if backtraces were asked for.
    backtrace: Option<Arc<Backtrace>>,
}

impl Origin {
    /// Returns the origin of a handle that the calling function makes.
    #[track_caller]
    pub(crate) fn here() -> Self {
        let caller = panic::Location::caller();
        // A search holds each object that it meets: a backtrace of each would take most of its
        // time.
        let searches = caller.file().ends_with("cycles/graph.rs");
        let wanted = is_inside(caller.file()) && !searches || backtraces_wanted();
        Origin {
            caller,
            thread: thread::current(),
            backtrace: wanted
                .then(|| outermost(Backtrace::force_capture))
                .flatten()
                .map(Arc::new),
        }
    }

    /// Returns the place in the source. O(depth of the stack), if the place is from a backtrace.
    #[must_use]
    pub fn location(&self) -> Location {
        let backtrace = self.backtrace.as_ref();
        let backtrace = backtrace.filter(|_| is_inside(self.caller.file()));
        match backtrace.and_then(|backtrace| outermost(|| backtrace.to_string())) {
            Some(text) => Location::in_backtrace(&text),
            None => Location {
                file: Cow::Borrowed(self.caller.file()),
                line: self.caller.line(),
                column: self.caller.column(),
                function: String::new(),
            },
        }
    }

    /// Returns the thread, which may have ended.
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

/// A place in the source: like the standard library's [`Location`](panic::Location), which cannot
/// be made from a backtrace.
///
/// The text is `file:line:column`. For a place from a backtrace without line tables, only the
/// function is known: then the text is the function, and says so; the file is empty, and the
/// numbers are zero.
///
/// Locations are ordered by file, line and column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    file: Cow<'static, str>,
    line: u32,
    column: u32,
    function: String,
}

impl Location {
    /// Returns the innermost call in user code. A backtrace shows its frames as text only: each
    /// frame is a line, followed by another line for the place, if the place is known.
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
                    file: Cow::Owned(file.strip_prefix("./").unwrap_or(file).to_owned()),
                    line,
                    column,
                    function: function.to_owned(),
                };
            }
        }
        Location {
            file: Cow::Borrowed(""),
            line: 0,
            column: 0,
            function: String::from("<unknown>"),
        }
    }

    /// Returns the file, as its name was passed to the compiler. From a backtrace, the file is
    /// relative to the current directory if it is in this directory. Empty if the file is not
    /// known.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the line. Zero if the line is not known.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Returns the column. Zero if the column is not known.
    #[must_use]
    pub fn column(&self) -> u32 {
        self.column
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{} {NO_LINE_TABLES}", self.function),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

/// Follows the function in the text of a place without a line.
const NO_LINE_TABLES: &str = "(no line tables: set `debug = \"line-tables-only\"` in the profile)";

fn backtraces_wanted() -> bool {
    /// Not known yet.
    const UNKNOWN: u8 = 2;
    // (No `OnceLock`: reading the variable allocates, and the allocator may call this function
    // again.)
    static WANTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    // Relaxed, also below: all threads that read the variable find the same value.
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

/// Uses a backtrace, unless this thread is using a backtrace already: the standard library
/// allocates meanwhile, under a lock, and the allocator may make a handle.
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

/// Returns whether a file is not a user's: a file of this crate, or of a library whose functions
/// stand between frames of this crate (hashbrown calls closures of this crate; functions of the
/// standard library, such as `into`, do not know their callers).
///
/// `sources` is the folder of this crate's files, as cargo passes the folder to the compiler:
/// `src/` if this crate is the root package of the workspace that is built; otherwise a path to
/// this crate, absolute or from the root of the workspace. A user's file never begins with
/// `sources`. Where `sources` is `src/`, the users are other packages, whose paths are absolute or
/// begin with their own folders. (A path in a backtrace is different: see [`is_ours`].)
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

/// Returns whether a file in a backtrace is a file of this crate: paths in a backtrace are relative
/// to the current directory, or absolute.
fn is_ours(file: &str) -> bool {
    const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let folder = env::current_dir().unwrap_or_default();
    folder.join(file).starts_with(SOURCES)
}

/// Returns whether a function is not a user's, by its name, which is known without line tables:
/// `weakly::f`, or `<weakly::S as T>::f`. (An inlined function has no path in its name; only its
/// file identifies it. `__rust_try` is the frame of `catch_unwind`, and has no place.)
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

    /// Asserts which place is found in a backtrace with these inner frames, followed by a user's
    /// frame.
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
        for function in ["user::get::{{closure}}", "<user::Iter as core::Iter>::next"] {
            let named_so = format!("{function} {}", super::NO_LINE_TABLES);
            named(&format!("   7: {function}"), &named_so);
        }
        let unknown = Location::in_backtrace("").to_string();
        assert!(
            unknown.starts_with("<unknown> (no line tables"),
            "{unknown}"
        );
    }
}
