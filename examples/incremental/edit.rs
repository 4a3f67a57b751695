//! Edits: random, but the same in every run.

use crate::code::{Body, Code, Name};

/// The maximum distance of new callees, in the order of the sources: as in real code, most are neighbours.
const NEAR: usize = 16;

/// Pseudorandom numbers (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        Random(0)
    }

    /// A number less than `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // (The modulus is biased by a millionth or so.)
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// A function's body after an edit. It always differs: every edit changes the size; some change whether it may
/// panic; some, what it calls.
pub(crate) fn edited(code: &Code, name: Name, random: &mut Random) -> Body {
    let mut body = code.body(name).clone();
    let size = body.size / 2 + random.below(body.size as usize + 2) as u32;
    body.size = if size == body.size { size + 1 } else { size };
    match random.below(8) {
        0 => body.panics = !body.panics,
        1 if !body.calls.is_empty() => {
            let mut calls = body.calls.to_vec();
            calls.remove(random.below(calls.len()));
            body.calls = calls.into();
        }
        2 => {
            let callee = near(code, name, random);
            if let Err(at) = body.calls.binary_search(&callee) {
                let mut calls = body.calls.to_vec();
                calls.insert(at, callee);
                body.calls = calls.into();
            }
        }
        _ => {}
    }
    body
}

/// Some function nearby.
fn near(code: &Code, name: Name, random: &mut Random) -> Name {
    let at = name.index() + random.below(2 * NEAR + 1);
    Name::nth(at.saturating_sub(NEAR).min(code.functions().len() - 1))
}

/// Pairs for the question whether the first reaches the second: it does in about half of them.
pub(crate) fn pairs(code: &Code, most: usize, random: &mut Random) -> Vec<(Name, Name)> {
    let all = code.functions().len();
    let wanted = all.min(most);
    let mut pairs: Vec<_> = (0..wanted)
        .map(|i| {
            let from = Name::nth(i * all / wanted);
            let mut to = from;
            for _ in 0..random.below(6) {
                let calls = &code.body(to).calls;
                if calls.is_empty() {
                    break;
                }
                to = calls[random.below(calls.len())];
            }
            if to == from {
                to = near(code, from, random);
            }
            (from, to)
        })
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
