//! What can go wrong with a store.

mod code;
mod fault;
mod foreign_text;
mod item;
mod rejection;

use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_types::{Digest, NetworkFault, Place, Tag};

pub use fault::AccessFault;
pub use item::StoreItem;
pub use rejection::RejectionReason;

/// Why a store did not do what it was asked for.
///
/// `place` never shows credentials or a query.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No such tag, manifest or blob in a repository that exists or may exist.
    #[error("{place} has no {what}")]
    NotFound { place: Place, what: StoreItem },
    /// The repository itself is unknown to the registry, or the folder holds none.
    #[error("there is no {}", unknown(place))]
    UnknownRepository { place: Place },
    /// The bytes are not those that the digest names.
    #[error("{what} of {place} is damaged: expected {expected}, got {actual}")]
    DigestMismatch { place: Place, what: StoreItem, expected: Digest, actual: Box<Digest> },
    /// More or fewer bytes than the descriptor says.
    #[error("{what} of {place} has the wrong size: expected {expected} bytes, got {actual}")]
    SizeMismatch {
        place: Place,
        what: StoreItem,
        expected: u64,
        /// The size of what came (or of what was read before it became too large).
        actual: u64,
    },
    /// A digest of an algorithm that is not supported.
    #[error("cannot verify {digest}: its algorithm is not supported")]
    UnsupportedDigest { digest: Digest },
    /// Something larger than this program is willing to read.
    #[error("{what} of {place} is larger than {limit} bytes")]
    TooLarge {
        place: Place,
        what: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// More manifests hang together than one run reads.
    #[error(
        "{manifests} manifests with {bytes} bytes, or more, hang together in {place}, and the limits are {most} manifests and \
         {most_bytes} bytes"
    )]
    TooManyManifests {
        place: Place,
        /// How many had been found when reading stopped, those of the whole run.
        manifests: usize,
        bytes: u64,
        most: usize,
        /// The limit of their bytes.
        most_bytes: u64,
    },
    /// Manifests name each other in a longer row than is followed.
    #[error("manifests of {place} {relation} over more than {limit} levels")]
    TooDeep { place: Place, relation: &'static str, limit: usize },
    /// The repository's own structure is broken (not an OCI layout, an index that is not JSON).
    #[error("{place} is not usable: {problem}")]
    Malformed { place: Place, problem: String },
    /// The registry loses chunks of an upload.
    #[error("{place} is not usable: {problem}")]
    ChunksLost {
        place: Place,
        /// How many bytes it has kept.
        problem: String,
    },
    /// Manifests are there, and a search for what refers to their subject does not find them.
    #[error("{place} does not list among the referrers of {subject} what it has: {}", in_a_row(missing))]
    NotListed { place: Place, subject: Digest, missing: Vec<Digest> },
    /// The registry knows who asks, and refuses.
    #[error("{place} denied access: {problem}")]
    Denied { place: Place, fault: AccessFault, problem: String },
    /// The registry wants to know who asks.
    #[error("{place} needs credentials: {problem}")]
    Unauthorized { place: Place, fault: AccessFault, problem: String },
    /// The token server of the registry gave no token, for a reason of its own.
    #[error("no token for {place}: {problem}")]
    NoToken { place: Place, fault: AccessFault, problem: String },
    /// The registry answered with something else than was asked for.
    #[error("{place} answered {status} to {request}: {problem}")]
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
    Disturbed { place: Place, status: u16, request: String, problem: String },
    /// The registry deletes neither tags nor manifests. Nothing was changed.
    #[error(
        "{place} does not let the tag {tag} be deleted: it answered {by_tag} when asked to delete a tag, and {by_digest} when \
         asked to delete a manifest"
    )]
    TagStays { place: Place, tag: Tag, by_tag: String, by_digest: String },
    /// The registry asks to slow down for longer than we are willing to wait.
    #[error("{place} asks to wait {seconds} s before trying again")]
    RateLimited { place: Place, seconds: u64, reason: GiveUpReason },
    /// No connection, or one that broke and could not be fixed.
    #[error("cannot reach {place}: {problem}")]
    Unreachable { place: Place, fault: NetworkFault, problem: String },
    /// A rule of ours forbids what the registry asked us to do.
    #[error("refused to follow {place}: {problem}")]
    Forbidden {
        place: Place,
        /// The rule, if it is one that keeps credentials safe.
        fault: Option<AccessFault>,
        /// The host, with its port, that the user may allow.
        host: Option<String>,
        problem: String,
    },
    /// A credential could not be obtained.
    #[error("no credentials for {place}: {problem}")]
    Credentials {
        place: Place,
        /// A stable kebab-case name: `helper-failed`, `auth-without-colon`, `incomplete-basic`.
        code: String,
        problem: String,
        hint: Option<String>,
    },
    /// A part of a bundle is not beside the others.
    #[error("{place} is not whole: {} is missing", part.display())]
    MissingPart { place: Place, part: PathBuf },
    /// A bundle ends before what it holds does.
    #[error("{} is cut off after {size} bytes", path.display())]
    CutOff {
        path: PathBuf,
        /// How many bytes it has.
        size: u64,
    },
    /// The file system reported an error.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// `read`, `write`, `create`, `rename`.
        action: &'static str,
        path: PathBuf,
        #[source]
        source: Arc<std::io::Error>,
    },
    /// Another program changes the folder, and did not end in time.
    #[error(transparent)]
    Locked(Arc<tofu_oci_disk::LockError>),
    /// The store cannot be written to.
    #[error("{place} is read-only")]
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
        Self::Io { action, path: path.into(), source: Arc::new(source) }
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
                Some(fault.code())
            }
            Self::Forbidden { fault, .. } => fault.map(AccessFault::code),
            Self::Rejected { status, .. } | Self::Disturbed { status, .. } => {
                Some(AccessFault::RegistryStatus(*status).code())
            }
            Self::RateLimited { .. } => Some(AccessFault::RegistryStatus(429).code()),
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
