//! A chart as SVG: panels side by side, under a common legend, on an opaque background, so that it is legible on
//! light and on dark pages.

use std::error::Error;
use std::iter;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

type Drawn<T = ()> = Result<T, Box<dyn Error>>;
type Svg<'s> = SVGBackend<'s>;

const SIZE: (u32, u32) = (960, 470);
const PAPER: RGBColor = RGBColor(255, 255, 255);
const INK: RGBColor = RGBColor(34, 34, 34);
const MESH: RGBColor = RGBColor(221, 221, 221);

/// Pixels of a letter, on average, as a part of the font's size.
const LETTER: f64 = 0.6;
const FONT: f64 = 14.0;
const TITLE: f64 = 18.0;
const CAPTION: f64 = 11.0;

/// A shape, so that curves differ not only by colour.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Circle,
    Ring,
    Triangle,
    Cross,
    None,
}

/// How a subject looks in all pictures. The colours are those of Okabe and Ito, which also the colour-blind tell
/// apart.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Look {
    pub(crate) name: &'static str,
    color: RGBColor,
    mark: Mark,
}

const fn look(name: &'static str, (red, green, blue): (u8, u8, u8), mark: Mark) -> Look {
    Look {
        name,
        color: RGBColor(red, green, blue),
        mark,
    }
}

impl Look {
    pub(crate) const OURS: Look = look("weakly", (0, 114, 178), Mark::Circle);
    pub(crate) const WEAK_TABLE: Look = look("weak-table", (213, 94, 0), Mark::Triangle);
    pub(crate) const BY_HAND: Look = look(
        "HashMap of Weak, retain by hand",
        (0, 158, 115),
        Mark::Cross,
    );
    pub(crate) const FLOOR: Look = look("hashbrown, nothing weak", (120, 120, 120), Mark::None);
    pub(crate) const PAPAYA: Look = look("papaya", (204, 121, 167), Mark::Triangle);
    pub(crate) const DASHMAP: Look = look("dashmap", (230, 159, 0), Mark::Cross);
    pub(crate) const LOCKED: Look = look("Mutex<HashMap>", (120, 120, 120), Mark::Ring);
}

/// What a subject does, in some panel.
pub(crate) struct Curve {
    pub(crate) look: Look,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A direction of a panel.
pub(crate) struct Axis {
    pub(crate) name: &'static str,
    is_logarithmic: bool,
    /// Values with their labels; the first and the last are the ends.
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From a power of ten to a power of ten, around all values; with steps between if there are few powers.
    pub(crate) fn logarithmic(
        name: &'static str,
        values: impl Iterator<Item = f64> + Clone,
        show: fn(f64) -> String,
    ) -> Self {
        let positive = values.filter(|value| *value > 0.0);
        let least = positive.clone().fold(f64::INFINITY, f64::min);
        let most = positive.fold(0.0, f64::max);
        let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
        let last = last.max(first + 1);
        let steps: &[f64] = if last - first > 4 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let powers = (first..last).flat_map(|power| steps.iter().map(move |step| (power, step)));
        let ticks = powers.map(|(power, step)| step * 10_f64.powi(power));
        let ticks = ticks.chain(iter::once(10_f64.powi(last)));
        Axis {
            name,
            is_logarithmic: true,
            ticks: ticks.map(|tick| (tick, show(tick))).collect(),
        }
    }

    /// From zero to a round number of units above all values.
    pub(crate) fn linear(
        name: &'static str,
        unit: f64,
        values: impl Iterator<Item = f64>,
        show: fn(f64) -> String,
    ) -> Self {
        let most = values.fold(f64::MIN_POSITIVE, f64::max) / unit;
        let power = 10_f64.powf(most.log10().floor());
        let steps = [0.2, 0.25, 0.5, 1.0, 2.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| most / step <= 6.0);
        let step = step.unwrap_or(power);
        let ticks = (0..=(most / step).ceil() as usize).map(|tick| tick as f64 * step * unit);
        Axis {
            name,
            is_logarithmic: false,
            ticks: ticks.map(|tick| (tick, show(tick))).collect(),
        }
    }

    /// Named places, at 0, 1, 2 and so on.
    pub(crate) fn named(name: &'static str, names: impl Iterator<Item = String>) -> Self {
        Axis {
            name,
            is_logarithmic: false,
            ticks: names
                .enumerate()
                .map(|(at, name)| (at as f64, name))
                .collect(),
        }
    }

    fn place(&self, value: f64) -> f64 {
        match self.is_logarithmic {
            true => value.log10(),
            false => value,
        }
    }

    /// The label of a tick.
    fn label(&self, value: f64) -> Option<&str> {
        let label = self.ticks.iter().find(|tick| tick.0 == value);
        label.map(|(_, label)| &label[..])
    }

