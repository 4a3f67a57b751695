//! Models of entries that depend on entries: the token of an entry ends the dependents before the
//! entry is unlinked. The objects, their registrations, the tokens and the table are the shipped
//! code.

use loom::sync::Arc;
use loom::thread::JoinHandle;
use std::boxed::Box;
use std::vec::Vec;

use super::super::{Entry, Put, RawTable, Registered};
use super::dead::object;
use super::{end_in_place, spawn};
use crate::Strong;
use crate::ptr::models::Payload;
use crate::ptr::{Off, RegistrationId, SharedWatch, Token, TokenSlot};
use crate::sync::{AtomicPtr, Live, models};

struct Node {
    hash: u64,
    watches: Watches,
    live: Live,
}

#[derive(Default)]
struct Watches {
    inputs: Vec<SharedWatch<Payload>>,
    tokens: Vec<SharedWatch<()>>,
    slot: Option<Box<TokenSlot>>,
}

fn short(hash: u64) -> u32 {
    (hash as u32 + 1) << 1
}

impl Entry for Node {
    const PROMPT: bool = false;
    type Context = ();
    type Watch = Watches;

    fn hash(&self) -> u64 {
        self.hash
    }

    fn hash_of(_: *const (), short: u32) -> u64 {
        u64::from((short >> 1) - 1)
    }

    fn watch(&self) -> Option<&Watches> {
        self.live.check();
        Some(&self.watches)
    }

    fn stored_hash(&self) -> Option<u32> {
        Some(short(self.hash))
    }

    fn end(self, place: *const Self, (): &()) {
        end_in_place(self, place);
    }
}

impl Registered for Watches {
    type Of = ();
    const TIES: bool = true;

    fn may_be_linked(&self) -> bool {
        let inputs = self.inputs.iter().all(SharedWatch::is_registered);
        inputs && self.tokens.iter().all(SharedWatch::is_registered)
    }

    fn named(&self, id: RegistrationId) -> Option<&AtomicPtr<()>> {
        let input = self.inputs.iter().find_map(|watch| watch.named(id));
        input.or_else(|| self.tokens.iter().find_map(|watch| watch.named(id)))
    }

    fn link(&self) -> Option<&AtomicPtr<()>> {
        let input = self.inputs.iter().find_map(SharedWatch::link);
        input.or_else(|| self.tokens.iter().find_map(SharedWatch::link))
    }

    fn end_others(&self, id: RegistrationId, off: &mut Off) {
        let others = self.inputs.iter().filter(|watch| watch.named(id).is_none());
        others.for_each(|watch| watch.end(off));
        let others = self.tokens.iter().filter(|watch| watch.named(id).is_none());
        others.for_each(|watch| watch.end(off));
    }

    fn untie(&self) -> Result<(), Token> {
        self.slot.as_ref().map_or(Ok(()), |slot| slot.end())
    }

    fn end(&self, off: &mut Off) {
        self.inputs.iter().for_each(|watch| watch.end(off));
        self.tokens.iter().for_each(|watch| watch.end(off));
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.live.end();
    }
}

struct Table(RawTable<Node>);

impl Table {
    fn new() -> Arc<Self> {
        let raw = RawTable::new();
        raw.allocate_for(4);
        Arc::new(Table(raw))
    }

    fn has(&self, key: u64) -> bool {
        let reader = self.0.read();
        let node = reader.get(key, |_| true);
        node.inspect(|node| node.live.check()).is_some()
    }

    /// Begins a computation of an entry with this key: the entry watches the inputs.
    fn begin(&self, key: u64, inputs: &[&Strong<Payload>]) -> Watches {
        let core = self.0.core_or_new();
        let watch =
            |object: &&Strong<Payload>| SharedWatch::registered(*object, core.count(), short(key));
        Watches {
            inputs: inputs.iter().map(watch).collect(),
            tokens: Vec::new(),
            slot: Some(Box::new(TokenSlot::new())),
        }
    }

    /// The computation asks for the entry of a key. Returns whether the entry was found, and can be
    /// depended on.
    fn ask(&self, for_: u64, watches: &mut Watches, of: &Table, key: u64) -> bool {
        let reader = of.0.read();
        let Some(node) = reader.get(key, |_| true) else {
            return false;
        };
        node.live.check();
        let Some(token) = node.watches.slot.as_ref().unwrap().token() else {
            return false;
        };
        let counted = self.0.core_or_new().count();
        let Some(watch) = token.watch(counted, short(for_)) else {
            return false;
        };
        watches.tokens.push(watch);
        true
    }

    /// Ends the computation. Returns whether the entry is kept.
    fn keep(&self, key: u64, watches: Watches) -> bool {
        let node = || Node {
            hash: key,
            watches,
            live: Live::new(),
        };
        let writer = self.0.write();
        let mut node = self.0.entry(node);
        let put = writer.put(&mut node, |_, _| true, |_| true);
        if let Put::Replaced { old, .. } = put {
            old.watches.end(&mut Off::new());
        }
        !matches!(put, Put::Refused)
    }

