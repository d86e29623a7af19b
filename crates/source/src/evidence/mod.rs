//! What lies beside a release and may say who signed it, or that it is deprecated or withdrawn: signatures and notices,
//! unverified.
//!
//! ```text
//! referrers of the index     notices · Sigstore bundles · SHA256SUMS with OpenPGP signatures · cosign's signatures as a referrer
//! tag sha256-HEX.sig         cosign's signatures as a tag
//! ```
//!
//! Only verified bytes count: what a list says about its referrers decides nothing except the order in which they are
//! opened. A broken piece becomes [`Evidence::Unreadable`] and does not affect the others. A failed request is an
//! error, so that a registry cannot make a release look unsigned by failing.
//!
//! Spec: OCI distribution-spec 1.1.1, "Listing Referrers"; cosign, `specs/SIGNATURE_SPEC.md` and
//! `specs/BUNDLE_SPEC.md`.

mod budget;
mod manifest;
mod parts;
mod reader;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_layout::media_type::is_leaf;
use tofu_oci_store::{Lists, ReadStore, StoreError};
use tofu_oci_trust::{
    EVIDENCE_LIMIT, Evidence, MadeBy, NOTICE_ARTIFACT_TYPE, Notice, ReleaseState, StatedNotice, VersionOf, in_force,
    peek_bundle,
};
use tofu_oci_types::{Descriptor, Digest, Reference, Tag, Version};

use self::budget::EvidenceBudget;
pub use self::manifest::LAYER_LIMIT;
use self::manifest::{EvidenceKind, EvidenceManifest, is_bundle};
pub(crate) use self::reader::EvidenceReader;
use self::reader::unreadable;
use crate::Search;
use crate::memory::DocumentCache;
use crate::release_reader::of_manifest;

/// Most referrers that are opened.
const MOST_OPENED: usize = 100;
/// How many are opened at once.
const AT_ONCE: usize = 4;
/// Beside how many manifests of platforms is looked.
const MOST_LEAVES: usize = 64;

/// What lies beside an index in its repository and may say who signed it, in the order of the lists.
///
/// Limits: a bundle, a payload, a file of checksums, a signature and a key 1 MiB each, a manifest 4 MiB, 100 referrers
/// opened and 100 layers of one; of all that no more than 100 pieces and 32 MiB. If there is more, the last piece is an
/// [`Evidence::Unreadable`] that says so. A layer whose descriptor carries its content (`data`) costs no request.
///
/// # Errors
/// If the repository could not be asked.
pub async fn evidence(store: &dyn ReadStore, index: &Descriptor, search: Search) -> Result<Vec<Evidence>, StoreError> {
    EvidenceReader::new(store, &DocumentCache::default(), index).search(search).await
}

/// Bundles by certificates that lie beside these manifests of platforms: `cosign sign --recursive`, or provenance of a manifest.
///
/// Limits: those of [`evidence`], and 64 manifests.
///
/// # Errors
/// If the repository could not be asked.
pub async fn leaf_evidence(store: &dyn ReadStore, leaves: &[Descriptor]) -> Result<Vec<Evidence>, StoreError> {
    evidence_of_leaves(store, &DocumentCache::default(), leaves.iter()).await
}

/// The same with manifests that were read before.
pub(crate) async fn evidence_of_leaves<'a>(
    store: &dyn ReadStore,
    memory: &DocumentCache,
    leaves: impl Iterator<Item = &'a Descriptor>,
) -> Result<Vec<Evidence>, StoreError> {
    let readers: Vec<_> =
        leaves.take(MOST_LEAVES).map(|leaf| EvidenceReader::new(store, memory, leaf).bundles()).collect();
    let read = futures_util::stream::iter(readers).buffered(AT_ONCE);
    let mut found: Vec<Evidence> = read.try_collect::<Vec<_>>().await?.into_iter().flatten().collect();
    found.truncate(EVIDENCE_LIMIT);
    Ok(found)
}

/// What publishers say of an index later, unverified, in the order of the lists. A notice that cannot be read is omitted.
///
/// Limits: those of [`evidence`].
///
/// # Errors
/// If the repository could not be asked.
pub async fn notices(store: &dyn ReadStore, index: &Descriptor) -> Result<Vec<StatedNotice>, StoreError> {
    Ok(notice_evidence(store, index).await?.iter().filter_map(stated).collect())
}

/// The same as evidence, with the signatures of the notices.
pub(crate) async fn notice_evidence(store: &dyn ReadStore, index: &Descriptor) -> Result<Vec<Evidence>, StoreError> {
    EvidenceReader::new(store, &DocumentCache::default(), index).notices().await
}

