//! The judgement on releases by the trust policy and the pins; whether bytes may be used that were not fetched.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tofu_oci_disk::FileError;
use tofu_oci_lockfile::{LockFileError, ManifestLines, WriteOutcome};
use tofu_oci_source::{Offer, Release, ReleaseId};
use tofu_oci_trust::{
    Admission, Archives, ManifestChecksums, Pin, PinnedSigner, Pins, ReleaseFacts, Standing, Subject, TrustRefusal,
    TrustRemark, TrustRule, Verdict, judge,
};
use tofu_oci_types::{Event, Identity, Level, PackageHash, Platform, ProviderAddr, Reporter, Version};
use tokio::sync::OnceCell;

use super::check::{Knowledge, ReleaseCheck, zips};
use super::known::{KnownContents, OfflineScope, asks};
use super::pinned_release::PinnedRelease;
use super::{RenamedReleases, SignedBy, Trust, VouchedBy, other_address_note};
use crate::guard::FolderLock;
use crate::pin_file::{self, PinFileError};
use crate::{FetchError, subject};

/// Judges and reports each release of a run once.
pub struct TrustChecker<'a> {
    trust: &'a Trust,
    reporter: &'a dyn Reporter,
    judged: Mutex<HashMap<PinnedRelease, Arc<OnceCell<Arc<Judgement>>>>>,
    /// The releases whose notice was asked for although no signature matters.
    noticed: Mutex<HashSet<(ProviderAddr, Version)>>,
    /// The providers with releases that name another address, once each.
    renamed: Mutex<BTreeSet<ProviderAddr>>,
}

/// A release that has been judged.
#[derive(Debug)]
pub struct Judgement {
    id: PinnedRelease,
    /// The rule that it was judged by.
    rule: TrustRule,
    verdict: Verdict,
    /// Who has signed this very index before.
    pinned: Vec<SignedBy>,
    /// What is known of its archives.
    archives: Archives,
    /// The provider that it names, if that is another one.
    published_as: Option<ProviderAddr>,
    /// The platforms whose package was reported as not covered.
    reported: Mutex<BTreeSet<Platform>>,
    /// The checksums that signatures vouch for.
    covered: BTreeMap<Platform, BTreeSet<PackageHash>>,
    /// The contents of its packages.
    contents: KnownContents,
    /// The same release under the address that it names, if the rules for that must admit it too.
    as_well: Option<Box<Self>>,
}

impl<'a> TrustChecker<'a> {
    /// A checker for one run.
    pub fn new(trust: &'a Trust, reporter: &'a dyn Reporter) -> Self {
        Self { trust, reporter, judged: Mutex::default(), noticed: Mutex::default(), renamed: Mutex::default() }
    }

    /// The judgement on the release of an offer; `None` if the release has no index and no rule requires signatures of
    /// the provider.
    ///
    /// # Errors
    /// [`FetchError::Untrusted`], [`FetchError::OtherAddress`], and errors of the place that was asked for signatures.
    pub async fn of_offer(&self, offer: &Offer) -> Result<Option<Arc<Judgement>>, FetchError> {
        self.demand_address(&*offer.release)?;
        let judged_as = || std::iter::once(offer.address()).chain(self.trust.judged_as_well(&*offer.release));
        if offer.identity().index().is_none() && !judged_as().any(|address| asks(self.trust, address)) {
            return Ok(None);
        }
        let wanted = judged_as().any(|address| self.trust.policy.wants_evidence(&self.trust.pins, address));
        let judged = self.judge(&*offer.release, || async {
            if wanted {
                Ok(Knowledge::of(offer.release.describe().await?))
            } else {
                Ok(Knowledge { about: None, archives: Archives::Annotated(zips(&offer.claims)) })
            }
        });
        let judged = judged.await?;
        judged.admit(&offer.platform, offer.zh().as_ref())?;
        self.report_package(&judged, offer);
        Ok(Some(judged))
    }

    /// The judgement on a release.
    ///
    /// # Errors
    /// As [`TrustChecker::of_offer`].
    pub async fn of_release(&self, release: &dyn Release) -> Result<Arc<Judgement>, FetchError> {
        self.demand_address(release)?;
        self.judge(release, || async { Ok(Knowledge::of(release.describe().await?)) }).await
    }