    fn insert(&self, key: u64, inputs: &[&Strong<Payload>], asks: &[u64]) {
        let mut watches = self.begin(key, inputs);
        for asked in asks {
            assert!(self.ask(key, &mut watches, self, *asked));
        }
        assert!(self.keep(key, watches));
    }

    fn remove(&self, key: u64) -> bool {
        let writer = self.0.write();
        let removed = writer.remove_if(key, |_| true, |_| true);
        if let Some(node) = removed {
            node.watches.end(&mut Off::new());
        }
        removed.is_some()
    }
}

fn with<T: 'static>(table: &Arc<Table>, run: impl FnOnce(&Table) -> T + 'static) -> JoinHandle<T> {
    let table = Arc::clone(table);
    spawn(1, move || run(&table))
}

const A: u64 = 0;
const B: u64 = 1;
const C: u64 = 2;

/// A has two inputs, and B depends on A. Each thread that has dropped an input finds neither.
#[test]
fn two_inputs_die_at_once() {
    models::check_up_to(2, || {
        let (table, x, y) = (Table::new(), object(), object());
        table.insert(A, &[&x, &y], &[]);
        table.insert(B, &[], &[A]);
        let other = with(&table, move |table| {
            drop(x);
            assert!(!table.has(B));
        });
        drop(y);
        assert!(!table.has(B) && !table.has(A));
        other.join().unwrap();
    });
}

/// A thread that has seen A ended finds no B.
#[test]
fn an_observer() {
    models::check_up_to(2, || {
        let (table, x) = (Table::new(), object());
        table.insert(A, &[&x], &[]);
        table.insert(B, &[], &[A]);
        let other = with(&table, |table| table.has(A) || !table.has(B));
        drop(x);
        assert!(other.join().unwrap());
    });
}

/// C depends on A and on B, and B on A: two enders begin at different entries.
#[test]
fn the_ends_of_a_diamond() {
    models::check_up_to(2, || {
        let (table, x) = (Table::new(), object());
        table.insert(A, &[&x], &[]);
        table.insert(B, &[], &[A]);
        table.insert(C, &[], &[A, B]);
        let other = with(&table, |table| {
            table.remove(B);
            assert!(!table.has(C));
        });
        drop(x);
        assert!(!table.has(A) && !table.has(B) && !table.has(C));
        other.join().unwrap();
    });
}

/// A death beside a thread that looks at the dependent.
#[test]
fn a_death_beside_a_lookup() {
    models::check_up_to(2, || {
        let (table, x) = (Table::new(), object());
        table.insert(A, &[&x], &[]);
        table.insert(B, &[], &[A]);
        let other = with(&table, |table| table.has(B));
        drop(x);
        assert!(!table.has(B));
        other.join().unwrap();
        assert!(!table.has(B));
    });
}

/// A is removed while B is computed from A.
#[test]
fn a_removal_beside_a_computation() {
    models::check_up_to(3, || {
        let table = Table::new();
        table.insert(A, &[], &[]);
        let other = with(&table, |table| {
            let mut watches = table.begin(B, &[]);
            table.ask(B, &mut watches, table, A) && table.keep(B, watches)
        });
        assert!(table.remove(A));
        let early = table.has(B);
        other.join().unwrap();
        assert!(!early && !table.has(B));
    });
}

/// A is replaced while two threads ask for A: both tokens are one, or the entries are not kept.
#[test]
fn a_replacement_beside_two_computations() {
    models::check_up_to(2, || {
        let table = Table::new();
        table.insert(A, &[], &[]);
        let ask = |key| {
            move |table: &Table| {
                let mut watches = table.begin(key, &[]);
                table.ask(key, &mut watches, table, A);
                watches
            }
        };
        let other = with(&table, ask(B));
        let of_c = ask(C)(&table);
        let of_b = other.join().unwrap();
        let (asked_b, asked_c) = (!of_b.tokens.is_empty(), !of_c.tokens.is_empty());
        assert!(asked_b && asked_c);
        let other = with(&table, move |table| table.keep(C, of_c));
        table.insert(A, &[], &[]);
        assert!(!table.has(C) && !table.keep(B, of_b));
        other.join().unwrap();
        assert!(!table.has(B) && !table.has(C));
    });
}

/// The table of A ends while the input of A dies. B is in another table.
#[test]
fn the_end_of_the_table() {
    models::check_up_to(2, || {
        let (first, second, x) = (Table::new(), Table::new(), object());
        first.insert(A, &[&x], &[]);
        let mut watches = second.begin(B, &[]);
        assert!(second.ask(B, &mut watches, &first, A) && second.keep(B, watches));
        let other = with(&second, move |second| {
            drop(x);
            assert!(!second.has(B));
        });
        drop(first);
        assert!(!second.has(B));
        other.join().unwrap();
    });
}

/// The table of the dependent ends while A is ended.
#[test]
fn the_end_of_the_dependent_table() {
    models::check_up_to(2, || {
        let (first, second, x) = (Table::new(), Table::new(), object());
        first.insert(A, &[&x], &[]);
        let mut watches = second.begin(B, &[]);
        assert!(second.ask(B, &mut watches, &first, A) && second.keep(B, watches));
        let other = spawn(1, move || drop(x));
        drop(second);
        other.join().unwrap();
        assert!(!first.has(A));
    });
}
