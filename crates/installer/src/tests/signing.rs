//! Releases with signatures, and policies that require them.

use std::sync::Arc;

use p256::pkcs8::{EncodePrivateKey as _, EncodePublicKey as _, LineEnding};
use tofu_oci_store::{MemoryStore, ReadStore as _, Store as _};
use tofu_oci_testkit::{Inline, Referrer};
use tofu_oci_trust::{Policy, PrivateKey, SignedSubject, sign_bundle};
use tofu_oci_types::{Digest, ProviderAddr, Reference, Tag, Version};

use super::fixture::{ADDRESS, address};

fn secret() -> p256::SecretKey {
    p256::SecretKey::from_slice(&[7; 32]).unwrap()
}

/// A policy with the one key of these tests and more lines in its rule.
pub(super) fn policy(lines: &str) -> Arc<Policy> {
    let pem = secret().public_key().to_public_key_pem(LineEnding::LF).unwrap();
    let text = format!(
        "[[key]]\nname = \"acme\"\npem = \"\"\"\n{pem}\"\"\"\n\n[[rule]]\nproviders = [\"registry.example.test/*/*\"]\n\
         keys = [\"acme\"]\n{lines}\n"
    );
    Arc::new(Policy::parse(&text).unwrap().resolve(|_| unreachable!("no key is a file")).unwrap())
}

/// Signs what a version's tag points at, as the provider of these tests.
pub(super) async fn sign(store: &MemoryStore, version: &str) {
    sign_as(store, version, &address(), version).await;
}

/// Signs what a version's tag points at under another name.
pub(super) async fn sign_as(store: &MemoryStore, version: &str, address: &ProviderAddr, named: &str) {
    let version: Version = version.parse().unwrap();
    let tag = Tag::for_version(&version).unwrap();
    let index = store.resolve(&Reference::Tag(tag)).await.unwrap();
    let named: Version = named.parse().unwrap();
    let key = PrivateKey::from_pem(secret().to_pkcs8_pem(LineEnding::LF).unwrap().as_bytes(), None).unwrap();
    let bundle = sign_bundle(&key, &SignedSubject { index: &index.digest, address, version: &named }, None);
    let referrer = Referrer::bundle(&index, &bundle, Inline::Yes);
    for (descriptor, bytes) in referrer.blobs() {
        store.push(&descriptor, &bytes).await.unwrap();
    }
    store.push(&referrer.descriptor(), &referrer.manifest()).await.unwrap();
}

/// What a version's tag points at.
pub(super) async fn index(store: &MemoryStore, version: &str) -> Digest {
    let tag = Tag::for_version(&version.parse().unwrap()).unwrap();
    store.resolve(&Reference::Tag(tag)).await.unwrap().digest
}

#[test]
fn the_rule_is_for_the_provider() {
    let address: ProviderAddr = ADDRESS.parse().unwrap();
    assert_eq!(policy("").rule(&address).keys.len(), 1);
}
