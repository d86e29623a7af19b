//! The push itself.

use bytes::Bytes;
use tofu_oci_layout::{Planned, annotation};
use tofu_oci_store::{ComparedBy, FileBody, Pushed, ReadStore, Store, is_whole, push_observed};
use tofu_oci_trust::{SignedContent, VersionOf};
use tofu_oci_types::{Event, OciModuleSource, Reporter, Tag, printable, without_logins};

use super::build::{BuildJob, BuiltModule, build, files};
use super::checks::NAMED;
use super::look::{look, taken};
use super::report::ModuleParts;
use super::request::{ModulePushRequest, PackedFiles};
use crate::error::ModuleFault;
use crate::kept_for::module_source;
use crate::push::{Replacement, blocking, outcome};
use crate::signing::{AttachPlan, AttachRequest};
use crate::tags::{overwritten, point, tag_of};
use crate::{
    AttachedFile, AttachmentState, PackError, PushPlan, PushReport, ReplaceTag, ReplacedRelease, Signer, TagState,
    Transfers,
};

/// The annotations that a push writes itself.
const OWN: [&str; 4] =
    [annotation::MODULE_VERSION, annotation::MODULE_H1, annotation::MODULE_README, annotation::IMAGE_VERSION];

/// Writes the module's package, and its tag last of all.
///
/// The same folder gives the same bytes on every machine, so that a second push sends nothing. A push that breaks off leaves
/// no tag. The signature is there before the tag is; a module that is there already gets what it lacks.
///
/// # Errors
/// [`PackError::Module`] before anything is sent: if the tag points at something else, if `OpenTofu` could not read the
/// files, and if it could install no module from a repository of this name. [`PackError::KeptForOther`] if a provider's versions
/// lie there, and [`PackError::Withdrawn`] if the version was withdrawn.
pub async fn push_module(
    request: &ModulePushRequest<'_>,
    store: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<PushReport<ModuleParts>, PackError> {
    let (tag, source) = address(request, store)?;
    let built = prepare(request, reporter).await?;
    let existing = look(store, &tag, request, reporter).await?;
    let manifest = &built.plan.manifest.descriptor;
    let contents = (&manifest.digest, &built.contents.zip);
    let is_same = existing.as_ref().is_some_and(|there| there.digest == manifest.digest);
    // Files of a layout may be lost or cut off since a power cut.
    let unchanged = is_same && is_whole(store, manifest, ComparedBy::Sizes).await?;
    let mut transfers = Transfers::default();
    match &existing {
        Some(there) if !is_same && request.replace == ReplaceTag::Refuse => {
            return Err(taken(store, there, contents, &tag).await);
        }
        _ if unchanged => {}
        _ => transfers = send(request, &built, store, reporter).await?,
    }
    let files = match request.signer {
        Some(signer) => signer.files(SignedContent::Manifest(&manifest.digest), None).await?,
        None => Vec::new(),
    };
    let (attachments, more) = signatures(request, &built, &files, store).await?.attach(store).await?;
    transfers.add(more);
    let (of, version) = (VersionOf::Module, request.version);
    let replacement = Replacement {
        store,
        reporter,
        of: &of,
        version,
        key: request.signer.and_then(Signer::signing).map(|signing| signing.key),
    };
    if request.replace == ReplaceTag::Replace {
        replacement.revive(manifest).await?;
    }
    let mut replaced = None;
    if !is_same {
        if let Some(existing) = &existing {
            replaced = Some(replacement.mark(existing, manifest).await?);
        }
        match point(store, manifest, &tag, request.replace).await {
            Ok(None) if existing.is_some() || request.replace == ReplaceTag::Replace => {}
            Ok(None) => {
                if let Some(now) = overwritten(store, manifest, &tag).await? {
                    return Err(taken(store, &now, contents, &tag).await);
                }
            }
            Ok(Some(now)) => return Err(taken(store, &now, contents, &tag).await),
            Err(error) => {
                if let (Some(existing), Some(ReplacedRelease { notice: Some(_), .. })) = (&existing, &replaced) {
                    replacement.unmark(existing, &tag).await;
                }
                return Err(error);
            }
        }
    }
    Ok(PushReport {
        place: store.place(),
        version: request.version.clone(),
        tag,
        what: ModuleParts { source, manifest: manifest.digest.clone(), contents: built.contents.clone() },
        transfers,
        attachments,
        replaced,
        unchanged,
    })
}

/// What [`push_module`] would write. The store is only read.
///
/// # Errors
/// As [`push_module`], except that a tag that points at something else is a state of the plan.
pub async fn plan_module_push(
    request: &ModulePushRequest<'_>,
    store: &dyn ReadStore,
    reporter: &dyn Reporter,
) -> Result<PushPlan<ModuleParts>, PackError> {
    let (tag, source) = address(request, store)?;
    let built = prepare(request, reporter).await?;
    let existing = look(store, &tag, request, reporter).await?;
    let manifest = &built.plan.manifest.descriptor;
    let attachments = signatures(request, &built, &[], store).await?.attachments();
    let missing = attachments.iter().filter(|attachment| attachment.state == AttachmentState::Missing);
    let mut bytes_to_send = missing.map(|attachment| attachment.bytes).sum();
    for descriptor in [&built.plan.layer, &built.plan.config.descriptor, manifest] {
        if !store.exists(descriptor).await? {
            bytes_to_send += descriptor.size;
        }
    }
    Ok(PushPlan {
        place: store.place(),
        version: request.version.clone(),
        tag,
        tag_state: TagState::of(existing.map(|there| there.digest), &manifest.digest, None),
        what: ModuleParts { source, manifest: manifest.digest.clone(), contents: built.contents.clone() },
        attachments,
        keyless: request.signer.is_some_and(Signer::is_keyless),
        bytes_to_send,
    })
}

/// The tag, and the source by which a configuration calls the module; `None` if it lies in a directory.
fn address(
    request: &ModulePushRequest<'_>,
    store: &dyn ReadStore,
) -> Result<(Tag, Option<OciModuleSource>), PackError> {
    let tag = tag_of(request.version)?;
    let source = module_source(&store.place(), &tag)?;
    Ok((tag, source))
}

/// Packs and checks the folder. Says what is not in the package.
async fn prepare(request: &ModulePushRequest<'_>, reporter: &dyn Reporter) -> Result<BuiltModule, PackError> {
    if let Some(key) = request.annotations.keys().find(|key| OWN.contains(&key.as_str())) {
        return Err(ModuleFault::OwnAnnotation { key: key.clone() }.into());
    }
    let mut annotations = request.annotations.clone();
    for (key, value) in &mut annotations {
        let plain = without_logins(value);
        if plain != *value {
            let text = format!("`module push` omits the login in {key} and publishes {}", printable(&plain));
            reporter.event(&Event::note("annotation-login", text));
            *value = plain;
        }
    }
    let job = BuildJob {
        dir: request.dir.to_owned(),
        checks: request.checks,
        version: request.version.clone(),
        annotations,
        work_dir: request.work_dir.clone(),
    };
    let which = request.files;
    let built = blocking(move || {
        let folder = files(&job.dir, which)?;
        build(&job, &folder)
    })
    .await?;
    for (name, reason) in built.not_for_windows.iter().take(NAMED) {
        let text = format!("Windows cannot unpack this module: `{}`: {reason}", printable(name));
        let event = Event::warning("name-not-for-windows", text);
        reporter.event(&event.with_hint("rename it, or leave it out: a line in .tofuignore"));
    }
    for fault in &built.checked.uncalled {
        let text = format!("{fault}; no source of the module in the root names this folder");
        let event = Event::warning("module-folder-unreadable", text);
        reporter.event(&event.with_hint("correct it, or leave it out: a line in .tofuignore"));
    }
    if built.checked.is_empty && request.files == PackedFiles::Chosen {
        let text =
            format!("{} holds no .tf or .tofu file: OpenTofu takes it for an empty module", request.dir.display());
        reporter.event(
            &Event::warning("module-empty", text)
                .with_hint("name the folder of the module, or call a folder in it: //FOLDER"),
        );
    }
    Ok(built)
}

/// The signature of the manifest, beside what is there.
async fn signatures<'a>(
    request: &'a ModulePushRequest<'a>,
    built: &'a BuiltModule,
    files: &'a [AttachedFile],
    store: &dyn ReadStore,
) -> Result<AttachPlan<'a>, PackError> {
    let index = &built.plan.manifest.descriptor;
    let subject = SignedContent::Manifest(&index.digest);
    let signing = request.signer.and_then(Signer::signing);
    AttachPlan::look(store, AttachRequest { index, subject, sums: None, files, signing, note: None }).await
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
