//! One operation of a collection, so many times: the program that `.ci/counts` counts.
//!
//! `counts OPERATION THREADS TIMES`: with two threads, another thread has used the collections, and
//! lives.

use std::hint::black_box;
use std::{env, sync::Barrier, thread};

use weakly::concurrent::{Interner, WeakHashMap, WeakMap, WeakValueMap};
use weakly::{Memo, Strong};

type Key = Strong<usize>;

/// How many keys live.
const KEYS: usize = 1_000;

fn main() {
    let words: Vec<_> = env::args().filter(|word| !word.starts_with("--")).collect();
    // `cargo test --benches` runs each once.
    let word = |at: usize, default| words.get(at).map_or(default, String::as_str);
    let times = word(3, "1").parse().expect("a number");
    let all = All {
        keys: (0..KEYS).map(Strong::new).collect(),
        asked: (0..KEYS).map(Strong::new).collect(),
        map: WeakMap::new(),
        memo: Memo::new(),
        told: (0..KEYS).map(Strong::new).collect(),
        contents: WeakHashMap::new(),
        held: (0..2 * KEYS).map(Strong::new).collect(),
        values: WeakValueMap::new(),
        interner: Interner::new(),
        names: (0..3 * KEYS).map(|number| number.to_string()).collect(),
    };
    for key in &all.keys {
        all.map.insert(key, 0);
    }
    for key in &all.asked {
        all.memo.get_or_compute(key, |_| 1);
    }
    for (at, key) in all.told.iter().enumerate() {
        all.contents.insert(key, 0);
        all.values.insert(at, &all.held[at]);
    }
    let stays = Barrier::new(2);
    thread::scope(|scope| {
        if word(2, "1") == "2" {
            scope.spawn(|| {
                OPERATIONS.iter().for_each(|name| all.run(name, 1));
                stays.wait();
                stays.wait();
            });
            stays.wait();
        }
        match word(1, "all") {
            "all" => OPERATIONS.iter().for_each(|name| all.run(name, times)),
            name => all.run(name, times),
        }
        if word(2, "1") == "2" {
            stays.wait();
        }
    });
}

const OPERATIONS: [&str; 16] = [
    "get",
    "replace",
    "remove+insert",
    "churn",
    "compute",
    "insert",
    "content-replace",
    "content-remove+insert",
    "value-replace",
    "value-remove+insert",
    "memo-hit",
    "memo-miss",
    "interner-hit",
    "interner-miss",
    "transfer-and-back",
    "content-transfer-and-back",
];

struct All {
    keys: Vec<Key>,
    /// The keys of the memo: the registrations with an object are not of two collections.
    asked: Vec<Key>,
    map: WeakMap<Key, usize>,
    memo: Memo<Key, usize>,
    told: Vec<Key>,
    contents: WeakHashMap<Key, usize>,
    /// The values: two for each key.
    held: Vec<Key>,
    values: WeakValueMap<usize, Key>,
    interner: Interner<Strong<str>>,
    names: Vec<String>,
}

impl All {
    fn run(&self, operation: &str, times: usize) {
        let All {
            keys,
            asked,
            map,
            memo,
            told,
            contents,
            held,
            values,
            interner,
            names,
        } = self;
        let key = |at: usize| &keys[at % KEYS];
        // What dies is the oldest of as many.
        let mut live = keys.clone();
        let [_held, mut words] = [0, 2].map(|from| {
            let names = names[from * KEYS..].iter().take(KEYS);
            names
                .map(|name| interner.intern_ref(name.as_str()))
                .collect::<Vec<_>>()
        });
        let spare: Vec<Key> = (KEYS..2 * KEYS).map(Strong::new).collect();
        let each = |run: &mut dyn FnMut(usize)| (0..times).for_each(run);
        match operation {
            "get" => each(&mut |at| _ = black_box(map.get(key(at)))),
            "replace" => each(&mut |at| _ = black_box(map.insert(key(at), at))),
            "remove+insert" => each(&mut |at| {
                black_box(map.remove(key(at)));
                black_box(map.insert(key(at), at));
            }),
            "churn" => each(&mut |at| {
                let new = Strong::new(at);
                map.insert(&new, at);
                live[at % KEYS] = new;
            }),
            "compute" => each(&mut |at| {
                black_box(map.compute(key(at), |now| Some(now.map_or(0, |now| now + 1))));
            }),
            "insert" => each(&mut |at| insert(map, &Strong::new(at))),
            "content-replace" => each(&mut |at| {
                black_box(contents.insert(&told[at % KEYS], at));
            }),
            "content-remove+insert" => each(&mut |at| {
                black_box(contents.remove(&(at % KEYS)));
                black_box(contents.insert(&told[at % KEYS], at));
            }),
            "value-replace" => each(&mut |at| {
                black_box(values.insert(at % KEYS, &held[at % (2 * KEYS)]));
            }),
            "value-remove+insert" => each(&mut |at| {
                black_box(values.remove(&(at % KEYS)));
                black_box(values.insert(at % KEYS, &held[at % (2 * KEYS)]));
            }),
            "memo-hit" => each(&mut |at| {
                black_box(memo.get_or_compute(&asked[at % KEYS], |_| unreachable!()));
            }),
            "memo-miss" => each(&mut |at| {
                let new = Strong::new(at);
                black_box(memo.get_or_compute(&new, |_| 1));
                live[at % KEYS] = new;
            }),
            "interner-hit" => each(&mut |at| {
                black_box(interner.intern_ref(names[at % KEYS].as_str()));
            }),
            "interner-miss" => each(&mut |at| {
                words[at % KEYS] = interner.intern_ref(names[KEYS + at % (2 * KEYS)].as_str());
            }),
            "transfer-and-back" => each(&mut |at| {
                let new = &spare[at % KEYS];
                black_box(map.transfer(key(at), new));
                black_box(map.transfer(new, key(at)));
            }),
            "content-transfer-and-back" => each(&mut |at| {
                let new = &spare[at % KEYS];
                black_box(contents.transfer(&(at % KEYS), new));
                black_box(contents.transfer(&(KEYS + at % KEYS), &told[at % KEYS]));
            }),
            other => panic!("{other}: none of {OPERATIONS:?}"),
        }
    }
}

/// The insertion whose functions `.ci/counts` counts.
#[inline(never)]
fn insert(map: &WeakMap<Key, usize>, key: &Key) {
    map.insert(key, 1);
}
