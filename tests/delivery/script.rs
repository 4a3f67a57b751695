//! Objects with messages in a reference queue, and entries in a map that wakes, driven by a sequence of choices and
//! compared with what plain collections say. The fuzzer uses it too.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Wake, Waker};

use weakly::reference_queue::Ticket;
use weakly::{Anchor, ReferenceQueue, Strong, WeakMap};

#[derive(Default)]
struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// What a message waits for.
enum Owner {
    Handle(Strong<u32>),
    Value(Anchor),
}

struct Object {
    owner: Owner,
    /// Messages in the order of their registrations.
    messages: Vec<(u32, Ticket<u32>)>,
    in_map: bool,
}

struct World<I> {
    choices: I,
    queue: ReferenceQueue<u32>,
    map: WeakMap<Strong<u32>, u32>,
    calls: Arc<Calls>,
    objects: Vec<Object>,
    made: u32,
    /// What comes out of the queue next.
    messages: VecDeque<u32>,
    /// How often the map has to have called.
    called: usize,
}

impl<I: Iterator<Item = usize>> World<I> {
    fn below(&mut self, end: usize) -> Option<usize> {
        Some(self.choices.next()? % end)
    }

    fn make(&mut self, choice: usize) {
        self.made += 1;
        let owner = if choice % 3 == 0 {
            Owner::Value(Anchor::new())
        } else {
            Owner::Handle(Strong::new(self.made))
        };
        self.objects.push(Object {
            owner,
            messages: Vec::new(),
            in_map: false,
        });
    }

    /// An object dies: its messages come newest first, and the map calls if nothing was pending.
    fn kill(&mut self, at: usize) {
        let object = self.objects.swap_remove(at);
        if object.in_map {
            self.called += usize::from(self.map.pending_dead() == 0);
        }
        let messages = object.messages.iter().rev().map(|(message, _)| *message);
        self.messages.extend(messages);
        drop(object.owner);
        assert!(
            object
                .messages
                .iter()
                .all(|(_, ticket)| !ticket.is_pending())
        );
        assert!(
            object
                .messages
                .iter()
                .all(|(_, ticket)| ticket.cancel().is_none())
        );
    }

    fn register(&mut self, at: usize) {
        self.made += 1;
        let object = &mut self.objects[at];
        let ticket = match &object.owner {
            Owner::Handle(handle) => self.queue.register(handle, self.made),
            Owner::Value(anchor) => self.queue.register_anchor(anchor, self.made),
        };
        object.messages.push((self.made, ticket));
    }

    /// One choice; false at the end of them.
    fn step(&mut self) -> Option<()> {
        let choice = self.choices.next()?;
        if self.objects.is_empty() {
            self.make(choice);
            return Some(());
        }
        let at = self.below(self.objects.len())?;
        match choice % 12 {
            0 | 1 => self.make(choice / 12),
            2 | 3 => self.register(at),
            4 => {
                let messages = &mut self.objects[at].messages;
                if !messages.is_empty() {
                    let (message, ticket) = messages.swap_remove(choice / 12 % messages.len());
                    assert_eq!((ticket.cancel(), ticket.cancel()), (Some(message), None));
                    // The others keep their order.
                    messages.sort_by_key(|(message, _)| *message);
                }
            }
            5 | 6 => self.kill(at),
            7 => assert_eq!(self.queue.poll(), self.messages.pop_front()),
            8 => assert!(self.queue.drain().eq(self.messages.drain(..))),
            9 => {
                if let Owner::Handle(handle) = &self.objects[at].owner {
                    self.map.insert(handle, self.made);
                    self.objects[at].in_map = true;
                }
            }
            10 => {
                if let Owner::Handle(handle) = &self.objects[at].owner {
                    let was_in = self.map.remove(handle).is_some();
                    assert_eq!(was_in, self.objects[at].in_map);
                    self.objects[at].in_map = false;
                }
            }
            _ => _ = self.map.purge(),
        }
        assert_eq!(self.queue.len(), self.messages.len());
        assert_eq!(self.calls.0.load(Relaxed), self.called);
        assert_eq!(
            self.map.len(),
            self.objects.iter().filter(|object| object.in_map).count()
        );
        Some(())
    }
}

/// Runs a script to the end of its choices; then everything dies.
pub(crate) fn run(choices: impl Iterator<Item = usize>) {
    let calls = Arc::new(Calls::default());
    let mut world = World {
        choices,
        queue: ReferenceQueue::new(),
        map: WeakMap::new(),
        calls: Arc::clone(&calls),
        objects: Vec::new(),
        made: 0,
        messages: VecDeque::new(),
        called: 0,
    };
    world.map.set_waker(Some(Waker::from(calls)));
    while world.step().is_some() {}
    while !world.objects.is_empty() {
        world.kill(0);
    }
    assert!(world.queue.drain().eq(world.messages.drain(..)));
    assert_eq!(world.calls.0.load(Relaxed), world.called);
    world.map.purge();
    assert!(world.map.is_empty());
}

/// Runs the script that bytes describe.
pub(crate) fn run_bytes(bytes: &[u8]) {
    run(bytes.iter().map(|&byte| usize::from(byte)));
}
