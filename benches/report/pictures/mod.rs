//! The pictures of the document and of the README, measured and drawn.

mod draw;
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
const PICTURES: [(&str, Measure); 3] = [
    ("sizes", sizes::chart),
    ("pauses", pauses::chart),
    ("threads", threads::chart),
];

/// Measures the pictures whose name is among some, or all if there are none, and writes them to files.
pub(crate) fn write(
    scale: Scale,
    machine: &Machine,
    names: &[String],
) -> Result<(), Box<dyn Error>> {
    let folder = scale.root().join("docs");
    let pictures = folder.join("pictures");
    fs::create_dir_all(&pictures)?;
    for (name, measure) in PICTURES {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            let began = Instant::now();
            let svg = measure(scale, machine).svg(&machine.caption())?;
            fs::write(pictures.join(format!("{name}.svg")), svg)?;
            eprintln!("picture {name}: {:.1} s", began.elapsed().as_secs_f64());
        }
    }
    embed(&folder)
}
