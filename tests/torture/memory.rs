//! The readings of memory, what they have to be, and the table of them.

use std::fs;

use crate::common::heap::{Counting, Heap, bytes_of_all_threads};

#[global_allocator]
static HEAP: Heap<Counting> = Heap(Counting);

/// How many lines the table has.
const LINES: usize = 60;

/// What happened in a part of the run. All but the first four and the resident set is since its beginning.
#[derive(Default)]
struct Line {
    number: usize,
    breaths: usize,
    threads: usize,
    size: usize,
    made: usize,
    checked: usize,
    /// The least and the most live bytes, and those of the last reading.
    live: [isize; 3],
    /// The sum of the readings of the resident set.
    resident: usize,
}

/// The readings of a run. It takes its memory at the beginning.
pub(crate) struct Book(Vec<Line>);

impl Book {
    pub(crate) fn new() -> Self {
        println!(
            "60th breaths threads  largest  live, from       up to  RSS, KiB        made      checked"
        );
        Book(Vec::with_capacity(LINES + 1))
    }

    /// Reads the memory at the end of a breath, and adds it to the line of its time, of which this part is over.
    pub(crate) fn enter(&mut self, done: f64, [threads, size, made, checked]: [usize; 4]) {
        give_back();
        let (resident, live) = (status("VmRSS:"), bytes_of_all_threads());
        let number = (done.min(1.0) * LINES as f64).ceil() as usize;
        let last = self.0.last();
        if last.is_none_or(|line| line.number < number) {
            last.inspect(|line| line.print());
            self.0.push(Line {
                number,
                checked: last.map_or(0, |line| line.checked),
                live: [live; 3],
                ..Line::default()
            });
        }
        let line = self.0.last_mut().unwrap();
        line.breaths += 1;
        line.threads = line.threads.max(threads);
        line.size = line.size.max(size);
        line.made = made;
        line.checked += checked;
        line.live = [line.live[0].min(live), line.live[1].max(live), live];
        line.resident += resident;
    }

    /// From a sixth of the run on, memory was flat, but for so many bytes, and perhaps the resident set.
    pub(crate) fn check(&self, bound: isize, also_resident: bool) {
        let last = self.0.last().unwrap();
        last.print();
        assert!(last.checked > last.made, "hardly anything was checked");
        let mut sixths = self.0.chunk_by(|one, other| one.sixth() == other.sixth());
        let first = sixths.next().unwrap();
        let (reference, usual) = (first.last().unwrap().live[2], median(first));
        println!(
            "at a sixth {reference} bytes are live, then at most {bound} more or less; until then {usual} KiB resident, at most {}",
            status("VmHWM:")
        );
        for lines in sixths {
            for live in lines.iter().flat_map(|line| line.live) {
                assert!((live - reference).abs() <= bound, "{live} bytes");
            }
            let now = median(lines);
            println!("then {now} KiB");
            let most = usual / 10 + bound.unsigned_abs() / 1024;
            assert!(!also_resident || now.abs_diff(usual) <= most, "{now} KiB");
        }
    }
}

fn median(lines: &[Line]) -> usize {
    let mut means: Vec<_> = lines
        .iter()
        .map(|line| line.resident / line.breaths)
        .collect();
    means.sort_unstable();
    means[means.len() / 2]
}

impl Line {
    fn sixth(&self) -> usize {
        (self.number - 1) * 6 / LINES
    }

    fn print(&self) {
        let Line {
            number,
            breaths,
            threads,
            size,
            made,
            checked,
            live: [least, most, _],
            resident,
        } = self;
        let resident = resident / breaths;
        println!(
            "{number:>4} {breaths:>7} {threads:>7} {size:>8} {least:>11} {most:>11} {resident:>9} {made:>11} {checked:>12}"
        );
    }
}

/// What Linux says of this process, in KiB; 0 where it is not known.
fn status(name: &str) -> usize {
    let text = fs::read_to_string("/proc/self/status");
    let read = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    text.ok()
        .filter(|_| !cfg!(miri))
        .and_then(read)
        .unwrap_or(0)
}

/// Lets the C library give back what was freed.
#[allow(unsafe_code)]
fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> i32;
        }
        // SAFETY: it may be called at any time, on any thread.
        unsafe { malloc_trim(0) };
    }
}
