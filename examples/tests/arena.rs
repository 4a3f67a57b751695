//! Runs the example `arena`, which checks itself.

#![cfg(not(miri))] // it starts processes

mod program;

use program::{Run, example};

#[test]
fn attributes_follow_the_nodes_that_move() {
    let run = Run::of(&mut example("arena"));
    run.assert_succeeded();
    assert_eq!(
        run.out,
        "50002 nodes, 19998 after folding and compaction, each with its own attributes and no other (checked)\n"
    );
}
