//! A file that exists already, beside a release or a module: a bundle, an attestation, a bill of materials.

mod about;
mod model;
#[cfg(test)]
mod tests;

use tofu_oci_store::{ReadStore, Store};
use tofu_oci_types::Reporter;

use crate::sign::{SignableRelease, find};
use crate::signing::{AttachPlan, AttachRequest};
use crate::{AttachmentState, PackError, Transfers};

pub use model::{AttachFileRequest, AttachReport};

/// Puts files beside the release or the module under the version's tag, as referrers. What is there stays; the same content is not
/// put there twice. No tag of a version is touched.
///
/// # Errors
/// [`PackError::NoRelease`] if the tag does not exist; [`PackError::Attach`] if a bundle is about something else, before anything
/// is written; [`PackError::Sign`] as of [`sign`](crate::sign()).
pub async fn attach_files(
    store: &dyn Store,
    request: &AttachFileRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<AttachReport, PackError> {
    let release = about(store, request, reporter).await?;
    let mut report = report(store, request, &release);
    let plan = plan(store, request, &release).await?;
    (report.attachments, report.transfers) = plan.attach(store).await?;
    report.unchanged = is_unchanged(&report);
    Ok(report)
}

/// What [`attach_files`] would do. The store is only read.
///
/// # Errors
/// As [`attach_files`].
pub async fn plan_attach_files(
    store: &dyn ReadStore,
    request: &AttachFileRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<AttachReport, PackError> {
    let release = about(store, request, reporter).await?;
    let mut report = report(store, request, &release);
    report.attachments = plan(store, request, &release).await?.attachments();
    report.unchanged = is_unchanged(&report);
    Ok(report)
}

/// The release, if all bundles are about it.
async fn about(
    store: &dyn ReadStore,
    request: &AttachFileRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<SignableRelease, PackError> {
    let release = find(store, request.version, &request.address, reporter).await?;
    about::demand(store, request, &release, reporter).await?;
    Ok(release)
}

async fn plan<'a>(
    store: &dyn ReadStore,
    request: &AttachFileRequest<'a>,
    release: &'a SignableRelease,
) -> Result<AttachPlan<'a>, PackError> {
    let subject = release.of.content(&release.index.digest, request.version);
    let attach =
        AttachRequest { index: &release.index, subject, sums: None, files: request.files, signing: None, note: None };
    AttachPlan::look(store, attach).await
}

fn report(store: &dyn ReadStore, request: &AttachFileRequest<'_>, release: &SignableRelease) -> AttachReport {
    AttachReport {
        place: store.place(),
        of: release.of.clone(),
        version: request.version.clone(),
        tag: release.tag.clone(),
        index: release.index.digest.clone(),
        artifact_type: request.files.first().map(|file| file.artifact_type().to_string()).unwrap_or_default(),
        attachments: Vec::new(),
        transfers: Transfers::default(),
        unchanged: false,
    }
}

fn is_unchanged(report: &AttachReport) -> bool {
    report.attachments.iter().all(|attachment| attachment.state == AttachmentState::Present)
}