/// Why a version was withdrawn, by the notices of the manifest that its tag `withdrawn-VERSION` keeps: by those about this
/// provider or module, else by those about what the manifest says that it is, because a repository may be asked without a
/// provider's address. `None` if they do not say, or cannot be read.
pub async fn withdrawal(store: &dyn ReadStore, of: &VersionOf, version: &Version) -> Option<Notice> {
    let kept = KeptVersion::find(store, version).await.ok()??;
    let found = notices(store, &kept.manifest).await.ok()?;
    kept.withdrawn_by(&found, of, version)
}

/// The notices beside what the tag `withdrawn-VERSION` keeps; empty if it keeps nothing.
pub(crate) async fn withdrawal_evidence(store: &dyn ReadStore, version: &Version) -> Result<Vec<Evidence>, StoreError> {
    match KeptVersion::find(store, version).await? {
        Some(kept) => notice_evidence(store, &kept.manifest).await,
        None => Ok(Vec::new()),
    }
}

/// Whether a version is withdrawn although its own tag names this content: as after another program has written the tag
/// again. The notice of what `withdrawn-VERSION` keeps decides, because that tag may stay after `withdraw --undo`. If there are
/// notices and all of them are broken, it is withdrawn.
///
/// # Errors
/// If the repository could not be asked: then the version may be withdrawn.
pub async fn is_withdrawn(store: &dyn ReadStore, version: &Version, own: &Digest) -> Result<bool, StoreError> {
    let Some(kept) = KeptVersion::find(store, version).await? else { return Ok(false) };
    if kept.named != *own && kept.manifest.digest != *own {
        return Ok(false);
    }
    let pieces = EvidenceReader::new(store, &DocumentCache::default(), &kept.manifest).gather_notices().await?;
    let found: Vec<StatedNotice> = pieces.iter().filter_map(stated).collect();
    let are_broken = found.is_empty() && !pieces.is_empty();
    // The manifest says what it is a version of.
    Ok(are_broken || kept.withdrawn_by(&found, &VersionOf::Module, version).is_some())
}

/// What the tag `withdrawn-VERSION` keeps.
struct KeptVersion {
    /// What the store calls it.
    named: Digest,
    /// The manifest by its SHA-256.
    manifest: Descriptor,
    bytes: Bytes,
}

