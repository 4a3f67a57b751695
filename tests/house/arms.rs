//! The methods that change a collection, and the random scripts: each method has an arm in `model`
//! and, where threads share the collection, in `linear`; or a line below names its tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::files_of;

/// Methods without an arm, each with the folder whose tests call it.
const ELSEWHERE: [(&str, &str); 10] = [
    ("tests/behaviours", "get_disjoint_mut retain_values"),
    ("tests/common", "remove_value"),
    (
        "tests/concurrent",
        "purge_some take_dead try_get_or_insert_racing try_get_or_insert_shared",
    ),
    ("tests/cycles", "drain_cycles purge_cycles"),
    ("tests/holders", "set_name"),
    ("tests/hostile", "get_or_insert_racing"),
    (
        "tests/keep",
        "advance keep_in set_ceiling set_keep_alive set_limit set_listener",
    ),
    (
        "tests/lookup",
        "entry_hashed get_or_insert_with_hashed insert_hashed intern_or_make",
    ),
    ("tests/model", "get_or_insert_with intern_ref shrink_to"),
    ("tests/waker", "poll_pending set_waker"),
];

/// What only reads, besides the methods that collections of one owner have for `&self`.
const READS: [&str; 3] = ["retained_weight", "trace", "with"];

/// The methods of collections in the list of the public API, of one owner or shared, by what they
/// take. (The scripts of `flight` have the methods of tasks.)
fn methods<'a>(api: &'a str, shared: bool, takes: &str) -> BTreeSet<&'a str> {
    let method = |line: &'a str| {
        let (path, arguments) = line.strip_prefix("pub fn weakly::")?.split_once('(')?;
        let path = match path.strip_prefix("concurrent::") {
            Some(path) => shared.then_some(path)?,
            None => (!shared).then_some(path)?,
        };
        let (collection, method) = path.split_once(">::")?;
        let name = collection.split('<').next()?;
        let is_one = (name.starts_with("Weak") && name != "Weak") || name == "Interner";
        let name = method.split('<').next()?;
        (is_one && arguments.starts_with(takes) && !name.ends_with("_assign")).then_some(name)
    };
    api.lines().filter_map(method).collect()
}

fn calls(folder: &str, method: &str) -> bool {
    let ends = |rest: &str| rest.starts_with('(') || rest.starts_with("::<");
    let calls = |text: &str| text.split(&format!(".{method}")).skip(1).any(ends);
    files_of(folder).values().any(|text| calls(text))
}

#[test]
fn each_changing_method_has_an_arm() {
    let api = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/public-api.txt");
    let api = &fs::read_to_string(api).unwrap();
    let reading = methods(api, false, "&self");
    let owned = methods(api, false, "&mut self");
    let shared = methods(api, true, "&self");
    assert!(
        owned.len() > 20 && shared.len() > 20,
        "the list has another form"
    );
    let changing = shared
        .iter()
        .filter(|name| !reading.contains(*name) && !READS.contains(name));
    let arms = owned.iter().map(|name| ("tests/model", name));
    let mut without = Vec::new();
    for (scripts, name) in arms.chain(changing.map(|name| ("tests/linear", name))) {
        let others = ELSEWHERE
            .iter()
            .filter(|(_, names)| names.split(' ').any(|it| it == *name));
        let others: Vec<_> = others.map(|(folder, _)| *folder).collect();
        let has_arm = calls(scripts, name) || others.iter().any(|folder| calls(folder, name));
        without.extend((!has_arm).then_some((name, scripts, others)));
    }
    assert!(
        without.is_empty(),
        "no arm, and no test elsewhere: {without:?}"
    );
}
