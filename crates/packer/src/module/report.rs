//! What a push of a module did, or would do. Everything here serialises: `--json` prints it as it is.

use std::collections::BTreeMap;

use serde::Serialize;
use tofu_oci_types::{Digest, OciModuleSource, PackageHash, Place, Tag, Version};

use crate::{Attachment, ReplacedRelease, Transfers};

/// What is in a module's package, and what is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleContents {
    /// The digest of the zip.
    pub zip: Digest,
    /// The size of the zip in bytes.
    pub size: u64,
    /// How many files are in it.
    pub files: usize,
    /// The `h1:` checksum of the files.
    pub h1: PackageHash,
    /// The annotations of the manifest.
    pub annotations: BTreeMap<String, String>,
    /// The ignore file that counted, if the folder has one.
    pub ignore_file: Option<&'static str>,
    /// What was left out, sorted by name.
    pub left_out: Vec<LeftOutFile>,
}

/// A file or folder that is not in the package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutFile {
    /// Its name, with a slash at the end if it is a folder.
    pub name: String,
    /// A stable name of the reason.
    pub reason: &'static str,
    /// The reason for people.
    pub text: String,
}

/// What [`push_module`](crate::push_module) did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModulePushReport {
    /// The repository.
    pub place: Place,
    /// The version.
    pub version: Version,
    /// The tag that points at the module now.
    pub tag: Tag,
    /// The source by which a configuration calls the module; `None` if it lies in a directory.
    pub source: Option<OciModuleSource>,
    /// The digest of the manifest.
    pub manifest: Digest,
    /// What is in the package.
    #[serde(flatten)]
    pub contents: ModuleContents,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// The signatures.
    pub attachments: Vec<Attachment>,
    /// What the tag pointed at before, if this push moved the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<ReplacedRelease>,
    /// Whether the tag pointed at this very module before, so that nothing of it was sent; a signature may have been attached
    /// all the same.
    pub unchanged: bool,
}

/// What [`push_module`](crate::push_module) would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModulePushPlan {
    /// The repository.
    pub place: Place,
    /// The version.
    pub version: Version,
    /// The tag that would be written.
    pub tag: Tag,
    /// The source by which a configuration calls the module; `None` if it lies in a directory.
    pub source: Option<OciModuleSource>,
    /// Where the tag points now.
    pub tag_state: ModuleTagState,
    /// The digest of the manifest.
    pub manifest: Digest,
    /// What would be in the package.
    #[serde(flatten)]
    pub contents: ModuleContents,
    /// What would refer to the module.
    pub attachments: Vec<Attachment>,
    /// Bytes that would be sent.
    pub bytes_to_send: u64,
}

/// Where the tag of the version points before a push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum ModuleTagState {
    /// The tag does not exist.
    Free,
    /// At this very module.
    Equal,
    /// At something else.
    Taken {
        /// The digest of the manifest that it points at.
        existing: Digest,
    },
}
