//! In which order a push sends: blobs before manifests, leaves before the index; what it sends while the rest is
//! prepared.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt as _, TryFutureExt as _, TryStreamExt as _};
use tofu_oci_layout::Planned;
use tofu_oci_store::{Pushed, Store, push_observed};
use tofu_oci_trust::{SignedSubject, VersionOf};
use tofu_oci_types::{Counter, Descriptor, Event, Place, Reporter};

use super::attachments;
use super::pack::{PackedBlob, Prepared};
use super::prepare::Preparation;
use super::release::{Attached, BuiltRelease};
use super::replaced::Replacement;
use crate::signing::DocsPlan;
use crate::{AttachedFile, PackError, Publication, ReleaseDocs, SignedSums, Signer, Transfers};

/// What is counted package by package.
const SENDING: &str = "packages sent";

/// What sending needs.
#[derive(Clone, Copy)]
pub(super) struct Sender<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) reporter: &'a dyn Reporter,
    pub(super) publication: &'a Publication<'a>,
    /// The plugin protocols of the release, such as `6.0`.
    pub(super) protocols: &'a [String],
    /// The signed checksum file of its origin.
    pub(super) sums: Option<&'a SignedSums>,
    /// Files that go with the release.
    pub(super) files: &'a [AttachedFile],
    /// The documentation that goes with it.
    pub(super) docs: Option<&'a ReleaseDocs>,
}

