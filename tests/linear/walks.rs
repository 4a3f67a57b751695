//! What is about all keys: each that is shown is a lookup, and each that is not, too.

use std::cell::RefCell;

use super::spec::{Then, Was};
use super::turn::{About, Face, Span, Turn};
use super::world::{FILLER, Handle};

impl<K: Handle> Turn<K> {
    /// Shows all entries. Those that are there all the time are shown once, each as it is at its turn.
    pub fn walks(&self, all: &dyn Face<K>) {
        let (mut from, seen) = (self.world.now(), RefCell::new(Vec::new()));
        let (walks, span) = self.timed(|| {
            all.each(&mut |key, value, life| {
                let span = Span(from, self.world.now());
                self.sees(&seen, key, span, "each", Was::Seen(value, life));
                self.pause();
                from = self.world.now();
            })
        });
        if walks {
            let unseen = (Was::Nothing, Then::Nothing);
            self.note_at(About::AllBut(seen.take()), span, "each", unseen, true);
        }
    }

    /// Notes that an entry is shown; returns whether it is one of the script's.
    fn sees(
        &self,
        seen: &RefCell<Vec<u32>>,
        key: u32,
        span: Span,
        name: &'static str,
        was: Was,
    ) -> bool {
        if key >= FILLER / 2 {
            return false;
        }
        let again = seen.borrow().contains(&key);
        seen.borrow_mut().push(key);
        if again {
            let twice = (Was::Impossible, Then::Nothing);
            self.note_at(About::One(key), span, "twice", twice, true);
        }
        self.note(About::One(key), span, name, (was, Then::Nothing));
        true
    }

    /// Shows the keys with a value.
    pub fn keys_of(&self, value: u32, run: &mut dyn FnMut(&dyn Fn(u32))) {
        let (from, seen) = (self.world.now(), RefCell::new(Vec::new()));
        let ((), span) = self.timed(|| {
            run(&|key| {
                let span = Span(from, self.world.now());
                self.sees(&seen, key, span, "keys_of", Some(value).into());
            });
        });
        let unseen = (Was::Not(value), Then::Nothing);
        self.note_at(About::AllBut(seen.take()), span, "keys_of", unseen, true);
    }

    /// Removes the entries with a value; of how many is said.
    pub fn removes_value(&self, value: u32, run: &mut dyn FnMut() -> usize) {
        let (removed, span) = self.timed(run);
        let was = if removed == 0 {
            Was::Not(value)
        } else {
            Was::Any
        };
        let then = Then::ClearValue(value);
        self.note_at(About::All, span, "remove_value", (was, then), true);
    }

    /// Removes some entries of those that are shown, as they were since it began, or all.
    pub fn removes_some(&self, all: &dyn Face<K>) {
        if self.choose(2) == 0 {
            let ((), span) = self.timed(|| all.clear());
            let cleared = (Was::Any, Then::Clear);
            return self.note_at(About::All, span, "clear", cleared, true);
        }
        let (from, seen, mut gone) = (self.world.now(), RefCell::default(), Vec::new());
        let ((), Span(_, to)) = self.timed(|| {
            all.retain_some(&mut |key, value| {
                let span = Span(from, self.world.now());
                let ours = self.sees(&seen, key, span, "retain", Some(value).into());
                self.pause();
                let keeps = !ours || self.choose(2) == 0;
                if !keeps {
                    gone.push((key, value));
                }
                keeps
            });
        });
        for (key, value) in gone {
            let then = Then::ClearValue(value);
            self.note_at(
                About::One(key),
                Span(from, to),
                "retain",
                (Was::Any, then),
                true,
            );
        }
    }
}
