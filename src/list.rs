//! A doubly linked list through the elements of a slice. The links are the indices of elements: so
//! an element in the middle leaves the list in O(1), and no link needs an allocation. An element
//! has links for each `KIND` of list, and the owner of the slice must know which element is in
//! which list of a kind.

/// The index of no element.
pub(crate) const NONE: u32 = u32::MAX;

/// The neighbours of an element.
#[derive(Clone, Copy)]
pub(crate) struct Links {
    pub(crate) older: u32,
    pub(crate) newer: u32,
}

/// The links of an element that is in no list, or alone in a list.
pub(crate) const UNLINKED: Links = Links {
    older: NONE,
    newer: NONE,
};

/// An element of a list.
pub(crate) trait Linked<const KIND: usize> {
    fn links(&mut self) -> &mut Links;
}

/// The ends of a list.
#[derive(Clone, Copy)]
pub(crate) struct Ends<const KIND: usize> {
    pub(crate) oldest: u32,
    pub(crate) newest: u32,
}

impl<const KIND: usize> Ends<KIND> {
    /// The ends of an empty list.
    pub(crate) const EMPTY: Self = Ends {
        oldest: NONE,
        newest: NONE,
    };

    /// Adds an element as the newest. The element must not be in a list through the same links.
    pub(crate) fn push(&mut self, list: &mut [impl Linked<KIND>], at: u32) {
        *list[at as usize].links() = Links {
            older: self.newest,
            newer: NONE,
        };
        match self.newest {
            NONE => self.oldest = at,
            before => list[before as usize].links().newer = at,
        }
        self.newest = at;
    }

    /// Takes an element out of this list. The links of the element itself stay as they are.
    pub(crate) fn unlink(&mut self, list: &mut [impl Linked<KIND>], at: u32) {
        let Links { older, newer } = *list[at as usize].links();
        match older {
            NONE => self.oldest = newer,
            older => list[older as usize].links().newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => list[newer as usize].links().older = older,
        }
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    impl Linked<0> for Links {
        fn links(&mut self) -> &mut Links {
            self
        }
    }

    /// Returns the elements from the oldest to the newest. Asserts that the other direction agrees.
    fn walk(ends: Ends<0>, list: &[Links]) -> Vec<u32> {
        let mut all = Vec::new();
        let mut at = ends.oldest;
        while at != NONE {
            assert_eq!(list[at as usize].older, all.last().copied().unwrap_or(NONE));
            all.push(at);
            at = list[at as usize].newer;
        }
        assert_eq!(ends.newest, all.last().copied().unwrap_or(NONE));
        all
    }

    #[test]
    fn elements_leave_from_both_ends_and_from_the_middle_and_come_back_as_the_newest() {
        let mut list = [UNLINKED; 5];
        let mut ends = Ends::EMPTY;
        for at in [3, 0, 4, 1] {
            ends.push(&mut list, at);
        }
        assert_eq!(walk(ends, &list), [3, 0, 4, 1]);
        for (leaves, left) in [(0, &[3, 4, 1][..]), (3, &[4, 1]), (1, &[4]), (4, &[])] {
            ends.unlink(&mut list, leaves);
            assert_eq!(walk(ends, &list), left);
        }
        for at in [1, 2, 0] {
            ends.push(&mut list, at);
        }
        assert_eq!(walk(ends, &list), [1, 2, 0]);
    }

    #[test]
    fn one_slice_has_several_lists() {
        let mut list = [UNLINKED; 4];
        let (mut even, mut odd) = (Ends::EMPTY, Ends::EMPTY);
        for at in [0, 2] {
            even.push(&mut list, at);
            odd.push(&mut list, at + 1);
        }
        even.unlink(&mut list, 2);
        odd.push(&mut list, 2);
        assert_eq!(
            (walk(even, &list), walk(odd, &list)),
            (vec![0], vec![1, 3, 2])
        );
    }
}
