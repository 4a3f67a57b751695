//! A place in the source, and a thread.

use alloc::sync::Arc;
use core::cell::Cell;
use core::fmt;
use core::panic::Location;
use std::backtrace::Backtrace;
use std::sync::OnceLock;
use std::thread::{self, Thread};

/// Where a strong handle, or an object, was made, and by which thread.
///
/// Its text is the place, as the compiler writes it, and the thread; then the backtrace, if there is one.
#[derive(Clone)]
pub struct Origin {
    location: &'static Location<'static>,
    thread: Thread,
    backtrace: Option<Arc<Backtrace>>,
}

impl Origin {
    /// The origin of what is made here: by the function that calls.
    #[track_caller]
    pub(super) fn here() -> Self {
        let here = Location::caller();
        Origin {
            location: match CALLER.get() {
                Some(caller) if is_inside(here) => caller,
                _ => here,
            },
            thread: thread::current(),
            backtrace: backtraces_wanted().then(|| Backtrace::force_capture().into()),
        }
    }

    /// The place in the source.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// The thread. It may have ended.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.location)?;
        match self.thread.name() {
            Some(name) => write!(f, "thread '{name}'")?,
            None => write!(f, "{:?}", self.thread.id())?,
        }
        match &self.backtrace {
            Some(backtrace) => write!(f, "\n{backtrace}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn backtraces_wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| std::env::var_os("WEAKLY_BACKTRACE").is_some_and(|value| value == "1"))
}

/// Whether a place is no user's: in this crate, or in the standard library, whose functions such as `into` do not
/// know their callers.
fn is_inside(location: &Location<'_>) -> bool {
    const FILE: &str = file!();
    let (sources, _) = FILE.split_at(FILE.len() - "holders/origin.rs".len());
    location.file().starts_with(sources) || location.file().starts_with(library())
}

/// The folder of the standard library, as it was compiled.
fn library() -> &'static str {
    /// Its clone is the place that has called `clone`.
    struct Probe(&'static Location<'static>);
    impl Clone for Probe {
        #[track_caller]
        fn clone(&self) -> Self {
            Probe(Location::caller())
        }
    }
    static LIBRARY: OnceLock<&str> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let probe = Some(Probe(Location::caller())).clone();
        let file = probe.map_or("", |probe| probe.0.file());
        match file.rfind("core") {
            Some(end) if end > 0 => &file[..end],
            // Unknown, and no file is there.
            _ => "\0",
        }
    })
}

std::thread_local! {
    /// Who has called the collection's method that runs now. Without a destructor, so the destructors of all other
    /// thread-locals can read it.
    static CALLER: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// While it lives, handles that this crate makes were made by the caller of the method that has it. (A closure
/// does not know its caller, and `upgrade` in a closure would be all that a user sees.) Those that the user's own
/// code makes meanwhile keep their places.
pub(crate) struct Caller {
    outer: Option<&'static Location<'static>>,
}

impl Caller {
    /// At the beginning of a method that is `track_caller` and returns handles.
    #[track_caller]
    pub(crate) fn enter() -> Self {
        let caller = Location::caller();
        let outer = CALLER.get();
        if outer.is_none() || !is_inside(caller) {
            CALLER.set(Some(caller));
        }
        Caller { outer }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        CALLER.set(self.outer);
    }
}
