//! What can be wrong with a lock file.

use std::io;
use std::path::PathBuf;

use tofu_oci_types::TextPosition;

/// Why a lock file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockFileError {
    /// The text is not a valid lock file. Nothing is guessed: a misread lock file does not protect.
    #[error("{}:{at}: {problem}", path.display())]
    Invalid { path: PathBuf, at: TextPosition, problem: LockProblem },
    /// The file system failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// `read`, `write` or `rename`.
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl LockFileError {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "lock-invalid",
            Self::Io { .. } => "lock-file",
        }
    }
}

/// What is wrong at one position of a lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockProblem {
    /// The text is not HCL.
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
    /// A label that is not an address in normal form.
    #[error("`{label}` is not a provider address in normal form{}", expected(canonical.as_deref()))]
    NonNormalizedAddress {
        label: String,
        /// The normal form, if that is known.
        canonical: Option<String>,
    },
    /// A built-in or legacy provider.
    #[error("`{label}` cannot be locked: it is built in, or has no known registry; remove the block")]
    NotLockable { label: String },
    /// Two blocks for one provider.
    #[error("`{label}` is locked twice; keep one of the two blocks")]
    Duplicate { label: String },
    /// A block without the version.
    #[error("the block has no version")]
    MissingVersion,
    #[error("{reason}")]
    InvalidVersion { text: String, reason: String },
    /// A version that is written differently in its normal form.
    #[error("the version `{text}` must be written `{canonical}`")]
    NonNormalizedVersion { text: String, canonical: String },
    #[error("{reason}")]
    InvalidConstraints { text: String, reason: String },
    /// Constraints that are written differently in their normal form.
    #[error("the constraints `{text}` must be written `{canonical}`")]
    NonNormalizedConstraints { text: String, canonical: String },
    /// An attribute that is not a plain string.
    #[error("`{name}` must be a string in quotes")]
    NotAString { name: &'static str },
    /// `hashes` that is not a list, or is empty.
    #[error("`hashes` must be a list of at least one string; remove it when there are none")]
    InvalidHashSet,
    /// A hash without a scheme.
    #[error("`{text}` is not a package checksum: it must read SCHEME:VALUE")]
    InvalidHash { text: String },
}

fn expected(canonical: Option<&str>) -> String {
    canonical.map(|canonical| format!("; write `{canonical}`")).unwrap_or_default()
}
