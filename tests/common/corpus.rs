//! What the fuzzer has found to be worth keeping.

use std::fs;
use std::path::Path;

/// Runs the script of a fuzz target on the inputs in this folder of the package.
pub fn replay(folder: &str, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut inputs = 0;
    for input in fs::read_dir(folder).expect("there is a corpus") {
        run(&fs::read(input.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs >= 20, "{inputs} inputs");
}
