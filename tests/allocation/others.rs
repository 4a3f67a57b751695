//! Handles, anchors, messages, attributes, memos, flights, wakers.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

use weakly::memo::{Many, Value};
use weakly::{Anchor, AttributeKey, Attributes, Finalizer, Memo, Strong, WeakMap, concurrent};

use crate::single::{Objects, entries};
use crate::turns::{Entry, Script, World, each_fails_once};

type Object = Strong<usize>;

/// What a script has made.
#[derive(Default)]
struct Handles {
    small: Option<Object>,
    large: Option<Strong<[usize; 100]>>,
    list: Option<Strong<[Box<usize>]>>,
    finalizer: Option<Finalizer>,
    map: WeakMap<Object, Box<usize>>,
    anchor: Anchor,
    anchored: [WeakMap<Anchor, usize>; 2],
    finalized: Arc<AtomicUsize>,
}

impl World for Handles {
    fn shows(&self) -> Vec<Entry> {
        let there = [
            self.small.is_some(),
            self.large.is_some(),
            self.list.is_some(),
            self.finalizer.as_ref().is_some_and(Finalizer::is_pending),
        ];
        let there = there.into_iter().enumerate().filter(|(_, is)| *is);
        let mut all = Vec::from_iter(entries(0, there.map(|(at, _)| (at, 0))));
        let map = self.map.iter().map(|(key, value)| (*key, **value));
        all.extend(entries(1, map));
        for (at, map) in self.anchored.iter().enumerate() {
            let value = map.get(&self.anchor).map(|value| (0, *value));
            all.extend(entries(2 + at, value));
        }
        all.push((4, self.finalized.load(SeqCst), 0));
        all
    }
}

/// 593: Whatever allocates, and is watched.
#[test]
fn handles_and_anchors() {
    let mut script = Script::<Handles>::new();
    script
        .runs(|it| it.small = Some(Strong::new(1)))
        .runs(|it| it.large = Some(Strong::new([1; 100])))
        .runs(|it| it.list = Some(Vec::from([1, 2].map(Box::new)).into()))
        .runs(|it| it.map = it.small.iter().map(|key| (key, Box::new(1))).collect())
        .runs(|it| drop(it.small.as_ref().map(Strong::downgrade)))
        .runs(|it| {
            let (object, finalized) = (it.small.as_ref().unwrap(), it.finalized.clone());
            it.finalizer = Some(Strong::finalize(object, move || {
                _ = finalized.fetch_add(1, SeqCst)
            }));
        })
        .never(|it| it.small = None)
        .never(|it| drop((it.large.take(), it.list.take())))
        .runs(|it| _ = it.anchored[0].insert(&it.anchor, 1))
        .runs(|it| _ = it.anchored[1].insert(&it.anchor, 1))
        .runs(|it| drop(it.anchor.downgrade()))
        .never(|it| it.anchor = Anchor::new());
    each_fails_once(&script);
}

struct Depth;

impl AttributeKey for Depth {
    type Value = usize;
}

struct Label;

impl AttributeKey for Label {
    type Value = Box<str>;
}

type Key = (Many<Object>, Value<String>, Object);

#[derive(Default)]
struct Results {
    objects: Objects,
    attributes: Attributes<Object>,
    memo: Memo<Object, Arc<usize>>,
    keyed: Memo<Key, Option<Object>>,
    rewritten: Memo<Key, Option<Object>>,
}

impl World for Results {
    fn shows(&self) -> Vec<Entry> {
        let mut all = Vec::new();
        for object in &self.objects.0 {
            let depth = self.attributes.get(object, Depth);
            all.extend(depth.map(|depth| (0, **object, depth)));
            let label = self.attributes.with(object, Label, |label| label.len());
            all.extend(label.map(|label| (1, **object, label)));
            all.extend(self.memo.get(object).map(|result| (2, **object, *result)));
            let key = (&self.objects.0[..1], "text", object);
            let result = |result: Option<Object>| result.map_or(**object, |result| *result);
            let rewritten = self.rewritten.get(key);
            all.extend(rewritten.map(|other| (3, **object, result(other))));
            let keyed = self.keyed.get(key);
            all.extend(keyed.map(|other| (4, **object, result(other))));
        }
        let lens = [
            self.attributes.len(),
            self.memo.len(),
            self.rewritten.len(),
            self.keyed.len(),
        ];
        assert!(
            lens.iter().all(|len| *len <= self.objects.0.len()),
            "{lens:?}"
        );
        all
    }
}

