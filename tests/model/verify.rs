//! What a script checks after each operation: everything.

use super::entry::Entry;
use super::op::Op;
use super::pool::CONTENTS;
use super::routes::{Find, List, Take};
use super::script::{World, in_place};
use super::subject::Found;
use crate::common::Kind;
use weakly::Reclaim;

impl<P: Kind, V: Kind> World<P, V> {
    /// Entries by the objects that keep them alive and the contents of their values, sorted.
    pub(super) fn sides(&self, entries: &[Entry]) -> Vec<(Entry, Option<usize>)> {
        let side = |entry: &Entry| {
            let value_content = self.value_content(entry);
            (
                Entry {
                    owned: None,
                    ..*entry
                },
                value_content,
            )
        };
        let mut sides: Vec<_> = entries.iter().map(side).collect();
        sides.sort_unstable();
        sides
    }

    /// The content of an entry's value, if there is one.
    fn value_content(&self, entry: &Entry) -> Option<usize> {
        let value = self.form.value_of(entry)?;
        Some(if self.form.weak_keys && self.form.owns {
            self.truth.content_of_value(value)
        } else {
            self.truth.content_of_object(value)
        })
    }

    pub(super) fn no_dead(&self) {
        let live = |entry: &Entry| self.truth.is_live(entry);
        assert!(self.model.entries.iter().all(live), "a dead entry is left");
    }

    /// Checks everything, by routes that change from turn to turn.
    pub(super) fn verify(&mut self, untouched: bool) {
        self.turn += 1;
        // What reads reclaim may have owned the last handles to what lives.
        let pins = self
            .reads_reclaim()
            .then(|| [self.subject.pins(), self.other.pins()]);
        for _ in 0..2 {
            self.verify_subject(untouched);
            self.apply(Op::Swap);
        }
        let [ours, theirs] = [&self.model, &self.other_model].map(|model| {
            let contents = |entry: &Entry| (entry.key, self.value_content(entry));
            let mut contents: Vec<_> = self.live(model).iter().map(contents).collect();
            contents.sort_unstable();
            contents
        });
        assert_eq!(self.subject.equals(&*self.other), ours == theirs);
        if let Some(answers) = self.subject.algebra(&*self.other) {
            for (number, mut answer) in answers.into_iter().enumerate() {
                let wanted = |element: &(usize, _)| {
                    let is_in = |set: &[_]| set.binary_search(element).is_ok();
                    let in_both = (is_in(&ours), is_in(&theirs));
                    match number {
                        0 => true,
                        1 => in_both == (true, true),
                        2 => in_both == (true, false),
                        _ => in_both != (true, true),
                    }
                };
                let mut all = [ours.clone(), theirs.clone()].concat();
                all.sort_unstable();
                all.dedup();
                answer.sort_unstable();
                let keys = all.into_iter().filter(wanted).map(|(key, _)| key);
                assert_eq!(answer, keys.collect::<Vec<_>>());
            }
        }
        if pins.is_some() {
            drop(pins);
            self.settle(None);
        }
        assert!(self.truth.is_quiet(), "a read dropped something");
    }

    fn verify_subject(&mut self, untouched: bool) {
        let mut live = self.live(&self.model);
        live.sort_unstable();
        self.verify_counts(&live, untouched);
        let expected = |key| {
            let place = live.binary_search_by_key(&key, |entry| entry.key);
            place.ok().map(|place| &live[place])
        };
        let agree = |found: Option<Found>, expected: Option<&Entry>, how: Option<Find>| {
            assert_eq!(found.is_some(), expected.is_some(), "{how:?}");
            if let (Some(found), Some(expected)) = (found, expected) {
                assert!(found.value.is_none() || found.value == self.form.value_of(expected));
                assert!(found.entry.is_none_or(|entry| entry == *expected));
            }
        };
        for (number, key) in self.keys.owners().enumerate() {
            let how = Find::ALL[(number + self.turn) % Find::ALL.len()];
            let found = self.subject.find(how, key);
            agree(found, expected(self.key_of(key)), Some(how));
        }
        for (object, weak) in self.keys.weaks() {
            if let Some(found) = self.subject.find_weak(weak) {
                assert_eq!(found, expected(*object).is_some());
            }
        }
        for content in (0..CONTENTS).filter(|_| self.form.by_content) {
            agree(self.subject.find_content(content), expected(content), None);
        }
        // A few each time: some maps are scanned for it.
        for value in self.values.owners().skip(self.turn % 16).step_by(16) {
            if let Some(mut entries) = self.subject.entries_of(value) {
                entries.sort_unstable();
                let its = live
                    .iter()
                    .filter(|entry| entry.weak_value == Some(value.id));
                assert!(its.eq(&entries), "{entries:?}");
            }
        }
        let mut list = self.subject.list(List::ALL[self.turn % List::ALL.len()]);
        list.sort_unstable();
        assert_eq!(list, live);
    }

    fn verify_counts(&mut self, live: &[Entry], untouched: bool) {
        let live = live.len();
        // Either what the dead own shows them, or their reclamation is not observable.
        let dead = self.model.entries.len() - live;
        let ghosts = self.model.ghosts;
        let (len, pending) = (self.subject.len(), self.subject.pending_dead());
        assert_eq!(self.subject.is_empty(), len == 0);
        assert_eq!(self.subject.reclaim(), self.reclaim);
        assert_eq!(self.subject.len_live(), live);
        if self.form.counts_dead && !self.notifies() {
            // Of what is kept, the entry has gone. Of the others, each dead object has sent a notice for each time
            // that it was declared: at most once, and three times.
            assert!(live <= len && len <= live + dead);
            assert!(len == live + dead || self.keeps());
            assert!(len + pending >= live + dead);
            assert!(pending <= 4 * dead);
        } else if self.form.owns {
            assert_eq!(len + pending, live + dead);
        } else {
            assert!(len >= live && len + pending <= live + ghosts);
            assert!(len + pending == live + ghosts || !untouched || self.reads_reclaim());
            self.model.ghosts = len + pending - live;
        }
        if self.notifies() {
            assert_eq!(len, live);
        }
        let notified = P::NOTIFIES && self.form.weak_keys || V::NOTIFIES && self.form.weak_values;
        assert!(notified || pending == 0 || self.reclaim == Reclaim::OnRequest);
    }

    /// All owners are dropped; then the collections.
    pub(super) fn finish(mut self) {
        self.keys.drop_weaks();
        self.values.drop_weaks();
        for slot in 0..=u8::MAX {
            while in_place!(self, slot, |pool| pool.owner(slot.into()).is_some()) {
                self.drop_owner(slot);
            }
        }
        self.verify(true);
        for _ in 0..2 {
            self.apply(Op::Purge);
            self.verify(false);
            self.apply(Op::Swap);
        }
        self.apply(Op::Take(Take::Drop));
        self.apply(Op::Swap);
        self.apply(Op::Take(Take::Drop));
        self.truth.finish();
    }
}
