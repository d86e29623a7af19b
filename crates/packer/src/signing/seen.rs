//! Whether a key has signed a release already, whatever program held it.

use tofu_oci_source::{Search, evidence};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::{Evidence, PublicKey, SIGN_PREDICATE, SignatureFault, Signed, SignedContent, open_bundle};
use tofu_oci_types::{Descriptor, Digest};

/// The referrer in which this key has signed the subject.
pub(super) async fn signed_bundle(
    store: &dyn ReadStore,
    index: &Descriptor,
    key: &PublicKey,
    subject: &SignedContent<'_>,
) -> Result<Option<Digest>, StoreError> {
    let found = evidence(store, index, Search::Everywhere).await?;
    Ok(found.into_iter().find_map(|evidence| match evidence {
        Evidence::Bundle { origin, bytes } if says(&open_bundle(&bytes, std::slice::from_ref(key)), subject) => {
            Some(origin)
        }
        _ => None,
    }))
}

/// Whether a signature is good, and is of this subject.
pub(super) fn says(opened: &Result<Signed, SignatureFault>, subject: &SignedContent<'_>) -> bool {
    let Ok(Signed { statement, .. }) = opened else { return false };
    statement.predicate_type == SIGN_PREDICATE && statement.subjects.iter().any(|found| subject.is(found))
}
