//! The pictures of the document and of the README, measured and drawn.

mod deaths;
mod draw;
pub(crate) mod growth;
mod pauses;
mod sizes;
mod subjects;
mod threads;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::duel::Scale;
use crate::machine::Machine;
use draw::Chart;

/// How a picture is measured.
type Measure = fn(Scale, &Machine) -> Chart;

/// All pictures, by the names of their files.
const PICTURES: [(&str, Measure); 8] = [
    ("sizes", sizes::chart),
    ("pauses", pauses::chart),
    ("deaths", deaths::chart),
    ("threads", threads::chart),
    ("lookups", growth::lookups),
    ("changes", growth::changes),
    ("growth", growth::pauses),
    ("entries", growth::entries),
];

/// Those of the chapter about growth, whose tables are in the document.
pub(crate) const GROWTH: [&str; 4] = ["lookups", "changes", "growth", "entries"];

/// Measures the pictures that are wanted, and writes them to files below a folder. For each, its name and its tables.
pub(crate) fn write(
    folder: &Path,
    scale: Scale,
    machine: &Machine,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let mut all = Vec::new();
    let pictures = folder.join("pictures");
    fs::create_dir_all(&pictures)?;
    for (name, measure) in PICTURES.into_iter().filter(|(name, _)| is_wanted(name)) {
        let began = Instant::now();
        let chart = measure(scale, machine);
        let svg = chart.svg(&machine.caption())?;
        fs::write(pictures.join(format!("{name}.svg")), svg)?;
        eprintln!("picture {name}: {:.1} s", began.elapsed().as_secs_f64());
        let tables = chart.tables();
        println!("{}\n\n{tables}\n", chart.title);
        all.push((name, tables));
    }
    embed(folder, &pictures)?;
    Ok(all)
}

/// Rustdoc's pages cannot link to files of the repository. So the pictures are link definitions with the pictures
/// in them, which the documentation includes before a text that refers to them: the first definition wins.
fn embed(folder: &Path, pictures: &Path) -> Result<(), Box<dyn Error>> {
    let mut definitions =
        String::from("[comment]: # (Written by the report: the pictures, for rustdoc.)\n");
    for (name, _) in PICTURES {
        if let Ok(svg) = fs::read(pictures.join(format!("{name}.svg"))) {
            let data = base64(&svg);
            definitions += &format!("[picture-{name}]: data:image/svg+xml;base64,{data}\n");
        }
    }
    // A paragraph of another text must not follow at once.
    definitions.push('\n');
    Ok(fs::write(folder.join("PICTURES.md"), definitions)?)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| {
            bits << 8 | u32::from(three.get(at).copied().unwrap_or_default())
        });
        for digit in 0..4 {
            text.push(match digit <= three.len() {
                true => DIGITS[(bits >> (18 - 6 * digit)) as usize % 64] as char,
                false => '=',
            });
        }
    }
    text
}
