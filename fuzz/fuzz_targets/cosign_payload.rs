//! Payloads of cosign's `.sig` form: signed, one says the same verified and unverified, and nothing with another signature.

#![no_main]

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;
use tofu_oci_trust::{PrivateKey, SIGN_PREDICATE, SignatureFault, open_cosign_tag, peek_cosign_tag};

static KEY: LazyLock<PrivateKey> = LazyLock::new(|| {
    let file = include_bytes!("../../testdata/trust/cosign/test-keys/ed25519.pem");
    PrivateKey::from_pem(file, None).expect("a key")
});

// The payload; behind a line `---` a signature in base64.
fuzz_target!(|text: &str| {
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
        Ok(_) => assert_eq!(signature.trim(), genuine),
        Err(SignatureFault::BadSignature { key }) => assert_eq!(key, keys[0].id()),
        Err(SignatureFault::Malformed { .. } | SignatureFault::TooLarge { .. }) => {}
        Err(other) => panic!("{other}"),
    }
});
