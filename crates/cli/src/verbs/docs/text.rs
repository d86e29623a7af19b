//! Documentation for people. Its text is foreign.

use tofu_oci_docs::{DocPage, DocsDifference, ProviderDocs};
use tofu_oci_types::printable;

use crate::handbook;
use crate::page::{Page, counted};
use crate::terminal;

/// Above it a page is shown as it is written: the work of drawing one grows with its bytes times its marks.
const DRAWN: usize = 50_000_000;

/// The text of a page.
pub(super) fn page(page: &DocPage) -> Page {
    let text = prepared(&page.text);
    if text.len().saturating_mul(text.matches(['[', '*']).count()) > DRAWN {
        let mut page = Page::default();
        page.block("", &text);
        return page;
    }
    handbook::page(&text, terminal::page_columns())
}

/// The text in the Markdown that is drawn, with nothing in it that acts on a terminal: lists without levels, and neither anchors nor
/// the arrows that make a paragraph a note.
fn prepared(text: &str) -> String {
    let (mut out, mut fence) = (String::with_capacity(text.len()), None);
    for line in text.lines() {
        let line = printable(&line.replace('\t', "    ")).into_owned();
        let inner = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| inner.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                fence = Some(mark);
                out.push_str("```\n");
                continue;
            }
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                out.push_str("```\n");
                continue;
            }
            (Some(_), _) => {
                // A line of code that would end the code.
                out.push_str(if line.starts_with("```") { " " } else { "" });
                out.push_str(&line);
                out.push('\n');
                continue;
            }
            (None, None) => {}
        }
        if inner.starts_with("<a ") && inner.ends_with("</a>") && inner.matches('<').count() == 2 {
            continue;
        }
        let noted = ["-> ", "~> ", "!> "].iter().find_map(|arrow| inner.strip_prefix(arrow));
        let item = inner.strip_prefix("* ").or_else(|| inner.strip_prefix("+ ")).map(|item| format!("- {item}"));
        out.push_str(item.as_deref().or(noted).unwrap_or(if inner.starts_with("- ") { inner } else { &line }));
        out.push('\n');
    }
    out
}

/// The names of all pages, and what each says of itself.
pub(super) fn list(docs: &ProviderDocs) -> Page {
    let rows = docs.pages().map(|(name, page)| {
        let about = page.description.as_deref().or(page.title.as_deref()).unwrap_or_default();
        [name.to_string(), page.subcategory.clone().unwrap_or_default(), shortened(about)]
    });
    let mut list = Page::default();
    list.table(["PAGE", "SUBCATEGORY", "ABOUT"], rows);
    list.gap();
    list.line(counted(docs.pages().count(), "page"));
    list
}

/// The first words of a description.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 80;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What came and went, a page a line.
pub(super) fn difference(difference: &DocsDifference) -> Page {
    let mut page = Page::default();
    difference.came.iter().for_each(|name| page.line(format_args!("+ {name}")));
    difference.went.iter().for_each(|name| page.line(format_args!("- {name}")));
    for changed in &difference.changed {
        page.line(format_args!("  {}", changed.page));
        changed.came.iter().for_each(|name| page.line(format_args!("    + {name}")));
        changed.went.iter().for_each(|name| page.line(format_args!("    - {name}")));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostile::{HOSTILE, harmless};

    fn drawn(text: &str) -> String {
        page(&DocPage { title: None, subcategory: None, description: None, text: text.to_owned() }).to_string()
    }

    #[test]
    fn a_page_reads_well_on_a_terminal() {
        let text = "# acme_gear\n\n~> **Note** It turns.\n\n## Schema\n\n* `teeth` (Number) See [below](#teeth).\n  + `deep` x\n\n\
                    <a id=\"teeth\"></a>\n### Nested\n\n  ```terraform\n  resource \"acme_gear\" \"a\" {\n\tteeth = 3\n  }\n  ```\n";
        insta::assert_snapshot!(drawn(text), @r#"
        acme_gear
        =========

        Note It turns.

        Schema
        ------

          - `teeth` (Number) See below.
          - `deep` x

        Nested

              resource "acme_gear" "a" {
                teeth = 3
              }
        "#);
    }

    #[test]
    fn foreign_pages_do_not_act_on_a_terminal() {
        for text in [
            HOSTILE.to_owned(),
            format!(
                "# {HOSTILE}\n\n- {HOSTILE}\n\n```\n{HOSTILE}\n```\n\n| {HOSTILE} | b |\n|-|-|\n| {HOSTILE} | c | d |\n"
            ),
            format!("```\n~~~\n{HOSTILE}"),
            "|\n|\n||||||||||\n|a|".to_owned(),
        ] {
            let shown = drawn(&text);
            harmless(&shown.replace("\nforged", "\nblock"));
            assert!(!shown.contains('\x1b'), "{shown:?}");
        }
    }

    #[test]
    fn a_page_of_open_brackets_is_shown_as_it_is_written() {
        for text in ["[", "**", "[a](", "`*["] {
            let page = text.repeat((256 << 10) / text.len());
            assert_eq!(drawn(&page).trim_end(), page);
        }
    }
}
