//! The pictures of the document and of the README, measured and drawn.

mod deaths;
mod draw;
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
const PICTURES: [(&str, Measure); 4] = [
    ("sizes", sizes::chart),
    ("pauses", pauses::chart),
    ("deaths", deaths::chart),
    ("threads", threads::chart),
];

/// Measures the pictures that are wanted, and writes them to files below a folder.
pub(crate) fn write(
    folder: &Path,
    scale: Scale,
    machine: &Machine,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<(), Box<dyn Error>> {
    let pictures = folder.join("pictures");
    fs::create_dir_all(&pictures)?;
    for (name, measure) in PICTURES.into_iter().filter(|(name, _)| is_wanted(name)) {
        let began = Instant::now();
        let chart = measure(scale, machine);
        let svg = chart.svg(&machine.caption())?;
        fs::write(pictures.join(format!("{name}.svg")), svg)?;
        eprintln!("picture {name}: {:.1} s", began.elapsed().as_secs_f64());
        println!("{}\n", figures(&chart));
    }
    embed(folder, &pictures)
}

/// What a picture shows, as a table.
fn figures(chart: &Chart) -> String {
    let mut lines = vec![format!("{}\n", chart.title)];
    for panel in &chart.panels {
        lines.push(format!(
            "| {} | {} | {} |",
            panel.title, panel.x.name, panel.y.name
        ));
        lines.push("|---|---|---|".to_owned());
        for curve in &panel.curves {
            for &(x, y) in &curve.points {
                let x = panel.x.label(x).map_or(x.to_string(), str::to_owned);
                lines.push(format!("| {} | {x} | {y:.1} |", curve.look.name));
            }
        }
        lines.push(String::new());
    }
    lines.join("\n")
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
