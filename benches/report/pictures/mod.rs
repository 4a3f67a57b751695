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
use std::time::Instant;

use crate::duel::Scale;
use crate::embed::embed;
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

/// Measures the pictures that are wanted, and writes them to files. For each, its name and its tables.
pub(crate) fn write(
    scale: Scale,
    machine: &Machine,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let mut all = Vec::new();
    let folder = scale.root().join("docs");
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
    embed(&folder)?;
    Ok(all)
}
