//! What can be wrong with a lock file.

use std::path::PathBuf;

use tofu_oci_disk::FileError;
use tofu_oci_fault::Fault;
use tofu_oci_types::TextPosition;

/// Why a lock file could not be read or written.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum LockFileError {
    /// the lock file cannot be read
    #[error("{}:{at}: {problem}", path.display())]
    #[fault("lock-invalid", todo = "correct the line that the error shows, or restore the file")]
    #[hint("correct the file by hand, or restore it from version control; nothing was changed")]
    Invalid { path: PathBuf, at: TextPosition, problem: LockProblem },
    /// the lock file cannot be read from disk or written
    #[error(transparent)]
    #[fault("lock-file", of = _0, end = Fixable, todo = "the error says what the system said")]
    Io(#[from] FileError),
}

/// What is wrong at one position of a lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockProblem {
    #[error("the file does not parse: {message}")]
    Syntax { message: String },
    /// A block or attribute that lock files do not have.
    #[error("unexpected {what} `{name}`; remove it")]
    Unexpected {
        /// `block` or `attribute`.
        what: &'static str,
        name: String,
    },
    /// A `provider` block without exactly one label.
    #[error("a provider block must have one label, the provider's address")]
    Label,
    #[error("`{label}` is not a provider address in normal form{}", expected(canonical.as_deref()))]
    NonNormalizedAddress {
        label: String,
        /// The normal form, if that is known.
        canonical: Option<String>,
    },
    #[error("`{label}` cannot be locked: it is built in, or has no known registry; remove the block")]
    NotLockable { label: String },
    #[error("`{label}` is locked twice; keep one of the two blocks")]
    Duplicate { label: String },
    #[error("the block has no version")]
    MissingVersion,
    #[error("{reason}")]
    InvalidVersion { text: String, reason: String },
    #[error("the version `{text}` must be written `{canonical}`")]
    NonNormalizedVersion { text: String, canonical: String },
    #[error("{reason}")]
    InvalidConstraints { text: String, reason: String },
    #[error("the constraints `{text}` must be written `{canonical}`")]
    NonNormalizedConstraints { text: String, canonical: String },
    #[error("`{name}` must be a string in quotes")]
    NotAString { name: &'static str },
    /// `hashes` that is not a list, or is empty.
    #[error("`hashes` must be a list of at least one string; remove it when there are none")]
    InvalidHashSet,
    #[error("`{text}` is not a package checksum: it must read SCHEME:VALUE")]
    InvalidHash { text: String },
}

fn expected(canonical: Option<&str>) -> String {
    canonical.map(|canonical| format!("; write `{canonical}`")).unwrap_or_default()
}
