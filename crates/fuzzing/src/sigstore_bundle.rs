//! Sigstore bundles: whatever is done to a bundle that a key signed, it says what was signed or nothing; and a payload that
//! a key signs says the same verified and unverified.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tofu_oci_trust::{BUNDLE_TYPE, PrivateKey, PublicKey, Statement, open_bundle, peek_bundle};

use crate::seeds;

macro_rules! fixture {
    ($path:literal) => {
        include_bytes!(concat!("../../../testdata/trust/cosign/", $path))
    };
}

static KEY: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::from_pem(fixture!("test-keys/ed25519.pem"), None).expect("a key"));
/// The keys of the seeds, which signed nothing else.
static KEYS: LazyLock<Vec<PublicKey>> = LazyLock::new(|| {
    [fixture!("test-keys/p256.pub").as_slice(), fixture!("test-keys/p384.pub"), fixture!("test-keys/rsa-2048.pub")]
        .map(|file| PublicKey::from_pem(file).expect("a key"))
        .to_vec()
});
static SIGNED: LazyLock<Vec<Statement>> = LazyLock::new(|| {
    [fixture!("bundle/p256.json").as_slice(), fixture!("bundle/p256-unnamed.json"), fixture!("bundle/p256-attest.json")]
        .map(|bundle| peek_bundle(bundle).expect("a bundle").statement)
        .to_vec()
});

/// Reads the text.
pub fn run(bytes: &[u8]) {
    match open_bundle(bytes, &KEYS) {
        Ok(signed) => {
            assert!(SIGNED.contains(&signed.statement), "{:?}", signed.statement);
            assert_eq!(peek_bundle(bytes).map(|peek| peek.statement), Ok(signed.statement));
        }
        Err(fault) => assert!(!fault.to_string().contains(char::is_control), "{fault}"),
    }
    let bundle = signed(bytes);
    let verified = open_bundle(&bundle, &[KEY.public().clone()]).map(|signed| signed.statement);
    assert_eq!(verified, peek_bundle(&bundle).map(|peek| peek.statement));
    if let Ok(statement) = verified {
        assert!((1..=1024).contains(&statement.subjects.len()));
        assert!(statement.subjects.iter().any(|subject| subject.digest.is_some()));
    }
}

/// Bundles, and what is signed in them.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found = seeds::contents("trust/cosign/bundle", ".json");
    for bundle in found.clone() {
        let payload = serde_json::from_slice::<serde_json::Value>(&bundle).ok();
        let payload = payload.and_then(|bundle| STANDARD.decode(bundle["dsseEnvelope"]["payload"].as_str()?).ok());
        found.extend(payload);
    }
    found
}

/// A bundle with this payload, which is well signed.
fn signed(payload: &[u8]) -> Vec<u8> {
    let mut message = format!("DSSEv1 28 application/vnd.in-toto+json {} ", payload.len()).into_bytes();
    message.extend_from_slice(payload);
    let (payload, signature) = (STANDARD.encode(payload), STANDARD.encode(KEY.sign(&message)));
    format!(
        r#"{{"mediaType":"{BUNDLE_TYPE}","verificationMaterial":{{"publicKey":{{}}}},"dsseEnvelope":{{"payload":"{payload}","payloadType":"application/vnd.in-toto+json","signatures":[{{"sig":"{signature}"}}]}}}}"#
    )
    .into_bytes()
}
