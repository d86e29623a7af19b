//! Whether a key has signed a release already, whatever program held it.

use serde_json::Value;
use tofu_oci_source::{LAYER_LIMIT, Search, evidence};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::{
    Evidence, PublicKey, SIGN_PREDICATE, SignatureFault, Signed, SignedContent, StatementSubject, open_bundle,
};
use tofu_oci_types::{Descriptor, Digest, Reference};

use crate::AttachedFile;

/// The referrer in which this key has signed the subject.
pub(super) async fn signed_bundle(
    store: &dyn ReadStore,
    index: &Descriptor,
    key: &PublicKey,
    said: Saying<'_>,
) -> Result<Option<Digest>, StoreError> {
    let found = evidence(store, index, Search::Everywhere).await?;
    Ok(found.into_iter().find_map(|evidence| match evidence {
        Evidence::Bundle { origin, bytes } if says(&open_bundle(&bytes, std::slice::from_ref(key)), said) => {
            Some(origin)
        }
        _ => None,
    }))
}

/// What a signature says: its subject, and a note if there must be one.
pub(super) type Saying<'a> = (&'a SignedContent<'a>, Option<&'a str>);

/// Whether a signature is good, and says this.
pub(super) fn says(opened: &Result<Signed, SignatureFault>, (subject, note): Saying<'_>) -> bool {
    let Ok(Signed { statement, .. }) = opened else { return false };
    let is_it = |found: &StatementSubject| subject.is(found) && (note.is_none() || found.note.as_deref() == note);
    statement.predicate_type == SIGN_PREDICATE && statement.subjects.iter().any(is_it)
}

/// The referrer of the index that holds this very content as a layer, whatever else its manifest says: other programs write a time
/// into it, or call the file something else.
pub(super) async fn holder(
    store: &dyn ReadStore,
    index: &Descriptor,
    file: &AttachedFile,
    listed: &[Descriptor],
) -> Result<Option<Digest>, StoreError> {
    let wanted = Digest::sha256(file.bytes()).to_string();
    let artifact_type = file.artifact_type().to_string();
    let of_type = |referrer: &&Descriptor| referrer.artifact_type.as_deref().is_none_or(|found| found == artifact_type);
    for referrer in listed.iter().filter(of_type).take(LAYER_LIMIT) {
        let bytes = match store.manifest(&Reference::Digest(referrer.digest.clone())).await {
            Ok((_, bytes)) => bytes,
            Err(error) if error.is_of_content() || error.is_not_found() => continue,
            Err(error) => return Err(error),
        };
        let Ok(manifest) = serde_json::from_slice::<Value>(&bytes) else { continue };
        let is_about =
            manifest["subject"]["digest"] == index.digest.to_string() && manifest["artifactType"] == artifact_type;
        let layers = manifest["layers"].as_array();
        if is_about && layers.is_some_and(|layers| layers.iter().any(|layer| layer["digest"] == wanted)) {
            return Ok(Some(referrer.digest.clone()));
        }
    }
    Ok(None)
}
