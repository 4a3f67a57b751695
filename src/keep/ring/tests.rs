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
    let walk = |ends: Ends, links: &dyn Fn(u32) -> Links| {
        let mut all = Vec::new();
        let mut at = ends.oldest;
        while at != NONE {
            assert_eq!(links(at).older, all.last().copied().unwrap_or(NONE));
            all.push(at);
            at = links(at).newer;
        }
        assert_eq!(ends.newest, all.last().copied().unwrap_or(NONE));
        all
    };
    let slots = |at: u32| ring.slots[at as usize].links;
    let mut queue = walk(ring.queue, &slots);
    let leaving = walk(ring.leaving, &slots);
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
    if ring.has_ages() {
        let mut ages = walk(ring.by_age, &|at| ring.ages[at as usize]);
        let since = |at: &u32| {
            ring.generation
                .wrapping_sub(ring.slots[*at as usize].generation)
        };
        assert!(ages.is_sorted_by_key(|at| core::cmp::Reverse(since(at))));
        ages.sort_unstable();
        queue.sort_unstable();
        assert_eq!(ages, queue);
    }
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
                    if let Told::No(Outcome::Refused(_)) =
                        ring.tell_or_keep(addr, Some(weight), addr)
                    {
                        refused.push((weight, ring.tell_round()));
                    }
                }
                10 if random.below(20) == 0 => ring.advance(),
                10 if random.below(20) == 0 => fit(&mut ring),
                10 if random.below(20) == 0 => {
                    let weight = limit.weight.map(|_| 50 + random.below(100));
                    allocating(|room| ring.set_limit(Limit { weight, ..limit }, room));
                }
                10 => ring.let_go(addr, Gone::Removed),
                _ => _ = ring.release(addr),
            }
            while let Some(going) = ring.next_to_go() {
                assert_eq!(going.what, going.addr);
            }
            assert!(!ring.is_due());
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

/// No round has a number with a special meaning in a stamp.
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
    assert_eq!(gone.last().map(|going| going.addr), Some(1));
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
        allocating(|room| ring.set_limit(limit, room));
        assert!(matches!(ring.keep(1, 2, ()), Outcome::Refused(())));
        ring.refuse(2, ());
        let gone = core::iter::from_fn(|| ring.next_to_go());
        let gone: Vec<_> = gone.map(|going| (going.addr, going.why)).collect();
        assert_eq!(gone, [(1, why), (2, why)]);
    }
}

/// Q5: The thread that has taken a victim learns whether the object was kept or removed again
/// meanwhile. Afterwards the slot is free.
#[test]
fn what_is_going_is_found() {
    type Step = fn(&mut Ring<u8>);
    let steps: [(Step, bool); 10] = [
        (|_| (), true),
        (
            |ring| assert!(!ring.touch(1) && ring.get(1).is_none()),
            true,
        ),
        (|ring| _ = ring.keep(2, 1, 2), true),
        (
            |ring| assert!(matches!(ring.keep(1, 9, 1), Outcome::Refused(1))),
            true,
        ),
        (|ring| ring.refuse(1, 1), true),
        (
            |ring| assert!(matches!(ring.keep(1, 1, 1), Outcome::New)),
            false,
        ),
        (
            |ring| assert!(matches!(ring.tell_or_keep(1, Some(1), 1), Told::No(_))),
            false,
        ),
        (|ring| assert!(ring.release(1).is_none()), true),
        (|ring| assert!(ring.remove(1).is_none()), false),
        (|ring| ring.let_all_go(), true),
    ];
    for (at, (step, is_gone)) in steps.into_iter().enumerate() {
        let mut ring = Ring::new(Limit::none().weight(5));
        ring.keep(1, 1, 1);
        ring.let_go_above(0);
        let going = ring.next_going().unwrap();
        assert_eq!((going.addr, going.what, going.why), (1, 1, Gone::Weight));
        assert!(ring.next_going().is_none() && ring.len() == 0);
        step(&mut ring);
        let kept = ring.len();
        assert_eq!(ring.end_going(&going), is_gone, "{at}");
        assert_eq!(ring.len(), kept, "{at}");
        check(&ring);
        while ring.next_to_go().is_some() {}
        ring.let_all_go();
        while ring.next_to_go().is_some() {}
        assert!(ring.index.is_empty(), "{at}");
        // The slot is in the list of free slots, once.
        (10..14).for_each(|addr| _ = ring.keep(addr, 1, 0));
        check(&ring);
        assert_eq!(ring.slots.len(), 4, "{at}");
    }
}

/// Q5: Two threads may work for victims with the same object, if the object was kept again in
/// between. Each thread learns about its own victim.
#[test]
fn what_is_going_twice() {
    let mut ring = Ring::new(Limit::entries(0));
    let go = |ring: &mut Ring<u8>| {
        allocating(|room| ring.set_limit(Limit::entries(1), room));
        ring.keep(1, 1, 1);
        allocating(|room| ring.set_limit(Limit::entries(0), room));
        ring.next_going().unwrap()
    };
    let (first, second) = (go(&mut ring), go(&mut ring));
    assert_ne!(first.at, second.at);
    assert!(ring.end_going(&second) && !ring.end_going(&first));
    check(&ring);
    assert!(ring.index.is_empty());
}

/// Q5: A ring does not move its items while a slot is going, nor into memory that does not suffice any more.
#[test]
fn what_is_going_stays_in_its_place() {
    let mut ring = Ring::new(Limit::none());
    (0..100).for_each(|addr| _ = ring.keep(addr, 1, addr));
    assert!(ring.sparse().is_none());
    ring.let_go_above(3);
    let first = ring.next_going().unwrap();
    while ring.next_to_go().is_some() {}
    let slots = ring.slots.capacity();
    assert!(ring.sparse().is_none());
    ring.shrink(ring.fitting().unwrap());
    assert_eq!(ring.slots.capacity(), slots);
    assert!(ring.end_going(&first));
    let mut room = super::room::Room::try_allocate(ring.sparse().unwrap()).unwrap();
    (200..220).for_each(|addr| _ = ring.keep(addr, 1, addr));
    ring.move_into(&mut room);
    assert_eq!((ring.slots.capacity(), ring.len()), (slots, 23));
    fit(&mut ring);
    check(&ring);
    assert!((200..220).all(|addr| ring.get(addr) == Some(&addr)));
}

/// Q5: An object that is kept again while its slot is going needs room for another slot.
#[test]
fn what_is_going_takes_room_again() {
    let mut ring = Ring::new(Limit::entries(1));
    ring.keep(1, 1, 1);
    ring.let_go_above(0);
    let going = ring.next_going().unwrap();
    ring.keep(2, 1, 2);
    assert!(ring.make_room_for(2, &mut None).is_ok());
    assert!(ring.make_room_for(1, &mut None).is_err());
    ring.end_going(&going);
    assert!(ring.make_room_for(1, &mut None).is_ok());
}
