//! What the code of a crate must not do: pure crates do not wait, and only talking crates print, read the environment or
//! exit.

use super::modules::{ModuleTree, SourceFile};
use super::sources::words;
use super::table::{Conduct, conduct};
use super::workspace::{CratePackage, Workspace};

/// What a pure crate must not reach.
const WAITING_CRATES: &[&str] = &["tokio", "reqwest", "async-trait"];

/// Words that only a talking crate may use.
const TALK: &[&str] = &[
    "println!",
    "eprintln!",
    "print!",
    "eprint!",
    "env::var",
    "env::var_os",
    "env::vars",
    "env::vars_os",
    "env::home_dir",
    "env::current_dir",
    "env::temp_dir",
    "process::exit",
];

/// Words that a pure crate must not use.
const ASYNC: &[&str] = &["async fn", "async move", ".await"];

/// What is impure in a crate: in what it reaches, and in its code.
pub(super) fn findings(workspace: &Workspace, package: &CratePackage, tree: &ModuleTree) -> Vec<String> {
    let role = package.role();
    let (banned, ways) = match conduct(role) {
        Conduct::Talking => (vec![], vec![]),
        Conduct::Quiet => (TALK.to_vec(), vec![]),
        Conduct::Pure => ([TALK, ASYNC].concat(), workspace.ways(package, WAITING_CRATES, &[])),
        Conduct::PureWithFiles => ([TALK, ASYNC].concat(), workspace.ways(package, WAITING_CRATES, &["disk"])),
    };
    let mut found: Vec<String> = ways
        .iter()
        .map(|way| format!("{role}: a pure crate must not reach the last of {}", way.join(" -> ")))
        .collect();
    for file in &tree.files {
        found.extend(word_findings(role, file, &banned));
    }
    found
}

fn word_findings(role: &str, file: &SourceFile, banned: &[&str]) -> Vec<String> {
    let code = words(file.tokens.clone());
    let mut found = Vec::new();
    for phrase in banned {
        let wanted: Vec<String> = words(phrase.parse().unwrap_or_default()).into_iter().map(|(word, _)| word).collect();
        let hits = code.windows(wanted.len()).filter(|words| words.iter().map(|(word, _)| word).eq(&wanted));
        found.extend(hits.map(|words| (words[0].1, phrase)));
    }
    found.sort_unstable();
    let path = file.path.display();
    found
        .iter()
        .map(|(line, phrase)| format!("{role}/src/{path}:{line}: `{phrase}` does not belong in this crate"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let tree = ModuleTree::read(&|path| Ok((path.as_os_str() == "lib.rs").then(|| text.to_owned()))).unwrap();
        let banned = [TALK, ASYNC].concat();
        assert_eq!(word_findings("x", &tree.files[0], &banned), want);
    }

    #[test]
    fn talk_and_async_are_found_with_their_line() {
        check("fn f() {\n    println!(\"x\");\n}", &["x/src/lib.rs:2: `println!` does not belong in this crate"]);
        check("const A: u8 = std::env::var(\"HOME\");", &["x/src/lib.rs:1: `env::var` does not belong in this crate"]);
        check(
            "fn f() { g(|| { exit(); process::exit(1) }) }",
            &["x/src/lib.rs:1: `process::exit` does not belong in this crate"],
        );
        check(
            "async fn f() { f().await }",
            &[
                "x/src/lib.rs:1: `.await` does not belong in this crate",
                "x/src/lib.rs:1: `async fn` does not belong in this crate",
            ],
        );
    }

    #[test]
    fn longer_names_comments_texts_and_tests_are_not_found() {
        check("fn f() { my_println!(x); env::variable(); sprint!(x); }", &[]);
        check("// println!\n/* env::var */ const X: &str = \"async fn\";", &[]);
        check("fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() { println!(); }\n}\n", &[]);
    }
}
