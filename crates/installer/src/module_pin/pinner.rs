//! Which package a call of a module is pinned to, and when its pin no longer holds: one call at a time.

use std::sync::{Arc, Mutex, PoisonError};

use tofu_oci_fetch::{ModuleStanding, SignedBy, judge_module};
use tofu_oci_source::{ModuleError, ModulePackage, Withdrawal};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Constraints, Digest, Event, Reference, Reporter, Tag, Version};

use super::error::ModulePinError;
use super::model::{ModulePin, ModulePinChange, ModulePinOptions, ModulePinRequest, MovedTags, PinRemark};
use super::repositories::{AskedRepositories, AskedRepository};
use crate::Upgrade;

/// The tag of a source that names none.
const DEFAULT_TAG: &str = "latest";

pub(super) struct Pinner<'a> {
    pub(super) repositories: &'a AskedRepositories,
    pub(super) options: &'a ModulePinOptions<'a>,
    pub(super) reporter: &'a dyn Reporter,
}

/// A call at work.
struct PinnedCall<'a> {
    pinner: &'a Pinner<'a>,
    repository: &'a AskedRepository,
    request: &'a ModulePinRequest,
}

impl Pinner<'_> {
    pub(super) async fn pin(&self, request: &ModulePinRequest) -> Result<ModulePin, ModulePinError> {
        let repository = self.repositories.get(request.source.repository());
        let call = PinnedCall { pinner: self, repository, request };
        match request.source.reference() {
            Reference::Tag(tag) => call.first(tag).await,
            Reference::Digest(digest) => call.again(digest).await,
        }
    }
}

