//! What the library has done, and whether it may.

use weakly::keep::Gone;

use super::*;

impl<S: Shape> World<S> {
    /// Takes what was logged.
    pub(super) fn digest(&self) {
        loop {
            let events = std::mem::take(&mut *self.log.lock().unwrap());
            if events.is_empty() {
                return;
            }
            events.into_iter().for_each(|event| self.happened(event));
        }
    }

    fn happened(&self, event: Event) {
        let floor = self.floor_bounds.get();
        match event {
            Event::Kept(object) => {
                if !floor.refuses(weight_of(object)) {
                    let now = self.floor_generation.get();
                    self.kept.borrow_mut().insert(object, now);
                }
            }
            Event::LetGo(object, why) => {
                let used = self.kept.borrow_mut().remove(&object);
                assert!(
                    used.is_some() || floor.refuses(weight_of(object)),
                    "{why:?}"
                );
                let is_old =
                    used.is_some_and(|used| floor.is_old(used, self.floor_generation.get()));
                assert!(why != Gone::Generation || is_old);
                assert!(why != Gone::Died);
            }
            Event::Told(result, why) => {
                if why == Gone::Removed {
                    let mut removed = self.removed.borrow_mut();
                    let place = removed.iter().position(|other| *other == result);
                    removed.swap_remove(place.expect("it was removed"));
                    return;
                }
                let mut entries = self.entries.borrow_mut();
                let place = entries.iter().position(|entry| entry.result == result);
                let entry = entries.swap_remove(place.expect("it is told once"));
                let bounds = self.bounds.get().expect("there is a limit");
                let lives = entry.inputs().all(|input| self.lives(input));
                match why {
                    Gone::Died => assert!(!lives),
                    Gone::Generation => assert!(bounds.is_old(entry.used, self.generation.get())),
                    Gone::Entries => assert!(bounds.entries < usize::MAX),
                    _ => {}
                }
            }
            Event::Ended(result) => {
                let owned = self.owned.borrow_mut().remove(&result);
                assert!(owned.is_some(), "it ended twice");
                let mut entries = self.entries.borrow_mut();
                let place = entries.iter().position(|entry| entry.result == result);
                if let Some(place) = place {
                    // Without a limit, nobody is told.
                    let entry = entries.swap_remove(place);
                    let lives = entry.inputs().all(|input| self.lives(input));
                    assert!(self.bounds.get().is_none() && !lives, "it is gone");
                }
            }
        }
    }

    pub(super) fn check(&self) {
        self.digest();
        self.check_floor();
        let entries = self.entries.borrow();
        let live = || {
            let lives = |entry: &&Entry| entry.inputs().all(|input| self.lives(input));
            entries.iter().filter(lives)
        };
        let statistics = self.memo.statistics();
        assert_eq!(self.memo.len(), live().count());
        assert_eq!(statistics.live, self.memo.len() as u64);
        if self.on_request.get() {
            assert!(self.memo.pending_dead() >= entries.len() - live().count());
        }
        let Some(bounds) = self.bounds.get() else {
            return;
        };
        let weight = live().map(|entry| entry.weight).sum::<usize>();
        assert!(live().count() <= bounds.entries);
        assert!(weight <= self.memo.retained_weight() && weight <= bounds.weight);
        assert!(!live().any(|entry| bounds.is_old(entry.used, self.generation.get())));
    }

    fn check_floor(&self) {
        let (kept, bounds) = (self.kept.borrow(), self.floor_bounds.get());
        let weight = kept.keys().copied().map(weight_of).sum::<usize>();
        assert_eq!(self.floor.len(), kept.len());
        assert_eq!(self.floor.retained_weight(), weight);
        assert!(kept.len() <= bounds.entries && weight <= bounds.weight);
        let now = self.floor_generation.get();
        assert!(!kept.values().any(|used| bounds.is_old(*used, now)));
        let (users, owned) = (self.users.borrow(), self.owned.borrow());
        for (object, weak) in self.objects.borrow().iter().enumerate() {
            let is_used = users.iter().flatten().any(|user| **user == object);
            let is_owned = owned.values().any(|owned| *owned == Some(object));
            let lives = is_used || is_owned || kept.contains_key(&object);
            assert_eq!(!weak.is_expired(), lives, "{object}");
        }
    }
}
