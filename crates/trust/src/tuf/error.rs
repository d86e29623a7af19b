//! Why a TUF repository gives no file.

/// Why a TUF repository gives nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TufError {
    #[error("{file} is malformed: {problem}")]
    Malformed { file: &'static str, problem: String },
    #[error("{file} has {valid} of the {threshold} signatures that its role demands")]
    Signatures { file: &'static str, valid: usize, threshold: usize },
    #[error("{file} has version {found}, not {wanted}")]
    OtherVersion { file: &'static str, found: u64, wanted: u64 },
    #[error("{file} has version {found}, and version {known} was current before: it is an old one")]
    Rollback { file: &'static str, found: u64, known: u64 },
    #[error("its root has no key of the root that was current before: it is the repository of another instance")]
    OtherInstance,
    #[error("{file} expired at {at}: the repository is an old copy, or the clock of this machine is wrong")]
    Expired { file: &'static str, at: String },
    #[error("{file} has more than {limit} bytes")]
    TooLarge { file: &'static str, limit: u64 },
    #[error("{file} is another file than the signed metadata names: its length or hash differs")]
    OtherFile { file: &'static str },
    #[error("it has no trusted_root.json")]
    NoTarget,
}
