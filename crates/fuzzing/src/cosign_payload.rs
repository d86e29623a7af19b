//! Payloads of cosign's `.sig` form: signed, one says the same verified and unverified, and nothing with another signature.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tofu_oci_trust::{PrivateKey, SIGN_PREDICATE, SignatureFault, open_cosign_tag, peek_cosign_tag};

use crate::input::text_of;
use crate::seeds;

static KEY: LazyLock<PrivateKey> = LazyLock::new(|| {
    let file = include_bytes!("../../../testdata/trust/cosign/test-keys/ed25519.pem");
    PrivateKey::from_pem(file, None).expect("a key")
});

/// What cosign has signed with the same key, in the other scheme that counts (Ed25519ph).
const SIGNED: [&str; 2] = [
    include_str!("../../../testdata/trust/cosign/tag/ed25519.sig"),
    include_str!("../../../testdata/trust/cosign/tag/ed25519-unnamed.sig"),
];

/// The payload; after a line `---` a signature in base64.
pub fn run(bytes: &[u8]) {
    let text = text_of(bytes);
    let keys = [KEY.public().clone()];
    let (payload, signature) = text.split_once("\n---\n").unwrap_or((text, ""));
    let payload = payload.as_bytes();
    let genuine = STANDARD.encode(KEY.sign(payload));
    let verified = open_cosign_tag(payload, &genuine, &keys).map(|signed| signed.statement);
    assert_eq!(verified, peek_cosign_tag(payload).map(|peek| peek.statement));
    match verified {
        Ok(statement) => {
            assert_eq!(statement.predicate_type, SIGN_PREDICATE);
            assert!(statement.subjects.len() == 1 && statement.subjects[0].digest.is_some());
        }
        Err(fault) => assert!(!fault.to_string().contains(char::is_control), "{fault}"),
    }
    match open_cosign_tag(payload, signature, &keys) {
        Ok(_) => assert!(signature.trim() == genuine || SIGNED.contains(&signature.trim()), "{signature:?}"),
        // The form has no hint that could name a key.
        Err(
            SignatureFault::UnknownKey { hint: None }
            | SignatureFault::Malformed { .. }
            | SignatureFault::TooLarge { .. },
        ) => {}
        Err(other) => panic!("{other}"),
    }
}

/// Payloads with their signatures.
pub fn seeds() -> Vec<Vec<u8>> {
    let payloads = seeds::files("trust/cosign/tag", ".payload.json");
    let signed = payloads.into_iter().map(|(path, payload)| {
        let signature = std::fs::read(path.with_extension("").with_extension("sig")).unwrap_or_default();
        [&payload[..], b"\n---\n", &signature].concat()
    });
    signed.collect()
}
