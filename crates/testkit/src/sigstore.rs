//! A Sigstore instance of one's own: an authority for certificates and a transparency log of Rekor v1, each in a key.
//!
//! Spec: Sigstore protobuf-specs, `sigstore_bundle.proto` and `sigstore_trustroot.proto`; Fulcio, `docs/oid-info.md`;
//! transparency-dev, `formats/log`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData as _, SanType, SigningKey as _,
};
use serde_json::{Value, json};
use tofu_oci_types::Digest;

/// How long before `now` everything is signed.
const AGO: Duration = Duration::from_mins(1);
/// The name of the log.
const LOG: &str = "log.sigstore.example";
/// The arc of the extensions that say who built something.
const CLAIMS: [u64; 8] = [1, 3, 6, 1, 4, 1, 57264, 1];

/// An authority and its log.
#[derive(Debug)]
pub struct LocalSigstore {
    authority: KeyPair,
    certificate: Vec<u8>,
    log: KeyPair,
    now: SystemTime,
}

/// What a certificate is issued for.
#[derive(Clone, Copy, Debug)]
pub struct BuiltBy<'a> {
    pub issuer: &'a str,
    /// `github.com/acme/widget`.
    pub repository: &'a str,
    /// With the repository that it is in: `github.com/acme/widget/.github/workflows/release.yml`.
    pub workflow: &'a str,
    /// The ref that was built, and of the workflow.
    pub reference: &'a str,
    pub environment: Option<&'a str>,
    pub runner: &'a str,
    /// The number that the host gave the repository.
    pub repository_id: Option<&'a str>,
    /// The number that the host gave the owner of the repository.
    pub owner_id: Option<&'a str>,
    /// The address of a person; then only the issuer is used beside it.
    pub email: Option<&'a str>,
}

impl BuiltBy<'static> {
    /// The release workflow of `github.com/acme/widget`, from the tag `v1.4.0`.
    pub const RELEASE: Self = Self {
        issuer: "https://token.actions.githubusercontent.com",
        repository: "github.com/acme/widget",
        workflow: "github.com/acme/widget/.github/workflows/release.yml",
        reference: "refs/tags/v1.4.0",
        environment: None,
        runner: "github-hosted",
        repository_id: None,
        owner_id: None,
        email: None,
    };
}

fn authority_name() -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "tofu-oci test sigstore");
    name
}

impl LocalSigstore {
    /// A new instance, which signs a minute before `now`.
    pub fn generate(now: SystemTime) -> Self {
        let authority = KeyPair::generate().expect("the system has random numbers");
        let mut params = CertificateParams::default();
        params.distinguished_name = authority_name();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        let certificate = params.self_signed(&authority).expect("a fixed certificate request is valid");
        let log = KeyPair::generate().expect("the system has random numbers");
        Self { authority, certificate: certificate.der().to_vec(), log, now }
    }

