//! Deleting what a probe wrote, which also shows what the registry can delete.

use std::time::Duration;

use tofu_oci_remote::{RawAnswer, RawMethod, RawRequest, RawTarget};
use tofu_oci_store::StoreError;

use super::report::{Capability, CapabilityState};
use super::scratch::{ScratchRepository, is_trouble};

/// The rows about deleting, and what could not be deleted.
type Cleaned = (Vec<Capability>, Vec<String>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum CleanupKind {
    Tag,
    Manifest,
    Blob,
    /// A blob of the second repository.
    Elsewhere,
}

/// Something to delete.
struct CleanupItem {
    kind: CleanupKind,
    subject: String,
    path: String,
    /// `None` before it was tried.
    outcome: Option<Result<RawAnswer, StoreError>>,
}

impl CleanupItem {
    fn new(kind: CleanupKind, subject: String, path: String) -> Self {
        Self { kind, subject, path, outcome: None }
    }

    /// 404: it went with something else, or never was there.
    fn is_gone(&self) -> bool {
        matches!(&self.outcome, Some(Ok(answer)) if answer.is_success() || answer.status == 404)
    }
}

/// Deletes tags, then manifests, then blobs, within this time. What fails is left, and the next one is tried.
pub(super) async fn clean(scratch: &mut ScratchRepository<'_>, bound: Duration) -> Cleaned {
    scratch.give_up();
    let mut items = items(scratch);
    // What is not requested in time is left.
    let _ = tokio::time::timeout(bound, async {
        for item in &mut items {
            item.outcome = Some(delete(scratch, item).await);
        }
    })
    .await;
    let rows = [
        (CleanupKind::Tag, "delete-tag", "a tag deleted"),
        (CleanupKind::Manifest, "delete-manifest", "a manifest deleted"),
        (CleanupKind::Blob, "delete-blob", "a blob deleted"),
    ];
    let rows: Vec<Capability> =
        rows.into_iter().filter_map(|(kind, name, what)| row(&items, kind, name, what)).collect();
    let in_vain = rows.iter().filter(|row| row.state == CapabilityState::NotTried);
    scratch.not_judged.extend(in_vain.map(|row| (row.what, row.detail.clone())));
    // A tag goes with its manifest, whatever the answer to its own deletion was.
    let manifests_gone = items.iter().all(|item| item.kind != CleanupKind::Manifest || item.is_gone());
    let is_left = |item: &&CleanupItem| !(item.is_gone() || item.kind == CleanupKind::Tag && manifests_gone);
    (rows, items.iter().filter(is_left).map(|item| item.subject.clone()).collect())
}

fn items(scratch: &mut ScratchRepository<'_>) -> Vec<CleanupItem> {
    let tags = std::mem::take(&mut scratch.tags);
    let mut items: Vec<CleanupItem> = tags
        .into_iter()
        .map(|tag| CleanupItem::new(CleanupKind::Tag, tag.clone(), format!("manifests/{tag}")))
        .collect();
    // Referring manifests go first: some registries keep a manifest that has referrers.
    let manifests = std::mem::take(&mut scratch.manifests).into_iter().rev();
    items.extend(
        manifests
            .map(|digest| CleanupItem::new(CleanupKind::Manifest, digest.to_string(), format!("manifests/{digest}"))),
    );
    let mut blobs = std::mem::take(&mut scratch.blobs);
    blobs.sort();
    blobs.dedup();
    items.extend(
        blobs
            .into_iter()
            .map(|digest| CleanupItem::new(CleanupKind::Blob, digest.to_string(), format!("blobs/{digest}"))),
    );
    if let Some(other) = scratch.mount_from {
        let place = other.repository();
        let elsewhere = std::mem::take(&mut scratch.elsewhere).into_iter();
        let item = |digest| {
            CleanupItem::new(CleanupKind::Elsewhere, format!("{digest} in {place}"), format!("blobs/{digest}"))
        };
        items.extend(elsewhere.map(item));
    }
    items
}

async fn delete(scratch: &mut ScratchRepository<'_>, item: &CleanupItem) -> Result<RawAnswer, StoreError> {
    match scratch.mount_from {
        Some(other) if item.kind == CleanupKind::Elsewhere => {
            scratch.requests += 1;
            let (method, target) = (RawMethod::Delete, RawTarget::Path(&item.path));
            other.send(RawRequest { method, target, headers: Vec::new(), body: None, from: None }).await
        }
        _ => scratch.ask(RawMethod::Delete, &item.path).await,
    }
}

fn row(items: &[CleanupItem], kind: CleanupKind, name: &'static str, what: &'static str) -> Option<Capability> {
    let mut of_kind = items.iter().filter(|item| item.kind == kind);
    let kept = of_kind.clone().find(|item| !item.is_gone());
    let said = match &kept.or_else(|| of_kind.next())?.outcome {
        Some(Ok(answer)) => answer.summary(),
        Some(Err(_)) => "without an answer".to_owned(),
        None => "not made: no time was left".to_owned(),
    };
    let trouble = matches!(&kept.and_then(|item| item.outcome.as_ref()), Some(Ok(answer)) if is_trouble(RawMethod::Delete, answer.status));
    let works = kept.is_none() && items.iter().any(|item| item.kind == kind && deleted(item));
    let unasked = trouble || !matches!(kept.map(|item| &item.outcome), None | Some(Some(Ok(_))));
    let state = match (works, unasked) {
        (true, _) => CapabilityState::Works,
        (false, true) => CapabilityState::NotTried,
        (false, false) => CapabilityState::Missing,
    };
    Some(Capability { name, what, state, detail: format!("DELETE {said}") })
}

fn deleted(item: &CleanupItem) -> bool {
    matches!(&item.outcome, Some(Ok(answer)) if answer.is_success())
}
