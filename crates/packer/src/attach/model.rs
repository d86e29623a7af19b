//! What is asked of an attachment, and what it did.

use std::path::Path;

use serde::Serialize;
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Digest, Place, Tag, Version};

use crate::{AttachedFile, Attachment, SignAddress, Transfers};

/// Which release gets which files.
#[derive(Clone, Debug)]
pub struct AttachFileRequest<'a> {
    /// The version; its canonical tag is read.
    pub version: &'a Version,
    /// Where the provider's address comes from.
    pub address: SignAddress,
    /// Where the files were read, for messages.
    pub path: &'a Path,
    /// One file, or the bundles of a file with several.
    pub files: &'a [AttachedFile],
}

/// What [`AttachableFiles`](crate::AttachableFiles) did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttachReport {
    /// The repository.
    pub place: Place,
    #[serde(flatten)]
    pub of: VersionOf,
    /// The version.
    pub version: Version,
    /// The tag that was read.
    pub tag: Tag,
    /// The digest of the index or of the module's manifest: what the files refer to.
    pub index: Digest,
    /// What the files are, as the registry lists them.
    pub artifact_type: String,
    /// One entry a file.
    pub attachments: Vec<Attachment>,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// Whether all of them were there before.
    pub unchanged: bool,
}