    /// Demands that a release may be used as what it is asked for, and reports one that names another address.
    ///
    /// # Errors
    /// [`FetchError::OtherAddress`].
    pub fn demand_address(&self, release: &dyn Release) -> Result<(), FetchError> {
        let Trust { policy, pins, renamed, .. } = self.trust;
        let Some(published_as) = release.other_address(policy.predecessors()) else { return Ok(()) };
        let ReleaseId { address, version, place, .. } = release.id();
        let is_used = match renamed {
            RenamedReleases::Refuse => false,
            RenamedReleases::ByPolicy => policy.decides_alike(pins, address, published_as),
            RenamedReleases::Accept => true,
        };
        let (version, place, said) = (version.clone(), place.clone(), Box::new(published_as.clone()));
        let found = FetchError::OtherAddress { address: address.clone(), version, place, published_as: said };
        if !is_used {
            return Err(found);
        }
        if self.renamed.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone()) {
            self.reporter.event(&other_address_note(found.to_string(), address, published_as));
        }
        Ok(())
    }

    async fn judge<'r, F: Future<Output = Result<Knowledge<'r>, FetchError>>>(
        &self,
        release: &'r dyn Release,
        knowledge: impl FnOnce() -> F,
    ) -> Result<Arc<Judgement>, FetchError> {
        let id = PinnedRelease::new(self.trust, release.id());
        let cell = {
            let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(judged.entry(id.clone()).or_default())
        };
        let judged = cell.get_or_try_init(|| async {
            let knowledge = knowledge().await?;
            let as_well = match self.trust.judged_as_well(release) {
                Some(said) => Some(Box::new(self.judgement(release, id.of(said), knowledge.clone()).await?)),
                None => None,
            };
            let judged = Judgement { as_well, ..self.judgement(release, id.clone(), knowledge).await? };
            self.report_remarks(&judged);
            judged.as_well.iter().for_each(|as_well| self.report_remarks(as_well));
            Ok::<_, FetchError>(Arc::new(judged))
        });
        let judged = Arc::clone(judged.await?);
        match std::iter::once(&*judged).chain(judged.as_well.as_deref()).find_map(Judgement::refused) {
            Some(error) => Err(error),
            None => Ok(judged),
        }
    }

    /// The judgement on a release as one of the provider of `id`.
    async fn judgement(
        &self,
        release: &dyn Release,
        id: PinnedRelease,
        knowledge: Knowledge<'_>,
    ) -> Result<Judgement, FetchError> {
        let mut check = ReleaseCheck { trust: self.trust, release, id: &id, knowledge };
        let verdict = check.verdict().await?;
        let covered = check.covered(&verdict).await?;
        let archives = check.knowledge.archives;
        let pinned = self.pinned(&id.facts(&archives));
        let rule = self.trust.policy.rule(&id.id.address).clone();
        let contents = KnownContents::new(self.trust, &id.facts(&archives), &verdict);
        let published_as = release.published_as().filter(|said| **said != id.id.address).cloned();
        let (reported, as_well) = (Mutex::default(), None);
        Ok(Judgement { id, rule, verdict, pinned, archives, published_as, reported, covered, contents, as_well })
    }

    /// Reports once what the publisher says of a release whose signatures do not matter; notices of other releases are
    /// judged with their signatures. Reports nothing if no answer comes.
    pub async fn report_notice(&self, release: &dyn Release) {
        let ReleaseId { address, version, .. } = release.id();
        if self.trust.policy.wants_evidence(&self.trust.pins, address) {
            return;
        }
        let is_new = {
            let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
            noticed.insert((address.clone(), version.clone()))
        };
        if is_new
            && let Ok(Some(notice)) = release.notice().await
            && let Some(remark) = TrustRemark::noticed(&notice)
        {
            self.report(&remark, format!("{address} {version}: {}", remark.text));
        }
    }

    /// Which locked packages may be used without asking their place: all of them if no signatures are required and
    /// unsigned releases are allowed. Otherwise those whose contents the pins know, if keys that still count had signed
    /// the pinned version.
    pub fn offline_scope(&self, address: &ProviderAddr, version: &Version, platform: &Platform) -> OfflineScope {
        let Trust { policy, pins, now, .. } = self.trust;
        let names = policy.predecessors().names(address);
        if !names.iter().any(|name| asks(self.trust, name)) {
            return OfflineScope::Locked;
        }
        if names.iter().any(|name| !policy.decides_alike(pins, address, name)) {
            // The release says under which name it was published.
            return OfflineScope::Known(BTreeSet::new());
        }
        let archives = &Archives::Unknown;
        let known = pins.iter().filter(|pin| pin.address == *address && pin.version == *version).flat_map(|pin| {
            let identity = &Identity::Index { sha256: pin.index.clone(), sha512: None };
            let facts =
                ReleaseFacts { of: Subject::Provider { address, version }, place: &pin.place, identity, archives };
            let verdict = judge(policy, pins, &facts, &[], *now);
            let counts = verdict.standing == Standing::Pinned && verdict.covered.index && verdict.refusal.is_none();
            let contents = counts.then(|| pins.contents(&facts, &verdict).remove(platform));
            contents.flatten().unwrap_or_default()
        });
        OfflineScope::Known(known.collect())
    }

    /// What the `ch:` lines of a provider are worth.
    pub fn manifest_checksums(&self, address: &ProviderAddr) -> ManifestChecksums {
        self.trust.policy.rule(address).manifest_checksums
    }

    /// How `ch:` lines of a provider count.
    pub fn manifest_lines(&self, address: &ProviderAddr) -> ManifestLines {
        match self.manifest_checksums(address) {
            ManifestChecksums::Required => ManifestLines::Required,
            ManifestChecksums::Optional | ManifestChecksums::Off => ManifestLines::Optional,
        }
    }

    /// Whether this very index was pinned before this run.
    pub fn has_seen(&self, release: &ReleaseId) -> bool {
        let release = PinnedRelease::new(self.trust, release);
        self.trust.pins.same_index(&release.facts(&Archives::Unknown)).next().is_some()
    }

    /// Writes the pins. A read-only folder causes only a warning if the lock file stays as it is and no signature is
    /// lost. The next run asks again for contents that the pins lack.
    ///
    /// # Errors
    /// [`PinFileError`].
    pub fn write_pins(&self, lock_file: WriteOutcome, folder_lock: &FolderLock) -> Result<WriteOutcome, PinFileError> {
        let (before, after) = (&self.trust.pins, self.pins());
        let error = match pin_file::write(&self.trust.pins_path, &after, folder_lock) {
            Ok(written) => return Ok(written),
            Err(error) => error,
        };
        let is_new = |pin: &&Pin| {
            let before = before.get(&pin.address, &pin.version, &pin.place);
            before.is_none_or(|before| before.index != pin.index || before.signers != pin.signers)
        };
        let forgets = after.iter().filter(is_new).any(|pin| !pin.signers.is_empty());
        let read_only =
            matches!(&error, PinFileError::File(LockFileError::Io(FileError { action: "write" | "replace", .. })));
        if !read_only || forgets || lock_file != WriteOutcome::Unchanged {
            return Err(error);
        }
        let text = format!("which index was installed cannot be remembered: {error}");
        let hint = "the lock file vouches for everything; in a writable folder, a moved tag is noticed too";
        self.reporter.event(&Event::warning("pins-not-written", text).with_hint(hint));
        Ok(WriteOutcome::Unchanged)
    }

    /// Who has signed this very index before.
    fn pinned(&self, facts: &ReleaseFacts<'_>) -> Vec<SignedBy> {
        let pins = self.trust.pins.same_index(facts);
        let name = |signer: &PinnedSigner| SignedBy { name: signer.name.clone(), key: signer.key.clone() };
        pins.flat_map(|pin| &pin.signers).map(name).collect()
    }

    fn report_remarks(&self, judged: &Judgement) {
        for remark in &judged.verdict.remarks {
            let ReleaseId { address, version, .. } = &judged.id.id;
            self.report(remark, format!("{address} {version}: {}", remark.text));
        }
    }

    fn report(&self, remark: &TrustRemark, text: String) {
        self.reporter.event(&match remark.level {
            Level::Note => Event::note(remark.code, text),
            Level::Warning => Event::warning(remark.code, text),
        });
    }

    /// Reports once that no signature covers a package although signatures cover others of its release.
    fn report_package(&self, judged: &Judgement, offer: &Offer) {
        let Some(remark) = judged.verdict.remark_for(&offer.platform, offer.zh().as_ref()) else { return };
        let mut reported = judged.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.insert(offer.platform.clone()) {
            let subject = subject(offer.address(), offer.version(), &offer.platform);
            self.report(remark, format!("{subject}: {}", remark.text));
        }
    }

    /// The pins, with every release that was admitted.
    fn pins(&self) -> Pins {
        let judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut judged: Vec<&Arc<Judgement>> = judged.values().filter_map(|cell| cell.get()).collect();
        judged.sort_by(|one, other| one.id.order().cmp(&other.id.order()));
        let mut pins = self.trust.pins.clone();
        for judged in judged {
            let facts = judged.id.facts(&judged.archives);
            pins.remember(&facts, &judged.verdict);
            if let Some(published_as) = &judged.published_as {
                pins.remember_published_as(&facts, published_as);
            }
            pins.remember_contents(&facts, &judged.contents.to_remember(&judged.covered));
        }
        pins
    }
}

