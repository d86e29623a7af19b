//! What goes with a release beside its packages.

use tofu_oci_layout::LeafKind;
use tofu_oci_store::ReadStore;
use tofu_oci_trust::SignedSubject;
use tofu_oci_types::{Event, Reporter};

use super::prepare::blocking;
use super::release::BuiltRelease;
use crate::signing::{AttachPlan, AttachRequest};
use crate::{AttachedFile, PackError, Publication, PushRequest, SignedSums, Signer, SumsMode};

/// Reads the signed checksum file beside the packages, and reports it if the file does not go with the release as it is.
pub(super) async fn read(request: &PushRequest<'_>, reporter: &dyn Reporter) -> Result<Option<SignedSums>, PackError> {
    for event in &request.dist.events {
        reporter.event(event);
    }
    if request.sums == SumsMode::Skip {
        return Ok(None);
    }
    let (dist, Publication { address, version, .. }) = (request.dist.clone(), request.publication);
    let (address, version) = (address.clone(), version.clone());
    let (sums, events) = blocking(move || dist.signed_sums(&address, &version)).await?;
    for event in &events {
        reporter.event(event);
    }
    if let Some(sums) = &sums
        && !request.publication.layout.has(LeafKind::Artifact)
    {
        let text = format!("{} names zips, and this layout has none: it proves nothing here", sums.sums.0);
        reporter.event(&Event::note("sums-without-zips", text));
    }
    Ok(sums)
}

/// What is to refer to the release, beside what does.
pub(super) async fn plan<'a>(
    publication: &'a Publication<'a>,
    (sums, files): (Option<&'a SignedSums>, &'a [AttachedFile]),
    store: &dyn ReadStore,
    release: &'a BuiltRelease,
) -> Result<AttachPlan<'a>, PackError> {
    let index = &release.index.descriptor;
    let subject = SignedSubject { index: &index.digest, address: publication.address, version: publication.version };
    let signing = publication.signer.and_then(Signer::signing);
    let request = AttachRequest { index, subject: (&subject).into(), sums, files, signing, note: None };
    AttachPlan::look(store, request).await
}