    fn ends(&self) -> (f64, f64) {
        let tick = |at: usize| self.ticks[at].0;
        (tick(0), tick(self.ticks.len() - 1))
    }
}

impl Ranged for &Axis {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn range(&self) -> Range<f64> {
        let (first, last) = self.ends();
        first..last
    }

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let (first, last) = self.ends();
        let part =
            (self.place(*value) - self.place(first)) / (self.place(last) - self.place(first));
        from + (part * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|tick| tick.0).collect()
    }
}

impl ValueFormatter<f64> for &Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value).unwrap_or_default().to_owned()
    }
}

pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) curves: Vec<Curve>,
}

pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
}

impl Chart {
    /// The picture, with a line at its foot.
    pub(crate) fn svg(&self, foot: &str) -> Drawn<String> {
        let mut svg = String::new();
        {
            let root = Svg::with_string(&mut svg, SIZE).into_drawing_area();
            root.fill(&PAPER)?;
            root.draw(&Text::new(
                self.title.clone(),
                (24, 14),
                text(TITLE, HPos::Left),
            ))?;
            self.legend(&root)?;
            let foot_at = (24, SIZE.1 as i32 - 18);
            root.draw(&Text::new(
                foot.to_owned(),
                foot_at,
                text(CAPTION, HPos::Left),
            ))?;
            let inner = root.margin(76, 26, 12, 12);
            let areas = inner.split_evenly((1, self.panels.len()));
            for (panel, area) in self.panels.iter().zip(&areas) {
                panel.draw(area)?;
            }
            root.present()?;
        }
        Ok(svg)
    }

    /// All looks of the panels, in a line.
    fn legend(&self, root: &DrawingArea<Svg<'_>, Shift>) -> Drawn {
        let mut looks: Vec<Look> = Vec::new();
        for curve in self.panels.iter().flat_map(|panel| &panel.curves) {
            if !looks.contains(&curve.look) {
                looks.push(curve.look);
            }
        }
        let (mut x, y) = (24, 52);
        for look in looks {
            let stroke = look.color.stroke_width(3);
            root.draw(&PathElement::new([(x, y), (x + 30, y)], stroke))?;
            match look.mark {
                Mark::Circle => root.draw(&Circle::new((x + 15, y), 5, look.color.filled()))?,
                Mark::Ring => {
                    root.draw(&Circle::new((x + 15, y), 5, PAPER.filled()))?;
                    root.draw(&Circle::new((x + 15, y), 5, look.color.stroke_width(2)))?;
                }
                Mark::Triangle => {
                    root.draw(&TriangleMarker::new((x + 15, y), 7, look.color.filled()))?;
                }
                Mark::Cross => root.draw(&Cross::new((x + 15, y), 5, stroke))?,
                Mark::None => {}
            }
            root.draw(&Text::new(
                look.name,
                (x + 38, y),
                text(FONT, HPos::Left).pos(CENTER),
            ))?;
            let letters = look.name.chars().count() as f64;
            x += 38 + (letters * FONT * LETTER) as i32 + 22;
        }
        Ok(())
    }
}

const CENTER: Pos = Pos {
    h_pos: HPos::Left,
    v_pos: VPos::Center,
};

/// Text of so many pixels. (The backend divides by 1.24.)
fn text(pixels: f64, horizontal: HPos) -> TextStyle<'static> {
    let font = ("sans-serif", pixels * 1.24).into_font().color(&INK);
    font.pos(Pos::new(horizontal, VPos::Top))
}

impl Panel {
    fn draw(&self, area: &DrawingArea<Svg<'_>, Shift>) -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, text(FONT, HPos::Left))
            .margin(8)
            .margin_right(26)
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(&self.x, &self.y)?;
        chart
            .configure_mesh()
            .bold_line_style(MESH)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(text(FONT - 1.0, HPos::Left))
            .x_desc(self.x.name)
            .axis_desc_style(text(FONT, HPos::Left))
            .draw()?;
        // Ours last, above all others.
        for Curve { look, points } in self.curves.iter().rev() {
            let stroke = look.color.stroke_width(3);
            let line = PathElement::new(&points[..], stroke);
            chart.draw_series(iter::once(line))?;
            // Of a curve with very many points, some are marked.
            let marks = points
                .iter()
                .copied()
                .step_by(points.len().div_ceil(12).max(1));
            let color = look.color;
            match look.mark {
                Mark::Circle => {
                    chart.draw_series(marks.map(|at| Circle::new(at, 5, color.filled())))?;
                }
                Mark::Ring => {
                    let paper = marks.clone().map(|at| Circle::new(at, 5, PAPER.filled()));
                    chart.draw_series(paper)?;
                    let rings = marks.map(|at| Circle::new(at, 5, color.stroke_width(2)));
                    chart.draw_series(rings)?;
                }
                Mark::Triangle => {
                    chart
                        .draw_series(marks.map(|at| TriangleMarker::new(at, 7, color.filled())))?;
                }
                Mark::Cross => {
                    chart.draw_series(marks.map(|at| Cross::new(at, 5, stroke)))?;
                }
                Mark::None => {}
            }
        }
        Ok(())
    }
}
