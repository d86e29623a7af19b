//! Shared by this crate's tests.

use std::path::Path;

/// A vector file: the project's agreed one where the working papers lie beside the checkout, else our copy.
pub(crate) fn vectors(name: &str) -> serde_json::Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("../shared/spec/vectors").join(name))
        .or_else(|_| std::fs::read_to_string(root.join("testdata/vectors").join(name)))
        .unwrap();
    serde_json::from_str(&text).unwrap()
}
