//! What a load owns: its share of the memo, and its dependencies.

use std::ops::Deref;

use super::*;

/// Leads to one memo, and then to another.
#[derive(Default)]
struct Liar {
    memos: [Arc<Numbers>; 2],
    clones_lie: bool,
    derefs: AtomicUsize,
    honest_derefs: usize,
}

impl Clone for Liar {
    fn clone(&self) -> Self {
        let [one, other] = self.memos.clone();
        Liar {
            memos: if self.clones_lie {
                [other, one]
            } else {
                [one, other]
            },
            derefs: AtomicUsize::new(self.derefs.load(SeqCst)),
            ..*self
        }
    }
}

impl Deref for Liar {
    type Target = Numbers;

    fn deref(&self) -> &Numbers {
        let lies = self.derefs.fetch_add(1, SeqCst) >= self.honest_derefs;
        &self.memos[usize::from(lies)]
    }
}

/// 464: A pointer to a memo whose `Clone` or `Deref` leads to another memo: a panic says so, and nothing is left in either.
#[test]
fn a_pointer_may_lie() {
    for (clones_lie, honest_derefs) in [(true, usize::MAX), (false, 0), (false, 1), (false, 2)] {
        let memos = [Arc::<Numbers>::default(), Arc::default()];
        let liar = Liar {
            memos: memos.clone(),
            clones_lie,
            honest_derefs,
            ..Liar::default()
        };
        let (key, loads, spawns) = (Strong::new(0), Loads::default(), Loads::default());
        let mut caller = Task::new(Box::pin(Memo::get_or_compute_spawned(
            liar,
            &key,
            |_, _| async { Strong::new(1) },
            |load| spawns.spawn(load),
        )));
        let panic = panic_of(|| caller.poll());
        if panic == "no panic" {
            // The lie came too late, or first.
            assert!(honest_derefs != 1 && !clones_lie);
            assert!(spawns.take().poll().is_ready() && caller.poll().is_ready());
        } else {
            assert!(panic.contains("has led to another collection"), "{panic}");
            assert!(spawns.is_empty());
        }
        drop(caller);
        for memo in memos {
            memo.clear();
            let mut next = Object(memo, key.clone()).asks(&loads, ready(Ok(Strong::new(1))));
            assert!(next.poll().is_pending() && loads.take().poll().is_ready());
            made(next.poll());
        }
    }
}

/// 465: A result of a load goes with what it depends on. The [`Dependencies`](weakly::memo::Dependencies) outlive the load, and the
/// memo, and do nothing then.
#[test]
fn a_load_has_dependencies() {
    let (memo, loads) = (Arc::new(Numbers::new()), Loads::default());
    let (key, further, late) = (Strong::new(0), Strong::new(1), Strong::new(2));
    let (on, kept) = (further.clone(), Arc::new(Mutex::new(None)));
    let mut caller = {
        let (kept, spawns) = (Arc::clone(&kept), loads.clone());
        let compute = |_, cx: weakly::memo::Dependencies<'static>| async move {
            thread::spawn(move || {
                cx.depends_on(&on);
                *kept.lock().unwrap() = Some(cx);
            })
            .join()
            .unwrap();
            Strong::new(4)
        };
        let spawn = move |load| spawns.spawn(load);
        let (memo, key) = (Arc::clone(&memo), key.clone());
        Task::new(Box::pin(async move {
            Memo::get_or_compute_spawned(memo, &key, compute, spawn).await
        }))
    };
    assert!(caller.poll().is_pending() && loads.take().poll().is_ready());
    assert!(caller.poll().is_ready());
    drop(caller);
    let cx = kept.lock().unwrap().take().unwrap();
    cx.depends_on(&late);
    drop(late);
    assert_eq!(memo.len(), 1);
    drop(further);
    assert!(memo.is_empty());
    let alone = Arc::into_inner(memo);
    assert!(alone.is_some(), "the load is over, and has no share");
    drop(alone);
    cx.depends_on(&Strong::new(5));
}
