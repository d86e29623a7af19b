//! What the rules about a repository look at.

use tofu_oci_types::{Platform, ProviderAddr, Version};

use super::images::Images;
use super::referrers::Referring;
use crate::facts::{Entry, Facts, Release};
use crate::model::Finding;
use crate::opentofu::Prediction;

/// A repository, and what is known about it.
pub struct Subject<'a> {
    /// What lies there.
    pub facts: &'a Facts,
    /// The provider that it is kept for, where somebody said so.
    pub address: Option<&'a ProviderAddr>,
    /// The version that was asked for, where it was one.
    pub asked: Option<&'a Version>,
    /// The platforms that were named; nothing where those of the repository were taken.
    pub platforms: &'a [Platform],
    /// The name of the executable's provider: from the address, the annotations or the packages.
    pub provider_type: Option<&'a str>,
    /// What `OpenTofu` is predicted to do.
    pub predictions: &'a [Prediction],
    /// The unions of image layers, where packages were read.
    pub images: &'a Images,
    /// What refers to the indexes.
    pub referring: &'a Referring,
}

/// The findings so far.
pub(super) type Findings = Vec<Finding>;

/// The place of a release's index.
pub(crate) fn index_place(release: &Release) -> String {
    match (&release.index.found, &release.tag) {
        (Ok(document), _) => format!("index {}", document.digest),
        (Err(_), Some(tag)) => format!("tag {tag}"),
        (Err(_), None) => format!("version {}", release.version),
    }
}

/// The place of an entry's manifest.
pub(crate) fn manifest_place(entry: &Entry) -> String {
    if entry.descriptor.digest.is_empty() {
        format!("entry {} of the index", entry.position)
    } else {
        format!("manifest {}", entry.descriptor.digest)
    }
}

/// The platform that an entry is for.
pub(super) fn platform(entry: &Entry) -> Option<Platform> {
    entry.descriptor.platform()
}

/// The text of a foreign value in quotes; `none` where it is empty.
pub(super) fn quoted(text: &str) -> String {
    if text.is_empty() { "none".to_owned() } else { format!("`{text}`") }
}
