//! Growth: the cost of each operation and the longest insertion by the number of live objects, and the bytes of an entry
//! by the number of maps.

use std::cell::RefCell;
use std::rc::Rc;

use weakly::{Interner, Memo, Strong, concurrent};

use super::deaths::{bytes, thousands};
use super::draw::{Axis, Chart, Curve, Look, Panel};
use super::sizes::{nanoseconds, power_of_ten};
use crate::chance::Numbers;
use crate::collections::{Herd, slowest_growth};
use crate::duel::{Course, Sample, Scale};
use crate::footprint::{each_entry, object_and_entry};
use crate::interners::Lexicon;
use crate::machine::{self, Machine};
use crate::peers::{self, Collection, Lookup, Object, Purge, Remove, Walk};
use crate::pointers::upgrades;
use crate::rows::{MANY, Ours, Theirs};
use crate::shared::{Alone, DashMap, Papaya};
use crate::subjects::Share;
use crate::theirs::{ByHandWithRetain, Floor};

type Shared = Alone<concurrent::WeakMap<Strong<u64>, u64>>;
type Memos = Alone<Memo<Strong<u64>, u64>>;
type Words = Interner<Strong<str>>;
type SharedWords = concurrent::Interner<Strong<str>>;

const OWNED: &str = "one owner";
const SHARED: &str = "shared, used by one thread";

/// Objects in the pictures of memory.
const OBJECTS: usize = 100_000;
/// At most so many maps with an entry for each.
const MAPS: usize = 10;

fn sizes() -> impl Iterator<Item = usize> {
    (2..=7).map(|power| 10_usize.pow(power))
}

/// How often a sample of so many operations is repeated.
fn course(operations: usize) -> Course {
    Course {
        rounds: ((1 << 22) / operations).clamp(3, 51) | 1,
        cold: 1,
        turns: 1,
    }
}

/// The curves of the two panels.
struct Curves {
    scale: Scale,
    panels: [Vec<Curve>; 2],
}

impl Curves {
    fn new(scale: Scale) -> Self {
        Curves {
            scale,
            panels: [Vec::new(), Vec::new()],
        }
    }

    fn add(&mut self, panel: usize, look: Look, point: (f64, f64)) {
        let curves = &mut self.panels[panel];
        match curves.iter_mut().find(|curve| curve.look == look) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                look,
                points: vec![point],
            }),
        }
    }

    /// The median of samples of so many operations each.
    fn measure(&mut self, panel: usize, look: Look, size: usize, course: Course, sample: Sample) {
        let time = course.medians(self.scale, vec![sample])[0];
        self.add(panel, look, (size as f64, time));
    }

    /// By the number of live objects. Both panels have the same axes.
    fn chart(self, title: &str, x: &'static str) -> Chart {
        let axes = || {
            let points = || self.panels.iter().flatten().flat_map(|curve| &curve.points);
            (
                Axis::logarithmic(x, points().map(|point| point.0), power_of_ten),
                Axis::logarithmic("time", points().map(|point| point.1), nanoseconds),
            )
        };
        panels(title, [axes(), axes()], self.panels)
    }
}

fn panels(title: &str, axes: [(Axis, Axis); 2], curves: [Vec<Curve>; 2]) -> Chart {
    let titled = [OWNED, SHARED].into_iter().zip(axes).zip(curves);
    Chart {
        title: title.to_owned(),
        panels: titled
            .map(|((title, (x, y)), curves)| Panel {
                title: title.to_owned(),
                x,
                y,
                curves,
            })
            .collect(),
    }
}

fn herd<C: Collection<Object: Object<Payload = u64>>>(size: usize) -> Share<Herd<C>> {
    Rc::new(RefCell::new(Herd::of(size)))
}

fn lexicon<I: peers::Interner>(size: usize) -> Share<Lexicon<I>> {
    Rc::new(RefCell::new(Lexicon::of(size)))
}

