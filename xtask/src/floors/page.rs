//! ARCHITECTURE.md: each file that it names in backticks is there, each name of the code, and each signature of its blocks of Rust.
//!
//! A path starts at `crates/` or the root. After another path or a crate in its line, it may start there or at a folder above.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{ChoreResult, Doing};
use crate::paths;

/// What ARCHITECTURE.md names that is not there, as text.
pub(super) fn findings() -> ChoreResult<Vec<String>> {
    let root = paths::root();
    let mut files = BTreeSet::new();
    for folder in ["crates", "docs", "testdata", "tests", "xtask", "fuzz"] {
        let below = paths::files_below(&root.join(folder))?;
        files.extend(
            below.into_iter().filter(|file| !file.starts_with("target")).map(|file| Path::new(folder).join(file)),
        );
    }
    let (mut words, mut signatures) = (BTreeSet::new(), BTreeSet::new());
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let text = fs::read_to_string(root.join(file)).doing(|| format!("reading {}", file.display()))?;
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let found = code.flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
        words.extend(found.map(str::to_owned));
        signatures.extend(text.lines().filter_map(signature).map(str::to_owned));
    }
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).doing(|| "reading ARCHITECTURE.md".to_owned())?;
    let mut found = missing(&page, &files, &words);
    let stated = page.lines().filter_map(signature).filter(|stated| !signatures.contains(*stated));
    found.extend(stated.map(|stated| format!("ARCHITECTURE.md: no code has `{stated}`")));
    Ok(found)
}

/// The function that a line declares, with or without a body.
fn signature(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let declared = line.strip_suffix(';').or_else(|| line.strip_suffix(" {"));
    declared.filter(|line| line.starts_with("fn ") || line.starts_with("async fn "))
}

fn missing(page: &str, files: &BTreeSet<PathBuf>, words: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (number, row) in page.lines().enumerate() {
        in_block ^= row.starts_with("```");
        let mut before: Option<PathBuf> = None;
        for span in row.split('`').skip(1).step_by(2).filter(|_| !in_block) {
            let is_crate =
                before.is_none() && files.iter().any(|file| file.starts_with(Path::new("crates").join(span)));
            let is_there = if is_crate && !span.contains('/') {
                before = Some(Path::new("crates").join(span).join("src"));
                true
            } else if is_path(span, files) {
                let path = place(span, before.as_deref(), files);
                let is_there = path.is_some();
                before = path.or(before);
                is_there
            } else {
                !is_name(span) || span.split("::").all(|word| words.contains(word))
            };
            if !is_there {
                found.push(format!("ARCHITECTURE.md:{}: `{span}` is not there", number + 1));
            }
        }
    }
    found
}

/// Whether it is a file of Rust, or lies in a folder of the root or of `crates`.
fn is_path(span: &str, files: &BTreeSet<PathBuf>) -> bool {
    let first = span.split('/').next().filter(|first| !first.is_empty() && first.len() < span.len());
    let is_folder = |folder: &str| {
        files.iter().any(|file| {
            file.starts_with(folder) || file.strip_prefix("crates").is_ok_and(|in_| in_.starts_with(folder))
        })
    };
    !span.contains([' ', '*'])
        && (Path::new(span).extension().is_some_and(|end| end == "rs") || first.is_some_and(is_folder))
}

/// Whether it is a type, a function with two words, or a path of names.
fn is_name(span: &str) -> bool {
    let letters = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    span.split("::").all(letters)
        && (span.contains("::") || span.contains('_') || span.starts_with(|letter: char| letter.is_uppercase()))
        && !span.chars().all(|letter| letter.is_uppercase() || letter == '_' || letter.is_numeric())
}

/// The file or folder that a span means.
fn place(span: &str, before: Option<&Path>, files: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| files.contains(path) || files.iter().any(|file| file.starts_with(path));
    let near = before.into_iter().flat_map(|before| {
        let below = before.with_extension("").join(span);
        before.ancestors().map(move |folder| folder.join(span)).chain([below])
    });
    [Path::new("crates").join(span), PathBuf::from(span)].into_iter().chain(near).find(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_or_a_name_that_is_gone_is_found() {
        let files = ["crates/a/src/x.rs", "crates/a/src/x/y.rs", "crates/a/src/z.rs", "docs/p.md"].map(PathBuf::from);
        let words = ["Thing", "make_it"].map(str::to_owned);
        let check = |page: &str| missing(page, &files.clone().into(), &words.clone().into());
        let told = "| q | `a/src/x.rs` (`y.rs`), `z.rs`, `Thing::make_it`, `a/src/x/` |\n```\n`gone.rs`\n```\n";
        assert!(check(told).is_empty());
        assert_eq!(signature("    async fn tag(&self) -> bool;"), Some("async fn tag(&self) -> bool"));
        assert_eq!(check("| `a/src/old.rs` |"), ["ARCHITECTURE.md:1: `a/src/old.rs` is not there"]);
        assert_eq!(check("\nText: `a/src/x.rs`, `old.rs`, `Gone`, `make_no`.").len(), 3);
        assert!(check("| `TOFU_OCI_X`, `zh:`, `mirror`, `a b/c`, `text/plain`, `//!` |").is_empty());
    }
}
