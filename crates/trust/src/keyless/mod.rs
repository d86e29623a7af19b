//! Signatures by certificates ("keyless"): who made a statement, proven by an authority, its logs and its clocks.
//!
//! ```text
//! bundle --prove(trusted roots, now)--> Proven { ProvenIdentity, Statement }
//!                                           --Identity::admits--> the version that it names, or which member is another
//! ```
//!
//! Nothing outside knows the crate that reads Sigstore's formats. What it says is judged here.

mod crypto;
mod described;
mod forges;
mod identity;
mod numbers;
mod roots;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;
use sigstore_verify::crypto::{CertificateInfo, SubjectAltName};
use sigstore_verify::types::{Bundle, Sha256Hash, SignatureContent};
use sigstore_verify::{CertificateError, Error, TimestampError, TransparencyLogError};
use tofu_oci_types::Digest;

pub use described::{DescribedRoot, RootMember};
pub(crate) use identity::OtherMember;
pub use identity::{Identity, IdentityProblem, TrustedIdentity};
pub use numbers::Numbers;
pub(crate) use roots::{RootName, TrustedRoot};

use crate::dsse::Envelope;
use crate::json;
use crate::published::PublishedRelease;
use crate::statement::Statement;
use roots::Names;
pub(crate) use roots::ROOTS_DATE;
pub use roots::built_in_roots;

/// Whose certificates GitHub's own instance issues for immutable releases.
const GITHUB_RELEASES: &str = "https://dotcom.releases.github.com";
/// The largest certificate, in characters of base64.
const CERTIFICATE: usize = 32 * 1024;
/// The most entries of logs: each is verified, and signers write one.
const ENTRIES: usize = 4;
/// The most timestamps that are read.
const TIMESTAMPS: usize = 8;
/// By how many seconds a timestamp may be ahead of the clock of this machine: a release may be installed the moment that it is
/// signed.
const SLOW_CLOCK: u64 = 10;
/// The most hashes in a proof of a log: a log of that many levels has more entries than a number can count.
const PROOF: usize = 64;

/// A statement, and who is proven to have made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proven {
    pub(crate) identity: ProvenIdentity,
    /// Every root that proves it, at least one.
    pub(crate) roots: Vec<RootName>,
    pub(crate) statement: Statement,
}

/// Who made a signature, as a proven certificate says it. Its texts are as the authority wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProvenIdentity {
    /// Who vouched for it to the authority, such as `https://token.actions.githubusercontent.com`.
    pub issuer: Option<String>,
    /// The name in the certificate: a workflow with its ref as a URL, or the address of a person.
    pub subject: String,
    /// The repository that was built, such as `github.com/acme/widget`.
    pub repository: Option<String>,
    /// The workflow that signed, without its ref, such as `github.com/acme/widget/.github/workflows/release.yml`.
    pub workflow: Option<String>,
    /// The ref of the workflow that signed: another one than `ref` if it is of another repository.
    pub workflow_ref: Option<String>,
    /// The ref that was built.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// The commit that was built.
    pub commit: Option<String>,
    /// The run that built it.
    pub run: Option<String>,
    /// The environment that it was deployed to.
    pub environment: Option<String>,
    /// Where it ran: `github-hosted`, `gitlab-hosted` or `self-hosted`.
    pub runner: Option<String>,
    /// The number that its host gave the repository: it stays with the repository, as its name need not.
    #[serde(skip)]
    pub(crate) repository_id: Option<String>,
    /// The same of the owner of the repository.
    #[serde(skip)]
    pub(crate) owner_id: Option<String>,
    /// Whether GitHub itself made it, of an immutable release: then the statement names repository and ref.
    #[serde(skip)]
    pub(crate) is_release: bool,
    /// Whether `subject` is the address of a person.
    #[serde(skip)]
    pub(crate) is_person: bool,
    /// The file with the root that proves it, if no built-in one does.
    #[serde(skip)]
    pub(crate) root: Option<String>,
}

