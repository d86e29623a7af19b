//! Where a rule lives: the files whose path or `//!` text has every word that is asked for.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;

#[derive(Debug, clap::Args)]
pub(crate) struct WhereArgs {
    /// Beginnings of words, such as `lock refus`
    #[arg(required = true)]
    words: Vec<String>,
}

/// Prints the path and the first sentence of each file that has all the words.
pub(crate) fn run(arguments: &WhereArgs) -> ChoreResult {
    let mut found = String::new();
    for folder in ["crates", "tests", "xtask"].map(Path::new) {
        let files = paths::files_below(&paths::root().join(folder))?;
        for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs")) {
            let file = folder.join(file);
            let doc = doc_of(&file)?;
            if arguments.words.iter().all(|word| has(&format!("{} {doc}", file.display()), word)) {
                found.push_str(&format!("{}: {}\n", file.display(), first_sentence(&doc)));
            }
        }
    }
    if found.is_empty() {
        return Err(ChoreFailure::new("no file has all these words: try their beginnings"));
    }
    print(&found);
    Ok(())
}

/// Prints a text on stdout. A reader that has closed the pipe has read enough.
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// The `//!` lines of the file at this path of the workspace.
pub(crate) fn doc_of(file: &Path) -> ChoreResult<String> {
    let text = fs::read_to_string(paths::root().join(file)).doing(|| format!("reading {}", file.display()))?;
    Ok(text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| format!("{}\n", line.trim())).collect())
}

/// The text as far as its first full stop, or the end of its first paragraph.
pub(crate) fn first_sentence(doc: &str) -> String {
    let paragraph = doc.split("\n\n").next().unwrap_or_default().trim().replace('\n', " ");
    paragraph.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned()
}

fn has(text: &str, start: &str) -> bool {
    let text = text.to_lowercase();
    text.match_indices(&start.to_lowercase()).any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::{first_sentence, has};

    #[test]
    fn words_count_by_their_beginnings_and_a_sentence_by_its_end() {
        let text = "installer/src/plan.rs Whether a package is kept, Linked or fetched: `zh:`";
        assert!(["plan", "link", "FETCH", "zh:", "installer/src"].iter().all(|word| has(text, word)));
        assert!(!has(text, "etched") && !has(text, "lan"));
        assert_eq!(first_sentence("Which file\nit is. Pure.\n\nMore.\n"), "Which file it is.");
    }
}
