//! Transparency logs: Rekor v1, whose entries say when they came, and Rekor v2, whose entries do not.
//!
//! Spec: RFC 6962, section 2.1; transparency-dev, `formats/log`; Sigstore, `rekor-tiles`.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, PublicKeyData as _, SigningKey as _};
use serde_json::{Value, json};
use tofu_oci_types::Digest;

use super::texts::{SINCE, hex, sha256};

/// The name of the log.
const LOG: &str = "log.sigstore.example";

/// A log with its key.
#[derive(Debug)]
pub(super) struct TransparencyLog {
    key: KeyPair,
    /// Whether it is one of Rekor v2.
    pub(super) is_new: bool,
    leaves: Mutex<Vec<Vec<u8>>>,
}

/// What is logged: an envelope of DSSE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged<'a> {
    pub(super) envelope: &'a [u8],
    pub(super) payload: &'a [u8],
    pub(super) signature: &'a [u8],
    /// In PEM.
    pub(super) certificate: &'a str,
}

impl TransparencyLog {
    pub(super) fn old() -> Self {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("the system has random numbers");
        Self { key, is_new: false, leaves: Mutex::default() }
    }

    pub(super) fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ED25519).expect("the system has random numbers");
        Self { key, is_new: true, leaves: Mutex::default() }
    }

    /// Its member of a trusted root.
    pub(super) fn described(&self) -> Value {
        json!({
            "baseUrl": format!("https://{LOG}"),
            "hashAlgorithm": "SHA2_256",
            "publicKey": {
                "rawBytes": STANDARD.encode(self.key.subject_public_key_info()),
                "keyDetails": if self.is_new { "PKIX_ED25519" } else { "PKIX_ECDSA_P256_SHA_256" },
                "validFor": { "start": SINCE },
            },
            "logId": { "keyId": STANDARD.encode(self.id()) },
        })
    }

    fn id(&self) -> Vec<u8> {
        if self.is_new {
            sha256(&[LOG.as_bytes(), b"\n\x01", self.key.der_bytes()].concat())
        } else {
            sha256(&self.key.subject_public_key_info())
        }
    }

    /// The entry of an envelope in Rekor v1.
    pub(super) fn dsse(&self, logged: &Logged<'_>, at: SystemTime) -> Value {
        let hash = |bytes: &[u8]| json!({ "algorithm": "sha256", "value": Digest::sha256(bytes).encoded() });
        let body = json!({
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": hash(logged.envelope),
                "payloadHash": hash(logged.payload),
                "signatures": [{
                    "signature": STANDARD.encode(logged.signature),
                    "verifier": STANDARD.encode(logged.certificate),
                }],
            },
        });
        let (mut entry, body) = self.added("dsse", "0.0.1", &body);
        let seconds = at.duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_secs();
        let (id, index) = (hex(&self.id()), entry["logIndex"].as_str().expect("a number").to_owned());
        let promise = format!(r#"{{"body":"{body}","integratedTime":{seconds},"logID":"{id}","logIndex":{index}}}"#);
        entry["integratedTime"] = json!(seconds.to_string());
        entry["inclusionPromise"] = json!({ "signedEntryTimestamp": STANDARD.encode(self.sign(&promise)) });
        entry
    }

    /// The entry of a signature of what has this hash, in Rekor v2.
    pub(super) fn hashed(&self, hash: &[u8], signature: &[u8], certificate: &[u8]) -> Value {
        let verifier = json!({
            "keyDetails": "PKIX_ECDSA_P256_SHA_256",
            "x509Certificate": { "rawBytes": STANDARD.encode(certificate) },
        });
        let body = json!({
            "apiVersion": "0.0.2",
            "kind": "hashedrekord",
            "spec": { "hashedRekordV002": {
                "data": { "algorithm": "SHA2_256", "digest": STANDARD.encode(hash) },
                "signature": { "content": STANDARD.encode(signature), "verifier": verifier },
            } },
        });
        self.added("hashedrekord", "0.0.2", &body).0
    }

    /// A new entry, and its body in base64.
    fn added(&self, kind: &str, version: &str, body: &Value) -> (Value, String) {
        let body = body.to_string();
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        leaves.push(sha256(&[&[0], body.as_bytes()].concat()));
        let (index, size) = (leaves.len() - 1, leaves.len());
        let root = STANDARD.encode(root(&leaves));
        let hashes: Vec<String> = path(index, &leaves).iter().map(|hash| STANDARD.encode(hash)).collect();
        let origin = if self.is_new { LOG.to_owned() } else { format!("{LOG} - 1") };
        let note = format!("{origin}\n{size}\n{root}\n");
        let id = self.id();
        let hinted = STANDARD.encode([&id[..4], &self.sign(&note)].concat());
        let encoded = STANDARD.encode(body);
        let entry = json!({
            "logIndex": index.to_string(),
            "logId": { "keyId": STANDARD.encode(&id) },
            "kindVersion": { "kind": kind, "version": version },
            "inclusionProof": {
                "logIndex": index.to_string(),
                "rootHash": root,
                "treeSize": size.to_string(),
                "hashes": hashes,
                "checkpoint": { "envelope": format!("{note}\n\u{2014} {LOG} {hinted}\n") },
            },
            "canonicalizedBody": encoded,
        });
        (entry, encoded)
    }

    fn sign(&self, text: &str) -> Vec<u8> {
        self.key.sign(text.as_bytes()).expect("a key of our own signs")
    }
}

/// Where a tree of so many leaves divides.
fn half(leaves: &[Vec<u8>]) -> usize {
    leaves.len().next_power_of_two() / 2
}

fn root(leaves: &[Vec<u8>]) -> Vec<u8> {
    match leaves {
        [one] => one.clone(),
        more => {
            let (left, right) = more.split_at(half(more));
            sha256(&[&[1], root(left).as_slice(), &root(right)].concat())
        }
    }
}

/// The hashes that lead from a leaf to the root.
fn path(index: usize, leaves: &[Vec<u8>]) -> Vec<Vec<u8>> {
    if leaves.len() == 1 {
        return Vec::new();
    }
    let (left, right) = leaves.split_at(half(leaves));
    let (mut hashes, other) = if index < left.len() {
        (path(index, left), root(right))
    } else {
        (path(index - left.len(), right), root(left))
    };
    hashes.push(other);
    hashes
}
