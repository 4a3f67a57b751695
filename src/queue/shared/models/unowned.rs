//! Entries that depend on objects which nobody holds while they are put in, as those of a memo.

use super::*;

/// An entry that is linked when its object may have died already: if its tie says after that that nothing
/// was announced, whoever gets the notice finds the entry.
#[test]
fn a_notice_that_is_still_to_come_finds_what_is_linked_before() {
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
        let announced = map.watch().was_notified();
        let found = other.join().unwrap() == 1;
        assert!(found || announced, "it has come before");
        if !found {
            assert!(map.remove(&map.queue));
        }
        assert!(map.is_spent());
    });
}

/// An entry is put in that depends on an object which nobody holds: as a memo puts in what it has computed.
pub(super) fn put_in_what_may_have_died<const N: usize>(map: &Map<N>, entry: &Entry) {
    let held = map.queue.keep_busy();
    if !entry.watch().was_notified() {
        entry.link();
        if entry.watch().was_notified() {
            entry.remove(&map.queue);
        }
    }
    drop(held);
}

/// S2, and [`SharedQueue::keep_busy`]: Who looks after the death, and finds nothing pending, does not find an entry
/// that has been put in meanwhile; who finds something pending is told by the entry. In the end it is gone.
fn an_entry_that_depends_on_what_dies(maker: &Maker, is_further: bool) {
    let object = maker.object();
    let queue = SharedQueue::new();
    let other_tie =
        is_further.then(|| SharedWatch::new(&object, HashValue::of_short(HASH), &queue));
    let entries = [Entry::new(&object, &queue)];
    let map = Arc::new(Map { entries, queue });
    let other = with(&map, |map| put_in_what_may_have_died(map, &map.entries[0]));
    drop(object);
    map.drain(true);
    let idle = map.queue.is_idle();
    let entry = &map.entries[0];
    if entry.is_linked() {
        assert!(!idle, "a dead one's entry seems fresh");
        assert!(entry.watch().is_notified());
    }
    other.join().unwrap();
    if let Some(watch) = other_tie {
        watch.end(&map.queue);
    }
    map.drain(true);
    assert!(!entry.is_linked(), "nobody takes it out any more");
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
