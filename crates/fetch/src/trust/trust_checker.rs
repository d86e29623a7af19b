//! Where releases are judged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tofu_oci_lockfile::{LockFileError, ManifestLines, Written};
use tofu_oci_source::{Offer, Release, Source, SourceError};
use tofu_oci_trust::{
    Admission, Archives, ManifestChecksums, Pin, PinnedSigner, Pins, ReleaseFacts, Rule, Standing, TrustRefusal,
    TrustRemark, Verdict, judge,
};
use tofu_oci_types::{Digest, Event, Level, PackageHash, Platform, ProviderAddr, Reporter, Version};
use tokio::sync::OnceCell;

use super::check::{Check, Knowledge, zips};
use super::known::{Known, Unasked, asks};
use super::{SignedBy, Trust, Vouched};
use crate::guard::Turn;
use crate::pin_file::{self, PinFileError};
use crate::{FetchError, subject};

/// Judges each release of a run once, and tells of it once.
pub struct TrustChecker<'a> {
    trust: &'a Trust,
    reporter: &'a dyn Reporter,
    judged: Mutex<HashMap<ReleaseId, Arc<OnceCell<Arc<Judgement>>>>>,
}

/// A release that is judged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReleaseId {
    pub(super) address: ProviderAddr,
    version: Version,
    place: String,
    /// What the pins call the place.
    pinned_as: String,
    index: Digest,
    index_sha512: Digest,
}

/// A release that has been judged.
#[derive(Debug)]
pub struct Judgement {
    case: ReleaseId,
    /// The rule that it was judged by.
    rule: Rule,
    verdict: Verdict,
    /// Who has signed this very index before.
    pinned: Vec<SignedBy>,
    /// What is known of its archives.
    archives: Archives,
    /// The platforms whose package was reported as not covered.
    reported: Mutex<BTreeSet<Platform>>,
    /// The checksums that signatures vouch for.
    covered: BTreeMap<Platform, BTreeSet<PackageHash>>,
    /// The contents of its packages.
    contents: Known,
}

impl<'a> TrustChecker<'a> {
    /// One for a run.
    pub fn new(trust: &'a Trust, reporter: &'a dyn Reporter) -> Self {
        Self { trust, reporter, judged: Mutex::default() }
    }

    /// The judgement on the release that an offer belongs to; nothing when the package lies in no repository, so that
    /// there is no index that anybody could stand for, and nobody asks for signatures.
    ///
    /// # Errors
    /// [`FetchError::Untrusted`], and when signatures could not be asked for.
    pub async fn of_offer(&self, source: &dyn Source, offer: &Offer) -> Result<Option<Arc<Judgement>>, FetchError> {
        let wanted = self.trust.policy.wants_evidence(&self.trust.pins, &offer.address);
        if offer.ch().is_none() && !asks(self.trust, &offer.address) {
            return Ok(None);
        }
        let judged = self.judge(source, ReleaseId::of_offer(self.trust, offer), || async {
            if !wanted {
                return Ok(Knowledge { release: None, archives: Archives::Annotated(zips(&offer.claims)) });
            }
            match source.release_of(offer).await {
                Ok(release) => Ok(Knowledge::of(release)),
                Err(SourceError::NoIndex { .. }) => Ok(Knowledge { release: None, archives: Archives::Unknown }),
                Err(error) => Err(error.into()),
            }
        });
        let judged = judged.await?;
        judged.admit(&offer.platform, offer.zh().as_ref())?;
        self.tell_of_package(&judged, offer);
        Ok(Some(judged))
    }

    /// The judgement on a release.
    ///
    /// # Errors
    /// [`FetchError::Untrusted`], and when signatures could not be asked for.
    pub async fn of_release(&self, source: &dyn Source, release: &Release) -> Result<Arc<Judgement>, FetchError> {
        let knowledge = || async { Ok(Knowledge::of(release.clone())) };
        self.judge(source, ReleaseId::of_release(self.trust, release), knowledge).await
    }

