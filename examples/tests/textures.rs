//! Runs the example `textures`, which checks itself.

#![cfg(not(miri))] // it starts processes

mod program;

use program::{Run, example};

#[test]
fn it_releases_each_texture() {
    let run = Run::of(&mut example("textures"));
    run.assert_succeeded();
    assert_eq!(
        run.out,
        "10000 textures drawn by 4 workers, each released once, by the thread that created it (checked)\n"
    );
}