impl KeptVersion {
    /// `None` if there is no such tag, or what it names is broken.
    async fn find(store: &dyn ReadStore, version: &Version) -> Result<Option<Self>, StoreError> {
        let Ok(tag) = Tag::withdrawn(version) else { return Ok(None) };
        match store.manifest(&Reference::Tag(tag)).await {
            Ok((named, bytes)) => {
                let manifest = Descriptor { digest: Digest::sha256(&bytes), ..named.clone() };
                Ok(Some(Self { named: named.digest, manifest, bytes }))
            }
            Err(error) if error.is_of_content() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn withdrawn_by(&self, found: &[StatedNotice], of: &VersionOf, version: &Version) -> Option<Notice> {
        let own = of_manifest(&self.manifest, &self.bytes);
        [Some(of), own.as_ref()].into_iter().flatten().find_map(|of| {
            let about = found.iter().filter(|notice| notice.is_about(of.content(&self.manifest.digest, version)));
            let now = in_force(about).filter(|found| found.notice.state == ReleaseState::Withdrawn)?;
            Some(now.notice.clone())
        })
    }
}

/// What its publisher says of a module's version later, unverified, by the notices about the manifest that the version's tag
/// names. `None` if they do not say anything, if the version was made available again, and if they cannot be read.
pub async fn module_notice(store: &dyn ReadStore, version: &Version) -> Option<Notice> {
    let tag = Tag::for_version(version).ok()?;
    let (manifest, bytes) = store.manifest(&Reference::Tag(tag)).await.ok()?;
    let manifest = Descriptor { digest: Digest::sha256(&bytes), ..manifest };
    let found = notices(store, &manifest).await.ok()?;
    let content = VersionOf::Module.content(&manifest.digest, version);
    let notice = in_force(found.iter().filter(|found| found.is_about(content)))?.notice.clone();
    (notice.state != ReleaseState::Available).then_some(notice)
}

impl EvidenceReader<'_> {
    /// The notices among the referrers; nothing else is opened.
    pub(crate) async fn notices(&self) -> Result<Vec<Evidence>, StoreError> {
        let mut found = self.gather_notices().await?;
        found.retain(|piece| matches!(piece, Evidence::Notice { .. }));
        Ok(found)
    }

    /// The same, with those that are broken.
    async fn gather_notices(&self) -> Result<Vec<Evidence>, StoreError> {
        let mut referrers = self.store.referrers_in(&self.index.digest, Lists::All).await?;
        referrers.retain(|referrer| is_leaf(&referrer.media_type) && claims_notice(referrer));
        referrers.truncate(MOST_OPENED);
        self.open_all(&referrers).await
    }

    /// The bundles by certificates among the referrers; nothing else is opened.
    async fn bundles(self) -> Result<Vec<Evidence>, StoreError> {
        let mut referrers = self.store.referrers_in(&self.index.digest, Lists::Nearest).await?;
        referrers.retain(|one| is_leaf(&one.media_type) && one.artifact_type.as_deref().is_some_and(is_bundle));
        referrers.truncate(MOST_OPENED);
        let mut found = self.open_all(&referrers).await?;
        let by_certificate = |bytes: &[u8]| peek_bundle(bytes).is_ok_and(|peek| peek.made_by == MadeBy::Certificate);
        found.retain(|piece| matches!(piece, Evidence::Bundle { bytes, .. } if by_certificate(bytes)));
        Ok(found)
    }

    /// The notice that a manifest holds, unverified; `None` if it holds no notice about this index.
    pub(crate) async fn notice_of(&self, manifest: &Descriptor) -> Result<Option<StatedNotice>, StoreError> {
        Ok(self.open(manifest).await?.iter().find_map(stated))
    }

    /// Everything that is found, within the limits.
    pub(crate) async fn search(self, search: Search) -> Result<Vec<Evidence>, StoreError> {
        let mut found = self.gather(search).await?;
        // Wholly unreadable manifests count here: there are no more of them than referrers.
        if found.len() > EVIDENCE_LIMIT {
            found.truncate(EVIDENCE_LIMIT);
            self.budget.spend();
        }
        if self.budget.is_spent() {
            found.push(unreadable(&self.index.digest, EvidenceBudget::problem()));
        }
        Ok(found)
    }

    async fn gather(&self, search: Search) -> Result<Vec<Evidence>, StoreError> {
        let lists = match search {
            Search::Likely => Lists::Nearest,
            Search::Everywhere => Lists::All,
        };
        let (mut notices, mut bundles, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for referrer in self.store.referrers_in(&self.index.digest, lists).await? {
            // An index is never a signature.
            if !is_leaf(&referrer.media_type) {
                continue;
            }
            if claims_notice(&referrer) {
                notices.push(referrer);
            } else if referrer.artifact_type.as_deref().is_some_and(is_bundle) {
                bundles.push(referrer);
            } else {
                others.push(referrer);
            }
        }
        let listed = notices.len() + bundles.len() + others.len();
        let mut found = self.open_notices(&notices).await?;
        bundles.truncate(MOST_OPENED.saturating_sub(notices.len()));
        others.truncate(MOST_OPENED.saturating_sub(notices.len() + bundles.len()));
        found.extend(self.open_all(&bundles).await?);
        if search == Search::Likely && found.iter().any(convinces) {
            return Ok(found);
        }
        found.extend(self.open_all(&others).await?);
        if listed > MOST_OPENED {
            let problem = format!("{listed} manifests refer to it, and only {MOST_OPENED} of them were opened");
            found.push(unreadable(&self.index.digest, problem));
        }
        let is_needed = search == Search::Everywhere || !found.iter().any(convinces);
        if is_needed && !self.budget.is_spent() {
            found.extend(self.tagged(search).await?);
        }
        Ok(found)
    }

    /// What notices hold. They come first: whatever else refers to the index, they are opened. If there are too many, the one that
    /// withdraws the release may be among the others: then nothing vouches for it, not even what is remembered.
    async fn open_notices(&self, notices: &[Descriptor]) -> Result<Vec<Evidence>, StoreError> {
        let listed = notices.len();
        let mut found = self.open_all(&notices[..listed.min(MOST_OPENED)]).await?;
        if listed > MOST_OPENED {
            self.budget.spend();
        }
        if self.budget.is_spent() {
            let problem = format!(
                "{listed} notices are about it, which is more than tofu-oci reads; one of them may withdraw it"
            );
            found.insert(0, Evidence::UnreadNotices { origin: self.index.digest.clone(), problem });
        }
        Ok(found)
    }

    async fn open_all(&self, referrers: &[Descriptor]) -> Result<Vec<Evidence>, StoreError> {
        let opening: Vec<_> = referrers.iter().map(|referrer| self.open(referrer)).collect();
        let opened = futures_util::stream::iter(opening).buffered(AT_ONCE);
        let found: Vec<Vec<Evidence>> = opened.try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// What a manifest holds, if it refers to the index.
    async fn open(&self, referrer: &Descriptor) -> Result<Vec<Evidence>, StoreError> {
        if self.budget.is_spent() {
            return Ok(Vec::new());
        }
        let origin = &referrer.digest;
        let bytes = match self.memory.document(self.store, referrer).await {
            Ok(bytes) => bytes,
            Err(error) => return spoiled(origin, error),
        };
        let holder = match EvidenceManifest::parse(&bytes) {
            Ok(holder) => holder,
            Err(problem) => return Ok(vec![unreadable(origin, problem)]),
        };
        let kind = holder.kind();
        if kind == EvidenceKind::Foreign {
            return Ok(Vec::new());
        }
        match holder.subject() {
            Some(subject) if *subject == self.index.digest => self.read(origin, &holder, kind).await,
            Some(other) => Ok(vec![unreadable(origin, format!("it is about {other}, not about this release"))]),
            None => Ok(vec![unreadable(origin, "it does not say what it is about".to_owned())]),
        }
    }

    /// What cosign's tag of the index holds.
    async fn tagged(&self, search: Search) -> Result<Vec<Evidence>, StoreError> {
        let digest = &self.index.digest;
        // A digest that is too long for a tag has no such tag.
        let Ok(tag) = format!("{}-{}.sig", digest.algorithm_name(), digest.encoded()).parse::<Tag>() else {
            return Ok(Vec::new());
        };
        let is_listed = self.memory.listed().map(|tags| tags.contains(&tag));
        if search == Search::Likely && is_listed == Some(false) {
            return Ok(Vec::new());
        }
        let of_tag = |problem: &dyn std::fmt::Display| format!("tag {tag}: {problem}");
        let (found, bytes) = match self.store.manifest(&Reference::Tag(tag.clone())).await {
            Ok(found) => found,
            Err(error) if error.is_not_found() => return Ok(Vec::new()),
            Err(error) if error.is_of_content() => return Ok(vec![unreadable(digest, of_tag(&error))]),
            Err(error) => return Err(error),
        };
        match EvidenceManifest::parse(&bytes) {
            Ok(holder) => self.read(&found.digest, &holder, EvidenceKind::CosignTag).await,
            Err(problem) => Ok(vec![unreadable(&found.digest, of_tag(&problem))]),
        }
    }

    async fn read(
        &self,
        origin: &Digest,
        holder: &EvidenceManifest,
        kind: EvidenceKind,
    ) -> Result<Vec<Evidence>, StoreError> {
        let read = match kind {
            EvidenceKind::Bundle => self.bundle(origin, holder).await,
            EvidenceKind::CosignTag => self.signatures(origin, holder).await,
            EvidenceKind::Sums => self.sums(origin, holder).await,
            EvidenceKind::Notice => self.notice(origin, holder).await,
            EvidenceKind::Foreign => Ok(Vec::new()),
        };
        match read {
            Ok(mut found) => {
                let (read, all) = (holder.layers().len(), holder.layers_in_all());
                if all > read {
                    let problem = format!("it has {all} layers, and only the first {read} were read");
                    found.push(unreadable(origin, problem));
                }
                Ok(found)
            }
            Err(parts::NoEvidence::Spent) => Ok(Vec::new()),
            Err(parts::NoEvidence::Problem(problem)) => Ok(vec![unreadable(origin, problem)]),
            Err(parts::NoEvidence::Store(error)) => spoiled(origin, error),
        }
    }
}

fn claims_notice(referrer: &Descriptor) -> bool {
    referrer.artifact_type.as_deref() == Some(NOTICE_ARTIFACT_TYPE)
}

fn stated(piece: &Evidence) -> Option<StatedNotice> {
    let Evidence::Notice { bytes, .. } = piece else { return None };
    StatedNotice::peek(bytes).ok().flatten()
}

/// A fault of the content as a piece of evidence; any other error as it is.
fn spoiled(origin: &Digest, error: StoreError) -> Result<Vec<Evidence>, StoreError> {
    if error.is_of_content() { Ok(vec![unreadable(origin, error.to_string())]) } else { Err(error) }
}

/// Whether this is a signature that may suffice.
fn convinces(evidence: &Evidence) -> bool {
    match evidence {
        Evidence::Bundle { .. } | Evidence::CosignTag { .. } => true,
        Evidence::Sums { signatures, .. } => !signatures.is_empty(),
        Evidence::Notice { .. } | Evidence::UnreadNotices { .. } | Evidence::Unreadable { .. } => false,
    }
}

#[cfg(test)]
mod tests;
