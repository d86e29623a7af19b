//! What can go wrong with a store.

mod advice;
mod fault;
mod foreign_text;
mod item;
mod rejection;

use std::path::PathBuf;

use tofu_oci_disk::{FileError, LockError};
use tofu_oci_fault::Fault;
use tofu_oci_types::{Digest, NetworkFault, Place, Tag};

pub use fault::AccessFault;
pub use item::StoreItem;
pub use rejection::RejectionReason;

/// Why a store did not do what it was asked for.
///
/// `place` never shows credentials or a query.
#[derive(Debug, Clone, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum StoreError {
    /// No such tag, manifest or blob in a repository that exists or may exist.
    #[error("{place} has no {what}")]
    #[fault(code = not_found(what))]
    #[hint(if !matches!(what, StoreItem::Tag(_)) => "the release is incomplete there; its publisher can push it again")]
    NotFound { place: Place, what: StoreItem },
    /// The repository itself is unknown to the registry, or the folder holds none.
    #[error("there is no {}", unknown(place))]
    #[fault(code = "provider-not-found")]
    #[hint("{}", advice::unknown(place))]
    UnknownRepository { place: Place },
    /// the bytes of a package do not have the digest that names them
    #[error("{what} of {place} is damaged: expected {expected}, got {actual}")]
    #[fault("blob-digest-mismatch", code = damaged(what, "blob-digest-mismatch", "manifest-digest-mismatch"), todo = "push the release again; if that does not help, the registry is damaged")]
    #[hint("{}", advice::damaged(place))]
    DigestMismatch { place: Place, what: StoreItem, expected: Digest, actual: Box<Digest> },
    /// a package has another size than its descriptor says
    #[error("{what} of {place} has the wrong size: expected {expected} bytes, got {actual}")]
    #[fault("blob-size-mismatch", code = damaged(what, "blob-size-mismatch", "manifest-size-mismatch"), todo = "push \
            the release again")]
    #[hint("{}", advice::damaged(place))]
    SizeMismatch {
        place: Place,
        what: StoreItem,
        expected: u64,
        /// The size of what came (or of what was read before it became too large).
        actual: u64,
    },
    /// a digest uses an algorithm other than SHA-256 and SHA-512
    #[error("cannot verify {digest}: its algorithm is not supported")]
    #[fault("unsupported-digest", todo = "push the release with SHA-256")]
    #[hint("sha256 and sha512 are known here")]
    UnsupportedDigest { digest: Digest },
    #[error("{what} of {place} is larger than {limit} bytes")]
    #[fault(code = "bad-body")]
    #[hint("this is no provider release")]
    TooLarge { place: Place, what: String, limit: u64 },
    /// More manifests hang together than one run reads.
    #[error(
        "{manifests} manifests with {bytes} bytes, or more, hang together in {place}, and the limits are {most} manifests and \
         {most_bytes} bytes"
    )]
    #[fault(code = "bad-body")]
    #[hint(
        "a run has these limits: copy fewer versions at a time; if one version alone is too much, somebody has \
            attached far more to it than a release needs"
    )]
    TooManyManifests {
        place: Place,
        /// How many had been found when reading stopped, those of the whole run.
        manifests: usize,
        bytes: u64,
        most: usize,
        most_bytes: u64,
    },
    #[error("manifests of {place} {relation} over more than {limit} levels")]
    #[fault(code = "bad-body")]
    #[hint("a release needs two levels; check who wrote these manifests")]
    TooDeep { place: Place, relation: &'static str, limit: usize },
    /// an answer cannot be read: malformed, too large, or nested too deep
    #[error("{place} is not usable: {problem}")]
    #[fault("bad-body", todo = "check that the address is a registry, and not a proxy or a login page")]
    #[hint("{}", advice::malformed(place))]
    Malformed { place: Place, problem: String },
    /// The registry loses chunks of an upload.
    #[error("{place} is not usable: {problem}")]
    #[fault(code = "bad-body")]
    #[hint("{}", advice::NO_CHUNKS)]
    ChunksLost {
        place: Place,
        /// How many bytes it has kept.
        problem: String,
    },
    /// the registry took a signature or another referrer and does not list it
    #[error("{place} does not list among the referrers of {subject} what it has: {}", in_a_row(missing))]
    #[fault(
        "referrer-not-listed",
        todo = "sign with `--sign-format cosign-tag`, or copy to a registry that lists \
            referrers"
    )]
    #[hint(
        "no tag was written: run the same command again, and if it fails again, copy to a registry that lists \
            referrers"
    )]
    NotListed { place: Place, subject: Digest, missing: Vec<Digest> },
    /// the registry knows the login and refuses the access
    #[error("{place} denied access: {problem}")]
    #[fault("denied", code = denied(*fault), todo = "ask the owner of the repository for the right")]
    #[hint(if matches!(fault, AccessFault::NoKnownScheme(_)) => "no login helps there; check that this is the \
            registry you mean, or ask its operator")]
    #[hint(each = advice::shape(place).filter(|_| !matches!(fault, AccessFault::NoKnownScheme(_))))]
    #[hint(if !matches!(fault, AccessFault::NoKnownScheme(_)) => "ask the owner of {place} for the right to read, and \
            for a push to write; another login may have it")]
    Denied { place: Place, fault: AccessFault, problem: String },
    /// the registry does not accept the login, or wants one
    #[error("{place} needs credentials: {problem}")]
    #[fault("unauthorized", todo = "`tofu-oci login REGISTRY`; `tofu-oci auth explain REPOSITORY` says what was shown")]
    #[hint(if matches!(fault, AccessFault::TokenRefused(_)) => "check the name: registries also answer so about a \
            repository that does not exist, or that this login may not see")]
    Unauthorized { place: Place, fault: AccessFault, problem: String },
    /// the token server gave no token
    #[error("no token for {place}: {problem}")]
    #[fault("no-token", end = FaultEnd::of_transient(self.is_transient()), todo = "`tofu-oci auth explain REPOSITORY` \
            shows its answer")]
    #[hint("the registry's token server has a problem of its own; run the same command again later")]
    NoToken { place: Place, fault: AccessFault, problem: String },
    /// The registry answered with something else than was asked for.
    #[error("{place} answered {status} to {request}: {problem}")]
    #[fault(code = status_code(*status), end = FaultEnd::of_transient(self.is_transient() || *status >= 500))]
    #[hint("{}", advice::rejected(place, *status, *reason, request))]
    Rejected {
        place: Place,
        status: u16,
        request: String,
        problem: String,
        reason: RejectionReason,
        /// Whether another host answered, to which the registry had redirected.
        crossed: bool,
    },
    /// The registry keeps saying that content is missing or damaged that it has: other programs write the same at the same
    /// time.
    #[error("{place} answered {status} to {request} although it has everything that this needs: {problem}")]
    #[fault(code = status_code(*status), end = Unexpected)]
    #[hint("other programs write to this repository at the same time: run the same command again")]
    Disturbed { place: Place, status: u16, request: String, problem: String },
    /// the registry deletes neither tags nor manifests; nothing was changed
    #[error(
        "{place} does not let the tag {tag} be deleted: it answered {by_tag} when asked to delete a tag, and {by_digest} when \
         asked to delete a manifest"
    )]
    #[fault("deletion-refused", todo = "ask its operator to turn deletion on; `tofu-oci deprecate` needs none")]
    #[hint("the release stays as it is; ask the operator of the registry to turn deletion on")]
    TagStays { place: Place, tag: Tag, by_tag: String, by_digest: String },
    /// the registry limits requests, and waiting did not help
    #[error("{place} asks to wait {seconds} s before trying again")]
    #[fault("too-many-requests", end = Unexpected, todo = "log in (limits for anonymous users are lower), wait, or \
            raise `--max-wait`")]
    #[hint(if *reason == GiveUpReason::Attempts => "try again in {seconds} s, or have it tried more often with \
            --attempts N")]
    #[hint(if *reason == GiveUpReason::Attempts => "--jobs 1 asks for fewer at once")]
    #[hint(if *reason == GiveUpReason::Wait => "try again later, or wait longer with --max-wait {seconds}")]
    RateLimited { place: Place, seconds: u64, reason: GiveUpReason },
    /// No connection, or one that broke and could not be fixed.
    #[error("cannot reach {place}: {problem}")]
    #[fault(code = fault.code(), end = Unexpected)]
    Unreachable { place: Place, fault: NetworkFault, problem: String },
    /// a redirect leads where tofu-oci does not go
    #[error("refused to follow {place}: {problem}")]
    #[fault("bad-redirect", code = forbidden(*fault), todo = "the error names the target and the rule")]
    #[hint(if fault.is_none() => "{}", advice::SHOW)]
    #[hint(if *fault == Some(AccessFault::PrivateHost) => "if that is meant, allow it with --private-host \
            {}", host.as_deref().unwrap_or("HOST"))]
    #[hint(each = fault.iter().flat_map(Fault::hints))]
    Forbidden {
        place: Place,
        /// The rule, if it is one that keeps credentials safe.
        fault: Option<AccessFault>,
        /// The host, with its port, that the user may allow.
        host: Option<String>,
        problem: String,
    },
    /// credentials for the registry cannot be used
    #[error("no credentials for {place}: {problem}")]
    #[fault("credentials", todo = "the error names the file, block or helper")]
    #[hint(each = hint.iter().flat_map(|hint| hint.lines()))]
    Credentials {
        place: Place,
        /// A stable kebab-case name: `helper-failed`, `auth-without-colon`, `incomplete-basic`.
        code: String,
        problem: String,
        hint: Option<String>,
    },
    /// a part of a bundle is not beside the others
    #[error("{place} is not whole: {} is missing", part.display())]
    #[fault("bundle-part-missing", todo = "copy the file that the error names into the same folder")]
    #[hint("copy that file as well, into the same folder")]
    MissingPart { place: Place, part: PathBuf },
    /// a bundle, or a part of it, ends too early
    #[error("{} is cut off after {size} bytes", path.display())]
    #[fault("bundle-cut-off")]
    #[hint("copy the file again, whole")]
    CutOff { path: PathBuf, size: u64 },
    /// The file system reported an error.
    #[error(transparent)]
    #[fault(of = _0)]
    Io(#[from] FileError),
    /// Another program changes the folder, and did not end in time.
    #[error(transparent)]
    #[fault(of = _0)]
    Locked(LockError),
    /// the place cannot be written to
    #[error("{place} is read-only")]
    #[fault("read-only", todo = "choose another destination")]
    #[hint("{}", advice::read_only(place))]
    ReadOnly { place: Place },
}