impl ProvenIdentity {
    fn of(certificate: &CertificateInfo) -> Option<Self> {
        let subject = certificate.identity.as_ref()?;
        let claims = &certificate.ci_claims;
        let bare = |url: &String| url.strip_prefix("https://").unwrap_or(url).to_owned();
        let signer = claims.build_signer_uri.as_ref().map(bare);
        let (workflow, workflow_ref) = match signer.as_deref().map(|signer| signer.split_once('@')) {
            Some(Some((workflow, reference))) => (Some(workflow.to_owned()), Some(reference.to_owned())),
            _ => (signer, None),
        };
        Some(Self {
            issuer: certificate.issuer.clone(),
            subject: subject.as_str().to_owned(),
            repository: claims.source_repository_uri.as_ref().map(bare),
            workflow,
            workflow_ref,
            reference: claims.source_repository_ref.clone(),
            commit: claims.source_repository_digest.clone(),
            run: claims.run_invocation_uri.clone(),
            environment: claims.deployment_environment.clone(),
            runner: claims.runner_environment.clone(),
            repository_id: claims.source_repository_identifier.clone(),
            owner_id: claims.source_repository_owner_identifier.clone(),
            is_release: false,
            is_person: matches!(subject, SubjectAltName::Email(_)),
            root: None,
        })
    }

    /// GitHub itself, with what it says of an immutable release.
    fn with_release(self, published: Option<&PublishedRelease>) -> Self {
        let Some(published) = published.filter(|_| self.subject == GITHUB_RELEASES && self.issuer.is_none()) else {
            return self;
        };
        Self {
            repository: Some(published.repository.clone()),
            reference: Some(format!("refs/tags/{}", published.tag)),
            repository_id: published.repository_id.clone(),
            owner_id: published.owner_id.clone(),
            is_release: true,
            ..self
        }
    }

    /// The host of the repository, if it is the one whose workflows the issuer vouches for, such as `github.com`.
    pub fn forge(&self) -> Option<&str> {
        let host = self.repository.as_ref()?.split('/').next()?;
        (!self.is_person && forges::issuer_of(host) == Some(self.issuer.as_deref()?)).then_some(host)
    }

    /// The path of the workflow in the repository that was built, if it is of that one.
    fn own_workflow(&self) -> Option<String> {
        let path = self.workflow.as_ref()?.strip_prefix(self.repository.as_ref()?)?.strip_prefix('/')?;
        Some(path.strip_prefix('/').unwrap_or(path).to_owned())
    }
}

/// `SUBJECT (by ISSUER)`: what the authority has seen, not what the signer says.
impl fmt::Display for ProvenIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.issuer {
            Some(issuer) => write!(f, "{} (by {issuer})", self.subject),
            None => f.write_str(&self.subject),
        }
    }
}

impl ProvenIdentity {
    /// The lines of the `[[identity]]` that admits it; `None` for what no identity can name.
    pub(crate) fn to_add(&self) -> Option<String> {
        let mut members = vec!["[[identity]]".to_owned()];
        let mut member = |name: &str, value: Option<&str>| {
            members.extend(value.map(|value| format!("{name} = {}", json::shown(value))));
        };
        if self.is_person {
            member("name", Some(&self.subject));
            member("email", Some(&self.subject));
            member("issuer", self.issuer.as_deref());
            member("root", self.root.as_deref());
            return Some(members.join("\n"));
        }
        let (host, name) = self.repository.as_deref()?.split_once('/')?;
        member("name", Some(name));
        if self.is_release {
            member("repository", self.repository.as_deref());
            member("ref", self.reference.as_deref());
            members.push("release = true".to_owned());
            return Some(members.join("\n"));
        }
        let called = || Some(one_slash(self.workflow.as_deref()?.split_once('/')?.1));
        member("repository", self.repository.as_deref());
        member("workflow", self.own_workflow().or_else(called).as_deref());
        member("ref", self.reference.as_deref());
        member("issuer", self.issuer.as_deref().filter(|issuer| forges::issuer_of(host) != Some(issuer)));
        member("root", self.root.as_deref());
        Some(members.join("\n"))
    }
}

/// A path with one slash where GitLab writes two, between a project and its file.
fn one_slash(path: &str) -> String {
    path.replace("//", "/")
}

/// Why a bundle with a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeylessFault {
    #[error("the bundle is malformed: {0}")]
    Malformed(String),
    #[error("its certificate is of an authority that no trusted root names; the built-in roots are of {ROOTS_DATE}")]
    UnknownAuthority,
    #[error("its certificate is not one of the authority that it names, or was not valid when the signature was made")]
    Certificate,
    #[error("the authority did not count when the signature was made")]
    AuthorityTime,
    #[error("its certificate does not say whose it is")]
    Nameless,
    #[error("its certificate was not valid when the signature was made")]
    CertificateTime,
    #[error("its certificate stands in no log of certificates that counts")]
    CertificateLog,
    #[error("nothing proves when it was made, and its certificate is valid for minutes")]
    NoTime,
    #[error("its timestamp is not one of an authority that counts")]
    Timestamp,
    #[error("it was made later than the clock of this machine says")]
    Future,
    #[error("it is in no transparency log that counts")]
    Log,
    #[error("the entry of the transparency log is of something else")]
    LogEntry,
    #[error("the signature does not verify with the key of its certificate")]
    Signature,
    #[error("it uses something that this version cannot verify")]
    Unsupported,
}