impl Judgement {
    /// Admits the package with this archive; `None` for one without an archive.
    ///
    /// # Errors
    /// [`FetchError::Untrusted`]: a signed `SHA256SUMS` may cover some packages of a release and not others.
    fn admit(&self, platform: &Platform, zip: Option<&PackageHash>) -> Result<(), FetchError> {
        match self.verdict.refusal_for(platform, zip) {
            Some(refusal) => Err(self.untrusted(refusal)),
            None => self.as_well.as_ref().map_or(Ok(()), |as_well| as_well.admit(platform, zip)),
        }
    }

    fn refused(&self) -> Option<FetchError> {
        self.verdict.refusal.as_ref().map(|refusal| self.untrusted(refusal))
    }

    fn untrusted(&self, refusal: &TrustRefusal) -> FetchError {
        let ReleaseId { address, version, place, .. } = self.id.id.clone();
        let (refusal, rule) = (Box::new(refusal.clone()), Box::new(self.rule.clone()));
        FetchError::Untrusted { address, version, place, refusal, rule, by_hand: self.verdict.by_hand }
    }

    /// Who vouches for the package with this archive.
    pub fn vouched(&self, platform: &Platform, zip: Option<&PackageHash>) -> VouchedBy {
        VouchedBy::of(&self.verdict, &self.pinned, platform, zip)
    }

