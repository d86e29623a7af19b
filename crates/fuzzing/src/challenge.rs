//! Challenges: the first line is a secret that was sent, each further one a line of `WWW-Authenticate`.

use crate::input::text_of;
use crate::seeds;

/// Reads the text.
pub fn run(bytes: &[u8]) {
    let text = text_of(bytes);
    let mut lines = text.split('\n');
    let secret = lines.next().unwrap_or_default();
    tofu_oci_remote::fuzzing::challenge(&lines.collect::<Vec<_>>(), secret);
}

/// What registries were measured with.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found = seeds::texts("real_tofu_credentials.json", &["www", "realm"]);
    found.extend([
        r#"Bearer realm="https://auth.example.test/token",service="registry.example.test",scope="repository:a/b:pull""#
            .to_owned(),
        "Basic realm=\"x\", Bearer realm=\"https://a.test/t\"\nNegotiate".to_owned(),
    ]);
    seeds::bytes(found.into_iter().map(|line| format!("hunter2\n{line}")))
}
