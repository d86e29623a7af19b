//! Keys, statements and releases for tests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use p256::pkcs8::EncodePrivateKey as _;
use serde_json::{Value, json};
use tofu_oci_types::{Digest, ProviderAddr, Version};

use crate::dsse::Envelope;
use crate::{BUNDLE_TYPE, Evidence, PrivateKey, SIGN_PREDICATE, SignedSubject, sign_bundle, sign_cosign_tag};

/// The key of a number, always the same.
pub(crate) fn key(number: u8) -> PrivateKey {
    let secret = p256::SecretKey::from_slice(&[number; 32]).expect("a scalar");
    let pem = secret.to_pkcs8_pem(p256::pkcs8::LineEnding::LF).expect("a key in PEM");
    PrivateKey::from_pem(pem.as_bytes(), None).expect("a private key")
}

pub(crate) fn index(content: &str) -> Digest {
    Digest::sha256(content.as_bytes())
}

pub(crate) fn address(text: &str) -> ProviderAddr {
    text.parse().expect("an address")
}

pub(crate) fn version(text: &str) -> Version {
    text.parse().expect("a version")
}

/// What `acme/widget 1.4.0` is signed as.
pub(crate) fn subject<T>(sign: impl FnOnce(&SignedSubject<'_>) -> T) -> T {
    let (index, address, version) = (index("1.4.0"), address("example.com/acme/widget"), version("1.4.0"));
    sign(&SignedSubject { index: &index, address: &address, version: &version })
}

/// Our own bundle of `acme/widget 1.4.0`.
pub(crate) fn bundle(number: u8) -> Evidence {
    let bytes = subject(|subject| sign_bundle(&key(number), subject, None));
    Evidence::Bundle { origin: Digest::sha256(&bytes), bytes }
}

/// Our own `.sig` of `acme/widget 1.4.0`.
pub(crate) fn cosign_tag(number: u8) -> Evidence {
    let signed = subject(|subject| sign_cosign_tag(&key(number), subject, None, "registry.example.com/acme/widget"));
    Evidence::CosignTag {
        origin: Digest::sha256(&signed.payload),
        payload: signed.payload,
        signature: signed.signature,
    }
}

/// A subject of a statement as somebody may write it.
pub(crate) fn named(index: &Digest, annotations: &Value) -> Value {
    json!({ "digest": { "sha256": index.encoded() }, "annotations": annotations })
}

pub(crate) fn names(address: &str, version: &str) -> Value {
    json!({ "org.opentofu.provider.address": address, "org.opentofu.provider.version": version })
}

/// A bundle of whatever statement.
pub(crate) fn statement(number: u8, predicate_type: &str, subjects: &[Value]) -> Evidence {
    statement_with(number, predicate_type, subjects, &json!({}))
}

/// The same with a predicate.
pub(crate) fn statement_with(number: u8, predicate_type: &str, subjects: &[Value], predicate: &Value) -> Evidence {
    let payload = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": predicate_type,
        "predicate": predicate,
    });
    let mut envelope = Envelope { payload: payload.to_string().into_bytes(), signature: Vec::new() };
    let key = key(number);
    envelope.signature = key.sign(&envelope.signed_bytes());
    let bundle = json!({
        "mediaType": BUNDLE_TYPE,
        "verificationMaterial": { "publicKey": { "hint": key.public().id().hint() } },
        "dsseEnvelope": envelope.to_json(),
    });
    let bytes = bundle.to_string().into_bytes();
    Evidence::Bundle { origin: Digest::sha256(&bytes), bytes }
}

/// A bundle of the usual type.
pub(crate) fn signed(number: u8, subjects: &[Value]) -> Evidence {
    statement(number, SIGN_PREDICATE, subjects)
}

/// A bundle of which one bit of the signature is another.
pub(crate) fn damaged(number: u8) -> Evidence {
    let Evidence::Bundle { origin, bytes } = bundle(number) else { unreachable!("a bundle") };
    let mut bundle: Value = serde_json::from_slice(&bytes).expect("JSON");
    let signature = &mut bundle["dsseEnvelope"]["signatures"][0]["sig"];
    let mut raw = STANDARD.decode(signature.as_str().expect("a text")).expect("base64");
    if let Some(last) = raw.last_mut() {
        *last ^= 1;
    }
    *signature = STANDARD.encode(raw).into();
    Evidence::Bundle { origin, bytes: bundle.to_string().into_bytes() }
}

/// The text of a `trust.toml` with these keys, named `a` to `z` by their numbers, and one rule for `example.com`.
pub(crate) fn policy(keys: &[u8], rule: &str) -> String {
    let name = |number: u8| char::from(b'a' + number - 1);
    let mut text = String::new();
    for number in keys {
        let pem = key(*number).public().to_pem();
        text.push_str(&format!("[[key]]\nname = \"{}\"\npem = \"\"\"\n{pem}\"\"\"\n\n", name(*number)));
    }
    let names: Vec<String> = keys.iter().map(|number| format!("\"{}\"", name(*number))).collect();
    text.push_str(&format!("[[rule]]\nproviders = [\"example.com/*/*\"]\nkeys = [{}]\n{rule}\n", names.join(", ")));
    text
}