impl PinnedCall<'_> {
    /// A call without a digest.
    async fn first(&self, tag: &Tag) -> Result<ModulePin, ModulePinError> {
        let version = tag.canonical_version();
        let is_free = tag.as_str() == DEFAULT_TAG && self.request.constraints.is_some();
        let chosen = if is_free || (self.is_upgrade() && version.is_some()) {
            self.newest(version.as_ref()).await?
        } else {
            self.admit(version.as_ref())?;
            tag.clone()
        };
        self.of_tag(chosen, ModulePinChange::Pinned).await
    }

    /// A call with a digest.
    async fn again(&self, digest: &Digest) -> Result<ModulePin, ModulePinError> {
        let (tag, is_noted) = match &self.request.tag {
            Some(tag) => (Some(tag.clone()), true),
            None => (self.tag_of(digest).await?, false),
        };
        let version = tag.as_ref().and_then(Tag::canonical_version);
        if self.is_upgrade() && (version.is_some() || self.request.constraints.is_some()) {
            let newest = self.newest(version.as_ref()).await?;
            if Some(&newest) != tag.as_ref() {
                let mut pin = self.of_tag(newest, ModulePinChange::Upgraded { from: tag }).await?;
                pin.remarks.extend(self.left(version).await?);
                return Ok(pin);
            }
        }
        self.admit(version.as_ref())?;
        let mut remarks = Vec::new();
        if let Some(tag) = tag.as_ref().filter(|_| is_noted) {
            match self.repository.digest(tag).await? {
                Some(now) if self.is_same(&now, digest).await? => {}
                Some(_) if version.is_none() && self.is_upgrade() => {
                    return self.of_tag(tag.clone(), ModulePinChange::Upgraded { from: Some(tag.clone()) }).await;
                }
                Some(_) if self.pinner.options.moved == MovedTags::Accept => {
                    return self.of_tag(tag.clone(), ModulePinChange::Moved).await;
                }
                Some(now) if version.is_some() => {
                    let (place, tag, pinned) = (self.repository.place(), tag.clone(), digest.clone());
                    return Err(ModulePinError::TagMoved { place, tag, pinned, now });
                }
                Some(now) => remarks.push(PinRemark::Behind { tag: tag.clone(), now }),
                None => remarks.push(self.gone(tag, version.as_ref()).await),
            }
        }
        let reference = Reference::Digest(digest.clone());
        let package = self.package(&reference).await?;
        let (signers, deprecated) = self.judge(&package, version.as_ref()).await?;
        remarks.extend(deprecated);
        let change = match (&tag, is_noted) {
            (Some(_), false) => ModulePinChange::Noted,
            (None, _) => {
                remarks.push(PinRemark::NoVersion);
                ModulePinChange::Kept
            }
            _ => ModulePinChange::Kept,
        };
        Ok(ModulePin { digest: digest.clone(), tag, change, remarks, signers })
    }

    /// The package that a tag names now.
    async fn of_tag(&self, tag: Tag, change: ModulePinChange) -> Result<ModulePin, ModulePinError> {
        let package = self.package(&Reference::Tag(tag.clone())).await?;
        let version = tag.canonical_version();
        let (signers, deprecated) = self.judge(&package, version.as_ref()).await?;
        let digest = package.manifest().expect("a package in a repository has a manifest").clone();
        Ok(ModulePin { digest, tag: Some(tag), change, remarks: deprecated.into_iter().collect(), signers })
    }

    fn is_upgrade(&self) -> bool {
        self.pinner.options.upgrade == Upgrade::Newest
    }

    /// Refuses a version that the constraint does not admit.
    fn admit(&self, version: Option<&Version>) -> Result<(), ModulePinError> {
        match (version, &self.request.constraints) {
            (Some(version), Some(wanted)) if !wanted.admits(version) => {
                let (place, version, wanted) = (self.repository.place(), version.clone(), wanted.clone());
                Err(ModulePinError::ConstraintUnmet { place, version, wanted })
            }
            _ => Ok(()),
        }
    }

    /// The tag of the newest version that the constraint admits. The present version stays if it is newer, admitted and still
    /// there, as a prerelease may be.
    async fn newest(&self, present: Option<&Version>) -> Result<Tag, ModulePinError> {
        let listing = self.repository.listing().await?;
        let wanted = self.request.constraints.clone().unwrap_or_else(Constraints::any);
        let newest = wanted.select(&listing.versions);
        let stays = |present: &&Version| {
            listing.versions.contains(present)
                && (wanted.is_any() || wanted.admits(present))
                && newest.is_none_or(|newest| newest.precedence(present).is_le())
        };
        let Some(version) = present.filter(stays).or(newest) else {
            let (place, offered) = (self.repository.place(), listing.versions.clone());
            return Err(ModulePinError::NoMatchingVersion { place, wanted, offered });
        };
        Ok(Tag::for_version(version).expect("it was read from a tag"))
    }

    /// The tag of the version that a digest is.
    async fn tag_of(&self, digest: &Digest) -> Result<Option<Tag>, ModulePinError> {
        let package = self.package(&Reference::Digest(digest.clone())).await?;
        Ok(self.repository.tag_of(digest, package.claimed_version()).await?)
    }

    /// Whether two digests are of one manifest: a repository may name it by another algorithm than the source.
    async fn is_same(&self, now: &Digest, pinned: &Digest) -> Result<bool, ModulePinError> {
        if now == pinned || now.algorithm() == pinned.algorithm() {
            return Ok(now == pinned);
        }
        let now = self.package(&Reference::Digest(now.clone())).await?;
        let pinned = self.package(&Reference::Digest(pinned.clone())).await?;
        Ok(now.manifest() == pinned.manifest())
    }

    async fn package(&self, reference: &Reference) -> Result<Arc<ModulePackage>, ModulePinError> {
        match self.repository.package(reference).await {
            Ok(package) => Ok(package),
            Err(ModuleError::Store(error)) if error.is_not_found() => {
                let listing = match (reference, self.repository.listing().await) {
                    (Reference::Tag(_), Err(unknown @ StoreError::UnknownRepository { .. })) => {
                        return Err(unknown.into());
                    }
                    (_, listing) => listing.unwrap_or_default(),
                };
                let (place, offered) = (self.repository.place(), listing.versions.clone());
                let tagged = if let Reference::Tag(tag) = reference { tag.version() } else { None };
                if let Some(version) = tagged.filter(|version| listing.withdrawn.contains(version)) {
                    let reason = self.repository.withdrawal(&version).await;
                    let withdrawn = Withdrawal { place, version, reason, offered };
                    return Err(ModuleError::Withdrawn(Box::new(withdrawn)).into());
                }
                Err(ModulePinError::Missing { place, reference: reference.clone(), offered, source: Box::new(error) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Who has signed the package, and that its version is deprecated, if it is: once, with the position of the call.
    async fn judge(
        &self,
        package: &ModulePackage,
        version: Option<&Version>,
    ) -> Result<(Vec<SignedBy>, Option<PinRemark>), ModulePinError> {
        let held = HeldDeprecations { reporter: self.pinner.reporter, deprecations: Mutex::default() };
        let signers = match judge_module(package, version, self.pinner.options.trust, &held).await {
            Ok(ModuleStanding::Signed(signers)) => signers,
            Ok(ModuleStanding::NotJudged | ModuleStanding::Unsigned) => Vec::new(),
            Err(error) => {
                held.report();
                return Err(error.into());
            }
        };
        let deprecated = self.deprecated(version).await;
        if !matches!(deprecated, Some(PinRemark::Deprecated { .. })) {
            held.report();
        }
        Ok((signers, deprecated))
    }

    /// That the version of before was withdrawn, and why.
    async fn left(&self, version: Option<Version>) -> Result<Option<PinRemark>, ModulePinError> {
        let Some(withdrawn) = version else { return Ok(None) };
        if !self.repository.listing().await?.withdrawn.contains(&withdrawn) {
            return Ok(None);
        }
        let reason = self.repository.withdrawal(&withdrawn).await;
        Ok(Some(PinRemark::Left { withdrawn, reason }))
    }

    /// Why the tag of a pinned package is gone.
    async fn gone(&self, tag: &Tag, version: Option<&Version>) -> PinRemark {
        match (version, self.repository.listing().await) {
            (Some(version), Ok(listing)) if listing.withdrawn.contains(version) => {
                PinRemark::Withdrawn(version.clone())
            }
            _ => PinRemark::TagGone(tag.clone()),
        }
    }

    /// That the version is deprecated, if it is.
    async fn deprecated(&self, version: Option<&Version>) -> Option<PinRemark> {
        let version = version?;
        match self.repository.deprecation(version).await {
            Ok(reason) => reason.map(|reason| PinRemark::Deprecated { version: version.clone(), reason }),
            Err(error) => Some(PinRemark::TagsUnlisted(error)),
        }
    }
}

/// Passes events on, except deprecations, which the pin may say better.
struct HeldDeprecations<'a> {
    reporter: &'a dyn Reporter,
    deprecations: Mutex<Vec<Event>>,
}

impl HeldDeprecations<'_> {
    fn report(self) {
        let deprecations = self.deprecations.into_inner().unwrap_or_else(PoisonError::into_inner);
        for event in &deprecations {
            self.reporter.event(event);
        }
    }
}

impl Reporter for HeldDeprecations<'_> {
    fn event(&self, event: &Event) {
        if matches!(event, Event::Message { code: "deprecated", .. }) {
            self.deprecations.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        } else {
            self.reporter.event(event);
        }
    }
}
