//! Runs the example `leak`, which checks itself.

#![cfg(not(miri))] // it starts processes

mod program;

use program::{Run, example};

const SOURCE: &str = include_str!("../leak.rs");

/// With the feature `holders`, the line of the mistake.
fn held() -> String {
    if !cfg!(feature = "holders") {
        return String::new();
    }
    let (mut lines, mark) = (SOURCE.lines(), "// the leak");
    let line = lines.position(|line| line.ends_with(mark)).unwrap() + 1;
    let column = SOURCE.lines().nth(line - 1).unwrap().find("clone").unwrap() + 1;
    format!("\n  held since examples/leak.rs:{line}:{column}, thread 'main'")
}

#[test]
fn it_names_the_holder_of_the_leaked_window() {
    let run = Run::of(&mut example("leak"));
    run.assert_succeeded();
    assert_eq!(
        run.out,
        format!(
            "A button's action owns the window of the button:\n\
             still alive: window: `leak::Widget`, 1 strong handle{}\n\
             \x20 held by entry of WeakMap<Strong<Widget, Local>, Action> .window -> Widget\n\
             The same with a weak handle: the closed window is dead (checked)\n",
            held()
        )
    );
}
