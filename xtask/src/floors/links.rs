//! The documents: each link leads to a file that is there and to a heading that it has; each page is in the table of contents and
//! in `llms.txt`, has a command near its beginning, and has a length that people read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{ChoreResult, Doing};
use crate::paths;

/// Documents beside `docs/`.
const AT_THE_ROOT: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// Lists of all pages. Neither is a page.
const LISTS: [&str; 2] = ["SUMMARY.md", "llms.txt"];

/// How many words a page of a folder has at most. A reference has as many as it needs.
const LONGEST: [(&str, usize); 3] = [("start", 3000), ("how-to", 3000), ("concepts", 1500)];

/// The lines within which a page has its first block of code, except in a reference.
const FIRST_BLOCK: usize = 15;

/// What is wrong with the documents, a line each.
pub(super) fn findings() -> ChoreResult<Vec<String>> {
    let root = paths::root();
    let docs: Vec<PathBuf> =
        paths::files_below(&root.join("docs"))?.iter().map(|file| Path::new("docs").join(file)).collect();
    let is_page = |file: &&PathBuf| file.extension().is_some_and(|ending| ending == "md");
    let texts = docs.iter().filter(|file| is_page(file) || file.ends_with("llms.txt")).cloned();
    let mut found = Vec::new();
    for page in texts.chain(AT_THE_ROOT.map(PathBuf::from)) {
        let text = read(&page)?;
        for link in links(&text).chain(attributes(&text)) {
            if !leads(&page, link) {
                found.push(format!("{}: the link {link} leads nowhere", page.display()));
            }
        }
        found.extend(problems(&page, &text));
    }
    for list in LISTS {
        let text = read(&Path::new("docs").join(list))?;
        let listed: BTreeSet<&str> = links(&text).collect();
        let is_listed =
            |page: &PathBuf| page.strip_prefix("docs").is_ok_and(|page| listed.contains(&*page.to_string_lossy()));
        let pages = docs.iter().filter(is_page).filter(|page| !page.ends_with("SUMMARY.md"));
        found.extend(
            pages.filter(|page| !is_listed(page)).map(|page| format!("docs/{list}: {} is missing", page.display())),
        );
    }
    Ok(found)
}

fn read(page: &Path) -> ChoreResult<String> {
    fs::read_to_string(paths::root().join(page)).doing(|| format!("reading {}", page.display()))
}

/// Whether a file of the link's name is there, with its heading.
fn leads(page: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    let target = if file.is_empty() { page.to_path_buf() } else { page.parent().unwrap_or(Path::new("")).join(file) };
    match fs::read_to_string(paths::root().join(&target)) {
        Ok(text) => heading.is_none_or(|heading| headings(&text).any(|there| there == heading)),
        Err(_) => heading.is_none() && paths::root().join(&target).exists(),
    }
}

/// A page that is too long for its folder, or whose first example is far from its title.
fn problems(page: &Path, text: &str) -> Vec<String> {
    let folder = page.strip_prefix("docs").ok().and_then(|page| page.iter().next()).unwrap_or_default();
    let Some((_, longest)) = LONGEST.iter().find(|(name, _)| folder == *name) else { return Vec::new() };
    let words = text.split_whitespace().count();
    let long = (words > *longest).then(|| format!("{}: {words} words, and at most {longest}", page.display()));
    let has_example = text.lines().take(FIRST_BLOCK).any(|line| line.starts_with("```"));
    let late = (!has_example && folder != "start")
        .then(|| format!("{}: no example in its first {FIRST_BLOCK} lines", page.display()));
    long.into_iter().chain(late).collect()
}

/// The targets of links within the workspace.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let target = |rest: &'_ str| -> Option<usize> { rest.find(')') };
    text.split("](").skip(1).filter_map(move |rest| Some(&rest[..target(rest)?])).filter(|link| !link.contains("://"))
}

/// The pictures of HTML: `src` and `srcset` of one file.
fn attributes(text: &str) -> impl Iterator<Item = &str> {
    let of = |name| text.split(name).skip(1).filter_map(|rest| rest.split('"').next());
    of("src=\"").chain(of("srcset=\"")).filter(|link| !link.contains("://"))
}

/// The anchors of the headings.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let mut in_block = false;
    let lines = text.lines().filter(move |line| {
        in_block ^= line.starts_with("```");
        !in_block && line.starts_with('#')
    });
    lines.map(|line| anchor(line.trim_start_matches('#').trim()))
}

/// As code hosts make them: lower case, blanks as hyphens, without other signs.
fn anchor(heading: &str) -> String {
    let kept = |c: char| if c == ' ' { Some('-') } else { (c.is_alphanumeric() || c == '-' || c == '_').then_some(c) };
    heading.to_lowercase().chars().filter_map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_anchors() {
        let text = "[a](b.md#c-d) [e](https://x.test/) `](`\n<img src=\"x.svg\" alt=\"\">";
        assert_eq!(links(text).next(), Some("b.md#c-d"));
        assert_eq!(attributes(text).collect::<Vec<_>>(), ["x.svg"]);
        assert_eq!(anchor("What `config check` finds, and why"), "what-config-check-finds-and-why");
        assert_eq!(headings("# A b\n```\n# no\n```\n## C\n").collect::<Vec<_>>(), ["a-b", "c"]);
    }

    #[test]
    fn a_long_page_and_a_late_example_are_found() {
        let text = "# T\n\n```console\n$ x\n```\n".to_owned() + &"word ".repeat(1600);
        let check = |page: &str, text: &str| problems(Path::new(page), text).len();
        assert_eq!((check("docs/concepts/a.md", &text), check("docs/how-to/a.md", &text)), (1, 0));
        assert_eq!((check("docs/how-to/a.md", "# T\n"), check("docs/reference/a.md", "# T\n")), (1, 0));
    }

    #[test]
    fn the_documents_are_as_they_should_be() {
        assert_eq!(findings().map_err(|failure| failure.to_string()).unwrap(), Vec::<String>::new());
    }
}
