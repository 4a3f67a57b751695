//! Where and when the figures were measured.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// Crates that the tables name, in the versions of the lock file.
const PEERS: [&str; 7] = [
    "ahash",
    "dashmap",
    "hashbrown",
    "internment",
    "moka",
    "papaya",
    "weak-table",
];

pub(crate) struct Machine {
    processor: String,
    pub(crate) cores: usize,
    system: String,
    compiler: String,
    allocator: String,
    date: String,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = information
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        // The name of the C library, whose `malloc` is the system's allocator.
        let library = said("getconf", "GNU_LIBC_VERSION");
        Machine {
            processor: model.map_or("unknown", |(_, name)| name).trim().to_owned(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            system: format!("{}, {}", std::env::consts::OS, std::env::consts::ARCH),
            // Cargo's, if rustup has chosen it.
            compiler: said("rustc", "-V").unwrap_or("unknown".into()),
            allocator: format!("the system's ({})", library.unwrap_or("unknown".into())),
            date: today(),
        }
    }

    /// One line, for a picture.
    pub(crate) fn caption(&self) -> String {
        let compiler = self.compiler.split(" (").next().unwrap_or_default();
        let Machine {
            processor,
            cores,
            date,
            ..
        } = self;
        format!("{processor}, {cores} cores; {compiler}; {date}")
    }

    /// A table for the document.
    pub(crate) fn table(&self) -> String {
        let peers = PEERS.map(|name| format!("{name} {}", locked(name)));
        let rows = [
            ("processor", self.processor.clone()),
            ("cores", self.cores.to_string()),
            ("system", self.system.clone()),
            ("compiler", self.compiler.clone()),
            ("allocator", self.allocator.clone()),
            ("peers", peers.join(", ")),
            ("date", self.date.clone()),
        ];
        let rows = rows.map(|(what, which)| format!("| {what} | {which} |"));
        format!("| measured on | |\n|---|---|\n{}", rows.join("\n"))
    }
}

/// The first line that a command prints.
fn said(command: &str, argument: &str) -> Option<String> {
    let output = Command::new(command).arg(argument).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The newest version of a crate in the lock file: ours, where another crate uses an older one.
fn locked(name: &str) -> &'static str {
    let lock = include_str!("../../Cargo.lock");
    let (_, rest) = lock
        .rsplit_once(&format!("name = \"{name}\"\nversion = \""))
        .unwrap_or_else(|| panic!("{name} is locked"));
    rest.split('"').next().unwrap_or_default()
}

/// The date in the Gregorian calendar, UTC.
fn today() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut days = elapsed.map_or(0, |elapsed| elapsed.as_secs() / 86_400);
    let is_leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}
