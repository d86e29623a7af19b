//! What the rules about a repository look at.

use tofu_oci_types::{Platform, ProviderAddr, Version};

use super::images::Images;
use super::referrers::Referring;
use crate::facts::RepositoryFacts;
use crate::opentofu::RepositoryPrediction;

/// A repository, and what is known about it.
pub struct CheckSubject<'a> {
    /// What lies there.
    pub facts: &'a RepositoryFacts,
    /// The provider that it is kept for, if the user named it.
    pub address: Option<&'a ProviderAddr>,
    /// The version that was asked for, where it was one.
    pub asked: Option<&'a Version>,
    /// The platforms that were named; empty if those of the repository were taken.
    pub platforms: &'a [Platform],
    /// The name of the executable's provider: from the address, the annotations or the packages.
    pub provider_type: Option<&'a str>,
    /// What `OpenTofu` is predicted to do.
    pub predictions: &'a [RepositoryPrediction],
    /// The unions of image layers, where packages were read.
    pub images: &'a Images,
    /// What refers to the indexes.
    pub referring: &'a Referring,
}
