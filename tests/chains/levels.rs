//! Levels of results: those of the lowest level are of sources, and each of the others is of a project, and of the results one
//! level below.

use std::cell::RefCell;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use weakly::memo::Value;
use weakly::{Reclaim, Strong};

use crate::asked::Memo;
use crate::tools::{Count, Doomed};

/// A number that changes in place, and what runs in its destructor.
pub(crate) struct Content(AtomicUsize, Mutex<Doomed>);

pub(crate) type Object = Strong<Content>;
/// Results of an object, for each level.
pub(crate) type Results = Memo<(Object, Value<usize>), Doomed>;

pub(crate) fn object(number: usize) -> Object {
    Strong::new(Content(AtomicUsize::new(number), Mutex::default()))
}

thread_local! {
    /// What the thread's next clone of a result runs, inside of the memo.
    pub(crate) static IN_A_CLONE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

pub(crate) struct Levels {
    /// One memo for each level, or for all. It may end, and make room for a new one.
    memos: Vec<Mutex<Arc<Results>>>,
    is_one: bool,
    sources: Mutex<[Object; 2]>,
    project: Object,
    pub(crate) computed: Count,
    /// What the result that ends runs when it is destroyed.
    pub(crate) at_the_end: Mutex<Doomed>,
}

impl Levels {
    pub(crate) fn new(levels: usize, is_one: bool) -> Self {
        let one = Arc::new(Results::new());
        let memo = || {
            if is_one {
                Arc::clone(&one)
            } else {
                Arc::default()
            }
        };
        Levels {
            memos: (0..levels).map(|_| Mutex::new(memo())).collect(),
            is_one,
            sources: Mutex::new([2, 3].map(object)),
            project: object(0),
            computed: Count::default(),
            at_the_end: Mutex::default(),
        }
    }

    pub(crate) fn memo(&self, level: usize) -> Arc<Results> {
        Arc::clone(&self.memos[level].lock().unwrap())
    }

    pub(crate) fn levels(&self) -> usize {
        self.memos.len()
    }

    pub(crate) fn set_reclaim(&self, reclaim: Reclaim) {
        (0..self.levels()).for_each(|level| self.memo(level).set_reclaim(reclaim));
    }

    fn result(&self, number: usize, end: Doomed) -> Doomed {
        self.computed.add();
        end.numbered(number).cloning(|| {
            if let Some(run) = IN_A_CLONE.take() {
                run();
            }
        })
    }

    fn of_source(&self, source: &Object) -> usize {
        let compute = || {
            let end = match Strong::ptr_eq(source, &self.source()) {
                true => mem::take(&mut *self.at_the_end.lock().unwrap()),
                false => Doomed::default(),
            };
            self.result(source.0.load(SeqCst), end)
        };
        self.memo(0)
            .get_or_compute((source, &0), |_| compute())
            .number
    }

    fn of_project(&self, level: usize) -> usize {
        let result = self
            .memo(level)
            .get_or_compute((&self.project, &level), |_| {
                let number = match level {
                    1 => {
                        let sources = self.sources.lock().unwrap().clone();
                        sources.iter().map(|source| self.of_source(source)).sum()
                    }
                    _ => 1 + self.of_project(level - 1),
                };
                self.result(number, Doomed::default())
            });
        result.number
    }

    /// The topmost result.
    pub(crate) fn top(&self) -> usize {
        self.of_project(self.levels() - 1)
    }

    /// The same without memos.
    pub(crate) fn plain(&self) -> usize {
        let sources = self.sources.lock().unwrap().clone();
        let sum: usize = sources.iter().map(|source| source.0.load(SeqCst)).sum();
        sum + self.levels() - 2
    }

    /// So many threads use each memo, with other objects.
    pub(crate) fn are_used_by(&self, threads: usize) {
        let (barrier, others) = (Barrier::new(threads), [1, 2].map(object));
        let work = || {
            barrier.wait();
            for level in 0..self.levels() {
                for other in &others {
                    let _ = self.memo(level).insert((other, &level), Doomed::default());
                    let _ = self.memo(level).remove((other, &level));
                }
            }
            barrier.wait();
        };
        thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    }

    /// Looks up the result of a level, without a computation: of the lowest, that of the other source.
    pub(crate) fn look(&self, level: usize) -> Option<usize> {
        let other = self.sources.lock().unwrap()[0].clone();
        let object = if level == 0 { &other } else { &self.project };
        let result = self.memo(level).get((object, &level))?;
        Some(result.number)
    }

    /// The source whose result ends.
    pub(crate) fn source(&self) -> Object {
        self.sources.lock().unwrap()[1].clone()
    }

    /// The source changes in place.
    fn changed(&self) -> Object {
        let source = self.source();
        source.0.fetch_add(10, SeqCst);
        source
    }

    /// Its old version, which nobody else has.
    fn replaced(&self) -> Object {
        mem::replace(&mut self.sources.lock().unwrap()[1], object(13))
    }

    /// What the destructor of the source runs.
    pub(crate) fn in_the_destructor(&self, run: impl FnOnce() + Send + 'static) {
        *self.source().1.lock().unwrap() = Doomed::new(run);
    }
}

/// A way in which the result of the source ends.
pub(crate) type End = fn(&Levels);

pub(crate) const ENDS: [(&str, End); 8] = [
    ("a death", |levels| drop(levels.replaced())),
    ("a death elsewhere", |levels| {
        thread::scope(|scope| _ = scope.spawn(|| drop(levels.replaced())));
    }),
    ("invalidate", |levels| {
        assert!(levels.memo(0).invalidate(&levels.changed()) >= 1);
    }),
    ("remove", |levels| {
        assert!(levels.memo(0).remove((&levels.changed(), &0)).is_some());
    }),
    ("insert", |levels| {
        let source = levels.changed();
        let new = Doomed::default().numbered(source.0.load(SeqCst));
        assert!(levels.memo(0).insert((&source, &0), new).is_some());
    }),
    ("clear", |levels| {
        levels.changed();
        levels.memo(0).clear();
    }),
    ("retain", |levels| {
        let source = levels.changed();
        let is_it = |other: Object| Strong::ptr_eq(&other, &source);
        levels
            .memo(0)
            .retain(|(weak, _), _| !weak.upgrade().is_some_and(is_it));
    }),
    ("the end of the memo", |levels| {
        levels.changed();
        let new = Arc::<Results>::default();
        let all = if levels.is_one { levels.levels() } else { 1 };
        for memo in &levels.memos[..all] {
            let old = mem::replace(&mut *memo.lock().unwrap(), Arc::clone(&new));
            drop(old);
        }
    }),
];