    /// Its `trusted_root.json`.
    pub fn root(&self) -> String {
        let since = json!({ "start": "2001-01-01T00:00:00Z" });
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [{
                "baseUrl": format!("https://{LOG}"),
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": STANDARD.encode(self.log.subject_public_key_info()),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": since,
                },
                "logId": { "keyId": STANDARD.encode(self.log_id()) },
            }],
            "certificateAuthorities": [{
                "subject": { "commonName": "tofu-oci test sigstore" },
                "uri": "https://authority.sigstore.example",
                "certChain": { "certificates": [{ "rawBytes": STANDARD.encode(&self.certificate) }] },
                "validFor": since,
            }],
            "ctlogs": [],
            "timestampAuthorities": [],
        })
        .to_string()
    }

    /// A bundle in which `by` says something of these subjects.
    pub fn attest(&self, by: &BuiltBy<'_>, predicate_type: &str, subjects: &[Value]) -> Vec<u8> {
        self.attest_with(by, predicate_type, subjects, &json!({}))
    }

    /// The same with this predicate.
    pub fn attest_with(
        &self,
        by: &BuiltBy<'_>,
        predicate_type: &str,
        subjects: &[Value],
        predicate: &Value,
    ) -> Vec<u8> {
        let statement = json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": subjects,
            "predicateType": predicate_type,
            "predicate": predicate,
        });
        let payload = statement.to_string();
        let key = KeyPair::generate().expect("the system has random numbers");
        let certificate = self.certificate_of(by, &key);
        let signed = format!("DSSEv1 28 application/vnd.in-toto+json {} {payload}", payload.len());
        let signature = STANDARD.encode(key.sign(signed.as_bytes()).expect("a key of our own signs"));
        let hash = |bytes: &[u8]| json!({ "algorithm": "sha256", "value": Digest::sha256(bytes).encoded() });
        let body = json!({
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": hash(payload.as_bytes()),
                "payloadHash": hash(payload.as_bytes()),
                "signatures": [{ "signature": signature, "verifier": STANDARD.encode(certificate.pem()) }],
            },
        });
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": { "rawBytes": STANDARD.encode(certificate.der()) },
                "tlogEntries": [self.logged(body.to_string().as_bytes())],
            },
            "dsseEnvelope": {
                "payload": STANDARD.encode(payload),
                "payloadType": "application/vnd.in-toto+json",
                "signatures": [{ "sig": signature }],
            },
        })
        .to_string()
        .into_bytes()
    }

    /// The entry of a log that has no other one.
    fn logged(&self, body: &[u8]) -> Value {
        let sign = |text: &str| self.log.sign(text.as_bytes()).expect("a key of our own signs");
        let seconds = (self.now - AGO).duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_secs();
        let id = self.log_id();
        let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let encoded = STANDARD.encode(body);
        let promise = format!(r#"{{"body":"{encoded}","integratedTime":{seconds},"logID":"{hex}","logIndex":0}}"#);
        let root = STANDARD.encode(sha256(&[&[0], body].concat()));
        let note = format!("{LOG} - 1\n1\n{root}\n");
        let hinted = STANDARD.encode([&id[..4], &sign(&note)].concat());
        json!({
            "logIndex": "0",
            "logId": { "keyId": STANDARD.encode(&id) },
            "kindVersion": { "kind": "dsse", "version": "0.0.1" },
            "integratedTime": seconds.to_string(),
            "inclusionPromise": { "signedEntryTimestamp": STANDARD.encode(sign(&promise)) },
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": root,
                "treeSize": "1",
                "hashes": [],
                "checkpoint": { "envelope": format!("{note}\n\u{2014} {LOG} {hinted}\n") },
            },
            "canonicalizedBody": encoded,
        })
    }

    fn certificate_of(&self, by: &BuiltBy<'_>, key: &KeyPair) -> rcgen::Certificate {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.not_before = (self.now - 2 * AGO).into();
        params.not_after = (self.now + 8 * AGO).into();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        let mut claims = vec![(8, by.issuer.to_owned())];
        if let Some(email) = by.email {
            params.subject_alt_names = vec![SanType::Rfc822Name(email.try_into().expect("ASCII"))];
        } else {
            let signer = format!("https://{}@{}", by.workflow, by.reference);
            params.subject_alt_names = vec![SanType::URI(signer.as_str().try_into().expect("ASCII"))];
            claims.extend([
                (9, signer),
                (11, by.runner.to_owned()),
                (12, format!("https://{}", by.repository)),
                (13, "0123456789abcdef0123456789abcdef01234567".to_owned()),
                (14, by.reference.to_owned()),
                (21, format!("https://{}/actions/runs/7/attempts/1", by.repository)),
            ]);
            claims.extend(by.repository_id.map(|id| (15, id.to_owned())));
            claims.extend(by.owner_id.map(|id| (17, id.to_owned())));
            claims.extend(by.environment.map(|environment| (23, environment.to_owned())));
        }
        for (number, text) in claims {
            let oid = [&CLAIMS[..], &[number]].concat();
            params.custom_extensions.push(CustomExtension::from_oid_content(&oid, utf8(&text)));
        }
        let mut authority = CertificateParams::default();
        authority.distinguished_name = authority_name();
        let issuer = Issuer::from_params(&authority, &self.authority);
        params.signed_by(key, &issuer).expect("a fixed certificate request is valid")
    }

    fn log_id(&self) -> Vec<u8> {
        sha256(&self.log.subject_public_key_info())
    }
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    use sha2::Digest as _;

    sha2::Sha256::digest(bytes).to_vec()
}

/// A `UTF8String` in DER of at most 255 bytes.
fn utf8(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).expect("a short text");
    let head = if length < 128 { vec![0x0c, length] } else { vec![0x0c, 0x81, length] };
    [head.as_slice(), text.as_bytes()].concat()
}
