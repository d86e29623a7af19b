//! What holds for every text, however broken.

use proptest::prelude::{Strategy, any, proptest};
use proptest::{collection, sample};

use super::{installation, of};

/// Pieces of configuration; those with `hunter2` hold a secret.
const PIECES: [&str; 32] = [
    "provider_installation",
    "direct",
    "oci_mirror",
    "network_mirror",
    "filesystem_mirror",
    "repository_template",
    "include",
    "exclude",
    "url",
    "path",
    "credentials",
    "oci_credentials",
    "{",
    "}",
    "{",
    "}",
    "[",
    "]",
    "=",
    ":",
    ",",
    "\"",
    "\"a/b\"",
    "\"*/*/*\"",
    "\"ghcr.io/${hostname}/${type\"",
    "${",
    "<<E\n",
    "\nE\n",
    "x",
    "token = \"hunter2\"",
    "\"token\": \"hunter2\"",
    "漢\u{301}\u{1f600}",
];

fn text() -> impl Strategy<Value = String> {
    let piece = (sample::select(PIECES.to_vec()), sample::select(vec!["", " ", "\n", "\t", "\r\n"]));
    let pieces = collection::vec(piece, 0..40);
    (any::<bool>(), pieces).prop_map(|(json, pieces)| {
        let start = if json { "{" } else { "" }.to_owned();
        pieces.iter().fold(start, |text, (piece, space)| text + piece + space)
    })
}

fn check(text: &str) {
    for finding in of(text) {
        let shown = super::text(&finding);
        assert!(!shown.contains("hunter2"), "{text:?}\n{shown}");
        if let Some(at) = finding.at.as_ref().filter(|at| !at.text.is_empty()) {
            let span = at.span.clone().unwrap_or_default();
            assert!(at.text.get(span).is_some(), "{text:?}\n{shown}");
        }
    }
}

proptest! {
    #[test]
    fn every_finding_can_be_shown_and_tells_no_secret(text in text()) {
        check(&text);
        check(&installation(&text));
    }
}