/// Operations that change nothing.
pub(super) fn lookups(scale: Scale, _: &Machine) -> Chart {
    fn of<C>(curves: &mut Curves, panel: usize, size: usize)
    where
        C: Lookup<Object: Object<Payload = u64>> + Walk,
    {
        let (live, many) = (curves.scale.of(size), curves.scale.of(MANY));
        let herd = herd::<C>(live);
        let hit = Herd::look_up(herd.clone(), many);
        curves.measure(panel, Look::HIT, size, course(MANY), hit);
        let miss = Herd::miss(herd.clone(), many);
        curves.measure(panel, Look::MISS, size, course(MANY), miss);
        let walk = Herd::walk(herd, many);
        curves.measure(panel, Look::WALK, size, course(size.max(MANY)), walk);
    }
    let mut curves = Curves::new(scale);
    for size in sizes() {
        let (live, many) = (scale.of(size), scale.of(MANY));
        of::<Ours>(&mut curves, 0, size);
        of::<Shared>(&mut curves, 1, size);
        let hit = Herd::look_up(herd::<Memos>(live), many);
        curves.measure(1, Look::MEMO_HIT, size, course(MANY), hit);
        let hit = Lexicon::hit(lexicon::<Words>(live), many);
        curves.measure(0, Look::INTERN_HIT, size, course(MANY), hit);
        let hit = Lexicon::hit(lexicon::<SharedWords>(live), many);
        curves.measure(1, Look::INTERN_HIT, size, course(MANY), hit);
        // The handles are the same on both sides.
        let objects = Numbers::default().take(live).into_iter();
        let upgrade = upgrades::<Strong<u64>>(objects.map(Strong::new).collect(), many);
        let time = course(MANY).medians(scale, vec![upgrade])[0];
        curves.add(0, Look::UPGRADE, (size as f64, time));
        curves.add(1, Look::UPGRADE, (size as f64, time));
        eprintln!("lookups: {size}");
    }
    curves.chart("Lookups, by the number of live objects", "live objects")
}

/// Operations that change something.
pub(super) fn changes(scale: Scale, _: &Machine) -> Chart {
    fn of<C>(curves: &mut Curves, panel: usize, size: usize)
    where
        C: Lookup<Object: Object<Payload = u64>> + Purge + Remove,
    {
        let (live, many) = (curves.scale.of(size), curves.scale.of(MANY));
        let herd = herd::<C>(live);
        let replace = Herd::replace(herd.clone(), many);
        curves.measure(panel, Look::REPLACE, size, course(MANY), replace);
        // Few enough that no table grows.
        let few = (live / 10).clamp(1, many);
        let insert = Herd::insert(herd.clone(), few, many);
        curves.measure(panel, Look::INSERT, size, course(MANY), insert);
        let remove = Herd::remove(herd.clone(), few, many);
        curves.measure(panel, Look::REMOVE, size, course(MANY), remove);
        let mut purge = Herd::purge(herd.clone(), few);
        let passes = many.div_ceil(few);
        let each = move || {
            let purges = (0..passes).map(|_| purge());
            purges.sum::<f64>() / (passes * few) as f64
        };
        curves.measure(panel, Look::PURGE, size, course(MANY), Box::new(each));
        curves.churn(panel, Look::CHURN, size, herd);
    }
    let mut curves = Curves::new(scale);
    for size in sizes() {
        let (live, many) = (scale.of(size), scale.of(MANY));
        of::<Ours>(&mut curves, 0, size);
        of::<Shared>(&mut curves, 1, size);
        curves.churn(1, Look::MEMO_MISS, size, herd::<Memos>(live));
        let miss = Lexicon::miss(lexicon::<Words>(live), many);
        curves.measure(0, Look::INTERN_MISS, size, course(MANY), miss);
        let miss = Lexicon::miss(lexicon::<SharedWords>(live), many);
        curves.measure(1, Look::INTERN_MISS, size, course(MANY), miss);
        eprintln!("changes: {size}");
    }
    curves.chart("Changes, by the number of live objects", "live objects")
}

