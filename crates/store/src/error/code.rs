//! Stable names of the errors of a store.

use super::{AccessFault, StoreError, StoreItem};

impl StoreError {
    /// A stable kebab-case name of what went wrong: the measured name of `OpenTofu` if it fails in the same way.
    ///
    /// Spec: `real-tofu-sources.md` (measured), §4 and §8.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { what: StoreItem::Tag(_) | StoreItem::ManifestOfTag(_), .. } => "tag-not-found",
            Self::NotFound { what: StoreItem::Blob(_), .. } => "blob-not-found",
            Self::NotFound { .. } => "manifest-not-found",
            Self::UnknownRepository { .. } => "provider-not-found",
            Self::DigestMismatch { what: StoreItem::Blob(_), .. } => "blob-digest-mismatch",
            Self::DigestMismatch { .. } => "manifest-digest-mismatch",
            Self::SizeMismatch { what: StoreItem::Blob(_), .. } => "blob-size-mismatch",
            Self::SizeMismatch { .. } => "manifest-size-mismatch",
            Self::UnsupportedDigest { .. } => "unsupported-digest",
            Self::TooLarge { .. }
            | Self::TooManyManifests { .. }
            | Self::TooDeep { .. }
            | Self::Malformed { .. }
            | Self::ChunksLost { .. } => "bad-body",
            Self::NotListed { .. } => "referrer-not-listed",
            Self::Denied { fault, .. } if fault.code() == "registry-status:403" => "denied",
            Self::Denied { .. } | Self::Unauthorized { .. } => "unauthorized",
            Self::NoToken { .. } => "no-token",
            Self::Rejected { status, .. } | Self::Disturbed { status, .. } => status_code(*status),
            Self::TagStays { .. } => "deletion-refused",
            Self::RateLimited { .. } => "too-many-requests",
            Self::Unreachable { fault, .. } => fault.code(),
            Self::Forbidden { fault: Some(AccessFault::PrivateHost), .. } => "private-host",
            Self::Forbidden { .. } => "bad-redirect",
            Self::Credentials { .. } => "credentials",
            Self::MissingPart { .. } => "bundle-part-missing",
            Self::CutOff { .. } => "bundle-cut-off",
            Self::Io { .. } => "io",
            Self::Locked(error) => match **error {
                tofu_oci_disk::LockError::Held { .. } => "locked-by-another",
                tofu_oci_disk::LockError::Io { .. } => "io",
            },
            Self::ReadOnly { .. } => "read-only",
        }
    }
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