/// The statement in a bundle with a certificate, if one of the built-in roots or of `more` proves who made it.
///
/// A root proves by what it names: one that names a transparency log demands a proof of it, and one that names a log of
/// certificates demands its promise. So GitHub's own instance, which has neither, counts under its own root alone.
pub(crate) fn prove(bytes: &[u8], more: &[Arc<TrustedRoot>], now: SystemTime) -> Result<Proven, KeylessFault> {
    let malformed = |problem: &str| KeylessFault::Malformed(problem.to_owned());
    let value = json::parse(bytes).map_err(KeylessFault::Malformed)?;
    within_limits(&value).map_err(KeylessFault::Malformed)?;
    // Bundles before v0.3 have a chain in its place.
    let material = json::object(&value, "verificationMaterial").map_err(KeylessFault::Malformed)?;
    json::object(material, "certificate").map_err(KeylessFault::Malformed)?;
    let envelope = value.get("dsseEnvelope").ok_or_else(|| malformed("`dsseEnvelope` is missing"))?;
    let envelope = Envelope::parse(envelope).map_err(KeylessFault::Malformed)?;
    let statement = Statement::parse(&envelope.payload).map_err(KeylessFault::Malformed)?;
    let bundle = read(bytes)?;
    // Both readers must have read the same.
    let is_same = match &bundle.content {
        SignatureContent::DsseEnvelope(read) => {
            read.payload.as_bytes() == envelope.payload && read.signature.sig.as_bytes() == envelope.signature
        }
        _ => false,
    };
    if !is_same {
        return Err(malformed("its envelope cannot be read"));
    }
    // Which of the subjects counts is for the caller; that the payload is signed is shown by any of them.
    let digest = statement.subjects.iter().find_map(|subject| subject.digest.as_ref());
    let digest = digest.ok_or_else(|| malformed("no subject has a `sha256`"))?;
    let (identity, roots) = verified(&bundle, digest, TrustedRoot::built_in().iter().chain(more), now)?;
    let root = match roots.as_slice() {
        [RootName::File(path), ..] => Some(path.clone()),
        _ => None,
    };
    let identity = ProvenIdentity { root, ..identity };
    // The statement of GitHub alone is as good as its certificate.
    let published = statement.published.as_ref().filter(|_| roots.contains(&RootName::GitHub));
    Ok(Proven { identity: identity.with_release(published), roots, statement })
}

/// Who has signed a file, if a bundle of whatever form proves it: the question of Sigstore's conformance suite. Of a release,
/// statements alone count.
///
/// # Errors
/// Why nothing is proven.
pub fn prove_file(
    bundle: &[u8],
    file: &Digest,
    root: Option<&[u8]>,
    now: SystemTime,
) -> Result<ProvenIdentity, String> {
    let own = root.map(|text| TrustedRoot::read(RootName::File(String::new()), text)).transpose()?.map(Arc::new);
    within_limits(&json::parse(bundle)?)?;
    let bundle = read(bundle).map_err(|fault| fault.to_string())?;
    // A root that is named is the only one.
    let built_in = TrustedRoot::built_in().iter().filter(|root| own.is_none() && root.name == RootName::PublicGood);
    let proven = verified(&bundle, file, built_in.chain(&own), now);
    proven.map(|(identity, _)| identity).map_err(|fault| fault.to_string())
}

fn read(bytes: &[u8]) -> Result<Bundle, KeylessFault> {
    let malformed = |problem: &str| KeylessFault::Malformed(problem.to_owned());
    let text = std::str::from_utf8(bytes).map_err(|_| malformed("it is not UTF-8"))?;
    crypto::install();
    Bundle::from_json(text).map_err(|_| malformed("a member of it has another form"))
}

