//! What a push would do.

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_layout::LeafKind;
use tofu_oci_source::version_of;
use tofu_oci_store::ReadStore;
use tofu_oci_types::{Descriptor, Platform, Reporter};

use super::prepare::Preparation;
use super::release::BuiltRelease;
use super::{attachments, inspect, replaced};
use crate::signing::DocsPlan;
use crate::tags;
use crate::{
    AttachmentState, PackError, PlannedItem, PlannedRelease, PushPlan, PushRequest, ReleaseParts, ReplaceTag, Signer,
    TagState,
};

/// What [`push()`](crate::push()) would write. The store is only read; on disk it writes only to `work_dir` and the
/// memo.
pub async fn plan(
    request: &PushRequest<'_>,
    store: &dyn ReadStore,
    reporter: &dyn Reporter,
) -> Result<PushPlan, PackError> {
    inspect::inspect(request).await?;
    let publication = &request.publication;
    let sums = attachments::read(request, reporter).await?;
    let tag = tags::for_version(publication.version)?;
    let found = tags::look(store, (&tag, publication.version, publication.replace), None, reporter).await?;
    if let Some(withdrawn) = found.withdrawn(publication) {
        return Err(replaced::withdrawn(store, withdrawn, &publication.address.into(), publication.version).await);
    }
    if found.existing.is_none() {
        found.require_address(store, &tag, publication).await?;
    }
    let mut preparation = Preparation::start(request)?;
    let release = preparation.finish(request, reporter).await;
    preparation.stop().await;
    let release = release?;
    let digest = &release.index.descriptor.digest;
    let taken = found.existing.as_ref().filter(|existing| existing.digest != *digest);
    if taken.is_none() && found.existing.is_some() && publication.replace == ReplaceTag::Refuse {
        found.warn_if_withdrawn(store, (publication.version, digest), reporter).await?;
    }
    let of = match taken {
        Some(existing) => {
            found.require_address(store, &tag, publication).await?;
            version_of(store, existing).await?.and_then(|of| of.address().cloned())
        }
        None => None,
    };
    inspect::warn_of_equal_packages(request.dist, &release.platforms, reporter);
    let items: Vec<PlannedItem> = futures_util::stream::iter(contents(&release))
        .map(|(role, platform, descriptor)| async move {
            let present = store.exists(&descriptor).await?;
            let Descriptor { media_type, digest, size, .. } = descriptor;
            Ok::<_, PackError>(PlannedItem { role, platform, media_type, digest, size, present })
        })
        .buffered(publication.jobs.max(1))
        .try_collect()
        .await?;
    let mut attachments = attachments::plan(publication, (sums.as_ref(), &[]), store, &release).await?.attachments();
    if let Some(docs) = request.docs {
        docs.remark().iter().for_each(|event| reporter.event(event));
        attachments.push(DocsPlan::look(store, &release.index.descriptor, docs).await?.attachment());
    }
    let missing = attachments.iter().filter(|attachment| attachment.state == AttachmentState::Missing);
    let bytes_to_attach: u64 = missing.map(|attachment| attachment.bytes).sum();
    let bytes_to_push: u64 = items.iter().filter(|item| !item.present).map(|item| item.size).sum();
    let index = release.index.descriptor.digest;
    Ok(PushPlan {
        place: store.place(),
        version: publication.version.clone(),
        tag,
        tag_state: TagState::of(found.existing.map(|existing| existing.digest), &index, of),
        what: PlannedRelease {
            release: ReleaseParts { address: publication.address.clone(), index, platforms: release.platforms },
            items,
        },
        attachments,
        keyless: publication.signer.is_some_and(Signer::is_keyless),
        bytes_to_send: bytes_to_push + bytes_to_attach,
    })
}

/// Everything that the release consists of, in the order of sending.
fn contents(release: &BuiltRelease) -> Vec<(&'static str, Option<Platform>, Descriptor)> {
    let mut all = Vec::new();
    for leaf in release.prepared.iter().flat_map(|prepared| &prepared.leaves) {
        let platform = || Some(leaf.platform.clone());
        let role = |blob: &Descriptor| match leaf.kind {
            LeafKind::Artifact if leaf.small() == Some(blob) => "small",
            LeafKind::Artifact => "package",
            LeafKind::Image => "layer",
        };
        all.extend(leaf.blobs.iter().map(|blob| (role(blob), platform(), blob.clone())));
        all.push(("config", platform(), leaf.config.descriptor.clone()));
        all.push(("manifest", platform(), leaf.manifest.descriptor.clone()));
    }
    all.push(("index", None, release.index.descriptor.clone()));
    all
}
