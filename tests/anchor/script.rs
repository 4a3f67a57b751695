//! Anchors that move between owners and die, and maps of them, driven by a sequence of choices and compared with plain
//! maps. The fuzzer uses it too.

use std::collections::HashMap;
use std::mem;

use weakly::{Reclaim, WeakMap, WeakSet, ptr};

use crate::common::Own;
use weakly::ptr::{Atomic, Local};

/// A value, with the number that stands for its identity in the plain map.
struct Node<F: Own> {
    identity: usize,
    anchor: ptr::Anchor<F>,
}

struct World<'a, F: Own> {
    choices: &'a mut dyn Iterator<Item = usize>,
    made: usize,
    nodes: Vec<Node<F>>,
    boxed: Vec<Box<Node<F>>>,
    maps: [WeakMap<ptr::Anchor<F>, usize>; 2],
    plain: [HashMap<usize, usize>; 2],
    set: WeakSet<ptr::Anchor<F>>,
    weak: Vec<(usize, ptr::AnchorRef<F>)>,
}

impl<'a, F: Own> World<'a, F> {
    fn new(choices: &'a mut dyn Iterator<Item = usize>) -> Self {
        World {
            choices,
            made: 0,
            nodes: Vec::new(),
            boxed: Vec::new(),
            maps: Default::default(),
            plain: Default::default(),
            set: WeakSet::new(),
            weak: Vec::new(),
        }
    }

    /// The next choice; the first of all when there is no other.
    fn below(&mut self, n: usize) -> usize {
        self.choices.next().unwrap_or(0) % n
    }

    fn make(&mut self) {
        let identity = self.made;
        self.made += 1;
        let anchor = ptr::Anchor::new();
        self.nodes.push(Node { identity, anchor });
    }

    /// A node that has died.
    fn is_gone(&mut self, identity: usize) {
        self.plain
            .iter_mut()
            .for_each(|map| _ = map.remove(&identity));
    }

    fn step(&mut self) {
        if self.nodes.is_empty() {
            return self.make();
        }
        let at = self.below(self.nodes.len());
        let which = self.below(2);
        let (action, detail) = (self.below(16), self.below(4));
        let (map, plain) = (&mut self.maps[which], &mut self.plain[which]);
        let node = &self.nodes[at];
        match action {
            0..4 => self.make(),
            4..7 => {
                let value = self.made * 7 + at;
                let old = map.insert(&node.anchor, value);
                assert_eq!(old, plain.insert(node.identity, value));
            }
            7 => assert_eq!(map.remove(&node.anchor), plain.remove(&node.identity)),
            8 => {
                *map.entry(&node.anchor).or_insert(0) += {
                    *plain.entry(node.identity).or_insert(0) += 3;
                    3
                }
            }
            9 => {
                let node = self.nodes.swap_remove(at);
                self.boxed.push(Box::new(node));
            }
            10 => {
                if let Some(node) = self.boxed.pop() {
                    self.nodes.push(*node);
                }
            }
            11 => {
                let identity = self.nodes.swap_remove(at).identity;
                self.is_gone(identity);
            }
            12 => {
                let identity = node.identity;
                // A new identity for the same value.
                self.nodes[at].identity = self.made;
                self.made += 1;
                drop(mem::take(&mut self.nodes[at].anchor));
                self.is_gone(identity);
            }
            13 => self.weak.push((node.identity, node.anchor.downgrade())),
            14 => {
                map.retain_values(|value| *value % 5 != 0);
                plain.retain(|_, value| *value % 5 != 0);
                self.set.insert(&self.nodes[at].anchor);
            }
            _ => match detail {
                0 => _ = map.purge(),
                1 => map.shrink_to_fit(),
                2 => map.set_reclaim(Reclaim::OnRequest),
                _ => map.set_reclaim(Reclaim::OnUse),
            },
        }
    }

    fn verify(&self) {
        let nodes = self
            .nodes
            .iter()
            .chain(self.boxed.iter().map(|node| &**node));
        for (map, plain) in self.maps.iter().zip(&self.plain) {
            assert_eq!((map.len(), map.len_live()), (plain.len(), plain.len()));
            let mut values: Vec<_> = map.values().collect();
            let mut expected: Vec<_> = plain.values().collect();
            values.sort_unstable();
            expected.sort_unstable();
            assert_eq!(values, expected);
            for node in nodes.clone() {
                assert_eq!(map.get(&node.anchor), plain.get(&node.identity));
            }
            for (identity, weak) in &self.weak {
                assert_eq!(map.get(weak), plain.get(identity));
                let lives = nodes.clone().any(|node| node.identity == *identity);
                assert_eq!(weak.is_expired(), !lives);
            }
        }
        let members = nodes.filter(|node| self.set.contains(&node.anchor));
        assert_eq!(self.set.len(), members.count());
    }
}

/// So many steps, and then everything dies.
pub(crate) fn run<F: Own>(steps: usize, choices: &mut dyn Iterator<Item = usize>) {
    let mut world = World::<F>::new(choices);
    for step in 0..steps {
        world.step();
        if step % 8 == 0 {
            world.verify();
        }
    }
    world.verify();
    world.nodes.clear();
    world.boxed.clear();
    assert!(world.maps.iter().all(WeakMap::is_empty) && world.set.is_empty());
}

/// Runs the script that bytes describe. The first one chooses the flavour.
pub(crate) fn run_bytes(bytes: &[u8]) {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    let choices = &mut script.iter().map(|&byte| usize::from(byte));
    // A step takes at most four choices.
    match kind % 2 {
        0 => run::<Atomic>(script.len() / 4, choices),
        _ => run::<Local>(script.len() / 4, choices),
    }
}
