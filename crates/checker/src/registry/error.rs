//! Why a registry was not probed.

use tofu_oci_store::StoreError;

/// Why a registry was not probed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The repository is in use.
    #[error("{repository} is not a scratch repository: it has the tags {}", tags.join(", "))]
    InUse {
        repository: String,
        /// Tags that no probe has written, the first five.
        tags: Vec<String>,
    },
    /// The registry refuses to write there.
    #[error("{repository} takes no upload: {said}")]
    NoUpload {
        repository: String,
        said: String,
        /// Whether the registry had a fault of its own, which says nothing about what it accepts.
        trouble: bool,
    },
    /// The caller stopped it.
    #[error("interrupted")]
    Interrupted,
    /// It ended early, and could not delete everything that it had written.
    #[error("{error}")]
    Left { error: Box<ProbeError>, repository: String, left: Vec<String> },
    /// No answer came.
    #[error(transparent)]
    Store(#[from] StoreError),
}
