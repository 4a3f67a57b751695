use super::*;

/// A small generator: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Asserts Q1, and that the sums are right.
fn check<X>(ring: &Ring<X>) {
    let walk = |oldest: u32, newest: u32, links: &dyn Fn(u32) -> Links| {
        let mut all = Vec::new();
        let mut at = oldest;
        while at != NONE {
            assert_eq!(links(at).older, all.last().copied().unwrap_or(NONE));
            all.push(at);
            at = links(at).newer;
        }
        assert_eq!(newest, all.last().copied().unwrap_or(NONE));
        all
    };
    let slots = |at: u32| ring.slots[at as usize].links;
    let mut queue = walk(ring.queue.oldest, ring.queue.newest, &slots);
    let leaving = walk(ring.leaving.oldest, ring.leaving.newest, &slots);
    assert!(
        queue
            .iter()
            .all(|at| ring.slots[*at as usize].gone.is_none())
    );
    assert!(
        leaving
            .iter()
            .all(|at| ring.slots[*at as usize].gone.is_some())
    );
    assert_eq!(queue.len() + leaving.len(), ring.index.len());
    assert_eq!(queue.len(), ring.len());
    let weights = queue
        .iter()
        .map(|at| ring.slots[*at as usize].weight as u128);
    assert_eq!(weights.sum::<u128>(), ring.weight);
    let visited = queue.iter().filter(|at| ring.slots[**at as usize].visited);
    assert_eq!(visited.count(), ring.visited);
    assert!(ring.hand == NONE || queue.contains(&ring.hand));
    let ages = |at: u32| ring.slots[at as usize].ages;
    let mut ages = walk(ring.by_age.oldest, ring.by_age.newest, &ages);
    let since = |at: &u32| {
        ring.generation
            .wrapping_sub(ring.slots[*at as usize].generation)
    };
    assert!(ages.is_sorted_by_key(|at| core::cmp::Reverse(since(at))));
    ages.sort_unstable();
    queue.sort_unstable();
    assert_eq!(ages, queue);
}

fn fit<X>(ring: &mut Ring<X>) {
    let Some(size) = ring.fitting() else { return };
    ring.shrink(size);
    assert_eq!(ring.slots.len(), ring.index.len());
    assert_eq!(ring.slots.capacity(), ring.slots.len());
}

/// Q1, Q3: A member that was reported in a round stays a member until the round ends, unless the
/// member itself is removed. An item that was refused in a round is refused until the round ends.
#[test]
fn what_is_told_stays_for_the_round() {
    let mut random = Random(1);
    // (Where the limit is small, few addresses are used, so that there are hits.)
    for (limit, addrs) in [
        (Limit::entries(40), 80),
        (Limit::none().weight(100).generations(2), 80),
        (Limit::entries(3).generations(0), 20),
    ] {
        let mut ring = Ring::new(limit);
        let (mut told, mut round, mut longest) = (Vec::new(), ring.round(), 0);
        let (mut refused, mut refusals) = (Vec::new(), 0);
        for _ in 0..if cfg!(miri) { 30 } else { 30_000 } {
            let addr = 16 * (1 + random.below(addrs));
            match random.below(12) {
                0..=4 => _ = ring.keep(addr, random.below(6), addr),
                5..=8 => {
                    if ring.touch(addr) {
                        told.push((addr, ring.tell_round()));
                    }
                }
                9 => {
                    let weight = random.below(120);
                    if let Outcome::Refused(_) = ring.touch_or_join(addr, Some(weight), addr) {
                        refused.push((weight, ring.tell_round()));
                    }
                }
                10 if random.below(20) == 0 => ring.advance(),
                10 if random.below(20) == 0 => fit(&mut ring),
                10 if random.below(20) == 0 => {
                    let weight = limit.weight.map(|_| 50 + random.below(100));
                    ring.set_limit(Limit { weight, ..limit });
                }
                10 => ring.let_go(addr, Gone::Removed),
                _ => _ = ring.release(addr),
            }
            while let Some(victim) = ring.next_victim() {
                assert_eq!(victim.what, victim.addr);
            }
            assert!(!ring.has_victim());
            if ring.round() != round {
                round = ring.round();
                told.clear();
                refused.clear();
            }
            refusals += refused.len();
            longest = longest.max(told.len());
            for (addr, then) in &told {
                assert!(*then != round || ring.get(*addr).is_some());
            }
            assert!(
                refused
                    .iter()
                    .all(|(weight, then)| *then == round && !ring.fits(*weight))
            );
            check(&ring);
        }
        assert!(cfg!(miri) || longest > 2, "{longest}");
        assert!(cfg!(miri) || limit.weight.is_none() || refusals > 0);
    }
}