/// 593, 175: Results with several inputs, keys of several parts, one result that is an input.
#[test]
fn attributes_and_memos() {
    let mut script = Script::<Results>::new();
    script
        .runs(|it| {
            it.objects
                .0
                .iter()
                .for_each(|object| _ = it.attributes.insert(object, Depth, **object))
        })
        .runs(|it| {
            it.objects
                .0
                .iter()
                .for_each(|object| _ = it.attributes.insert(object, Label, "label".into()))
        })
        .runs(|it| _ = it.attributes.remove_if(&it.objects.0[0], Depth, |_| true))
        .runs(|it| assert!(it.attributes.list(&it.objects.0[1]).len() == 2))
        .runs(|it| {
            for object in &it.objects.0 {
                it.memo.get_or_compute(object, |cx| {
                    cx.depends_on(&it.objects.0[1]);
                    cx.depends_on(&it.objects.0[2]);
                    let key = (&it.objects.0[..1], "text", object);
                    it.keyed.get_or_compute(key, |_| None);
                    Arc::new(**object)
                });
            }
        })
        .runs(|it| {
            for object in &it.objects.0 {
                let key = (&it.objects.0[..1], "text", object);
                it.rewritten
                    .get_or_compute(key, |_| (**object % 2 != 0).then(|| Strong::new(100)));
            }
        })
        .runs(|it| _ = it.memo.insert(&it.objects.0[3], Arc::new(7)))
        .runs(|it| _ = it.memo.invalidate(&it.objects.0[2]))
        .runs(|it| {
            _ = it.memo.get_or_compute(&it.objects.0[3], |cx| {
                cx.depends_on(&it.objects.0[1]);
                Arc::new(1)
            })
        })
        .runs(|it| _ = it.rewritten.purge_cycles())
        .never(|it| drop((it.objects.0.pop(), it.objects.0.swap_remove(1))))
        .runs(|it| {
            it.memo.purge();
            it.keyed.purge();
            it.rewritten.purge();
        })
        .never(|it| it.objects.0.truncate(1));
    each_fails_once(&script);
}

#[derive(Default)]
struct Flights {
    memo: Memo<Object, Arc<usize>>,
    names: concurrent::WeakValueMap<usize, Object>,
    key: Option<Object>,
    named: Option<Object>,
}

impl World for Flights {
    fn shows(&self) -> Vec<Entry> {
        let result = self.key.as_ref().and_then(|key| self.memo.get(key));
        let named = self.names.iter().map(|(name, value)| (name, *value));
        entries(0, result.map(|result| (0, *result)))
            .chain(entries(1, named))
            .collect()
    }
}

/// Pends once, and wakes itself.
async fn pends_once() {
    let mut pended = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut pended, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls two in turn, to their ends.
fn both<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> [T; 2] {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let mut context = Context::from_waker(Waker::noop());
    let mut ended = [None, None];
    while ended.iter().any(Option::is_none) {
        if ended[0].is_none() {
            if let Poll::Ready(value) = one.as_mut().poll(&mut context) {
                ended[0] = Some(value);
            }
        }
        if ended[1].is_none() {
            if let Poll::Ready(value) = other.as_mut().poll(&mut context) {
                ended[1] = Some(value);
            }
        }
    }
    ended.map(|value| value.expect("it has ended"))
}

/// 593, 244: Two tasks wait for what one of them computes.
#[test]
fn flights() {
    let mut script = Script::<Flights>::new();
    script
        .runs(|it| it.key = Some(Strong::new(1)))
        .runs(|it| {
            let ask = || {
                it.memo
                    .get_or_compute_async(it.key.as_ref().unwrap(), |_, _| async {
                        pends_once().await;
                        Arc::new(5)
                    })
            };
            assert_eq!(both(ask(), ask()).map(|it| *it), [5; 2]);
        })
        .runs(|it| {
            let ask = || {
                it.names.get_or_insert_async(3, |name| async move {
                    pends_once().await;
                    Strong::new(name)
                })
            };
            let [one, other] = both(ask(), ask());
            assert!(Strong::ptr_eq(&one, &other));
            it.named = Some(one);
        })
        .never(|it| it.key = None)
        .runs(|it| _ = it.memo.purge());
    each_fails_once(&script);
}
