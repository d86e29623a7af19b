//! What has to hold for pages of documentation.

use tofu_oci_docs::{DocsDifference, ProviderDocs, arguments};
use tofu_oci_types::ProviderAddr;

use super::readme::{anchor_of, docs_text, readme};

/// The elements that a text may become.
const ELEMENTS: [&str; 23] = [
    "a",
    "blockquote",
    "br",
    "code",
    "em",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "strong",
    "table",
    "td",
    "th",
    "tr",
    "ul",
    "span",
];

/// Reads a text as a page of documentation beside another page, and shows it as one and as a README.
///
/// # Panics
/// If what is shown could do something, is not nested well, or a link leads to a page that is not there.
pub fn docs_pages(text: &str) {
    let address: ProviderAddr = "registry.example.com/acme/widget".parse().expect("an address");
    let files = ["index.md", "r/widget.html.markdown"].map(|name| (name, text.as_bytes().to_vec()));
    let docs = ProviderDocs::of_files(files);
    let pages: Vec<_> = docs.pages().collect();
    assert_eq!(pages.len(), 2);
    assert!(DocsDifference::between(&docs, &docs).is_empty());
    for (name, page) in pages {
        for argument in arguments(&page.text) {
            assert!(argument.split('.').all(|part| !part.is_empty() && page.text.contains(part)), "{argument:?}");
        }
        let link = |link: &str| {
            let (page, place) = docs.linked(name, &address, link)?;
            assert!(docs.page(page).is_some());
            Some(place.and_then(anchor_of).map_or_else(|| "/docs".to_owned(), |place| format!("#{place}")))
        };
        for html in [docs_text(&page.text, &link), readme(&page.text)] {
            check_inert(&html.into_string());
        }
    }
}

/// That the HTML has the elements above alone, in each other, and nothing that acts.
fn check_inert(html: &str) {
    let mut open = Vec::new();
    let mut rest = html;
    while let Some((_, tag)) = rest.split_once('<') {
        let (tag, after) = tag.split_once('>').expect("a tag is closed");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{html}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(ELEMENTS.contains(&name), "{tag} in {html}");
        // Whoever writes an attribute escapes its quotes: so each second piece is a value.
        let pieces: Vec<&str> = attributes.split('"').collect();
        assert!(pieces.len() % 2 == 1 && pieces.last() == Some(&""), "{tag} in {html}");
        for pair in pieces.chunks_exact(2) {
            assert!(is_inert(pair[0].trim_start(), pair[1]), "{tag} in {html}");
        }
        if !matches!(name, "br" | "hr") {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} in {html}");
}

fn is_inert(attribute: &str, value: &str) -> bool {
    match attribute {
        "href=" => {
            ["https://", "http://", "mailto:", "#doc-"].iter().any(|start| value.starts_with(start)) || value == "/docs"
        }
        "id=" => value.starts_with("doc-"),
        "rel=" | "class=" => value.chars().all(|letter| letter.is_ascii_lowercase() || letter == ' '),
        "start=" | "tabindex=" => value.chars().all(|digit| digit.is_ascii_digit()),
        _ => false,
    }
}
