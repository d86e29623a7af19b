//! Writing what refers to a release, and reading it back.

use tofu_oci_source::LAYER_LIMIT;
use tofu_oci_store::{Store, StoreError, fetch_bytes};
use tofu_oci_trust::{CosignTagSignature, PublicKey, SignatureForm};
use tofu_oci_types::{Digest, Place, Tag};

use super::WRITES;
use super::artifact::Artifact;
use super::image::SignatureImage;
use super::seen::Saying;
use crate::SignError;
use crate::{PackError, Transfers};

/// The largest blob that is read back, in bytes.
const MAX_BLOB: u64 = 16 << 20;

/// How often a referrer must turn out not to be listed before that is an error.
pub(super) const ROUNDS: usize = 3;

/// Attaches things to one manifest.
pub(super) struct Attacher<'a> {
    pub(super) store: &'a dyn Store,
    /// What is referred to.
    pub(super) subject: &'a Digest,
    pub(super) writers: ReferrerWriters,
    /// What was sent so far.
    pub(super) transfers: Transfers,
}

/// Who else may write among the referrers of a manifest at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferrerWriters {
    Anyone,
    /// Programs that write the same ones, or wait for this one.
    OfTheSame,
}

impl<'a> Attacher<'a> {
    /// Nothing is sent yet.
    pub(super) fn new(store: &'a dyn Store, subject: &'a Digest) -> Self {
        Self { store, subject, writers: ReferrerWriters::Anyone, transfers: Transfers::default() }
    }

    /// Demands that these referrers are listed among those of their subject, and come back as they were. One that another
    /// program has dropped from the list is pushed again.
    pub(super) async fn confirm(&self, artifacts: &[(SignatureForm, Box<Artifact>)]) -> Result<(), PackError> {
        let mut open: Vec<&(SignatureForm, Box<Artifact>)> = artifacts.iter().collect();
        for round in 1.. {
            if open.is_empty() {
                break;
            }
            let listed = match self.writers {
                ReferrerWriters::Anyone => self.store.settled_referrers(self.subject).await?,
                ReferrerWriters::OfTheSame => self.store.uncontended_referrers(self.subject).await?,
            };
            open.retain(|(_, artifact)| listed.iter().all(|found| found.digest != artifact.manifest.0.digest));
            for (form, Artifact { manifest: (descriptor, bytes), .. }) in open.iter().map(|(form, it)| (*form, &**it)) {
                if round == ROUNDS {
                    let (manifest, subject) = (descriptor.digest.clone(), self.subject.clone());
                    return Err(SignError::NotListed { place: self.store.place(), form, manifest, subject }.into());
                }
                let pushed = self.store.push(descriptor, bytes).await;
                pushed.map_err(|error| self.refused(form, error))?;
            }
        }
        for (form, artifact) in artifacts {
            self.read_back(*form, artifact).await?;
        }
        Ok(())
    }

    /// Adds a signature to those under the tag. Whatever others write there meanwhile stays, and so does this one.
    pub(super) async fn signature(
        &mut self,
        tag: Tag,
        signature: &CosignTagSignature,
        key: &PublicKey,
        said: Saying<'_>,
    ) -> Result<Digest, PackError> {
        for _ in 0..WRITES {
            let mut image = SignatureImage::read(self.store, tag.clone()).await?;
            if let Some(found) = &image.found
                && image.is_signed(self.store, key, said).await?
            {
                return Ok(found.digest.clone());
            }
            image.demand_room(self.store, 1, LAYER_LIMIT)?;
            image.add(signature);
            self.put(image).await?;
            // Another program may have read the tag before this write, and write it afterwards.
            self.store.settle().await?;
        }
        let image = SignatureImage::read(self.store, tag.clone()).await?;
        match &image.found {
            Some(found) if image.is_signed(self.store, key, said).await? => Ok(found.digest.clone()),
            _ => Err(SignError::Race { place: self.store.place(), tag }.into()),
        }
    }

    /// Writes an image of signatures under its tag, unless the tag has moved since it was read.
    pub(super) async fn put(&mut self, image: SignatureImage) -> Result<(), PackError> {
        let before = image.found.as_ref().map(|found| found.digest.clone());
        let (tag, artifact) = image.into_artifact();
        self.push(SignatureForm::CosignTag, &artifact).await?;
        let written = self.store.retag(&artifact.manifest.0, &tag, before.as_ref()).await;
        written
            .map(drop)
            .map_err(|error| refused(self.store.place(), SignatureForm::CosignTag, error, Some(tag.as_str())))
    }

    /// Pushes a manifest and what it names; one that has a subject is listed among its referrers.
    pub(super) async fn push(&mut self, form: SignatureForm, artifact: &Artifact) -> Result<(), PackError> {
        for (descriptor, bytes) in artifact.blobs.iter().chain([&artifact.manifest]) {
            let pushed = self.store.push(descriptor, bytes).await;
            let pushed = pushed.map_err(|error| self.refused(form, error))?;
            self.transfers.count(pushed, descriptor.size);
        }
        Ok(())
    }

    fn refused(&self, form: SignatureForm, error: StoreError) -> PackError {
        let referrers_tag = format!("{}-{}", self.subject.algorithm_name(), self.subject.encoded());
        let is_about = matches!(&error, StoreError::Rejected { request, .. } if request.ends_with(&referrers_tag));
        refused(self.store.place(), form, error, is_about.then_some(&referrers_tag))
    }

    /// Demands that the manifest comes back, and what it names, unless it carries it itself.
    async fn read_back(&self, form: SignatureForm, artifact: &Artifact) -> Result<(), PackError> {
        for (descriptor, bytes) in artifact.named_alone().chain([&artifact.manifest]) {
            match fetch_bytes(self.store, descriptor, MAX_BLOB).await {
                Ok(back) if back == *bytes => {}
                Ok(_) => {
                    return Err(PackError::Vanished { place: self.store.place(), digest: descriptor.digest.clone() });
                }
                Err(error) if error.is_transient() => return Err(error.into()),
                Err(error) => {
                    let (place, source) = (self.store.place(), Box::new(error));
                    return Err(SignError::NotGivenBack { place, form, source }.into());
                }
            }
        }
        Ok(())
    }
}

/// The error of a write: a refusal of the thing itself, of a tag that it needs, or what the store says.
fn refused(place: Place, form: SignatureForm, error: StoreError, tag: Option<&str>) -> PackError {
    match (&error, tag) {
        (StoreError::Rejected { status: 400 | 405 | 406 | 409 | 412 | 415 | 422 | 423 | 501, .. }, Some(tag)) => {
            SignError::TagRefused { place, tag: tag.to_owned(), form, source: Box::new(error) }.into()
        }
        (StoreError::Rejected { status: 400 | 405 | 406 | 409 | 412 | 415 | 422 | 501, .. }, None)
        | (StoreError::NotListed { .. }, _) => SignError::Refused { place, form, source: Box::new(error) }.into(),
        _ => error.into(),
    }
}
