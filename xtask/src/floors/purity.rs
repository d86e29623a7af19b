//! What a crate must not say: pure crates no `async`, and nobody but `cli` prints, reads the environment or exits.

use std::fs;
use std::path::Path;

use super::Package;
use super::source_text::{code_lines, test_modules};
use crate::failure::{Doing, Outcome};
use crate::paths;

/// Crates that are rules alone: text and bytes in, values out.
const PURE: &[&str] = &["types", "hcl", "mapper", "credentials", "layout", "archive", "lockfile", "trust", "tfconfig"];

/// What a pure crate must not depend on.
const IMPURE_DEPENDENCIES: &[&str] = &["tokio", "reqwest", "async-trait"];

/// Crates that may talk to people and to the environment: the program, the test support and the chores.
const TALKING: &[&str] = &["cli", "testkit", "xtask"];

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

/// What is impure in a crate: in its manifest, and in its sources (tests aside).
pub(super) fn findings(package: &Package) -> Outcome<Vec<String>> {
    let role = package.role();
    let mut found = Vec::new();
    let mut banned = Vec::new();
    if PURE.contains(&role) {
        let impure = package.normal().filter(|dependency| IMPURE_DEPENDENCIES.contains(&dependency.name.as_str()));
        found.extend(impure.map(|dependency| format!("{role}: a pure crate depends on {}", dependency.name)));
        banned.extend(ASYNC);
    }
    if !TALKING.contains(&role) {
        banned.extend(TALK);
    }
    let sources = package.manifest_path.with_file_name("src");
    if banned.is_empty() || !sources.is_dir() {
        return Ok(found);
    }
    let mut texts = Vec::new();
    for file in paths::files_below(&sources)? {
        if file.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(sources.join(&file)).doing(|| format!("reading {}", file.display()))?;
            texts.push((file, text));
        }
    }
    let for_tests: Vec<String> = texts.iter().flat_map(|(_, text)| test_modules(text)).collect();
    for (file, text) in texts.iter().filter(|(file, _)| !is_one_of(file, &for_tests)) {
        found.extend(text_findings(&format!("{role}/src/{}", file.display()), text, &banned));
    }
    Ok(found)
}

/// Whether a file belongs to a module with one of these names.
fn is_one_of(file: &Path, modules: &[String]) -> bool {
    file.with_extension("").components().any(|part| modules.iter().any(|name| part.as_os_str() == name.as_str()))
}

fn text_findings(place: &str, text: &str, banned: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in code_lines(text) {
        if let Some(word) = banned.iter().find(|word| has_word(&line, word)) {
            found.push(format!("{place}:{number}: `{word}` does not belong in this crate"));
        }
    }
    found
}

/// Whether `word` stands in `line` and not as a part of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_name) && word.starts_with(is_name);
        let after = line[at + word.len()..].chars().next().is_some_and(is_name) && word.ends_with(is_name);
        !before && !after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let banned: Vec<&str> = TALK.iter().chain(ASYNC).copied().collect();
        assert_eq!(text_findings("x", text, &banned), want);
    }

    #[test]
    fn talk_and_async_are_found() {
        check("fn f() {\n    println!(\"x\");\n}", &["x:2: `println!` does not belong in this crate"]);
        check("let home = std::env::var(\"HOME\");", &["x:1: `env::var` does not belong in this crate"]);
        check("let place = std::env::temp_dir();", &["x:1: `env::temp_dir` does not belong in this crate"]);
        check("pub async fn f() {}", &["x:1: `async fn` does not belong in this crate"]);
        check("std::process::exit(1)", &["x:1: `process::exit` does not belong in this crate"]);
    }

    #[test]
    fn longer_names_are_not_found() {
        check("my_println!(x); env::variable(); sprint!(x);", &[]);
    }

    #[test]
    fn comments_text_and_tests_are_not_code() {
        check("// println!\n/* env::var */ let x = \"async fn\";", &[]);
        check("fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() { println!(); }\n}\n", &[]);
        check("#[cfg(test)]\nmod tests;\nfn g() { println!(); }", &["x:3: `println!` does not belong in this crate"]);
    }
}