/// Who has signed what has this digest, and every one of the roots that proves it.
fn verified<'a>(
    bundle: &Bundle,
    digest: &Digest,
    roots: impl Iterator<Item = &'a Arc<TrustedRoot>>,
    now: SystemTime,
) -> Result<(ProvenIdentity, Vec<RootName>), KeylessFault> {
    let malformed = |problem: &str| KeylessFault::Malformed(problem.to_owned());
    let digest = Sha256Hash::from_hex(digest.encoded()).map_err(|_| malformed("no subject has a `sha256`"))?;
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let is_future = |time: i64, slow: u64| u64::try_from(time).is_ok_and(|time| time > seconds.saturating_add(slow));
    let entries = &bundle.verification_material.tlog_entries;
    // The crate below demands the same of a log's time by its own clock, to the second.
    if entries.iter().filter_map(|entry| entry.integrated_time).any(|time| is_future(time.as_second(), 0)) {
        return Err(KeylessFault::Future);
    }
    let names = bundle.signing_certificate().and_then(|certificate| Names::of(certificate.as_bytes()));
    let names = names.ok_or_else(|| malformed("its certificate cannot be read"))?;
    let mut fault = KeylessFault::UnknownAuthority;
    let (mut proven, mut by) = (None, Vec::new());
    for root in roots.filter(|root| root.claims(&names)) {
        match root.verifier.verify(digest, bundle, &root.demands) {
            Ok(verified) => {
                let times = verified.verified_timestamps();
                if times.iter().any(|time| is_future(time.as_second(), SLOW_CLOCK)) {
                    fault = KeylessFault::Future;
                    continue;
                }
                let identity = verified.certificate().filter(|_| verified.certificate_verified() && !times.is_empty());
                let Some(identity) = identity.and_then(ProvenIdentity::of) else {
                    fault = KeylessFault::Nameless;
                    continue;
                };
                if root.is_for(identity.issuer.as_deref()) {
                    by.push(root.name.clone());
                    proven = Some(identity);
                } else {
                    fault = KeylessFault::UnknownAuthority;
                }
            }
            Err(error) => fault = fault_of(&error),
        }
    }
    // All of them have read one certificate.
    Ok((proven.ok_or(fault)?, by))
}

/// Bounds what costs work or memory before it is read again.
fn within_limits(bundle: &Value) -> Result<(), String> {
    let material = json::object(bundle, "verificationMaterial")?;
    if let Some(certificate) = material.get("certificate")
        && json::text(certificate, "rawBytes")?.len() > CERTIFICATE
    {
        return Err("its certificate is too large".to_owned());
    }
    let times = material.get("timestampVerificationData").and_then(|data| data.get("rfc3161Timestamps"));
    if times.and_then(Value::as_array).is_some_and(|times| times.len() > TIMESTAMPS) {
        return Err(format!("it has more than {TIMESTAMPS} timestamps"));
    }
    let entries = material.get("tlogEntries").and_then(Value::as_array);
    if entries.is_some_and(|entries| entries.len() > ENTRIES) {
        return Err(format!("it has more than {ENTRIES} entries of logs"));
    }
    for entry in entries.into_iter().flatten() {
        let hashes = entry.get("inclusionProof").and_then(|proof| proof.get("hashes")).and_then(Value::as_array);
        if hashes.is_some_and(|hashes| hashes.len() > PROOF) {
            return Err(format!("a proof has more than {PROOF} hashes"));
        }
    }
    Ok(())
}

/// The fault in our own words.
fn fault_of(error: &Error) -> KeylessFault {
    match error {
        Error::SignatureInvalid(_) => KeylessFault::Signature,
        Error::Certificate(error) => match error {
            CertificateError::NoValidAuthority { .. } => KeylessFault::AuthorityTime,
            CertificateError::NotYetValid { .. } | CertificateError::Expired { .. } => KeylessFault::CertificateTime,
            CertificateError::Sct(_) => KeylessFault::CertificateLog,
            _ => KeylessFault::Certificate,
        },
        Error::TransparencyLog(error) => match error {
            TransparencyLogError::EntryMismatch(_) => KeylessFault::LogEntry,
            TransparencyLogError::IntegratedTime(_) => KeylessFault::CertificateTime,
            _ => KeylessFault::Log,
        },
        Error::Timestamp(TimestampError::NoVerifiedTimestamp(_)) => KeylessFault::NoTime,
        Error::Timestamp(_) => KeylessFault::Timestamp,
        Error::Bundle(_) => KeylessFault::Log,
        Error::InvalidBundle(_) | Error::Types(_) => {
            KeylessFault::Malformed("a member of it has another form".to_owned())
        }
        _ => KeylessFault::Unsupported,
    }
}
