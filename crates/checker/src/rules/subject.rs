//! What the rules about a repository read.

use tofu_oci_types::{Platform, Predecessors, ProviderAddr, Version};

use super::images::Images;
use super::referrers::Referring;
use crate::facts::RepositoryFacts;
use crate::opentofu::RepositoryPrediction;

/// A repository, and everything known about it.
pub struct CheckSubject<'a> {
    /// The content of the repository.
    pub facts: &'a RepositoryFacts,
    /// The provider that it is kept for, if the user named it.
    pub address: Option<&'a ProviderAddr>,
    /// Which addresses count as one.
    pub predecessors: &'a Predecessors,
    /// The requested version, if any.
    pub asked: Option<&'a Version>,
    /// The platforms that the user named; empty for those of the repository.
    pub platforms: &'a [Platform],
    /// The name of the executable's provider: from the address, the annotations or the packages.
    pub provider_type: Option<&'a str>,
    /// What `OpenTofu` is predicted to do.
    pub predictions: &'a [RepositoryPrediction],
    /// The unions of image layers, if packages were read.
    pub images: &'a Images,
    /// The referrers of the indexes.
    pub referring: &'a Referring,
}
