//! A Sigstore instance of one's own: an authority for certificates, and what witnesses when it signed.
//!
//! Spec: Sigstore protobuf-specs, `sigstore_bundle.proto` and `sigstore_trustroot.proto`; Fulcio, `docs/oid-info.md`.

mod certificate_log;
mod clock;
mod der;
mod log;
mod server;
mod texts;

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData, SanType, SerialNumber, SigningKey as _,
};
use serde_json::{Value, json};

use certificate_log::CertificateLog;
use clock::Clock;
use log::{Logged, TransparencyLog};
pub use server::SigstoreServer;
use texts::{SINCE, sha256};

/// How long before `now` everything is signed, and for how long a certificate is valid before that.
const AGO: Duration = Duration::from_mins(1);
/// The arc of the extensions that say who built something.
const CLAIMS: [u64; 8] = [1, 3, 6, 1, 4, 1, 57264, 1];

/// Who witnesses when something was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// A log of Rekor v1.
    Log,
    /// A timestamp authority, and no log.
    Clock,
    /// A timestamp authority, beside logs: of Rekor v2, and of certificates.
    LogAndClock,
}

/// An authority and its witnesses.
#[derive(Debug)]
pub struct LocalSigstore {
    authority: KeyPair,
    certificate: Vec<u8>,
    log: Option<TransparencyLog>,
    clock: Option<Clock>,
    certificates: Option<CertificateLog>,
    /// `None`: the clock of this machine.
    now: Option<SystemTime>,
    late: Duration,
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
    /// A new instance with a log, which signs a minute before `now`.
    pub fn generate(now: SystemTime) -> Self {
        Self::witnessed(Witness::Log, now)
    }

    /// The same with other witnesses.
    pub fn witnessed(witness: Witness, now: SystemTime) -> Self {
        Self::new(witness, Some(now))
    }

    fn new(witness: Witness, now: Option<SystemTime>) -> Self {
        let authority = KeyPair::generate().expect("the system has random numbers");
        let mut params = CertificateParams::default();
        params.distinguished_name = authority_name();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        let certificate = params.self_signed(&authority).expect("a fixed certificate request is valid");
        let (log, clock, certificates) = match witness {
            Witness::Log => (Some(TransparencyLog::old()), None, None),
            Witness::Clock => (None, Some(Clock::generate()), None),
            Witness::LogAndClock => {
                (Some(TransparencyLog::new()), Some(Clock::generate()), Some(CertificateLog::generate()))
            }
        };
        Self { authority, certificate: certificate.der().to_vec(), log, clock, certificates, now, late: Duration::ZERO }
    }

    /// Its witnesses see a signature so long after it was made.
    #[must_use]
    pub fn late(self, late: Duration) -> Self {
        Self { late, ..self }
    }

    /// When it signs.
    fn signed_at(&self) -> SystemTime {
        self.now.map_or_else(SystemTime::now, |now| now - AGO)
    }

    /// Its `trusted_root.json`.
    pub fn root(&self) -> String {
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": self.log.iter().map(TransparencyLog::described).collect::<Vec<_>>(),
            "certificateAuthorities": [{
                "subject": { "commonName": "tofu-oci test sigstore" },
                "uri": "https://authority.sigstore.example",
                "certChain": { "certificates": [{ "rawBytes": STANDARD.encode(&self.certificate) }] },
                "validFor": { "start": SINCE },
            }],
            "ctlogs": self.certificates.iter().map(CertificateLog::described).collect::<Vec<_>>(),
            "timestampAuthorities": self.clock.iter().map(Clock::described).collect::<Vec<_>>(),
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
        let signature = key.sign(signed.as_bytes()).expect("a key of our own signs");
        let seen_at = self.signed_at() + self.late;
        let mut material = json!({ "certificate": { "rawBytes": STANDARD.encode(certificate.der()) } });
        if let Some(log) = &self.log {
            let logged = Logged {
                envelope: payload.as_bytes(),
                payload: payload.as_bytes(),
                signature: &signature,
                certificate: &certificate.pem(),
            };
            material["tlogEntries"] = json!([if log.is_new {
                log.hashed(&sha256(signed.as_bytes()), &signature, certificate.der())
            } else {
                log.dsse(&logged, seen_at)
            }]);
        }
        if let Some(clock) = &self.clock {
            let stamp = STANDARD.encode(clock.stamp(&sha256(&signature), seen_at));
            material["timestampVerificationData"] = json!({ "rfc3161Timestamps": [{ "signedTimestamp": stamp }] });
        }
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": material,
            "dsseEnvelope": {
                "payload": STANDARD.encode(payload),
                "payloadType": "application/vnd.in-toto+json",
                "signatures": [{ "sig": STANDARD.encode(signature) }],
            },
        })
        .to_string()
        .into_bytes()
    }

    fn certificate_of(&self, by: &BuiltBy<'_>, key: &impl PublicKeyData) -> rcgen::Certificate {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.serial_number = Some(SerialNumber::from(vec![1]));
        params.not_before = (self.signed_at() - AGO).into();
        params.not_after = (self.signed_at() + 9 * AGO).into();
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
            params
                .custom_extensions
                .push(CustomExtension::from_oid_content(&oid, der::tagged(der::UTF8, text.as_bytes())));
        }
        let mut authority = CertificateParams::default();
        authority.distinguished_name = authority_name();
        let issuer = Issuer::from_params(&authority, &self.authority);
        let certify =
            |params: &CertificateParams| params.signed_by(key, &issuer).expect("a fixed certificate request is valid");
        if let Some(log) = &self.certificates {
            let promised = log.promise(certify(&params).der(), &self.authority, self.signed_at());
            params.custom_extensions.push(promised);
        }
        certify(&params)
    }
}
