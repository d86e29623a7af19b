//! The pages of `docs/`, which the program contains: `tofu-oci help TOPIC`.
//!
//! ```text
//! topics    names of topics    ->  pages, as they were when the program was built
//! markdown  the text of a page ->  blocks: headings, paragraphs, lists, code, tables
//! verbs     declared verbs      ->  the text of their page
//! entry     a name             ->  the blocks that explain it: a rule, or a row of a table of codes
//! words     a paragraph        ->  styled words, with links as commands
//! layout    blocks             ->  lines for a terminal of some width; tables in `table`
//! ```

mod entry;
mod layout;
mod markdown;
mod table;
mod topics;
mod verbs;
mod words;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::LazyLock;

use flate2::read::ZlibDecoder;

use crate::page::Page;

pub(crate) use topics::{HelpTopic, TOPICS, other_names, topic, topics_about};

/// The files of `docs/` by their paths there, as they were when the program was built.
static DOCS: LazyLock<BTreeMap<&'static str, &'static str>> = LazyLock::new(|| {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/docs.zz"));
    let mut text = String::new();
    // The build packed it; a test reads every page.
    let _ = ZlibDecoder::new(&packed[..]).read_to_string(&mut text);
    let mut parts = text.leak().split('\0');
    std::iter::from_fn(|| parts.next().zip(parts.next())).collect()
});

/// A file of `docs/`; empty if there is no such file.
pub(crate) fn file(path: &str) -> &'static str {
    DOCS.get(path).copied().unwrap_or_default()
}

impl HelpTopic {
    /// The page as Markdown.
    pub(crate) fn text(&self) -> &'static str {
        static VERBS: LazyLock<String> = LazyLock::new(verbs::page);
        // The program writes this page from what it declares.
        if self.file == "reference/verbs.md" { &VERBS } else { file(self.file) }
    }
}

/// The page of a topic, for lines of this many columns.
pub(crate) fn page(text: &str, width: usize) -> Page {
    layout::page(&markdown::blocks(text), width)
}

/// What a page says about a rule of `check`; `None` if there is no such rule.
pub(crate) fn rule(name: &str, width: usize) -> Option<Page> {
    explained(&["rules"], name, width)
}

/// What a page says about a code; `None` if no page explains it.
pub(crate) fn code(name: &str, width: usize) -> Option<Page> {
    explained(&WITH_CODES, name, width)
}

/// Every rule of `check`.
pub(crate) fn rules() -> Vec<String> {
    names(&["rules"])
}

/// Every code that a page explains, rules too.
pub(crate) fn codes() -> Vec<String> {
    names(&WITH_CODES)
}

/// The topics whose pages explain codes, rules last: what ends a verb is in `errors`.
const WITH_CODES: [&str; 5] = ["errors", "trust-policy", "checking", "config-findings", "rules"];

/// What the first of these topics that explains the name says about it.
fn explained(topics: &[&str], name: &str, width: usize) -> Option<Page> {
    let found = topics.iter().find_map(|one| entry::find(&markdown::blocks(topic(one)?.text()), name))?;
    Some(layout::page(&found, width))
}

fn names(topics: &[&str]) -> Vec<String> {
    topics.iter().filter_map(|one| topic(one)).flat_map(|topic| entry::names(&markdown::blocks(topic.text()))).collect()
}

#[cfg(test)]
mod tests;
