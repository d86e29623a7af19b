//! What lies beside a release or module: signatures, attestations, bills of materials, notices.

use futures_util::StreamExt as _;
use serde::Serialize;
use serde_json::Value;
use tofu_oci_layout::{MAX_DOCUMENT, annotation};
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_types::{Descriptor, Digest};

/// How many manifests are read at once.
const AT_ONCE: usize = 8;
/// The most of them that are read: anyone who may write to the repository puts them there. Of the others the list says enough.
const READ: usize = 64;

/// Something that refers to a release or module. Its texts are as its author wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttachedReferrer {
    /// What it is, as the registry lists it.
    pub artifact_type: Option<String>,
    /// Its manifest.
    pub digest: Digest,
    /// The size of its files in bytes; `None` if its manifest was not read.
    pub bytes: Option<u64>,
    /// The names of its files.
    pub files: Vec<String>,
    /// When it was made, if it is annotated with that.
    pub created: Option<String>,
}

/// What refers to a manifest, sorted by type and digest.
///
/// # Errors
/// If it cannot be listed.
pub async fn attached(store: &dyn ReadStore, subject: &Digest) -> Result<Vec<AttachedReferrer>, StoreError> {
    let mut listed = store.referrers(subject).await?;
    listed.sort_by(|one, other| (&one.artifact_type, &one.digest).cmp(&(&other.artifact_type, &other.digest)));
    listed.dedup_by(|one, other| one.digest == other.digest);
    let found = listed.into_iter().enumerate().map(|(nth, listed)| async move {
        let manifest = if nth < READ { fetch_bytes(store, &listed, MAX_DOCUMENT).await.ok() } else { None };
        referrer(listed, manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok()).as_ref())
    });
    let found: Vec<_> = found.collect();
    Ok(futures_util::stream::iter(found).buffered(AT_ONCE).collect().await)
}

fn referrer(listed: Descriptor, manifest: Option<&Value>) -> AttachedReferrer {
    let text = |annotations: Option<&Value>, name: &str| annotations?.get(name)?.as_str().map(str::to_owned);
    let layers = manifest.and_then(|manifest| manifest.get("layers")).and_then(Value::as_array);
    // Anyone may write these sizes.
    let sizes = |layers: &Vec<Value>| {
        layers.iter().try_fold(0, |sum: u64, layer| sum.checked_add(layer.get("size")?.as_u64()?))
    };
    let own = manifest.and_then(|manifest| text(manifest.get("annotations"), annotation::CREATED));
    let files = layers.into_iter().flatten().filter_map(|layer| text(layer.get("annotations"), annotation::TITLE));
    AttachedReferrer {
        bytes: layers.and_then(sizes),
        files: files.collect(),
        created: own.or_else(|| listed.annotations.get(annotation::CREATED).cloned()),
        artifact_type: listed.artifact_type,
        digest: listed.digest,
    }
}
