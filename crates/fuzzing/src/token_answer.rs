//! The body that a token server answers with.

use crate::seeds;

/// Reads an answer.
pub fn run(bytes: &[u8]) {
    tofu_oci_remote::fuzzing::token_answer(bytes);
}

/// What token servers were measured with.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found = seeds::texts("real_tofu_credentials.json", &["body", "token"]);
    found.push(r#"{"token":"t","access_token":"u","expires_in":300,"issued_at":"2026-01-01T00:00:00Z","refresh_token":"r","scope":"a b"}"#.to_owned());
    seeds::bytes(found)
}
