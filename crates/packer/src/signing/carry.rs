//! The tags that cosign keeps beside manifests, from one store to another.

use std::collections::BTreeSet;

use serde_json::Value;
use tofu_oci_layout::MAX_ENTRIES;
use tofu_oci_source::LAYER_LIMIT;
use tofu_oci_store::{CopyError, CopyOptions, CopyReport, ReadStore, Referrers, Side, Store, StoreError};
use tofu_oci_types::{Descriptor, Digest, Event, Reference, Reporter, Tag};

use super::WRITES;
use super::attach::Attacher;
use super::image::{SignatureImage, cosign_tag};
use crate::push::resolve;
use crate::{PackError, SignError, Transfers};

/// What cosign's tags hold, by their endings: signatures, attestations, a bill of materials.
const SUFFIXES: [&str; 3] = ["sig", "att", "sbom"];

/// Tags to look at beside the manifests of a release.
pub(crate) enum Known {
    /// All tags that the source has.
    Tags(BTreeSet<Tag>),
    /// The source does not list its tags: those of the index are asked for one by one.
    NotListed,
}

impl Known {
    /// What a source lists.
    pub(crate) async fn of(from: &dyn ReadStore) -> Result<Self, StoreError> {
        match from.tags().await {
            Ok(tags) => Ok(Self::Tags(tags.into_iter().collect())),
            Err(error) if error.is_transient() => Err(error),
            Err(_) => Ok(Self::NotListed),
        }
    }

    /// The tags that may belong to these manifests, with what they hold.
    fn candidates(&self, index: &Digest, leaves: &BTreeSet<Digest>) -> Vec<(Tag, &'static str)> {
        let subjects = std::iter::once(index).chain(leaves.iter().filter(|leaf| *leaf != index));
        let all = subjects.flat_map(|subject| SUFFIXES.map(|suffix| (subject, suffix)));
        all.filter(|(subject, _)| matches!(self, Self::Tags(_)) || *subject == index)
            .filter_map(|(subject, suffix)| Some((cosign_tag(subject, suffix)?, suffix)))
            .filter(|(tag, _)| if let Self::Tags(tags) = self { tags.contains(tag) } else { true })
            .collect()
    }
}

/// Copies what cosign keeps beside a release. Where the destination has signatures of its own, both stay.
pub(crate) struct Carrier<'a> {
    pub(crate) from: &'a dyn ReadStore,
    pub(crate) to: &'a dyn Store,
    pub(crate) jobs: usize,
    pub(crate) reporter: &'a dyn Reporter,
    /// What was sent and what was there.
    pub(crate) transfers: Transfers,
}

impl Carrier<'_> {
    /// The tags that the release has at both ends afterwards.
    pub(crate) async fn carry(
        &mut self,
        known: &Known,
        index: &Digest,
        leaves: &BTreeSet<Digest>,
    ) -> Result<Vec<Tag>, PackError> {
        let mut carried = Vec::new();
        for (tag, suffix) in known.candidates(index, leaves) {
            let Some(root) = resolve(self.from, &Reference::Tag(tag.clone())).await? else { continue };
            let there = resolve(self.to, &Reference::Tag(tag.clone())).await?;
            match there {
                Some(there) if there.digest == root.digest => {}
                None => self.copy(&root, Some(&tag)).await?,
                Some(_) if suffix == "sbom" => {
                    let text = format!("{} has another tag {tag}, and keeps it", self.to.place());
                    self.reporter.event(&Event::warning("tag-kept", text));
                    continue;
                }
                Some(_) => {
                    // Attestations are not read by those who install.
                    let most = if suffix == "sig" { LAYER_LIMIT } else { MAX_ENTRIES };
                    self.merge(&root, &tag, most).await?;
                }
            }
            carried.push(tag);
        }
        Ok(carried)
    }

    async fn copy(&mut self, root: &Descriptor, tag: Option<&Tag>) -> Result<(), PackError> {
        let (jobs, reporter) = (self.jobs, self.reporter);
        let options = CopyOptions { jobs, reporter, tag: tag.cloned(), referrers: Referrers::Copy };
        let report = tofu_oci_store::copy(self.from, self.to, root, options).await?;
        self.transfers.add(Transfers::of_copy(&report));
        Ok(())
    }

    /// Adds the layers that the destination lacks to those that it has; they may be so many afterwards.
    async fn merge(&mut self, root: &Descriptor, tag: &Tag, most: usize) -> Result<(), PackError> {
        let source = SignatureImage::read(self.from, tag.clone()).await?;
        let mut sent = false;
        for _ in 0..WRITES {
            let mut image = SignatureImage::read(self.to, tag.clone()).await?;
            let missing: Vec<Value> =
                source.layers().iter().filter(|layer| !image.layers().contains(layer)).cloned().collect();
            if missing.is_empty() {
                return Ok(());
            }
            image.demand_room(self.to, missing.len(), most)?;
            if !sent {
                self.copy(root, None).await?;
                sent = true;
            }
            image.add_layers(missing);
            let mut attacher = Attacher::new(self.to, &root.digest);
            attacher.put(image).await?;
            self.transfers.add(attacher.transfers);
        }
        Err(SignError::Race { place: self.to.place(), tag: tag.clone() }.into())
    }
}

impl Transfers {
    /// The counts of a copy.
    pub(crate) fn of_copy(report: &CopyReport) -> Self {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Self {
            uploaded: count(report.pushed),
            present: count(report.present),
            mounted: count(report.mounted),
            bytes: report.bytes,
        }
    }
}

/// An error of the end that is written.
pub(crate) fn at_destination(error: StoreError) -> PackError {
    PackError::Copy(CopyError { side: Side::Destination, error })
}
