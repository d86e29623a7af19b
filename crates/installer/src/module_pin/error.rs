//! Why a call of a module cannot be pinned, or its pin no longer holds.

use tofu_oci_fetch::ModuleFetchError;
use tofu_oci_source::{ModuleError, wanted_text};
use tofu_oci_store::StoreError;
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{Constraints, Digest, Place, Reference, Tag, Version};

/// Why a call of a module cannot be pinned, or its pin no longer holds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModulePinError {
    /// The tag of a version names another package than the pinned one.
    #[error("the tag {tag} of {place} names {now} now, not the pinned {pinned}")]
    TagMoved { place: Place, tag: Tag, pinned: Digest, now: Digest },
    /// The constraint does not admit the version.
    #[error("the constraint `{wanted}` does not admit {version} of {place}")]
    ConstraintUnmet { place: Place, version: Version, wanted: Constraints },
    /// The repository has no version that may be chosen.
    #[error("{place} has no version{}", wanted_text(wanted))]
    NoMatchingVersion { place: Place, wanted: Constraints, offered: Vec<Version> },
    /// The repository lacks the tag or digest.
    #[error("{place} has no module package under {reference}")]
    Missing {
        place: Place,
        reference: Reference,
        /// The versions that it has, ascending; empty if it does not list them.
        offered: Vec<Version>,
        #[source]
        source: Box<StoreError>,
    },
    /// Its publisher has withdrawn the version of the tag.
    #[error("version {version} was withdrawn from {place}")]
    Withdrawn { place: Place, version: Version, reason: Option<NoticeReason>, offered: Vec<Version> },
    /// The package cannot be read, is not a module, or is not trusted.
    #[error(transparent)]
    Fetch(#[from] ModuleFetchError),
}

impl ModulePinError {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TagMoved { .. } => "module-tag-moved",
            Self::ConstraintUnmet { .. } => "module-constraint-unmet",
            Self::NoMatchingVersion { .. } => "no-matching-version",
            Self::Missing { reference: Reference::Tag(_), .. } => "tag-not-found",
            Self::Missing { reference: Reference::Digest(_), .. } => "digest-not-found",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Fetch(error) => error.code(),
        }
    }
}

impl From<ModuleError> for ModulePinError {
    fn from(error: ModuleError) -> Self {
        Self::Fetch(error.into())
    }
}

impl From<StoreError> for ModulePinError {
    fn from(error: StoreError) -> Self {
        ModuleError::from(error).into()
    }
}
