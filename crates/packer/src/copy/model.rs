//! What to copy, and how.

use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Predecessors, ProviderAddr, Version};

use crate::signing::Signing;
use crate::{AttachedFile, Rename, ReplaceTag};

/// What to copy and how.
#[derive(Clone, Debug)]
pub struct CopyRequest<'a> {
    /// Which releases, each under its canonical tag; no tag moves if one of them is taken. The manifest to copy if the source
    /// has the version under another tag.
    pub versions: Vec<(Version, Option<&'a Descriptor>)>,
    /// Which versions that the source has withdrawn: their content goes along under `withdrawn-VERSION`, with the reason.
    pub withdrawn: Vec<Version>,
    /// Who chose the versions: what becomes of withdrawn ones.
    pub choice: CopyChoice,
    /// What happens when a tag is taken at the destination.
    pub replace: ReplaceTag,
    /// What happens when the destination is kept for another provider than these versions say.
    pub rename: Rename,
    /// Which addresses count as one.
    pub predecessors: &'a Predecessors,
    /// What the versions are copied as; `None` for what they say themselves.
    pub asked_as: Option<&'a ProviderAddr>,
    /// How many things move at a time, at least 1.
    pub jobs: usize,
    /// Who signs the copies at the destination, each before its tag is written; `None` to sign nothing.
    pub signing: Option<CopySigning<'a>>,
    /// Files that each copy gets as referrers beside what the source has.
    pub files: &'a [AttachedFile],
}

impl<'a> CopyRequest<'a> {
    /// What `demand_takes` goes by.
    pub(super) fn names(&self) -> ((Rename, &'a Predecessors), Option<&'a ProviderAddr>) {
        ((self.rename, self.predecessors), self.asked_as)
    }
}

/// Who chose the versions of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyChoice {
    /// A user named them. One that either end has withdrawn is an error, also if its tag is there again.
    Named,
    /// They are of a list that omits what the source has withdrawn. One that the destination has withdrawn is an error.
    Listed,
    /// All of such a list. One that the destination has withdrawn is not copied, and a warning says so.
    All,
}

/// Who signs a copy, and as what.
#[derive(Clone, Copy, Debug)]
pub struct CopySigning<'a> {
    /// What the signature names: a provider, or a module, whose signature names nothing.
    pub of: &'a VersionOf,
    /// The key and the forms.
    pub signing: Signing<'a>,
}