    async fn judge<F: Future<Output = Result<Knowledge, FetchError>>>(
        &self,
        source: &dyn Source,
        case: ReleaseId,
        knowledge: impl FnOnce() -> F,
    ) -> Result<Arc<Judgement>, FetchError> {
        let cell = {
            let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(judged.entry(case.clone()).or_default())
        };
        let judged = cell.get_or_try_init(|| async {
            let mut hearing = Check { trust: self.trust, source, case: &case, knowledge: knowledge().await? };
            let verdict = hearing.verdict().await?;
            let covered = hearing.covered(&verdict).await?;
            let archives = hearing.knowledge.archives;
            let pinned = self.pinned(&case.facts(&archives));
            let rule = self.trust.policy.rule(&case.address).clone();
            let contents = Known::new(self.trust, &case.facts(&archives), &verdict);
            let reported = Mutex::default();
            let judged = Judgement { case: case.clone(), rule, verdict, pinned, archives, reported, covered, contents };
            self.tell(&judged);
            Ok::<_, FetchError>(Arc::new(judged))
        });
        let judged = Arc::clone(judged.await?);
        match &judged.verdict.refusal {
            Some(refusal) => Err(judged.untrusted(refusal)),
            None => Ok(judged),
        }
    }

    /// Which packages that the lock file vouches for may be used without asking their place: all of them if no
    /// signatures are asked for and unsigned releases are let in. Otherwise those with the contents that are known of the
    /// version, if it was signed when it was pinned, by keys that still count.
    pub fn unasked(&self, address: &ProviderAddr, version: &Version, platform: &Platform) -> Unasked {
        let Trust { policy, pins, now, .. } = self.trust;
        if !asks(self.trust, address) {
            return Unasked::Locked;
        }
        let archives = &Archives::Unknown;
        let known = pins.iter().filter(|pin| pin.address == *address && pin.version == *version).flat_map(|pin| {
            let (place, index) = (&pin.place, &pin.index);
            let facts = ReleaseFacts { address, version, place, index, index_sha512: None, archives };
            let verdict = judge(policy, pins, &facts, &[], *now);
            let counts = verdict.standing == Standing::Pinned && verdict.covered.index && verdict.refusal.is_none();
            let contents = counts.then(|| pins.contents(&facts, &verdict).remove(platform));
            contents.flatten().unwrap_or_default()
        });
        Unasked::Known(known.collect())
    }

    /// How `ch:` lines of a provider count.
    pub fn manifest_lines(&self, address: &ProviderAddr) -> ManifestLines {
        match self.trust.policy.rule(address).manifest_checksums {
            ManifestChecksums::Required => ManifestLines::Required,
            ManifestChecksums::Optional => ManifestLines::Optional,
        }
    }

    /// Whether this very index was pinned before this run: what it has was recorded then.
    pub fn has_seen(&self, release: &Release) -> bool {
        self.trust
            .pins
            .same_index(&ReleaseId::of_release(self.trust, release).facts(&Archives::Unknown))
            .next()
            .is_some()
    }

    /// Writes the pins. Where they cannot be written, but the lock file vouches for everything and no signature would be
    /// forgotten, that is a warning: directories of configurations may be read-only. What is not known of contents is
    /// asked for again.
    ///
    /// # Errors
    /// [`PinFileError`].
    pub fn write_pins(&self, lock_file: Written, turn: &Turn) -> Result<(), PinFileError> {
        let (before, after) = (&self.trust.pins, self.pins());
        let Err(error) = pin_file::write(&self.trust.pins_path, &after, turn) else { return Ok(()) };
        let is_new = |pin: &&Pin| {
            let before = before.get(&pin.address, &pin.version, &pin.place);
            before.is_none_or(|before| before.index != pin.index || before.signers != pin.signers)
        };
        let forgets = after.iter().filter(is_new).any(|pin| !pin.signers.is_empty());
        let read_only = matches!(&error, PinFileError::File(LockFileError::Io { action: "write" | "replace", .. }));
        if !read_only || forgets || lock_file != Written::Unchanged {
            return Err(error);
        }
        let text = format!("which index was installed cannot be remembered: {error}");
        let hint = "the lock file vouches for everything; where the folder can be written, a moved tag is noticed, too";
        self.reporter.event(&Event::warning("pins-not-written", text).with_hint(hint));
        Ok(())
    }

    /// Who has signed this very index before.
    fn pinned(&self, facts: &ReleaseFacts<'_>) -> Vec<SignedBy> {
        let pins = self.trust.pins.same_index(facts);
        let name = |signer: &PinnedSigner| SignedBy { name: signer.name.clone(), key: signer.key.clone() };
        pins.flat_map(|pin| &pin.signers).map(name).collect()
    }

