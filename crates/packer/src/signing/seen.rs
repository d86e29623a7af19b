//! Whether a key has signed a release already, whatever program held it.

use serde::Deserialize;
use tofu_oci_layout::{MAX_DOCUMENT, media_type};
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_trust::{Name, PublicKey, SIGN_PREDICATE, SignatureFault, Signed, SignedSubject, open_bundle};
use tofu_oci_types::{Descriptor, Digest};

/// Referrers that are opened to look for a signature.
const MOST_OPENED: usize = 100;

/// The largest bundle that is read, in bytes.
pub(super) const MAX_BUNDLE: u64 = 1 << 20;

/// As much of a referrer as tells whether it holds a bundle.
#[derive(Deserialize)]
struct Referrer {
    subject: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

/// The referrer in which this key says of the index what would be signed now.
pub(super) async fn signed_bundle(
    store: &dyn ReadStore,
    listed: &[Descriptor],
    key: &PublicKey,
    subject: &SignedSubject<'_>,
) -> Result<Option<Digest>, StoreError> {
    let candidates = listed.iter().filter(|referrer| may_hold_a_bundle(referrer)).take(MOST_OPENED);
    for referrer in candidates {
        match read_bundle(store, referrer, subject.index).await {
            Ok(Some(bundle)) if says(&open_bundle(&bundle, std::slice::from_ref(key)), subject) => {
                return Ok(Some(referrer.digest.clone()));
            }
            Ok(_) => {}
            // One damaged referrer of somebody else's is no reason not to sign.
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => tracing::debug!(referrer = %referrer.digest, %error, "not looked into"),
        }
    }
    Ok(None)
}

/// Some registries list referrers without their artifact type.
fn may_hold_a_bundle(referrer: &Descriptor) -> bool {
    let artifact_type = referrer.artifact_type.as_deref().unwrap_or_default();
    media_type::is_leaf(&referrer.media_type)
        && (artifact_type.is_empty()
            || artifact_type == EMPTY_TYPE
            || artifact_type.starts_with("application/vnd.dev.sigstore.bundle"))
}

const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";

async fn read_bundle(
    store: &dyn ReadStore,
    referrer: &Descriptor,
    index: &Digest,
) -> Result<Option<Vec<u8>>, StoreError> {
    let bytes = fetch_bytes(store, referrer, MAX_DOCUMENT).await?;
    let Ok(manifest) = serde_json::from_slice::<Referrer>(&bytes) else { return Ok(None) };
    let is_of_index = manifest.subject.is_some_and(|subject| subject.digest == *index);
    match manifest.layers.as_slice() {
        [bundle] if is_of_index => Ok(Some(fetch_bytes(store, bundle, MAX_BUNDLE).await?.to_vec())),
        _ => Ok(None),
    }
}

/// Whether a signature is good, and says what would be signed now.
pub(super) fn says(opened: &Result<Signed, SignatureFault>, subject: &SignedSubject<'_>) -> bool {
    let Ok(Signed { statement, .. }) = opened else { return false };
    statement.predicate_type == SIGN_PREDICATE
        && statement.subjects.iter().any(|found| {
            found.digest.as_ref() == Some(subject.index)
                && matches!(&found.address, Name::Is(address) if address == subject.address)
                && matches!(&found.version, Name::Is(version) if version == subject.version)
        })
}