    /// Whether bytes with this `h1:` may be used as the package of an offer although they were not fetched from it.
    ///
    /// If the package is signed, or a person accepted the release by hand, these very bytes must be known to be the
    /// package: the signed index names the `h1:`, or it was computed from a fetched package, now or before. The lock
    /// file does not suffice: it says what was locked, not what was signed.
    pub fn admits_unfetched(&self, offer: &Offer, h1: &PackageHash) -> bool {
        let is_covered = || self.covered.get(&offer.platform).is_some_and(|hashes| hashes.contains(h1));
        let admits = !self.stands_for(offer) || is_covered() || self.contents.has(&offer.platform, h1);
        admits && self.as_well.as_ref().is_none_or(|as_well| as_well.admits_unfetched(offer, h1))
    }

    /// Whether a signature or a person vouches for an offered package, and not only a policy that allows unsigned
    /// releases.
    pub fn stands_for(&self, offer: &Offer) -> bool {
        self.verdict.covers(&offer.platform, offer.zh().as_ref()) || self.contents.admission == Admission::ByHand
    }

    /// The package of an offer was fetched, and has this `h1:`.
    pub fn fetched(&self, offer: &Offer, h1: &PackageHash) {
        if self.stands_for(offer) {
            self.contents.put(&offer.platform, h1);
        }
        if let Some(as_well) = &self.as_well {
            as_well.fetched(offer, h1);
        }
    }

    /// The provider that the release names, if that is another address than the one it is used as.
    pub fn published_as(&self) -> Option<&ProviderAddr> {
        self.published_as.as_ref()
    }

    /// The checksums that signatures vouch for, by platform.
    pub fn covered(&self) -> &BTreeMap<Platform, BTreeSet<PackageHash>> {
        &self.covered
    }
}
