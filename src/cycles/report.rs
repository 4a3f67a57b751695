//! Names for reports: of fields, and of values that were not looked at.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::holders::Holder;

/// The knowledge of a graph that only reports need.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The name of each field, and the number of the enclosing field. The numbers begin with 1:
    /// number 0 is the whole value, which has no name.
    fields: Vec<(u32, &'static str)>,
    numbers: BTreeMap<(u32, &'static str), u32>,
    /// For each edge its field, and the handle in the field.
    pub(super) edges: Vec<(u32, Holder)>,
    /// The numbers of values that were not looked at, by type and reason.
    pub(super) unseen: BTreeMap<(Cow<'static, str>, &'static str), usize>,
}

impl Report {
    /// Takes note that a value is not looked at.
    pub(super) fn unseen(&mut self, name: Cow<'static, str>, why: &'static str) {
        *self.unseen.entry((name, why)).or_default() += 1;
    }

    /// Returns the number of a field. O(log fields of all types).
    pub(super) fn field(&mut self, of: u32, name: &'static str) -> u32 {
        *self.numbers.entry((of, name)).or_insert_with(|| {
            self.fields.push((of, name));
            u32::try_from(self.fields.len()).expect("no more than 2^32 fields")
        })
    }

    /// Returns the names from the outermost field to this field, each after a dot.
    pub(super) fn path(&self, mut field: u32) -> String {
        let mut names = Vec::new();
        while field != 0 {
            let (of, name) = self.fields[field as usize - 1];
            names.push(name.strip_prefix("r#").unwrap_or(name));
            field = of;
        }
        names.iter().rev().flat_map(|name| [".", name]).collect()
    }
}

/// Returns the name of a type without its modules.
pub(super) fn short(name: &str) -> String {
    let mut text = String::new();
    let mut word = 0;
    for letter in name.chars() {
        if letter == ':' {
            text.truncate(word);
        } else {
            text.push(letter);
            if !(letter.is_alphanumeric() || letter == '_') {
                word = text.len();
            }
        }
    }
    text
}
