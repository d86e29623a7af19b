//! What real cosign and OpenSSL made (`testdata/trust/cosign`), for tests.

use std::path::PathBuf;

use tofu_oci_types::{Digest, ProviderAddr, Version};

use crate::keys::PublicKey;
use crate::signer::PrivateKey;
use crate::statement::{Name, SignedSubject, StatementSubject};

/// The kinds of keys that signed, by the names of their files.
pub(crate) const KINDS: [&str; 6] = ["p256-cosign", "p256", "p384", "ed25519", "rsa-2048", "rsa-4096"];

pub(crate) const PASSWORD: &str = "fixture";

pub(crate) fn bytes(path: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trust/cosign");
    std::fs::read(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn text(path: &str) -> String {
    String::from_utf8(bytes(path)).expect("text")
}

pub(crate) fn public(name: &str) -> PublicKey {
    PublicKey::from_pem(&bytes(&format!("test-keys/{name}.pub"))).expect("a public key")
}

pub(crate) fn private(name: &str) -> PrivateKey {
    PrivateKey::from_pem(&bytes(&format!("test-keys/{name}.pem")), None).expect("a private key")
}

/// The index that was signed.
pub(crate) fn index() -> Digest {
    "sha256:41fc87ebfa1add0bf3e668238cf58fad7d1259029d6f5ed4504e0eb15f9db5db".parse().expect("a digest")
}

pub(crate) fn address() -> ProviderAddr {
    "registry.example.test/acme/widget".parse().expect("an address")
}

pub(crate) fn version() -> Version {
    "1.0.0".parse().expect("a version")
}

/// What the signatures with names say.
pub(crate) fn named() -> StatementSubject {
    StatementSubject {
        digest: Some(index()),
        name: None,
        address: Name::Is(address()),
        version: Name::Is(version()),
        note: None,
    }
}

/// What the signatures without names say.
pub(crate) fn unnamed() -> StatementSubject {
    StatementSubject { digest: Some(index()), name: None, address: Name::Absent, version: Name::Absent, note: None }
}

/// The same, to be signed by us.
pub(crate) fn with_subject<T>(sign: impl FnOnce(&SignedSubject<'_>) -> T) -> T {
    sign(&SignedSubject { index: &index(), address: &address(), version: &version() })
}

/// `bytes` once for each of its bits, with that bit the other way.
pub(crate) fn bit_flips(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    (0..bytes.len() * 8).map(|bit| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    })
}

/// How many bits of a payload to go on by: each of them for one kind of key, fewer for those that take longer.
pub(crate) fn step(kind: &str) -> usize {
    if kind == "p256" { 1 } else { 29 }
}

/// Where the last `name` in a text of one line ends.
pub(crate) fn column(text: &str, name: &str) -> usize {
    text.rfind(name).expect("the name") + name.len()
}
