//! What a push did, or would do. Everything here serialises: `--json` prints it as it is.

use serde::Serialize;
use tofu_oci_store::Pushed;
use tofu_oci_types::{Digest, PackageHash, Place, Platform, ProviderAddr, Tag, Version};

use crate::Attachment;

/// What [`push()`](crate::push()) did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PushReport {
    /// The repository.
    pub place: Place,
    /// The provider's address.
    pub address: ProviderAddr,
    /// The version.
    pub version: Version,
    /// The tag that points at the release now.
    pub tag: Tag,
    /// The digest of the index.
    pub index: Digest,
    /// One entry a platform, sorted.
    pub platforms: Vec<PlatformReport>,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// What this push made refer to the release: its signatures, and the signed checksum file of its origin.
    pub attachments: Vec<Attachment>,
    /// The release that the tag pointed at before, if this push moved the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<ReplacedRelease>,
    /// Whether the tag pointed at this very release before, so that nothing of it was sent; something may have been
    /// attached to it all the same.
    pub unchanged: bool,
}

/// A release that another one took the place of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplacedRelease {
    /// Its index.
    pub index: Digest,
    /// The manifest of the notice that says so beside it; `None` if the registry takes no notices.
    pub notice: Option<Digest>,
}

/// One platform of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformReport {
    /// The platform.
    pub platform: Platform,
    /// The file name of the package.
    pub filename: String,
    /// The digests of the leaf manifests: artifact, image, or both (the image first).
    pub leaves: Vec<Digest>,
    /// The digest of the zip, if one is published.
    pub zip: Option<Digest>,
    /// The digest of the image layer, if one is published.
    pub layer: Option<Digest>,
    /// The size of the zip in bytes, or of the layer if there is no zip.
    pub size: u64,
    /// The `h1:` checksum, unless it was left out.
    pub h1: Option<PackageHash>,
    /// The `zh:` checksum, if a zip is published.
    pub zh: Option<PackageHash>,
    /// The small layer beside the zip, if one is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small: Option<SmallLayer>,
    /// The size that the small layer would have: it is not published if it saves less than 5 % of the zip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_omitted: Option<u64>,
}

/// A package as tar in Zstandard, beside its zip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SmallLayer {
    /// The digest of the layer.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
}

/// Counts over blobs, configs and manifests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Transfers {
    /// Sent.
    pub uploaded: u64,
    /// There before.
    pub present: u64,
    /// Linked from another repository.
    pub mounted: u64,
    /// Bytes of what was sent.
    pub bytes: u64,
}

impl Transfers {
    pub(crate) fn count(&mut self, pushed: Pushed, size: u64) {
        match pushed {
            Pushed::Uploaded => {
                self.uploaded += 1;
                self.bytes += size;
            }
            Pushed::Present => self.present += 1,
            Pushed::Mounted => self.mounted += 1,
        }
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.uploaded += more.uploaded;
        self.present += more.present;
        self.mounted += more.mounted;
        self.bytes += more.bytes;
    }
}

/// What [`push()`](crate::push()) would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PushPlan {
    /// The repository.
    pub place: Place,
    /// The provider's address.
    pub address: ProviderAddr,
    /// The version.
    pub version: Version,
    /// The tag that would be written.
    pub tag: Tag,
    /// Where the tag points now.
    pub tag_state: TagState,
    /// The digest of the index.
    pub index: Digest,
    /// One entry a platform, sorted.
    pub platforms: Vec<PlatformReport>,
    /// Everything the release consists of, in the order of sending.
    pub items: Vec<PlannedItem>,
    /// What would refer to the release, in the order of writing.
    pub attachments: Vec<Attachment>,
    /// Bytes that would be sent.
    pub bytes_to_send: u64,
}

/// Where the tag of the version points before a push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum TagState {
    /// The tag does not exist.
    Free,
    /// At this very release.
    Equal,
    /// At something else.
    Taken {
        /// The digest of the manifest that it points at.
        existing: Digest,
        /// The provider that this release says it is of; absent if it does not say.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<ProviderAddr>,
    },
}

/// One blob or manifest of a planned release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedItem {
    /// `package`, `small`, `layer`, `config`, `manifest` or `index`.
    pub role: &'static str,
    /// The platform that it belongs to; `None` for the index.
    pub platform: Option<Platform>,
    /// Its media type.
    pub media_type: String,
    /// Its digest.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
    /// Whether the repository has it.
    pub present: bool,
}