impl Curves {
    /// So many operations that what a table does once in as many changes as it has entries has its share in each sample.
    fn churn<C>(&mut self, panel: usize, look: Look, size: usize, herd: Share<Herd<C>>)
    where
        C: Collection<Object: Object<Payload = u64>>,
    {
        let operations = size.max(MANY);
        let churn = Herd::churn(herd, self.scale.of(operations));
        self.measure(panel, look, size, course(operations), churn);
    }
}

/// The longest of the insertions with which a map grows from nothing.
pub(super) fn pauses(scale: Scale, _: &Machine) -> Chart {
    let mut curves = Curves::new(scale);
    for size in sizes() {
        let objects = scale.of(size);
        let subjects = [
            (0, Look::OURS, slowest_growth::<Ours>(objects)),
            (0, Look::WEAK_TABLE, slowest_growth::<Theirs>(objects)),
            (0, Look::FLOOR, slowest_growth::<Floor>(objects)),
            (1, Look::OURS, slowest_growth::<Shared>(objects)),
            (1, Look::PAPAYA, slowest_growth::<Alone<Papaya>>(objects)),
            (1, Look::DASHMAP, slowest_growth::<Alone<DashMap>>(objects)),
        ];
        for (panel, look, sample) in subjects {
            // A map that grows has nothing to warm up.
            let course = Course {
                cold: 0,
                ..course(size)
            };
            curves.measure(panel, look, size, course, sample);
        }
        eprintln!("growth: {size}");
    }
    let title = "The longest insertion while a map grows from nothing";
    curves.chart(title, "objects inserted")
}

/// What an entry takes, by the number of maps in which its object has one.
pub(super) fn entries(scale: Scale, _: &Machine) -> Chart {
    let objects = scale.of(OBJECTS);
    let mut curves = Curves::new(scale);
    for maps in 1..=MAPS {
        let subjects = [
            (0, Look::OURS, each_entry::<Ours>(objects, maps)),
            (0, Look::WEAK_TABLE, each_entry::<Theirs>(objects, maps)),
            (
                0,
                Look::BY_HAND,
                each_entry::<ByHandWithRetain>(objects, maps),
            ),
            (1, Look::OURS, each_entry::<Shared>(objects, maps)),
            (1, Look::PAPAYA, each_entry::<Alone<Papaya>>(objects, maps)),
            (
                1,
                Look::DASHMAP,
                each_entry::<Alone<DashMap>>(objects, maps),
            ),
        ];
        for (panel, look, mut sample) in subjects {
            curves.add(panel, look, ((maps - 1) as f64, sample()));
        }
    }
    let axes = || {
        let names = (1..=MAPS).map(|maps| maps.to_string());
        let all = curves.panels.iter().flatten();
        let amounts = all.flat_map(|curve| &curve.points).map(|point| point.1);
        (
            Axis::named("maps with an entry for each object", names),
            Axis::linear("bytes of an entry", 1.0, amounts, bytes),
        )
    };
    let title = "Memory of an entry, of objects that have one in each of several maps";
    panels(title, [axes(), axes()], curves.panels)
}

/// What the chapter says besides the pictures.
pub(crate) fn parts(scale: Scale) -> [(&'static str, String); 2] {
    let objects = thousands(scale.of(OBJECTS) as f64);
    [("caches", caches(scale)), ("objects", objects)]
}

/// How many live objects fit into each cache of the machine, as a table.
fn caches(scale: Scale) -> String {
    let objects = scale.of(OBJECTS);
    let each = [
        object_and_entry::<Ours>(objects),
        object_and_entry::<Shared>(objects),
    ];
    let mut lines = vec![
        format!("| cache | size | objects and entries, {OWNED} | {SHARED} |"),
        "|---|---:|---:|---:|".to_owned(),
    ];
    let [owned, shared] = each.map(bytes);
    lines.push(format!(
        "| one object and its entry | | {owned} | {shared} |"
    ));
    for (name, size) in machine::caches() {
        let [owned, shared] = each.map(|each| thousands(size / each));
        let size = bytes(size);
        lines.push(format!("| {name} | {size} | {owned} | {shared} |"));
    }
    lines.join("\n")
}
