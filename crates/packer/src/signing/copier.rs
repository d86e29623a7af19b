//! The tags that cosign keeps beside manifests, from one store to another.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use tofu_oci_layout::MAX_ENTRIES;
use tofu_oci_source::LAYER_LIMIT;
use tofu_oci_store::{
    CopyBudget, CopyError, CopyOptions, CopyReferrers, CopyReport, ReadStore, Side, Store, StoreError,
};
use tofu_oci_types::{Descriptor, Digest, Event, Reference, Reporter, Tag};

use super::WRITES;
use super::attach::Attacher;
use super::image::{SignatureImage, cosign_tag};
use crate::found::resolve;
use crate::{PackError, SignError, Transfers};

/// What cosign's tags hold, by their endings: signatures, attestations, a bill of materials.
const SUFFIXES: [&str; 3] = ["sig", "att", "sbom"];

/// Tags to look at beside the manifests of a release.
pub(crate) enum SourceTags {
    /// All tags that the source has.
    Tags(BTreeSet<Tag>),
    /// The source does not list its tags: those of the index are asked for one by one.
    NotListed,
}

impl SourceTags {
    /// What a source lists.
    pub(crate) async fn of(from: &dyn ReadStore) -> Result<Self, StoreError> {
        match from.tags().await {
            Ok(tags) => Ok(Self::Tags(tags.into_iter().collect())),
            Err(error) if error.is_transient() => Err(error),
            Err(_) => Ok(Self::NotListed),
        }
    }

    /// The tag of the notice that says that the version of a tag is deprecated, if it is listed.
    pub(crate) fn deprecated(&self, tag: &Tag) -> Option<Tag> {
        let Self::Tags(tags) = self else { return None };
        let notice = Tag::deprecated(&tag.version()?).ok()?;
        tags.contains(&notice).then_some(notice)
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

/// Copies what cosign keeps beside a release. Signatures that the destination has stay.
pub(crate) struct SignatureCopier<'a> {
    pub(crate) from: &'a dyn ReadStore,
    pub(crate) to: &'a dyn Store,
    /// What is left for all copies of the run.
    pub(crate) budget: Arc<CopyBudget>,
    pub(crate) jobs: usize,
    pub(crate) reporter: &'a dyn Reporter,
    /// What was sent and what was there.
    pub(crate) transfers: Transfers,
}

impl SignatureCopier<'_> {
    /// The tags that the release has at both ends afterwards.
    pub(crate) async fn copy(
        &mut self,
        known: &SourceTags,
        index: &Digest,
        leaves: &BTreeSet<Digest>,
    ) -> Result<Vec<Tag>, PackError> {
        let mut copied = Vec::new();
        let mut open = Vec::new();
        for (tag, suffix) in known.candidates(index, leaves) {
            let Some(root) = resolve(self.from, &Reference::Tag(tag.clone())).await? else { continue };
            if suffix == "sbom" {
                let there = resolve(self.to, &Reference::Tag(tag.clone())).await?;
                if there.as_ref().is_some_and(|there| there.digest != root.digest) {
                    let text = format!("{} has another tag {tag}, and keeps it", self.to.place());
                    self.reporter.event(&Event::warning("tag-kept", text));
                    continue;
                }
            }
            let most = match suffix {
                "sbom" => 0,
                "sig" => LAYER_LIMIT,
                // Installers do not read attestations.
                _ => MAX_ENTRIES,
            };
            open.push(Open { tag: tag.clone(), root, most, is_sent: false });
            copied.push(tag);
        }
        for _ in 0..WRITES {
            let mut written = Vec::new();
            for mut one in open {
                if self.bring(&mut one).await? == TagOutcome::Written {
                    written.push(one);
                }
            }
            open = written;
            if open.is_empty() {
                break;
            }
            // Another program may have read the tags before this write, and write them afterwards.
            self.to.settle().await.map_err(at_destination)?;
        }
        match open.pop() {
            Some(Open { tag, .. }) => Err(SignError::Race { place: self.to.place(), tag }.into()),
            None => Ok(copied),
        }
    }

    /// Makes the tag hold what it holds at the source. Signatures that the destination has stay.
    async fn bring(&mut self, one: &mut Open) -> Result<TagOutcome, PackError> {
        match resolve(self.to, &Reference::Tag(one.tag.clone())).await? {
            // A bill of materials is not merged with another one.
            Some(there) if there.digest == one.root.digest || one.most == 0 => Ok(TagOutcome::There),
            Some(_) => self.merge(one).await,
            None => {
                self.send(one).await?;
                // The next round finds what another program has written meanwhile.
                self.to.retag(&one.root, &one.tag, None).await.map_err(at_destination)?;
                Ok(TagOutcome::Written)
            }
        }
    }

    async fn send(&mut self, one: &mut Open) -> Result<(), PackError> {
        if one.is_sent {
            return Ok(());
        }
        let (jobs, reporter) = (self.jobs, self.reporter);
        let options =
            CopyOptions { jobs, reporter, tag: None, referrers: CopyReferrers::Copy, budget: Arc::clone(&self.budget) };
        let report = tofu_oci_store::copy(self.from, self.to, &one.root, options).await?;
        self.transfers.add(Transfers::of_copy(&report));
        one.is_sent = true;
        Ok(())
    }

    /// Adds the layers that the destination lacks to those that it has.
    async fn merge(&mut self, one: &mut Open) -> Result<TagOutcome, PackError> {
        let source = SignatureImage::read(self.from, one.tag.clone()).await?;
        let mut image = SignatureImage::read(self.to, one.tag.clone()).await?;
        let missing: Vec<Value> =
            source.layers().iter().filter(|layer| !image.layers().contains(layer)).cloned().collect();
        if missing.is_empty() {
            return Ok(TagOutcome::There);
        }
        image.demand_room(self.to, missing.len(), one.most)?;
        self.send(one).await?;
        image.add_layers(missing);
        let mut attacher = Attacher::new(self.to, &one.root.digest);
        attacher.put(image).await?;
        self.transfers.add(attacher.transfers);
        Ok(TagOutcome::Written)
    }
}

/// A tag on its way.
struct Open {
    tag: Tag,
    /// What it points at in the source.
    root: Descriptor,
    /// The most layers after a merge; 0 if it is never merged.
    most: usize,
    /// Whether what it points at has been copied.
    is_sent: bool,
}

/// What became of a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TagOutcome {
    There,
    /// It has been written, and is looked at again.
    Written,
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
