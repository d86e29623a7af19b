//! A descriptor as Go reads it: every member has a value, the empty one if it is missing or null.

use tofu_oci_types::{Descriptor, Digest, Platform};

/// A descriptor as `OpenTofu` holds it: texts, unchecked.
///
/// Spec: OCI image-spec 1.1.1, `specs-go/v1`, `Descriptor`; Go `encoding/json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoDescriptor {
    /// `mediaType`.
    pub media_type: String,
    /// `digest`, well-formed or not.
    pub digest: String,
    /// `size`, in bytes.
    pub size: i64,
    /// `artifactType`.
    pub artifact_type: String,
    /// `platform`.
    pub platform: Option<GoPlatform>,
}

/// The platform of a descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoPlatform {
    /// `os`.
    pub os: String,
    /// `architecture`.
    pub architecture: String,
    /// `os.version`.
    pub os_version: String,
    /// `variant`.
    pub variant: String,
}

impl GoDescriptor {
    /// The digest, if it is one.
    pub fn parsed_digest(&self) -> Option<Digest> {
        self.digest.parse().ok()
    }

    /// What to ask a store for, if the digest is one.
    pub fn to_descriptor(&self) -> Option<Descriptor> {
        let size = u64::try_from(self.size).unwrap_or(0);
        Some(Descriptor::new(&self.media_type, self.parsed_digest()?, size))
    }

    /// The platform, if it is named and has a name that OpenTofu's own platforms can have.
    pub fn platform(&self) -> Option<Platform> {
        let platform = self.platform.as_ref()?;
        format!("{}_{}", platform.os, platform.architecture).parse().ok()
    }
}