/// Why a wait that a registry asks for is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUpReason {
    /// All attempts have been made.
    Attempts,
    /// It is longer than we are willing to wait.
    Wait,
}

impl StoreError {
    /// An error of the file system.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io(FileError::new(action, path, source))
    }

    /// Whether what was asked for does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::UnknownRepository { .. })
    }

    /// Whether the place has answered, and what it has is broken or gone. Anything else says nothing about the content:
    /// the network, the machine, or missing access rights kept the place from answering.
    pub fn is_of_content(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. }
                | Self::UnknownRepository { .. }
                | Self::DigestMismatch { .. }
                | Self::SizeMismatch { .. }
                | Self::UnsupportedDigest { .. }
                | Self::TooLarge { .. }
                | Self::TooManyManifests { .. }
                | Self::TooDeep { .. }
                | Self::Malformed { .. }
                | Self::ChunksLost { .. }
                | Self::MissingPart { .. }
                | Self::CutOff { .. }
        )
    }

    /// A stable name of what went wrong with the credentials or the access; `None` for an error about neither.
    pub fn credential_code(&self) -> Option<String> {
        match self {
            Self::Credentials { code, .. } => Some(code.clone()),
            Self::Unauthorized { fault, .. } | Self::NoToken { fault, .. } | Self::Denied { fault, .. } => {
                Some(fault.with_status())
            }
            Self::Forbidden { fault, .. } => fault.map(AccessFault::with_status),
            Self::Rejected { status, .. } | Self::Disturbed { status, .. } => {
                Some(AccessFault::RegistryStatus(*status).with_status())
            }
            Self::RateLimited { .. } => Some(AccessFault::RegistryStatus(429).with_status()),
            _ => None,
        }
    }

    /// Whether the same request may succeed when made again.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::RateLimited { .. } | Self::Disturbed { .. } => true,
            Self::Rejected { status, .. } | Self::NoToken { fault: AccessFault::TokenServerStatus(status), .. } => {
                matches!(status, 408 | 429 | 500..=599)
            }
            _ => false,
        }
    }
}

