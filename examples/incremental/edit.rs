//! Edits: what is changed, at random, but always the same.

use crate::code::{Body, Code, Name};

/// How far away new callees are, in the order of the sources: as in real code, most are neighbours.
const NEAR: usize = 16;

/// Numbers that look random (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        Random(0)
    }

    /// A number less than this, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // (The modulus favours small ones by a millionth or so.)
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// A function's body after an edit. It always differs: every edit changes the size; some, what may
/// panic; some, who is called.
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

/// Some function not far away.
fn near(code: &Code, name: Name, random: &mut Random) -> Name {
    let at = name.index() + random.below(2 * NEAR + 1);
    Name::nth(at.saturating_sub(NEAR).min(code.functions().len() - 1))
}

/// Pairs of which one might ask whether the first reaches the second: about half of them do.
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
