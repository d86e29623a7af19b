//! What holds for every text, however broken.

use proptest::prelude::{Strategy, any, proptest};
use proptest::{collection, sample};

use super::super::{MEASURED, read};
use super::{MemoryFiles, environment, read_text, shown};
use tofu_oci_types::TofuRelease;

/// Pieces of configuration; those with `hunter2` hold a secret.
const PIECES: [&str; 46] = [
    "provider_installation",
    "direct",
    "oci_mirror",
    "network_mirror",
    "filesystem_mirror",
    "dev_overrides",
    "repository_template",
    "include",
    "exclude",
    "url",
    "path",
    "credentials",
    "oci_credentials",
    "host",
    "tofu_oci",
    "magic_suffix",
    "plugin_cache_dir",
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
    "\\",
    "${",
    "<<E\n",
    "\nE\n",
    "1",
    "true",
    "x",
    "#",
    "/*",
    "*/",
    "'",
    "token = \"hunter2\"",
    "\"token\": \"hunter2\"",
    "password=\"hunter2\"",
    "access_token = hunter2 ",
    "漢\u{301}\u{1f600}",
];

pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = (sample::select(PIECES.to_vec()), sample::select(vec!["", " ", "\n", "\t", "\r\n"]));
    let pieces = collection::vec(piece, 0..40);
    (any::<bool>(), pieces).prop_map(|(json, pieces)| {
        let start = if json { "{" } else { "" }.to_owned();
        pieces.iter().fold(start, |text, (piece, space)| text + piece + space)
    })
}

proptest! {
    #[test]
    fn every_place_can_be_shown_and_no_secret_is(text in text()) {
        for release in MEASURED {
            let reading = read_text(&text, release);
            for problem in &reading.problems {
                let shown = super::shown(&reading, problem);
                assert!(!shown.contains("hunter2"), "{text:?}\n{shown}");
            }
            let debug = format!("{reading:?}");
            assert!(!debug.contains("hunter2"), "{text:?}\n{debug}");
        }
    }
}

#[test]
fn the_place_of_a_byte_that_is_no_utf_8_lies_between_characters_of_the_text() {
    for text in [&b"provider_in\x8f\x8ballation {\n}\n"[..], b"x = \"\xc3\xa9\xff\"", b"\xff", b"a = 1\n\xf0\x9f"] {
        let mut files = MemoryFiles::default();
        files.add_bytes("/home/u/.tofurc", text);
        let reading = read(&environment(), &files, TofuRelease::V1_13);
        let problem = reading.errors().next().expect("an error");
        let span = problem.span.clone().expect("a place");
        assert!(reading.files[0].text.get(span.clone()).is_some(), "{span:?} of {text:?}");
        assert!(shown(&reading, problem).contains("UTF-8"), "{text:?}");
    }
}
