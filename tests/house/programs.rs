//! The programs that documents name, and all benches and examples: the gate runs each.

use std::fs;
use std::path::Path;

use super::guide::documents;

const FOLDERS: [&str; 7] = [
    "",
    "docs",
    "src/guide",
    "benches/report",
    "examples/python",
    "tests",
    ".ci",
];

/// Scripts that only the deep run calls, and those that show something to a reader.
const BY_HAND: [&str; 6] = ["run", "deep", "mutants", "handles", "coverage", "prose"];

/// A kind of program, as cargo's option or as the folder of scripts, and a name.
type Named<'t> = (&'t str, &'t str);

fn text(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The programs in the commands of a text. A name in capital letters stands for any.
fn named(text: &str) -> Vec<Named<'_>> {
    let is_end = |c: char| c.is_whitespace() || "`()[],;:|=".contains(c);
    let words: Vec<_> = text.split(is_end).filter(|word| !word.is_empty()).collect();
    let scripts = words.iter().filter_map(|word| {
        let name = word.trim_end_matches('.').strip_prefix(".ci/")?;
        (!name.contains('.')).then_some((".ci/", name))
    });
    let options = words.windows(2).filter_map(|pair| {
        let is_option = ["--example", "--bench", "--bin", "--test", "-p"].contains(&pair[0]);
        is_option.then_some((pair[0], pair[1].trim_end_matches('.')))
    });
    let all = scripts.chain(options);
    all.filter(|(_, name)| !name.chars().all(char::is_uppercase))
        .collect()
}

/// The programs of a manifest.
fn sections(manifest: &str) -> Vec<Named<'_>> {
    let kinds = [
        ("[[example]]", "--example"),
        ("[[bench]]", "--bench"),
        ("[[bin]]", "--bin"),
    ];
    let of = |(section, option)| {
        let sections = manifest.split(section).skip(1);
        sections.map(move |rest| (option, rest.split('"').nth(1).unwrap()))
    };
    kinds.into_iter().flat_map(of).collect()
}

struct Gate {
    /// What `.ci/run` does, and the scripts that it calls.
    commands: String,
    /// The tests that start the examples.
    examples: String,
    /// The manifest of the benches.
    benches: String,
}

impl Gate {
    fn new() -> Self {
        let mut commands = text(".ci/run");
        let scripts = commands.clone();
        for (kind, name) in named(&scripts) {
            if kind == ".ci/" {
                commands += &text(&format!(".ci/{name}"));
            }
        }
        Gate {
            commands,
            examples: text("examples/tests/programs.rs"),
            benches: text("benches/Cargo.toml"),
        }
    }

    fn runs(&self, (kind, name): Named<'_>) -> bool {
        let has = |command: &str| named(&self.commands).contains(&(kind, command));
        match kind {
            "--example" => self.examples.contains(&format!("(\"{name}\"")),
            "--bench" => {
                let all = "cargo test -p weakly-benches --benches\n";
                self.commands.contains(all) && sections(&self.benches).contains(&(kind, name))
            }
            // `cargo test` runs all of them.
            "--test" => [
                "tests/NAME.rs",
                "tests/NAME/main.rs",
                "tests-async/tests/NAME.rs",
            ]
            .map(|file| file.replace("NAME", name))
            .iter()
            .any(|file| Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists()),
            ".ci/" => BY_HAND.contains(&name) || has(name),
            _ => has(name),
        }
    }
}

#[test]
fn the_gate_runs_each_program_that_a_document_names() {
    let gate = Gate::new();
    let mut wrong = Vec::new();
    let mut check = |place: &str, programs: Vec<Named<'_>>| {
        let not_run = programs.into_iter().filter(|named| !gate.runs(*named));
        wrong.extend(not_run.map(|(kind, name)| format!("{place}: {kind} {name}")));
    };
    for folder in FOLDERS {
        for (file, text) in documents(folder) {
            check(&format!("{folder}/{file}"), named(&text));
        }
    }
    for manifest in ["benches/Cargo.toml", "examples/Cargo.toml"] {
        check(manifest, sections(&text(manifest)));
    }
    assert!(wrong.is_empty(), "not run by .ci/run: {wrong:#?}");
}

#[test]
fn a_program_that_the_gate_does_not_run_is_found() {
    let gate = Gate::new();
    let wrong = |text: &str| {
        let not_run = named(text).into_iter().filter(|named| !gate.runs(*named));
        not_run.count()
    };
    assert_eq!(
        wrong("`cargo run --example side_tables`, `.ci/deep api`, `.ci/ui`"),
        0
    );
    for text in [
        "`cargo run --example side_table`",
        "cargo bench -p weakly-benches --bench growth -- --write",
        "cargo run -p weakly-server",
        "`cargo test --test=slow`.",
        "Run .ci/all.",
    ] {
        assert_eq!(wrong(text), 1, "{text}");
    }
}