    fn tell(&self, judged: &Judgement) {
        for remark in &judged.verdict.remarks {
            let ReleaseId { address, version, .. } = &judged.case;
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
    fn tell_of_package(&self, judged: &Judgement, offer: &Offer) {
        let Some(remark) = judged.verdict.remark_for(&offer.platform, offer.zh().as_ref()) else { return };
        let mut reported = judged.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.insert(offer.platform.clone()) {
            let subject = subject(&offer.address, &offer.version, &offer.platform);
            self.report(remark, format!("{subject}: {}", remark.text));
        }
    }

    /// The pins, with every release that was let in.
    fn pins(&self) -> Pins {
        let judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut judged: Vec<&Arc<Judgement>> = judged.values().filter_map(|cell| cell.get()).collect();
        judged.sort_by(|one, other| one.case.order().cmp(&other.case.order()));
        let mut pins = self.trust.pins.clone();
        for judged in judged {
            let facts = judged.case.facts(&judged.archives);
            pins.remember(&facts, &judged.verdict);
            pins.remember_contents(&facts, &judged.contents.to_remember(&judged.covered));
        }
        pins
    }
}

impl ReleaseId {
    fn of_offer(trust: &Trust, offer: &Offer) -> Self {
        Self {
            address: offer.address.clone(),
            version: offer.version.clone(),
            place: offer.place.clone(),
            pinned_as: pin_file::place(&trust.pins_path, &offer.place),
            index: offer.index.digest.clone(),
            index_sha512: offer.index_sha512.clone(),
        }
    }

    fn of_release(trust: &Trust, release: &Release) -> Self {
        Self {
            address: release.address.clone(),
            version: release.version.clone(),
            place: release.place.clone(),
            pinned_as: pin_file::place(&trust.pins_path, &release.place),
            index: release.index.digest.clone(),
            index_sha512: release.index_sha512.clone(),
        }
    }

    pub(super) fn facts<'a>(&'a self, archives: &'a Archives) -> ReleaseFacts<'a> {
        let Self { address, version, pinned_as: place, index, index_sha512, .. } = self;
        ReleaseFacts { address, version, place, index, index_sha512: Some(index_sha512), archives }
    }

    fn order(&self) -> (String, String, &str, &str) {
        (self.address.to_string(), self.version.to_string(), &self.place, self.index.as_str())
    }
}

impl Judgement {
    /// Lets the package with this archive in, or one that is no archive.
    ///
    /// # Errors
    /// [`FetchError::Untrusted`]: a signed `SHA256SUMS` can vouch for some packages of a release and not for others.
    fn admit(&self, platform: &Platform, zip: Option<&PackageHash>) -> Result<(), FetchError> {
        match self.verdict.refusal_for(platform, zip) {
            Some(refusal) => Err(self.untrusted(refusal)),
            None => Ok(()),
        }
    }

    fn untrusted(&self, refusal: &TrustRefusal) -> FetchError {
        let ReleaseId { address, version, place, .. } = self.case.clone();
        let (refusal, rule) = (Box::new(refusal.clone()), Box::new(self.rule.clone()));
        FetchError::Untrusted { address, version, place, refusal, rule, by_hand: self.verdict.by_hand }
    }

    /// Who stands for the package with this archive.
    pub fn vouched(&self, platform: &Platform, zip: Option<&PackageHash>) -> Vouched {
        Vouched::of(&self.verdict, &self.pinned, platform, zip)
    }

    /// Whether bytes with this `h1:` may be used as the package of an offer although they were not fetched from it.
    ///
    /// If a signature stands for the package, or a person accepted the release by hand, these very bytes must be known to
    /// be the package: the `h1:` is in the signed index, or was computed from what was fetched, now or before. A lock file
    /// does not suffice: it says what was locked, not what was signed.
    pub fn admits_unfetched(&self, offer: &Offer, h1: &PackageHash) -> bool {
        let is_covered = || self.covered.get(&offer.platform).is_some_and(|hashes| hashes.contains(h1));
        !self.stands_for(offer) || is_covered() || self.contents.has(&offer.platform, h1)
    }

    /// Whether more than the policy's leave for unsigned releases stands for an offered package.
    pub fn stands_for(&self, offer: &Offer) -> bool {
        self.verdict.covers(&offer.platform, offer.zh().as_ref()) || self.contents.admission == Admission::ByHand
    }

    /// The package of an offer was fetched, and has this `h1:`.
    pub fn fetched(&self, offer: &Offer, h1: &PackageHash) {
        if self.stands_for(offer) {
            self.contents.put(&offer.platform, h1);
        }
    }

    /// The checksums that signatures vouch for, by platform.
    pub fn covered(&self) -> &BTreeMap<Platform, BTreeSet<PackageHash>> {
        &self.covered
    }
}
