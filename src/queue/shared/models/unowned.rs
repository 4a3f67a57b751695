//! Entries for objects that nothing keeps alive while they are inserted, as those of a memo.

use super::*;

/// An entry is linked when its object may be dead already: if its watch then sees no notice, the thread that takes
/// the notice finds the entry.
#[test]
fn a_notice_that_is_still_to_come_finds_an_entry_linked_before() {
    check(1, |maker| {
        let key = maker.object();
        let queue = SharedQueue::new();
        let entries = [Entry::new(&key, &queue)];
        let map = Arc::new(Map { entries, queue });
        let other = with(&map, |map| {
            drop(key);
            map.drain(true)
        });
        map.link();
        let notified = map.watch().was_notified();
        let found = other.join().unwrap() == 1;
        assert!(found || notified, "the notice came before the entry");
        if !found {
            assert!(map.remove(&map.queue));
        }
        assert!(map.is_spent());
    });
}

/// Inserts an entry for an object that nothing keeps alive, as a memo inserts a result.
pub(super) fn insert_what_may_have_died<const N: usize>(map: &Map<N>, entry: &Entry) {
    let busy = map.queue.keep_busy();
    if !entry.watch().was_notified() {
        entry.link();
        if entry.watch().was_notified() {
            entry.remove(&map.queue);
        }
    }
    drop(busy);
}

/// Drains after the object's death, and looks at its entry: if that is there, something is pending, and it can be
/// asked.
pub(super) fn look_after_the_death(map: &Map<1>) -> &Entry {
    map.drain(true);
    let idle = map.queue.is_idle();
    let entry = &map.entries[0];
    if entry.is_linked() {
        assert!(!idle, "the entry of a dead object seems live");
        assert!(entry.watch().is_notified());
    }
    entry
}

/// S2, and [`SharedQueue::keep_busy`]: a thread that looks after the death and finds nothing pending does not find
/// an entry that was inserted meanwhile; if it finds something pending, it can ask the entry. In the end the entry
/// is gone.
fn an_entry_that_depends_on_what_dies(maker: &Maker, is_further: bool) {
    let object = maker.object();
    let queue = SharedQueue::new();
    let other_watch =
        is_further.then(|| SharedWatch::new(&object, HashValue::of_short(HASH), &queue));
    let entries = [Entry::new(&object, &queue)];
    let map = Arc::new(Map { entries, queue });
    let other = with(&map, |map| insert_what_may_have_died(map, &map.entries[0]));
    drop(object);
    let entry = look_after_the_death(&map);
    other.join().unwrap();
    if let Some(watch) = other_watch {
        watch.end(&map.queue);
    }
    map.drain(true);
    assert!(!entry.is_linked(), "no notice will unlink it any more");
    assert!(map.queue.is_idle());
}

#[test]
fn an_entry_that_depends_on_what_dies_meanwhile() {
    check(1, |maker| an_entry_that_depends_on_what_dies(maker, false));
}

#[test]
fn a_further_entry_that_depends_on_what_dies_meanwhile() {
    check(1, |maker| an_entry_that_depends_on_what_dies(maker, true));
}
