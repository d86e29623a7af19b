//! Signatures as `sign` writes them, put into the registry.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use p256::pkcs8::{EncodePrivateKey as _, EncodePublicKey as _, LineEnding};
use serde_json::json;
use tofu_oci_testkit::{BuiltBy, Inline, LocalSigstore, Referrer};
use tofu_oci_trust::{PrivateKey, SignedSubject, sign_bundle};
use tofu_oci_types::{Descriptor, ProviderAddr, Version};

use super::Scene;

fn secret() -> p256::SecretKey {
    p256::SecretKey::from_slice(&[7; 32]).expect("a scalar of the curve")
}

impl Scene {
    /// Writes `trust.toml`: providers of the example host must be signed by `acme-release`. `lines` are more of the rule.
    pub(crate) fn trust(&self, lines: &str) {
        let pem = secret().public_key().to_public_key_pem(LineEnding::LF).expect("a key of the curve");
        let text = format!(
            "[[key]]\nname = \"acme-release\"\npem = \"\"\"\n{pem}\"\"\"\n\n[[rule]]\n\
             providers = [\"registry.example.com/*/*\"]\nkeys = [\"acme-release\"]\n{lines}\n"
        );
        self.context.write("trust.toml", text);
    }

    /// Signs what a tag of a repository points at.
    pub(crate) fn sign(&self, repository: &str, address: &str, version: &str) {
        let (media_type, bytes) = self.registry.manifest(repository, version).expect("it is published");
        let index = Descriptor::of(&media_type, &bytes);
        let pem = secret().to_pkcs8_pem(LineEnding::LF).expect("a key of the curve");
        let key = PrivateKey::from_pem(pem.as_bytes(), None).expect("a private key");
        let address: ProviderAddr = address.parse().expect("an address");
        let version: Version = version.parse().expect("a version");
        let subject = SignedSubject { index: &index.digest, address: &address, version: &version };
        let bundle = sign_bundle(&key, &subject, None);
        self.registry.put_referrer(repository, &Referrer::bundle(&index, &bundle, Inline::Yes));
        self.registry.clear_requests();
    }

    /// A bundle about files, as `cosign attest-blob --key` writes it: by the key of [`trust`](Self::trust).
    pub(crate) fn attested_by_key(subjects: &[serde_json::Value]) -> Vec<u8> {
        let statement = json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": subjects,
            "predicateType": "https://slsa.dev/provenance/v1",
            "predicate": {},
        });
        let (payload, kind) = (statement.to_string(), "application/vnd.in-toto+json");
        let signed = format!("DSSEv1 {} {kind} {} {payload}", kind.len(), payload.len());
        let pem = secret().to_pkcs8_pem(LineEnding::LF).expect("a key of the curve");
        let key = PrivateKey::from_pem(pem.as_bytes(), None).expect("a private key");
        let bundle = json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": { "publicKey": { "hint": "" } },
            "dsseEnvelope": {
                "payload": STANDARD.encode(payload),
                "payloadType": kind,
                "signatures": [{ "sig": STANDARD.encode(key.sign(signed.as_bytes())) }],
            },
        });
        bundle.to_string().into_bytes()
    }

    /// Puts provenance beside what a tag of a repository points at.
    pub(crate) fn attest(&self, sigstore: &LocalSigstore, by: &BuiltBy<'_>, repository: &str, tag: &str) {
        let (media_type, bytes) = self.registry.manifest(repository, tag).expect("it is published");
        let index = Descriptor::of(&media_type, &bytes);
        let subject = json!({ "name": repository, "digest": { "sha256": index.digest.encoded() } });
        let bundle = sigstore.attest(by, "https://slsa.dev/provenance/v1", &[subject]);
        self.registry.put_referrer(repository, &Referrer::bundle(&index, &bundle, Inline::No));
    }
}
