//! The config of a container image, read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tofu_oci_types::{Digest, Platform};

use crate::document::{member, object};
use crate::{CreationTime, LABEL, LABEL_PROVIDER, LayoutError};

const WHAT: &str = "the image config";

/// The config of a container image, as a view of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageConfig {
    labels: BTreeMap<String, String>,
    os: String,
    architecture: String,
    diff_ids: Vec<Digest>,
    created: Option<CreationTime>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ConfigSection {
    #[serde(rename = "Labels")]
    labels: Option<BTreeMap<String, String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RootFsSection {
    diff_ids: Option<Vec<Digest>>,
}

impl ImageConfig {
    /// Reads a config whose bytes have been checked against its descriptor. At most 4 MiB. What is absent is empty.
    ///
    /// Spec: OCI image-spec 1.1.1, config.md; Docker's config differs in nothing that is read here.
    pub fn parse(bytes: &[u8]) -> Result<Self, LayoutError> {
        let members = object(WHAT, &Digest::sha256(bytes), bytes)?;
        let body: ConfigSection = member(&members, WHAT, "config")?;
        let rootfs: RootFsSection = member(&members, WHAT, "rootfs")?;
        Ok(Self {
            labels: body.labels.unwrap_or_default(),
            os: member(&members, WHAT, "os")?,
            architecture: member(&members, WHAT, "architecture")?,
            diff_ids: rootfs.diff_ids.unwrap_or_default(),
            created: members.get("created").and_then(Value::as_str).and_then(CreationTime::read),
        })
    }

    /// The image's labels.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// The operating system, a GOOS name.
    pub fn os(&self) -> &str {
        &self.os
    }

    /// The architecture, a GOARCH name.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }

    /// The platform, if both names are there.
    pub fn platform(&self) -> Option<Platform> {
        if self.os.is_empty() || self.architecture.is_empty() {
            return None;
        }
        format!("{}_{}", self.os, self.architecture).parse().ok()
    }

    /// The digests of the uncompressed layers, lowest first.
    pub fn diff_ids(&self) -> &[Digest] {
        &self.diff_ids
    }

    /// When the image was made, by its own word.
    pub fn created(&self) -> Option<&CreationTime> {
        self.created.as_ref()
    }

    /// Demands the label that makes an image a provider package.
    ///
    /// # Errors
    /// [`LayoutError::NoProviderLabel`] for a plain image, [`LayoutError::OtherPackageType`] for another package.
    ///
    /// Spec: seed RFC "Provider Packages as OCI distribution objects".
    pub fn require_provider_label(&self) -> Result<(), LayoutError> {
        match self.labels.get(LABEL).map(String::as_str) {
            Some(LABEL_PROVIDER) => Ok(()),
            Some(other) => Err(LayoutError::OtherPackageType { found: other.to_owned() }),
            None => Err(LayoutError::NoProviderLabel),
        }
    }
}
