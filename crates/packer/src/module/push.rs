//! The push itself.

use bytes::Bytes;
use tofu_oci_layout::Planned;
use tofu_oci_store::{FileBody, Pushed, ReadStore, Store, push_observed};
use tofu_oci_types::{Event, Reporter};

use super::build::{BuildJob, BuiltModule, build, files};
use super::look::{look, tag_of, taken};
use super::report::{ModulePushPlan, ModulePushReport, ModuleTagState};
use super::request::ModulePushRequest;
use crate::push::{blocking, outcome, point};
use crate::{PackError, ReplaceTag, Transfers};

/// Writes the module's package, and its tag last of all.
///
/// The same folder gives the same bytes on every machine, so that a second push sends nothing. A push that breaks off leaves
/// no tag.
///
/// # Errors
/// [`ModuleFault::TagTaken`](crate::ModuleFault) before anything is sent if the tag points at something else.
pub async fn push_module(
    request: &ModulePushRequest<'_>,
    store: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<ModulePushReport, PackError> {
    let tag = tag_of(request.version)?;
    let built = prepare(request).await?;
    let existing = look(store, &tag, request.version, reporter).await?;
    let manifest = &built.plan.manifest.descriptor;
    let report = |transfers, replaced, unchanged| ModulePushReport {
        place: store.place(),
        version: request.version.clone(),
        tag: tag.clone(),
        manifest: manifest.digest.clone(),
        contents: built.contents.clone(),
        transfers,
        attachments: Vec::new(),
        replaced,
        unchanged,
    };
    match &existing {
        Some(there) if there.digest == manifest.digest => return Ok(report(Transfers::default(), None, true)),
        Some(there) if request.replace == ReplaceTag::Refuse => return Err(taken(store, there, &built, &tag).await),
        _ => {}
    }
    let transfers = send(request, &built, store, reporter).await?;
    if let Some(now) = point(store, manifest, &tag, request.replace).await? {
        return Err(taken(store, &now, &built, &tag).await);
    }
    Ok(report(transfers, existing.map(|there| there.digest), false))
}

/// What [`push_module`] would write. The store is only read.
pub async fn plan_module_push(
    request: &ModulePushRequest<'_>,
    store: &dyn ReadStore,
    reporter: &dyn Reporter,
) -> Result<ModulePushPlan, PackError> {
    let tag = tag_of(request.version)?;
    let built = prepare(request).await?;
    let existing = look(store, &tag, request.version, reporter).await?;
    let manifest = &built.plan.manifest.descriptor;
    let mut bytes_to_send = 0;
    for descriptor in [&built.plan.layer, &built.plan.config.descriptor, manifest] {
        if !store.exists(descriptor).await? {
            bytes_to_send += descriptor.size;
        }
    }
    Ok(ModulePushPlan {
        place: store.place(),
        version: request.version.clone(),
        tag,
        tag_state: match existing {
            None => ModuleTagState::Free,
            Some(there) if there.digest == manifest.digest => ModuleTagState::Equal,
            Some(there) => ModuleTagState::Taken { existing: there.digest },
        },
        manifest: manifest.digest.clone(),
        contents: built.contents.clone(),
        attachments: Vec::new(),
        bytes_to_send,
    })
}

async fn prepare(request: &ModulePushRequest<'_>) -> Result<BuiltModule, PackError> {
    let job = BuildJob {
        dir: request.dir.to_owned(),
        version: request.version.clone(),
        annotations: request.annotations.clone(),
        work_dir: request.work_dir.clone(),
    };
    blocking(move || {
        let folder = files(&job.dir)?;
        build(&job, &folder)
    })
    .await
}

/// Zip, config, manifest; and the check that the manifest is there.
async fn send(
    request: &ModulePushRequest<'_>,
    built: &BuiltModule,
    store: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transfers, PackError> {
    let mut transfers = Transfers::default();
    let subject = format!("module {}", request.version);
    transfers.count(send_zip(subject, built, store, reporter).await?, built.plan.layer.size);
    for planned in [&built.plan.config, &built.plan.manifest] {
        let Planned { descriptor, bytes } = planned;
        transfers.count(store.push(descriptor, &Bytes::copy_from_slice(bytes)).await?, descriptor.size);
    }
    let manifest = &built.plan.manifest.descriptor;
    if store.exists(manifest).await? {
        return Ok(transfers);
    }
    Err(PackError::Vanished { place: store.place(), digest: manifest.digest.clone() })
}

async fn send_zip(
    subject: String,
    built: &BuiltModule,
    store: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Pushed, PackError> {
    let layer = &built.plan.layer;
    reporter.event(&Event::Started { subject: subject.clone(), bytes: Some(layer.size) });
    let mut progress = |done| reporter.event(&Event::Progress { subject: subject.clone(), done });
    let body = FileBody(built.path.clone());
    let pushed = push_observed(store, layer, &body, &mut progress).await.map_err(|failed| failed.error)?;
    let outcome = outcome(pushed, &store.place()).to_owned();
    reporter.event(&Event::Finished { subject, outcome });
    Ok(pushed)
}