impl Sender<'_> {
    /// Sends each platform as soon as it is prepared, `jobs` at a time, while the checksums are found.
    pub(super) async fn send_while_preparing(
        &self,
        preparation: &mut Preparation,
    ) -> Result<(Transfers, BuiltRelease), PackError> {
        let count = Counter::new(self.reporter, SENDING, preparation.stages.len());
        let count = &count;
        let sends = futures_util::stream::iter(preparation.stages.iter_mut().enumerate())
            .map(|(number, stage)| async move {
                let prepared = stage.wait().await?;
                let transfers = self.send(&prepared).await?;
                count.done();
                Ok::<_, PackError>((number, prepared, transfers))
            })
            .buffer_unordered(self.jobs())
            .try_collect::<Vec<_>>();
        let (mut sent, checksums) =
            futures_util::future::try_join(sends, preparation.checksums.wait(self.reporter)).await?;
        sent.sort_by_key(|(number, ..)| *number);
        let mut transfers = Transfers::default();
        for (.., more) in &sent {
            transfers.add(*more);
        }
        let prepared = sent.into_iter().map(|(_, prepared, _)| prepared).collect();
        Ok((transfers, BuiltRelease::new(self.publication, self.protocols, prepared, checksums)))
    }

    /// Sends platforms that are prepared, `jobs` at a time.
    pub(super) async fn send_all(&self, prepared: &[Arc<Prepared>]) -> Result<Transfers, PackError> {
        let count = Counter::new(self.reporter, SENDING, prepared.len());
        let sends = prepared.iter().map(|prepared| self.send(prepared).inspect_ok(|_| count.done()).boxed());
        let sends: Vec<_> = sends.collect();
        futures_util::stream::iter(sends)
            .buffer_unordered(self.jobs())
            .try_fold(Transfers::default(), |mut sum, more| async move {
                sum.add(more);
                Ok(sum)
            })
            .await
    }

    /// What is said of a release of this provider when the version's tag moves.
    pub(super) fn replacement<'b>(&'b self, of: &'b VersionOf) -> Replacement<'b> {
        let Publication { version, .. } = self.publication;
        let key = self.publication.signer.and_then(Signer::signing).map(|signing| signing.key);
        Replacement { store: self.store, reporter: self.reporter, of, version, key }
    }

    fn jobs(&self) -> usize {
        self.publication.jobs.max(1)
    }

    /// Sends one platform: blobs, then config and manifest of each leaf.
    async fn send(&self, prepared: &Prepared) -> Result<Transfers, PackError> {
        let mut transfers = Transfers::default();
        for leaf in &prepared.leaves {
            for blob in &leaf.blobs {
                transfers.count(self.send_blob(prepared, blob).await?, blob.size);
            }
            for planned in [&leaf.config, &leaf.manifest] {
                transfers.count(self.send_planned(planned).await?, planned.descriptor.size);
            }
        }
        Ok(transfers)
    }

    async fn send_blob(&self, prepared: &Prepared, descriptor: &Descriptor) -> Result<Pushed, PackError> {
        let subject = self.subject(prepared, descriptor);
        self.reporter.event(&Event::Started { subject: subject.clone(), bytes: Some(descriptor.size) });
        let mut progress = |done| self.reporter.event(&Event::Progress { subject: subject.clone(), done });
        let body = &*blob_of(prepared, descriptor).body;
        let pushed = push_observed(self.store, descriptor, body, &mut progress).await.map_err(|failed| failed.error)?;
        let outcome = outcome(pushed, &self.store.place()).to_owned();
        self.reporter.event(&Event::Finished { subject, outcome });
        Ok(pushed)
    }

    /// `widget 1.0.0 linux_amd64`, and `layer` or `small layer` after it if the platform has a zip as well.
    fn subject(&self, prepared: &Prepared, descriptor: &Descriptor) -> String {
        let (provider_type, version) = (self.publication.address.provider_type(), self.publication.version);
        let is = |blob: &Option<PackedBlob>| blob.as_ref().is_some_and(|blob| blob.digest == descriptor.digest);
        let suffix = match &prepared.zip {
            None => "",
            Some(_) if is(&prepared.zip) => "",
            Some(_) if is(&prepared.small) => " small layer",
            Some(_) => " layer",
        };
        format!("{provider_type} {version} {}{suffix}", prepared.platform)
    }

    /// Attaches what is missing, and reads it back. `existing` is what the version's tag names.
    pub(super) async fn attach(
        &self,
        release: &BuiltRelease,
        existing: Option<&Descriptor>,
        attached: &mut Attached,
    ) -> Result<(), PackError> {
        let mut files = self.files.to_vec();
        if let Some(signer) = self.publication.signer {
            let Publication { address, version, .. } = self.publication;
            let content = SignedSubject { index: &release.index.descriptor.digest, address, version };
            files.extend(signer.files((&content).into(), None).await?);
        }
        let mut plan = attachments::plan(self.publication, (self.sums, &files), self.store, release).await?;
        if existing.is_none() {
            plan = plan.of_untagged();
        }
        let (attachments, transfers) = plan.attach(self.store).await?;
        attached.transfers.add(transfers);
        attached.attachments = attachments;
        if let Some(docs) = self.docs {
            let plan = DocsPlan::look(self.store, &release.index.descriptor, docs).await?;
            let (attachment, transfers) = plan.attach(self.store).await?;
            attached.transfers.add(transfers);
            attached.attachments.push(attachment);
        }
        Ok(())
    }

    /// Sends a manifest or config.
    pub(super) async fn send_planned(&self, planned: &Planned) -> Result<Pushed, PackError> {
        let bytes = Bytes::copy_from_slice(&planned.bytes);
        Ok(self.store.push(&planned.descriptor, &bytes).await?)
    }

    /// Demands that the store has every manifest that the tag will lead to.
    pub(super) async fn check(&self, release: &BuiltRelease) -> Result<(), PackError> {
        let leaves = release.prepared.iter().flat_map(|prepared| &prepared.leaves).map(|leaf| &leaf.manifest);
        let all = leaves.chain([&release.index]).map(|planned| async {
            if self.store.exists(&planned.descriptor).await? {
                return Ok(());
            }
            let digest = planned.descriptor.digest.clone();
            Err(PackError::Vanished { place: self.store.place(), digest })
        });
        let all: Vec<_> = all.map(FutureExt::boxed).collect();
        futures_util::stream::iter(all).buffer_unordered(self.jobs()).try_collect().await
    }
}

/// How a transfer ended, for people.
pub(crate) fn outcome(pushed: Pushed, place: &Place) -> &'static str {
    match pushed {
        // Nothing is pushed into a directory.
        Pushed::Uploaded if matches!(place, Place::Layout(_)) => "packed",
        Pushed::Uploaded => "pushed",
        Pushed::Present => "present",
        Pushed::Mounted => "mounted",
    }
}

fn blob_of<'a>(prepared: &'a Prepared, descriptor: &Descriptor) -> &'a PackedBlob {
    let blobs = [prepared.zip.as_ref(), prepared.small.as_ref(), prepared.layer.as_ref()];
    let found = blobs.into_iter().flatten().find(|blob| blob.digest == descriptor.digest);
    found.expect("the leaves are planned from these very blobs")
}
