//! What a push did, or would do. Everything here serialises: `--json` prints it as it is.

use serde::Serialize;
use tofu_oci_store::Pushed;
use tofu_oci_trust::{KeyId, SignatureForm};
use tofu_oci_types::{Digest, PackageHash, Place, Platform, ProviderAddr, Tag, Version};

/// What a push did; `what` is a release, or a module ([`ModuleParts`](crate::ModuleParts)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PushReport<W = ReleaseParts> {
    /// The repository.
    pub place: Place,
    pub version: Version,
    /// The tag that points at it now.
    pub tag: Tag,
    #[serde(flatten)]
    pub what: W,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// What this push made refer to it: its signatures, and the signed checksum file of its origin.
    pub attachments: Vec<Attachment>,
    /// What the tag pointed at before, if this push moved the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<ReplacedRelease>,
    /// Whether the tag pointed at this very content before, so that nothing of it was sent; something may have been
    /// attached to it all the same.
    pub unchanged: bool,
}

/// What a release is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReleaseParts {
    pub address: ProviderAddr,
    /// The digest of the index.
    pub index: Digest,
    /// One entry a platform, sorted.
    pub platforms: Vec<PlatformReport>,
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

    /// Counts what another part of the work did.
    pub fn add(&mut self, more: Self) {
        self.uploaded += more.uploaded;
        self.present += more.present;
        self.mounted += more.mounted;
        self.bytes += more.bytes;
    }
}

/// What a push would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PushPlan<W = PlannedRelease> {
    /// The repository.
    pub place: Place,
    pub version: Version,
    /// The tag that would be written.
    pub tag: Tag,
    /// Where the tag points now.
    pub tag_state: TagState,
    #[serde(flatten)]
    pub what: W,
    /// What would refer to it, in the order of writing.
    pub attachments: Vec<Attachment>,
    /// Whether it would be signed without a key; how large that signature is is not known before.
    pub keyless: bool,
    /// Bytes that would be sent, except for that signature.
    pub bytes_to_send: u64,
}

/// A release that would be pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedRelease {
    #[serde(flatten)]
    pub release: ReleaseParts,
    /// Everything the release consists of, in the order of sending.
    pub items: Vec<PlannedItem>,
}

/// Where the tag of the version points before a push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum TagState {
    /// The tag does not exist.
    Free,
    /// At this very content.
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

impl TagState {
    /// Where a tag points that is to point at `new`. `of` is the provider of the release that is there.
    pub fn of(existing: Option<Digest>, new: &Digest, of: Option<ProviderAddr>) -> Self {
        match existing {
            None => Self::Free,
            Some(existing) if existing == *new => Self::Equal,
            Some(existing) => Self::Taken { existing, of },
        }
    }
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

/// Something that refers to a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attachment {
    /// What it is.
    pub form: SignatureForm,
    /// The manifest that holds it: the referrer, or what `tag` points at.
    pub manifest: Digest,
    /// The tag, for the form that has one.
    pub tag: Option<Tag>,
    /// The key of a signature of ours; `None` for a checksum file.
    pub key: Option<KeyId>,
    /// The names of the files in it; empty for a signature of ours.
    pub files: Vec<String>,
    /// Bytes of all that it consists of.
    pub bytes: u64,
    /// Whether it is there.
    pub state: AttachmentState,
}

/// Whether something that refers to a release is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttachmentState {
    /// It is missing: a push would attach it.
    Missing,
    /// It has been attached now, and read back.
    Attached,
    /// It was there before, or another signature of this key that says the same.
    Present,
}
