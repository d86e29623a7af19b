//! Why a call of a module cannot be pinned, or its pin no longer holds.

use tofu_oci_fault::Fault;
use tofu_oci_fetch::ModuleFetchError;
use tofu_oci_source::{ModuleError, wanted_text};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Constraints, Digest, Place, Reference, Tag, Version, versions_in_words};

/// Why a call of a module cannot be pinned, or its pin no longer holds.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ModulePinError {
    /// the tag in the comment of a pin names another package than the pinned one: a version was replaced
    #[error("the tag {tag} of {place} names {now} now, not the pinned {pinned}")]
    #[fault("module-tag-moved", todo = "ask its publisher why; `module lock --accept-moved` takes what it names now")]
    #[hint("a version was replaced, or the comment names another one; ask its publisher why")]
    TagMoved { place: Place, tag: Tag, pinned: Digest, now: Digest },
    /// the constraint in the comment of a call does not admit its version
    #[error("the constraint `{wanted}` does not admit {version} of {place}")]
    #[fault("module-constraint-unmet", todo = "correct the constraint, or `tofu-oci module lock --upgrade`")]
    ConstraintUnmet { place: Place, version: Version, wanted: Constraints },
    /// The repository has no version that may be chosen.
    #[error("{place} has no version{}", wanted_text(wanted))]
    #[fault(code = "no-matching-version")]
    #[hint("{}", versions_in_words("it has", offered))]
    #[hint(if offered.iter().any(Version::is_prerelease) => "a prerelease is chosen only if the source or the \
            constraint names it exactly")]
    NoMatchingVersion { place: Place, wanted: Constraints, offered: Vec<Version> },
    #[error("{place} has no module package under {reference}")]
    #[fault(code = missing(reference))]
    Missing {
        place: Place,
        reference: Reference,
        /// The versions that it has, ascending; empty if it does not list them.
        offered: Vec<Version>,
        #[source]
        source: Box<StoreError>,
    },
    /// The package cannot be read, is not a module, or is not trusted.
    #[error(transparent)]
    #[fault(of = _0)]
    Fetch(#[from] ModuleFetchError),
}

fn missing(reference: &Reference) -> &'static str {
    match reference {
        Reference::Tag(_) => "tag-not-found",
        Reference::Digest(_) => "digest-not-found",
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