/// No round has a number with a special meaning in the state of an entry.
#[test]
fn rounds_begin_again_at_one() {
    let mut ring = Ring::<()>::new(Limit::none());
    let mut seen = 0;
    ring.round = LAST_ROUND - 2;
    let steps = if cfg!(miri) {
        5
    } else {
        usize::from(LAST_ROUND) + 5
    };
    for _ in 0..steps {
        ring.tell_round();
        ring.advance();
        assert!((1..=LAST_ROUND).contains(&ring.round()));
        seen += usize::from(ring.round() == 1);
    }
    assert_eq!(seen, if cfg!(miri) { 1 } else { 2 });
    // A round in which nothing was reported does not end.
    let round = ring.round();
    ring.advance();
    assert_eq!(ring.round(), round);
}

/// Q3: The round also ends if the hand passes one member and takes all the others.
#[test]
fn a_turn_that_takes_all_others_ends_the_round() {
    let mut ring = Ring::new(Limit::entries(16));
    for addr in 1..=16 {
        ring.keep(addr, 1, ());
    }
    ring.touch(1);
    let round = ring.tell_round();
    // The newest member is spared: the hand returns before it has taken all the others.
    let above = |weight| {
        let at = ring.too_heavy(weight)?;
        ring.take(at, Gone::Weight)
    };
    let gone = (1..16).rev().filter_map(above);
    assert_eq!(gone.last().map(|victim| victim.addr), Some(1));
    assert_ne!(ring.round(), round);
}

/// A refused item and the member that it was to replace are evicted for the same reason.
#[test]
fn a_refusal_has_its_reason() {
    for (limit, why) in [
        (Limit::entries(0), Gone::Entries),
        (Limit::none().weight(1), Gone::Weight),
    ] {
        let mut ring = Ring::new(Limit::none());
        ring.keep(1, 1, ());
        ring.set_limit(limit);
        assert!(matches!(ring.keep(1, 2, ()), Outcome::Refused(())));
        ring.refuse(2, ());
        let gone = core::iter::from_fn(|| ring.next_victim());
        let gone: Vec<_> = gone.map(|victim| (victim.addr, victim.why)).collect();
        assert_eq!(gone, [(1, why), (2, why)]);
    }
}

/// Q1: The items, leaving items too, move to less memory, but not into memory that does not suffice any more.
#[test]
fn items_move_to_memory_that_suffices() {
    let mut ring = Ring::new(Limit::none().generations(9));
    (0..100).for_each(|addr| _ = ring.keep(addr, 1, addr));
    assert!(ring.size_if_sparse().is_none());
    ring.let_go_above(4);
    while ring.index.len() > 4 {
        ring.next_victim();
    }
    ring.let_go_above(3);
    let mut memory = super::memory::allocate(ring.size_if_sparse().unwrap()).unwrap();
    let slots = ring.slots.capacity();
    (200..220).for_each(|addr| _ = ring.keep(addr, 1, addr));
    ring.move_into(&mut memory);
    assert_eq!((ring.slots.capacity(), ring.len()), (slots, 23));
    fit(&mut ring);
    check(&ring);
    assert!((200..220).all(|addr| ring.get(addr) == Some(&addr)));
    assert!(ring.next_victim().is_some() && ring.next_victim().is_none());
}
