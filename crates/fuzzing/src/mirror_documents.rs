//! The documents of a network mirror.

use crate::seeds;

/// Reads the bytes as both documents.
pub fn run(bytes: &[u8]) {
    tofu_oci_source::fuzzing::mirror_documents(bytes);
}

/// Both documents, and what is refused.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        r#"{"versions":{"1.10.0":{},"1.9.0":{"x":1},"1.2.0+b.1":null,"latest":{}}}"#,
        r#"{"archives":{"linux_amd64":{"url":"a.zip","hashes":["h1:x","zh:y","h9:z","ch:q"]},"other":{"hashes":["bad"]}}}"#,
        r#"{"versions":["1.0.0"]}"#,
        "null",
    ])
}