/// The measured name of `OpenTofu`, as those below.
///
/// Spec: `real-tofu-sources.md` (measured), §4 and §8.
fn not_found(what: &StoreItem) -> &'static str {
    match what {
        StoreItem::Tag(_) | StoreItem::ManifestOfTag(_) => "tag-not-found",
        StoreItem::Blob(_) => "blob-not-found",
        _ => "manifest-not-found",
    }
}

fn damaged(what: &StoreItem, blob: &'static str, other: &'static str) -> &'static str {
    if matches!(what, StoreItem::Blob(_)) { blob } else { other }
}

fn denied(fault: AccessFault) -> &'static str {
    if fault.with_status() == "registry-status:403" { "denied" } else { "unauthorized" }
}

fn forbidden(fault: Option<AccessFault>) -> &'static str {
    if fault == Some(AccessFault::PrivateHost) { "private-host" } else { "bad-redirect" }
}

fn status_code(status: u16) -> &'static str {
    match status {
        401 => "unauthorized",
        403 => "denied",
        404 => "not-found-but-hard",
        429 => "too-many-requests",
        500..=599 => "server-error",
        _ => "bad-status",
    }
}

/// What is not there.
fn unknown(place: &Place) -> String {
    match place {
        Place::Bundle(file) => format!("bundle {}", file.display()),
        place => format!("repository {place}"),
    }
}

fn in_a_row(digests: &[Digest]) -> String {
    digests.iter().map(Digest::to_string).collect::<Vec<_>>().join(", ")
}
