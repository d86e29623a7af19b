//! Key files: a public key that reads is written as one that reads the same, and a private key that reads signs what its
//! public half verifies.

use tofu_oci_trust::{
    KeyId, PrivateKey, PublicKey, SignedSubject, open_bundle, open_cosign_tag, sign_bundle, sign_cosign_tag,
};
use tofu_oci_types::Digest;

use crate::seeds;

/// Reads the text.
pub fn run(file: &[u8]) {
    for key in [PublicKey::from_pem(file), PublicKey::from_spki_der(file)] {
        match key {
            Ok(key) => same(&key),
            Err(error) => assert!(!error.to_string().contains(char::is_control), "{error}"),
        }
    }
    // Without a password: scrypt would take most of the time.
    match PrivateKey::from_pem(file, None) {
        Ok(key) => {
            assert!(!PrivateKey::needs_password(file));
            signs(&key);
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control), "{error}"),
    }
}

/// The keys of the tests.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::contents("trust/cosign/test-keys", "")
}

fn same(key: &PublicKey) {
    assert_eq!(PublicKey::from_pem(key.to_pem().as_bytes()).as_ref(), Ok(key));
    assert_eq!(PublicKey::from_spki_der(key.spki_der()).as_ref(), Ok(key));
    assert_eq!(key.id(), KeyId::of_spki(key.spki_der()));
    assert_eq!(key.id().to_string().parse().as_ref(), Ok(&key.id()));
}

fn signs(key: &PrivateKey) {
    same(key.public());
    let keys = [key.public().clone()];
    let subject = SignedSubject {
        index: &Digest::sha256(b""),
        address: &"registry.example.test/acme/widget".parse().expect("an address"),
        version: &"1.0.0".parse().expect("a version"),
    };
    let bundle = open_bundle(&sign_bundle(key, &subject, None), &keys).expect("what is signed verifies");
    let tag = sign_cosign_tag(key, &subject, None, "registry.example.test/acme/widget");
    let tag = open_cosign_tag(&tag.payload, &tag.signature, &keys).expect("what is signed verifies");
    assert_eq!(bundle.statement, tag.statement);
}
