//! What holds for every text, however broken.

use proptest::proptest;

use super::{installation, of};
use crate::config::tests::never::text;

fn check(text: &str) {
    for finding in of(text) {
        let shown = finding.render();
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
